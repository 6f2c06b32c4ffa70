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
        self._last = LastStates(batch)
        self._found: list[Any] = self._last.found  # type: ignore[attr-defined]
        self._stepped = False  # since the last reset
        # With "step", what `states` and `now` are, at hand because every step asks for them.
        self._each_step = when == STEP
        self._window = TrueState(batch.games) if self._each_step else None
        self.at_hand: TrueState | None = self._window
        self.now_at_hand: TrueState | None = self._window

    @contextlib.contextmanager
    def beginning(self, which: Any) -> Iterator[None]:
        """Within, some games, or all, are reset or have others put in their place."""
        # Where others have just ended, their last states are to be seen on.
        ended = self.at_hand is self._last
        before = self._last.games if ended and which is not None else None
        yield
        self._fresh[:] = False
        if self.when != STEP:
            return
        chosen = slice(None) if which is None else which
        self._fresh[chosen] = True
        self._stepped = False
        if before is None:
            self.at_hand = self._window
            self._found.clear()
        else:
            before[chosen] = self._batch.games[chosen]

    def after_step(self, ended: bool) -> None:
        """All games have played a step; whether a same-step reset has followed in some."""
        if self._each_step:  # nothing but this: it is to cost nothing
            self._stepped = True
            self.at_hand = self._last if ended else self._window
            if self._found:
                self._found.clear()
            return
        batch = self._batch
        truncated = batch.results.truncated
        if self.when == EPISODE:
            self._fresh[:] = truncated
            self._keep(truncated, batch.finals.games if ended else batch.games)
            return
        k = int(self.when)
        due = (batch.games.step % k == 0) & (batch.games.step > 0)
        self._keep(due, batch.games)
        if ended and batch.options.horizon % k == 0:
            self._keep(truncated, batch.finals.games)
            due |= truncated
        self._fresh[:] = due

    def _keep(self, due: np.ndarray, games: Any) -> None:
        """Copy the games that are due. As bytes: to copy a record is then a single move."""
        (where,) = due.nonzero()
        if len(where):
            _bytes(self._kept)[where] = _bytes(games)[where]

    @property
    def states(self) -> TrueState:
        """Those read last."""
        if self.at_hand is not None:
            return self.at_hand
        if self.when == NEVER:
            raise ValueError(NOBODY_ASKED)
        return TrueState(self._kept)

    @property
    def now(self) -> TrueState:
        """Those that the next actions will meet."""
        if self.now_at_hand is None:
            raise ValueError(NOBODY_ASKED if self.when == NEVER else needs_every_step(self.when))
        return self.now_at_hand

    @property
    def fresh(self) -> np.ndarray:
        """Which of `states` the last call has read."""
        if self.when == NEVER:
            raise ValueError(NOBODY_ASKED)
        if self._stepped and self._each_step:
            self._fresh[:] = True
        return self._fresh


def _bytes(games: Any) -> np.ndarray:
    array = np.asarray(games)
    return array.view(np.uint8).reshape(len(array), array.dtype.itemsize)
