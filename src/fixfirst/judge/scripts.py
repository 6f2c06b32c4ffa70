"""The blues that come with the package."""

import numpy as np

from fixfirst.game.names import action_index
from fixfirst.game.tables import (
    ACTIONS,
    CONFIDENTIALITY,
    ENTRY,
    HOST_NAMES,
    NONE,
    OT_HOST,
)
from fixfirst.game.truth import TrueState
from fixfirst.judge.streams import Streams
from fixfirst.judge.view import View
from fixfirst.workflow.orders import Workflow

SLEEP, MONITOR = action_index("Sleep"), action_index("Monitor")
RESTORE_OF = np.array([action_index(f"Restore {host}") for host in HOST_NAMES])


class Always:
    """Takes the same action in every step."""

    sees = "bits"

    def __init__(self, action: str) -> None:
        self._action = action_index(action)

    def begin(self, games: np.ndarray) -> None:
        """It has nothing to forget."""

    def act(self, view: View) -> np.ndarray:
        """The one action, in every game."""
        return np.full(len(view), self._action)


class Random:
    """Draws each action anew, all 145 with the same chance.

    The k-th episode that it begins has a stream of its own, so its actions depend on the
    seed and on k, not on how many games are played side by side.
    """

    sees = "bits"

    def __init__(self, seed: int) -> None:
        self._streams = Streams("random blue", seed)

    def begin(self, games: np.ndarray) -> None:
        """Give each game the stream of the next episode."""
        self._streams.begin(games)

    def act(self, view: View) -> np.ndarray:
        """One draw a game."""
        words = self._streams.words(view.step)
        return (words * np.uint64(ACTIONS) >> np.uint64(32)).astype(np.int64)


class React:
    """Monitors, and answers a shell that its sensors named with one action on that host.

    This is what CybORG's BlueReactRemoveAgent and BlueReactRestoreAgent do
    [BlueReactAgent.py]. They look for reports that carry a process id, which only a
    detected shell's does; they read reports only after a Monitor of their own, so one
    that arrives while they fix a host is lost; and they leave User0 alone. Red acts once a
    step, so their list of suspicious hosts never holds more than one.
    """

    sees = "sensors"

    def __init__(self, kind: str) -> None:
        self._answers = np.array([action_index(f"{kind} {host}") for host in HOST_NAMES])

    def begin(self, games: np.ndarray) -> None:
        """It has nothing to forget: all it needs is in the last step."""

    def act(self, view: View) -> np.ndarray:
        """Fix the host that was named, or monitor."""
        named = view.shells
        reacts = (view.last_action == MONITOR) & (named != NONE) & (named != ENTRY)
        return np.where(reacts, self._answers[np.where(reacts, named, 0)], MONITOR)


class Greedy:
    """Restores a host of the first group of an order that red holds.

    Of the hosts of that group it takes one that red holds with privilege before others, then
    the one that costs most. While red holds nothing it starts the OT service again if that
    stands still, and else sleeps. So its fixes are always compliant.

    It looks at the true state, which no real defender sees: its scores say how good an order
    can be, not how good a defender is.
    """

    sees = "truth"

    def __init__(self, order: Workflow) -> None:
        # Lower comes first. The place in the order decides, however valuable the host is.
        self._urgency = _PLACE * order.places.astype(np.int64) - CONFIDENTIALITY

    def begin(self, games: np.ndarray) -> None:
        """It has nothing to forget: all it needs is in the true state."""

    def act(self, view: View) -> np.ndarray:
        """Restore the most urgent host, if there is one."""
        truth = view.truth
        held = held_hosts(truth)
        urgency = np.where(held, self._urgency - _LEVEL * truth.level.astype(np.int64), _NEVER)
        fix = RESTORE_OF[urgency.argmin(axis=1)]
        idle = np.where(truth.ot_service, SLEEP, RESTORE_OF[OT_HOST])
        return np.where(held.any(axis=1), fix, idle)


# How much a level and a place count for, beside a host's cost in tenths, which is at most 10.
_LEVEL, _PLACE, _NEVER = 16, 64, 2**31


def held_hosts(truth: TrueState) -> np.ndarray:
    """The hosts that red holds [N, 13], as compliance counts them: `workflow.compliance` says
    so of one game in compiled code.
    """
    held = truth.sessions > 0
    held[:, ENTRY] = truth.sessions[:, ENTRY] > 1
    return held
