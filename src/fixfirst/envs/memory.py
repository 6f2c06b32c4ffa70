"""What blue can remember of its own observations and actions, and what follows from that.

Nothing here looks at the true state. Blue knows its own actions and its bits; which decoys
fit is a matter of the hosts' systems and ports, which blue knows, and of the decoys that it
has placed itself.
"""

from typing import Any, TypeAlias

import numpy as np

from fixfirst.game.compile import rule
from fixfirst.game.facts import DECOYS as DECOY_FACTS
from fixfirst.game.state import Game
from fixfirst.game.tables import (
    ACTION_HOST,
    ACTION_KIND,
    ANALYSE,
    BIT,
    DECOY_CHECKED,
    DECOY_FITS_OS,
    DECOYS,
    DECOYS_PORTS,
    EXPLOITED,
    FIRST_DECOY,
    HOST_WORD,
    HOSTS,
    IMAGE_PORTS,
    NONE,
    OBSERVATION_BITS,
    QUIET,
    REMOVE,
    RESTORE,
    SCANNED,
)

Memory: TypeAlias = Any

MEMORY = np.dtype(
    [
        ("placed", "u1", HOSTS),  # mask of the decoy kinds placed since the last restore
        ("restored", "u2"),  # mask of the hosts that were restored in this episode
        ("scanned", "u2"),  # mask of the hosts on which a scan was seen
        ("last_scanned", "u1"),  # the one on which the last scan was seen, or NONE
        ("alarmed", "u2"),  # mask of the hosts exploited since their last remove or restore
    ],
    align=True,
)

# The columns of an observation with memory, in order, and how many there are of each.
COLUMNS = {
    "bits": OBSERVATION_BITS,
    "decoys placed, by host": HOSTS * DECOYS,
    "scanned": HOSTS,
    "scanned last": HOSTS,
    "restored": HOSTS,
    "time left": 1,
}
WIDTH = sum(COLUMNS.values())
# Look-up tables of what is written, so that writing is copying.
_PLACED_SETS = np.arange(2**DECOYS)
_HOST_COLUMNS = HOST_WORD.view(np.uint8).reshape(*HOST_WORD.shape, 4).astype(np.float32)
_PLACED_COLUMNS = (_PLACED_SETS[:, None] >> np.arange(DECOYS) & 1).astype(np.float32)
# Whether a decoy fits on a host on which those of a mask were placed [host, mask, decoy].
_USED = IMAGE_PORTS[:, None] | DECOYS_PORTS[_PLACED_SETS]
FITS = DECOY_FITS_OS.T[:, None, :] & ((_USED[..., None] & DECOY_CHECKED) == 0)
# Where the actions of a kind begin.
_ANALYSE, _REMOVE, _DECOY, _RESTORE = (
    int(np.flatnonzero(kind == ACTION_KIND)[0]) for kind in (ANALYSE, REMOVE, FIRST_DECOY, RESTORE)
)

_SCANNED = OBSERVATION_BITS + HOSTS * DECOYS
_LAST = _SCANNED + HOSTS
_RESTORED = _LAST + HOSTS
_TIME = _RESTORED + HOSTS


def column_names() -> list[str]:
    """A name for each column."""
    from fixfirst.game.tables import HOST_NAMES  # noqa: PLC0415 - not for the compiler

    names = [f"bit {k} of {host}" for host in HOST_NAMES for k in range(4)]
    names += [f"{decoy.name} on {host}" for host in HOST_NAMES for decoy in DECOY_FACTS]
    for what in ("scanned", "scanned last", "restored"):
        names += [f"{host} {what}" for host in HOST_NAMES]
    return [*names, "time left"]


def new_memories(count: int) -> Any:
    """Memory of so many games."""
    return np.zeros(count, dtype=MEMORY).view(np.recarray)


def first_wrong_field(memories: Any) -> str | None:
    """The name of a field whose value no game can have, for state that came from outside."""
    for name in ("restored", "scanned", "alarmed"):
        if (memories[name] >= 2**HOSTS).any():
            return name
    last = memories["last_scanned"]
    return "last_scanned" if ((last >= HOSTS) & (last != NONE)).any() else None


@rule
def forget(memory: Memory) -> None:
    """An episode begins."""
    for host in range(HOSTS):
        memory.placed[host] = 0
    memory.restored = 0
    memory.scanned = 0
    memory.last_scanned = NONE
    memory.alarmed = 0


@rule
def remember(memory: Memory, game: Game) -> None:
    """Take in a step: blue's own action, then what its table shows of it."""
    kind, host = ACTION_KIND[game.blue_action], ACTION_HOST[game.blue_action]
    if kind == RESTORE:
        memory.placed[host] = 0
        memory.restored |= BIT[host]
        memory.alarmed &= ~BIT[host]
    elif kind == REMOVE:
        memory.alarmed &= ~BIT[host]
    elif kind >= FIRST_DECOY and FITS[host, memory.placed[host], kind - FIRST_DECOY]:
        memory.placed[host] |= BIT[kind - FIRST_DECOY]
    if game.activity == SCANNED:
        memory.scanned |= BIT[game.event_host]
        memory.last_scanned = game.event_host
    elif game.activity == EXPLOITED:
        memory.alarmed |= BIT[game.event_host]


@rule
def write(memory: Memory, game: Game, horizon: int, row: np.ndarray) -> None:
    """Write the observation with memory into a row of WIDTH floats."""
    for host in range(HOSTS):
        seen = game.activity if host == game.event_host else QUIET
        belief, placed = game.belief[host], memory.placed[host]
        for k in range(4):
            row[4 * host + k] = _HOST_COLUMNS[seen, belief, k]
        for decoy in range(DECOYS):
            row[OBSERVATION_BITS + host * DECOYS + decoy] = _PLACED_COLUMNS[placed, decoy]
    for host in range(HOSTS):
        row[_SCANNED + host] = memory.scanned >> host & 1
        row[_LAST + host] = memory.last_scanned == host
        row[_RESTORED + host] = memory.restored >> host & 1
    row[_TIME] = (horizon - game.step) / horizon


@rule
def mask(memory: Memory, row: np.ndarray) -> None:
    """Write which actions may have an effect, for all that blue knows, into a row of ACTIONS.

    Without effect are: Monitor (it is Sleep), decoys that do not fit, and Remove where no
    exploit was seen since the last Remove or Restore. Sleep always may.
    """
    row[0], row[1] = True, False
    for host in range(HOSTS):
        placed = memory.placed[host]
        row[_ANALYSE + host] = True
        row[_REMOVE + host] = memory.alarmed >> host & 1
        for decoy in range(DECOYS):
            row[_DECOY + HOSTS * decoy + host] = FITS[host, placed, decoy]
        row[_RESTORE + host] = True
