"""The exact half of a game in CybORG's terms: process ids, ports, and Python's generator.

Written against the layout of `state.identity` alone, apart from the rules that fill it.
"""

from typing import Any

import numpy as np

from fixfirst.game import facts
from fixfirst.game.tables import HOSTS, IMAGE_PIDS, OT_HOST, OT_PID

WORDS, DISTANCE = 624, 397  # of the Mersenne Twister's state
_PID_BITS = 15


def pids(game: Any, ids: Any) -> list[list[int]]:
    """The process ids alive on each host, sorted [13][...]."""
    alive = [{int(pid) for pid in image if pid} for image in IMAGE_PIDS]
    if not game.ot_running:
        alive[OT_HOST].discard(OT_PID)
    for host, pid in _keys(ids.process[: ids.processes]):
        alive[host].add(pid)
    return [sorted(host) for host in alive]


def suspects(ids: Any) -> list[list[int]]:
    """The process ids that blue suspects on each host, in the order they were seen."""
    listed: list[list[int]] = [[] for _ in range(HOSTS)]
    for host, pid in _keys(ids.suspect[: ids.suspects]):
        listed[host].append(pid)
    return listed


def ephemeral_ports(ids: Any) -> list[list[int]]:
    """The ephemeral ports that each host has given out, sorted [13][...]."""
    words = np.asarray(ids.ephemeral, dtype="<u4")
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return [(facts.EPHEMERAL_FIRST + np.flatnonzero(row)).tolist() for row in bits]


def generator(ids: Any) -> np.ndarray:
    """The generator as `random.getstate()[1]` has it: 624 words and the place of the next.

    Python renews all words at once when they are used up; the game renews each when its
    turn comes. So those from the next word on are renewed here.
    """
    state = [int(word) for word in ids.twister]
    place = int(ids.position)
    if place == 0:
        return np.array([*state, WORDS])
    for i in range(place, WORDS):
        mixed = (state[i] & 0x80000000) | (state[(i + 1) % WORDS] & 0x7FFFFFFF)
        state[i] = state[(i + DISTANCE) % WORDS] ^ (mixed >> 1) ^ (mixed & 1) * 0x9908B0DF
    return np.array([*state, place])


def _keys(rows: Any) -> list[tuple[int, int]]:
    """Host and pid of each row, which holds both in one number."""
    return [(int(row) >> _PID_BITS, int(row) & (1 << _PID_BITS) - 1) for row in rows]
