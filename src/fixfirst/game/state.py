"""What a game is in memory: one record a game, and a second one where draws must be exact.

`GAME` is all that the rules read and write. It is the same for both random sources.
`identity` holds what exists only so that the draws fall as in CybORG: the generator,
process ids, ephemeral ports and addresses. The source `fast` has none (`None`).

Rules take one record of each. A copy of the rows is a copy of the game.
"""

import functools
from typing import Any, TypeAlias

import numpy as np

from fixfirst.game import facts, tables
from fixfirst.game.facts import EPHEMERAL_RANGE, NETWORK_HOSTS

# One record as the rules see it, and arrays of records. NumPy and Numba give them their types.
Game: TypeAlias = Any
Ids: TypeAlias = Any
Games: TypeAlias = Any

H = tables.HOSTS

GAME = np.dtype(
    [
        # --- the run of the game
        ("step", "u4"),  # steps played in this episode
        ("episode", "u4"),  # episodes begun since the last seeding, the current one included
        ("random", "u4", 4),  # the fast generator; in exact games it only draws the red
        ("rules", "u1"),  # index into facts.RULES
        ("red", "u1"),  # index into facts.REDS
        ("over", "u1"),  # 1 once the horizon is reached, until the next reset
        # --- sessions of red, by host
        ("user", "u2", H),  # without privilege
        ("root", "u2", H),  # with privilege; on User0 this counts red's first session
        ("marked", "u2", H),  # of `user`: those whose process id blue has seen (fast source)
        # --- hosts
        ("decoys", "u1", H),  # mask of the decoy kinds that stand
        ("stacked", "u2", H),  # how many of the stackable decoy stand
        ("files", "u2"),  # mask of hosts that hold a file of red's
        ("broken", "u2"),  # mask of hosts whose versioned service lost its version
        ("ot_running", "u1"),  # the OT process lives
        ("ot_active", "u1"),  # the OT service is recorded as active ...
        ("ot_has_pid", "u1"),  # ... and its record names the process
        # --- what red knows
        ("ports", "u2", H),  # mask of remembered ports; 0 is "never scanned"
        ("known_address", "u2"),  # mask of hosts
        ("known_name", "u2"),  # mask of hosts
        ("known_subnet", "u1"),  # mask of subnets
        ("knows_ot", "u1"),
        ("scan_empty", "u1"),  # the last scan brought no answer
        # --- red's last action
        ("action", "u1"),  # index into facts.RED_ACTIONS
        ("target", "u1"),  # host, or subnet of a sweep; NONE if it aims at nothing
        ("success", "u1"),  # 0 failure, 1 success, 2 unknown
        # --- B_line's place in its plan
        ("position", "u1"),
        ("furthest", "u1"),  # the highest entry it has made
        ("foothold", "u1"),  # the user host it drew
        # --- Meander's notes
        ("swept", "u1"),  # mask of subnets
        ("scanned", "u2"),  # masks of hosts
        ("exploited", "u2"),
        ("escalated", "u2"),
        ("mapped", "u2"),
        ("last_address", "u1"),  # the host it exploited in its last turn, or NONE
        ("last_host", "u1"),  # the host it escalated or impacted in its last turn, or NONE
        # --- what happened in this step
        ("blue_action", "u1"),
        ("placed", "u1"),  # the host on which blue placed a decoy, or NONE
        ("found", "u1"),  # the host on which blue's analysis found files, or NONE
        ("event_host", "u1"),  # the host on which red's action left events, or NONE
        ("events", "u4"),  # how many: the decoys of a longest episode and a few more
        ("event_ports", "u1"),  # on how many local ports
        ("event_shell", "u1"),  # one of them shows red's shell port
        ("cost", "u2"),  # what blue loses, in tenths of a reward point
        # --- blue's table
        ("activity", "u1"),  # of `event_host`, index into facts.ACTIVITIES
        ("belief", "u1", H),  # index into facts.BELIEFS
        # --- sums over the episode
        ("lost", "u4"),  # tenths of a reward point
    ],
    align=True,
)

PORT_WORDS = (EPHEMERAL_RANGE + 31) // 32

# Process lists are as long as the horizon asks for, in three sizes only: each size is a
# record type of its own, for which the rules are compiled anew.
HORIZON_SIZES = (1_000, 8_000, 65_535)

# The longest horizon: the counters of a game are 16 bits wide and grow by at most one a step.
MAX_HORIZON = HORIZON_SIZES[-1]


def process_capacity(horizon: int) -> int:
    """Rows for processes: those of the start, then at most a decoy and a red session a step."""
    return len(tables.FIRST_SESSIONS) + 2 * horizon


def horizon_size(horizon: int) -> int:
    """The smallest size of record that holds episodes of this length."""
    return next(size for size in HORIZON_SIZES if horizon <= size)


