"""A blue on the real CybORG: the same view of a game, one game at a time."""

import os
from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from fixfirst.envs.cyborg import CyborgGame
from fixfirst.envs.cyborg_state import CyborgState
from fixfirst.game import state
from fixfirst.game.tables import HOSTS, NONE, OBSERVATION_BITS
from fixfirst.game.truth import TrueState
from fixfirst.judge.play import ask
from fixfirst.judge.view import Blue, View
from fixfirst.workflow import compliance
from fixfirst.workflow.alignment import Compliance, checked_terms, follow, new_alignments
from fixfirst.workflow.orders import Workflow


class OneTruth:
    """The true state of a game of CybORG, its arrays with the axis of games that `TrueState`'s
    have.
    """

    def __init__(self, truth: CyborgState) -> None:
        self._truth = truth

    def __getattr__(self, name: str) -> np.ndarray:
        return np.asarray(getattr(self._truth, name))[None]


class CyborgGames(View):
    """One game of CybORG, as a batch of one, and as a blue sees it."""

    def __init__(self, folder: str | os.PathLike[str], red: str, rules: str | None = None) -> None:
        self.game = CyborgGame(folder, red, rules)
        self._set_sees("bits")
        self._bits = np.zeros((1, OBSERVATION_BITS), np.int8)
        self._action = 0
        self._suspects = [0] * HOSTS  # how many processes blue suspects on each host
        self._shell = NONE

    def reset(self, seed: int, sees: str) -> None:
        """Begin an episode, shown to a blue that says that it sees this much."""
        self._set_sees(sees)
        self._bits = self.game.reset(seed)[None]
        self._action = 0
        self._suspects, self._shell = [0] * HOSTS, NONE

    def play(self, action: int) -> float:
        """Play a step; the reward."""
        bits, reward = self.game.step(action)
        self._bits, self._action = bits[None], action
        counts = [len(pids) for pids in self.game.true_state.suspects]
        named = [host for host in range(HOSTS) if counts[host] > self._suspects[host]]
        self._suspects, self._shell = counts, named[0] if named else NONE
        return reward

    def __len__(self) -> int:
        return 1

    @property
    def observation(self) -> np.ndarray:
        """The observation bits [1, 52]."""
        return self._bits

    @property
    def step(self) -> np.ndarray:
        """Steps played in the episode so far [1]."""
        return np.array([self.game.steps])

    @property
    def last_action(self) -> np.ndarray:
        """Blue's action of the last step [1]; 0 (Sleep) before the first."""
        return np.array([self._action])

    @property
    def shells(self) -> np.ndarray:
        """The host on which the sensors named the process of a new shell in the last step [1].

        Just these processes are added to those that blue suspects.
        """
        self._must_see("sensors")
        return np.array([self._shell])

    @property
    def truth(self) -> TrueState:
        """The true state."""
        self._must_see("truth")
        return self.all_truth

    @property
    def all_truth(self) -> TrueState:
        """The true state, for the judge, whatever the blue may see."""
        return cast("TrueState", OneTruth(self.game.true_state))


def episode(
    blue: Blue, games: CyborgGames, seed: int, horizon: int, name: str, kept: "Keeping | None"
) -> Iterator[float]:
    """Play an episode; after each step its reward."""
    games.reset(seed, blue.sees)
    blue.begin(np.arange(1))
    if kept is not None:
        kept.begin()
    for _ in range(horizon):
        (action,) = ask(blue, games, name)
        if kept is not None:
            kept.before_action(games.all_truth, int(action))
        yield games.play(int(action))


class Keeping:
    """How an episode on CybORG keeps to an order, by the rules that judge the built-in game."""

    def __init__(self, order: Workflow) -> None:
        self._terms = checked_terms(0.0)
        self._alignments: Any = new_alignments(1)
        follow(self._alignments, order)
        self._games: Any = state.new_games(1)

    def begin(self) -> None:
        """An episode begins."""
        compliance.begin(self._alignments[0])

    def before_action(self, truth: TrueState, action: int) -> None:
        """Judge an action by the true state that it meets."""
        privileged = truth.level == 2
        self._games.root = np.where(privileged, truth.sessions, 0)
        self._games.user = np.where(privileged, 0, truth.sessions)
        compliance.before_action(self._games[0], self._alignments[0], self._terms, action)

    @property
    def compliance(self) -> Compliance:
        """Fixes, compliant ones and compliance of the episode so far."""
        return Compliance(self._alignments)
