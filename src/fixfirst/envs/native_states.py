"""The true states of a native batch, read when the user has asked for them.

The games themselves are the states, so reading at every step is a window on them and costs
nothing. What is to last beyond the next step is copied when it is due.
"""

import contextlib
from collections.abc import Iterator
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


class LastStates(TrueState):
    """The games as the last step left them, before any reset; put together at the first look."""

    def __init__(self, batch: Batch) -> None:
        object.__setattr__(self, "_batch", batch)
        object.__setattr__(self, "found", [])  # the records, once they are put together

    @property
    def games(self) -> Any:
        """The records."""
        found: list[Any] = self.found  # type: ignore[attr-defined]
        if not found:
            batch: Batch = self._batch  # type: ignore[attr-defined]
            games = batch.games.copy()
            ended = batch.results.truncated
            games[ended] = batch.finals.games[ended]
            found.append(games)
        return found[0]


class NativeStates:
    """What a native vector env answers when it is asked for true states."""

    def __init__(self, batch: Batch, when: TrueStates, same_step: bool) -> None:
        self.when = when
        self._batch, self._same_step = batch, same_step
        keeps = when not in (STEP, NEVER)
        self._kept = state.new_games(len(batch.games) if keeps else 0)
        self._fresh = np.zeros(len(batch.games), np.bool_)
        self._window = TrueState(batch.games)
        self._last = LastStates(batch)
        self._found: list[Any] = self._last.found  # type: ignore[attr-defined]
        self._stepped = False  # since the last reset
        self._ended = False  # some episode did in the last step, and another has begun

    @contextlib.contextmanager
    def beginning(self, which: Any) -> Iterator[None]:
        """Within, some games, or all, are reset or have others put in their place."""
        # Where others have just ended, their last states are to be seen on.
        before = self._last.games if self._ended and which is not None else None
        yield
        self._fresh[:] = False
        if self.when != STEP:
            return
        chosen = slice(None) if which is None else which
        self._fresh[chosen] = True
        self._stepped = False
        if before is None:
            self._ended = False
            self._found.clear()
        else:
            before[chosen] = self._batch.games[chosen]

    def after_step(self, ended: bool) -> None:
        """All games have played a step; whether a same-step reset has followed in some."""
        if self.when == STEP:  # nothing but this: it is to cost nothing
            self._stepped, self._ended = True, ended
            if self._found:
                self._found.clear()
            return
        batch = self._batch
        truncated = batch.results.truncated
        if self.when == EPISODE:
            due = truncated
        else:
            k = int(self.when)
            due = (batch.games.step % k == 0) & (batch.games.step > 0)
            if self._same_step and batch.options.horizon % k == 0:
                due |= truncated
        self._fresh[:] = due
        if due.any():
            self._kept[due] = batch.games[due]
            if ended:
                last = due & truncated
                self._kept[last] = batch.finals.games[last]

    @property
    def states(self) -> TrueState:
        """Those read last."""
        if self.when == STEP:
            return self._last if self._ended else self._window
        if self.when == NEVER:
            raise ValueError(NOBODY_ASKED)
        return TrueState(self._kept)

    @property
    def now(self) -> TrueState:
        """Those that the next actions will meet."""
        if self.when != STEP:
            raise ValueError(NOBODY_ASKED if self.when == NEVER else needs_every_step(self.when))
        return self._window

    @property
    def fresh(self) -> np.ndarray:
        """Which of `states` the last call has read."""
        if self.when == NEVER:
            raise ValueError(NOBODY_ASKED)
        if self._stepped and self.when == STEP:
            self._fresh[:] = True
        return self._fresh
