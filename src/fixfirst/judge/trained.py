"""Trained policies as blues: they see bits, and what can be remembered of them."""

import numpy as np

from fixfirst.envs.recall import Recall
from fixfirst.judge.streams import Streams
from fixfirst.judge.view import View
from fixfirst.learn.policy import Policy


class Trained:
    """Takes the action that its policy likes best or, given a seed, draws one as in training.

    A policy with memory counts the time left by the horizon that it was trained for: in a
    longer game it has none left, and a shorter one ends early.
    """

    sees = "bits"

    def __init__(self, policy: Policy, seed: int | None = None) -> None:
        self.order = policy.order
        self._policy = policy
        self._streams = None if seed is None else Streams("trained blue", seed)
        self._recall: Recall | None = None

    def begin(self, games: np.ndarray) -> None:
        """The memory of these games begins with their first step; draws begin here."""
        if self._streams is not None:
            self._streams.begin(games)

    def act(self, view: View) -> np.ndarray:
        """The policy's action, in every game."""
        observation, mask = view.observation, None
        setup = self._policy.setup
        if setup.memory or setup.mask:
            if self._recall is None or len(self._recall.rows) != len(view):
                self._recall = Recall(len(view), setup.horizon)
            self._recall.take_in(observation, view.last_action, view.step)
            observation = self._recall.rows if setup.memory else observation
            mask = self._recall.masks if setup.mask else None
        dice = None
        if self._streams is not None:
            dice = self._streams.words(view.step) / 2.0**32
        return self._policy.act(observation, mask, dice)
