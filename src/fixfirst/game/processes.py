"""Process ids, for the exact source only: who lives on a host, and whom blue suspects.

The order of a host's processes never matters to the game, so what a host's image runs is
a constant table and only the rest is kept: one short list for the whole network.
"""

import numpy as np

from fixfirst.game.compile import rule
from fixfirst.game.facts import PID_RANGE
from fixfirst.game.state import Game, Ids
from fixfirst.game.tables import (
    DECOY_REMOVABLE,
    DECOYS,
    FIRST_SESSIONS,
    IMAGE_PIDS,
    OT_HOST,
    OT_PID,
    STACKABLE,
)
from fixfirst.game.twister import below

# Kinds of process; 0 to DECOYS - 1 is that decoy.
FIRST_SESSION = DECOYS  # blue's, green's and red's first ones: never ended, put back by Restore
RED_USER = DECOYS + 1
RED_ROOT = DECOYS + 2


@rule
def key_of(host: int, pid: int) -> int:
    """Host and pid as one number."""
    return int(np.int64(host) << 15 | np.int64(pid))


@rule
def lives(game: Game, ids: Ids, host: int, pid: int) -> bool:
    """Whether a process of the host has this pid now."""
    stopped = host == OT_HOST and pid == OT_PID and game.ot_running == 0
    for image_pid in IMAGE_PIDS[host]:
        if image_pid == pid and not stopped:
            return True
    key = key_of(host, pid)
    for k in range(ids.processes):
        if ids.process[k] == key:
            return True
    return False


@rule
def start(game: Game, ids: Ids, host: int, kind: int) -> int:
    """Begin a process under a new pid: drawn until it is neither 0 nor that of a living one."""
    pid = below(ids, PID_RANGE)
    while pid == 0 or lives(game, ids, host, pid):
        pid = below(ids, PID_RANGE)
    k = ids.processes
    ids.process[k] = key_of(host, pid)
    ids.kind[k] = kind
    ids.processes = k + 1
    return pid


@rule
def end(ids: Ids, row: int) -> None:
    """Drop a process; the others keep their order."""
    last = ids.processes - 1
    for k in range(row, last):
        ids.process[k] = ids.process[k + 1]
        ids.kind[k] = ids.kind[k + 1]
    ids.processes = last


@rule
def start_first_sessions(game: Game, ids: Ids) -> None:
    """The sessions that exist before the game begins."""
    ids.processes = 0
    ids.suspects = 0
    for host in FIRST_SESSIONS:
        start(game, ids, host, FIRST_SESSION)


@rule
def end_all_but_first(ids: Ids, host: int) -> None:
    """What Restore does to the processes of a host, and to its service records."""
    kept = 0
    for k in range(ids.processes):
        if ids.process[k] >> 15 != host or ids.kind[k] == FIRST_SESSION:
            ids.process[kept] = ids.process[k]
            ids.kind[kept] = ids.kind[k]
            kept += 1
    ids.processes = kept
    for decoy in range(DECOYS):
        ids.recorded[host, decoy] = 0


@rule
def record(ids: Ids, host: int, decoy: int, pid: int) -> None:
    """Note a decoy's pid under its service name, unless that name is taken."""
    if ids.recorded[host, decoy] == 0:
        ids.recorded[host, decoy] = pid


@rule
def suspect_newest(ids: Ids) -> None:
    """Blue sees the pid of the process that was started last."""
    ids.suspect[ids.suspects] = ids.process[ids.processes - 1]
    ids.suspects += 1


@rule
def end_suspects(game: Game, ids: Ids, host: int) -> None:
    """What Remove does: end every living suspicious process that is not privileged."""
    for s in range(ids.suspects):
        key = np.int64(ids.suspect[s])
        if key >> 15 != host:
            continue
        for k in range(ids.processes):
            if ids.process[k] == key:
                _end_suspect(game, ids, host, k)
                break


@rule
def _end_suspect(game: Game, ids: Ids, host: int, row: int) -> None:
    kind = int(ids.kind[row])
    pid = np.int64(ids.process[row]) & (PID_RANGE - 1)
    if kind == RED_USER:
        end(ids, row)
        game.user[host] -= 1
    elif kind < DECOYS and DECOY_REMOVABLE[kind, host]:
        # A decoy that was given a dead suspicious pid. If a service record names the pid,
        # the decoy starts again under another one; the record keeps the old.
        end(ids, row)
        recorded = False
        for decoy in range(DECOYS):
            recorded |= ids.recorded[host, decoy] == pid
        if recorded:
            start(game, ids, host, kind)
        elif kind == STACKABLE:
            game.stacked[host] -= 1
        else:
            game.decoys[host] ^= 1 << kind


@rule
def raise_session(ids: Ids, host: int, which: int) -> None:
    """Give privilege to the process of the `which`-th unprivileged red session of the host."""
    for k in range(ids.processes):
        if ids.kind[k] == RED_USER and ids.process[k] >> 15 == host:
            if which == 0:
                ids.kind[k] = RED_ROOT
                return
            which -= 1
