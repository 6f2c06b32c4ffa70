"""The scripted blues, and how a policy is found by its name."""

import difflib
import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fixfirst.game.names import action_index
from fixfirst.game.tables import ACTIONS, ENTRY, HOST_NAMES, NONE
from fixfirst.judge.custom import as_blue, load
from fixfirst.judge.view import Blue, View

MONITOR = action_index("Monitor")


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
        digest = hashlib.blake2b(f"random blue {seed}".encode(), digest_size=8).digest()
        self._key = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
        self._begun = 0
        self._streams = np.zeros(0, dtype=np.uint64)

    def begin(self, games: np.ndarray) -> None:
        """Give each game the stream of the next episode."""
        new = np.arange(self._begun, self._begun + len(games), dtype=np.uint64)
        self._begun += len(games)
        missing = int(games.max(initial=-1)) + 1 - len(self._streams)
        if missing > 0:
            self._streams = np.append(self._streams, np.zeros(missing, dtype=np.uint64))
        self._streams[games] = _splitmix(self._key, new)

    def act(self, view: View) -> np.ndarray:
        """One draw a game."""
        streams = self._streams[: len(view)]
        words = _splitmix(streams, view.step.astype(np.uint64))
        return ((words >> np.uint64(32)) * np.uint64(ACTIONS) >> np.uint64(32)).astype(np.int64)


def _splitmix(start: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The n-th output (from 0) of the generator SplitMix64 started there."""
    words: np.ndarray = start + (n + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


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


class Script(NamedTuple):
    """A blue that comes with the package."""

    make: Callable[[int], Blue]  # from a seed
    about: str


SCRIPTS = {
    "sleep": Script(lambda seed: Always("Sleep"), "does nothing"),
    "monitor": Script(lambda seed: Always("Monitor"), "looks and does nothing"),
    "random": Script(Random, "draws each action, all 145 alike"),
    "react-remove": Script(
        lambda seed: React("Remove"), "CybORG's BlueReactRemoveAgent: removes the shells it sees"
    ),
    "react-restore": Script(
        lambda seed: React("Restore"), "CybORG's BlueReactRestoreAgent: restores where it sees one"
    ),
}


def blue(policy: Any, seed: int = 0) -> Blue:
    """A policy that can play.

    policy   the name of a script (see `SCRIPTS`); or "module:function", a callable from
             observations [N, 52] to actions [N]; or such a callable; or a `Blue`
    seed     of a script that draws
    """
    if not isinstance(policy, str):
        return as_blue(policy, type(policy).__name__)
    if ":" in policy:
        return as_blue(load(policy), policy)
    if policy in SCRIPTS:
        return SCRIPTS[policy].make(seed)
    near = difflib.get_close_matches(policy.lower(), SCRIPTS, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(
        f"policy={policy!r} is not known{hint or '.'} Policies are {', '.join(SCRIPTS)}, or "
        "module:function for one of your own"
    )
