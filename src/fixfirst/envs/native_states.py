"""The true states of a native batch, read when the user has asked for them.

The games themselves are the states, so reading at every step is a window on them and costs
nothing. What is to last beyond the next step is copied when it is due.
"""

from typing import Any

import numpy as np

from fixfirst.envs.batch import Batch
from fixfirst.envs.contract import (
    EPISODE,
    NEVER,
    NOBODY_ASKED,
    STEP,
    TrueStates,
    needs_every_step,
)
from fixfirst.game import state
from fixfirst.game.truth import TrueState


class NativeStates:
    """What a native vector env answers when it is asked for true states."""

    def __init__(self, batch: Batch, when: TrueStates, same_step: bool) -> None:
        self.when = when
        self._batch, self._same_step = batch, same_step
        keeps = when not in (STEP, NEVER)
        self._kept = state.new_games(len(batch.games) if keeps else 0)
        self._fresh = np.zeros(len(batch.games), np.bool_)
        self._ended = False  # some episode did in the last step

    def after_reset(self, chosen: np.ndarray | None) -> None:
        """Some games, or all, have begun an episode."""
        self._fresh[:] = False
        self._ended = False
        if self.when == STEP:
            self._fresh[slice(None) if chosen is None else chosen] = True

    def after_step(self) -> None:
        """All games have played a step."""
        batch = self._batch
        truncated = batch.results.truncated
        if self.when == STEP:
            self._fresh[:] = True
            self._ended = self._same_step and bool(truncated.any())
            return
        if self.when == EPISODE:
            due = truncated
        else:
            k = int(self.when)
            due = (batch.games.step % k == 0) & (batch.games.step > 0)
            if self._same_step and batch.options.horizon % k == 0:
                due |= truncated
        self._fresh[:] = due
        if due.any():
            source = self._with_ends() if self._same_step else batch.games
            self._kept[due] = source[due]

    @property
    def states(self) -> TrueState:
        """Those read last."""
        if self.when == NEVER:
            raise ValueError(NOBODY_ASKED)
        if self.when != STEP:
            return TrueState(self._kept)
        return TrueState(self._with_ends() if self._ended else self._batch.games)

    @property
    def now(self) -> TrueState:
        """Those that the next actions will meet."""
        if self.when != STEP:
            raise ValueError(NOBODY_ASKED if self.when == NEVER else needs_every_step(self.when))
        return self._batch.true_state

    @property
    def fresh(self) -> np.ndarray:
        """Which of `states` the last call has read."""
        if self.when == NEVER:
            raise ValueError(NOBODY_ASKED)
        return self._fresh

    def _with_ends(self) -> Any:
        """The games as the last step left them, before any reset."""
        games = self._batch.games.copy()
        ended = self._batch.results.truncated
        games[ended] = self._batch.finals.games[ended]
        return games