@functools.cache
def identity(horizon: int) -> np.dtype:
    """The exact half of a game of up to `horizon` steps."""
    size = horizon_size(horizon)
    return np.dtype(
        [
            ("twister", "u4", 624),  # the state of MT19937
            ("position", "u2"),  # the next word of it
            ("network", "u2", tables.SUBNETS),  # of each subnet
            ("pool", "u1", NETWORK_HOSTS),  # of addresses not yet given out in a subnet
            ("address", "u2", H),  # offset of each host's address from 10.0.0.0
            ("first", "u1"),  # the host that stands first among Meander's addresses, or NONE
            ("order", "u1", H),  # Meander's shuffled addresses of this turn
            ("names", "u1", H),  # Meander's shuffled names of this turn
            ("recorded", "u2", (H, tables.DECOYS)),  # service records: decoy's pid, 0 is none
            ("ephemeral", "u4", (H, PORT_WORDS)),  # bit set of the ports each host has given out
            ("processes", "u4"),  # rows of `process` and `kind` in use
            ("suspects", "u4"),  # rows of `suspect` in use
            # host << 15 | pid of the living processes beyond the images', and what they are
            ("process", "u4", process_capacity(size)),
            ("kind", "u1", process_capacity(size)),
            ("suspect", "u4", size),  # host << 15 | pid of blue's suspicious list, in order
        ],
        align=True,
    )


def new_games(count: int) -> Games:
    """Memory for games; each is unplayable until it is reset."""
    return np.zeros(count, dtype=GAME).view(np.recarray)


def new_identities(count: int, horizon: int) -> Games:
    """Memory for the exact half of games of up to `horizon` steps."""
    return np.zeros(count, dtype=identity(horizon)).view(np.recarray)


def bytes_per_game(exact: bool, horizon: int) -> int:
    """What one game takes, apart from the arrays that carry results to the caller."""
    return GAME.itemsize + (identity(horizon).itemsize if exact else 0)


# The largest value of each field that the rules use as an index, a count or a mask.
# NONE is allowed beside it where a field may name nothing.
_LARGEST: dict[str, int] = {
    "rules": len(facts.RULES) - 1,
    "red": len(facts.REDS) - 1,
    "decoys": 2**tables.DECOYS - 1,
    "ports": 2 ** len(tables.PORTS) - 1,
    "action": len(facts.RED_ACTIONS) - 1,
    "success": tables.UNKNOWN,
    "position": tables.PLAN_END,
    "furthest": tables.PLAN_END,
    "blue_action": tables.ACTIONS - 1,
    "activity": len(facts.ACTIVITIES) - 1,
    "belief": len(facts.BELIEFS) - 1,
    **dict.fromkeys(("foothold", "last_address", "last_host", "placed", "found"), H - 1),
    **dict.fromkeys(("event_host", "target"), H - 1),
    **dict.fromkeys(("known_address", "known_name", "scanned", "files", "broken"), 2**H - 1),
    **dict.fromkeys(("exploited", "escalated", "mapped"), 2**H - 1),
    **dict.fromkeys(("known_subnet", "swept"), 2**tables.SUBNETS - 1),
}
_MAY_BE_NONE = {
    "foothold", "last_address", "last_host", "placed", "found", "event_host", "target",
}  # fmt: skip


def first_wrong_field(games: Games, ids: Games, horizon: int) -> str | None:
    """The name of a field whose value no game can have, for state that came from outside."""
    for name, largest in _LARGEST.items():
        values = games[name]
        wrong = np.asarray(values > largest)
        if name in _MAY_BE_NONE:
            wrong &= values != tables.NONE
        if wrong.any():
            return name
    if (games["step"] > horizon).any():
        return "step"
    crowded = _more_than_steps_allow(games)
    if crowded is not None:
        return crowded
    if ((games["furthest"] >= tables.PLAN_CHOOSES_FOOTHOLD) & (games["foothold"] >= H)).any():
        return "foothold"
    if ids is None:
        return None
    steps = games["step"].astype(np.int64)
    used = np.arange(ids["process"].shape[1]) < ids["processes"][:, None]
    limits = {
        "processes": ids["processes"] > len(tables.FIRST_SESSIONS) + 2 * steps,
        "suspects": ids["suspects"] > steps,
        "position": ids["position"] >= 624,
        "process": used & (ids["process"] >> 15 >= H),
        "order": ids["order"] >= H,
        "names": ids["names"] >= H,
        "first": (ids["first"] >= H) & (ids["first"] != tables.NONE),
    }
    wrong_ones = [name for name, wrong in limits.items() if np.any(wrong)]
    return wrong_ones[0] if wrong_ones else None


def _more_than_steps_allow(games: Games) -> str | None:
    """The name of a count that cannot have grown so large: each grows by at most one a step.

    As the counts fit the steps played, there is room for them in the steps to come.
    """
    steps = games["step"].astype(np.int64)[:, None]
    if (games["user"].astype(np.int64) + games["root"] > steps + 1).any():
        return "user"
    if (games["marked"] > games["user"]).any():
        return "marked"
    return "stacked" if (games["stacked"] > steps).any() else None
