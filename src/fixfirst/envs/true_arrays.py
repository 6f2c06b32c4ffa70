"""The true state of one game as plain arrays, under the names that `TrueState` has for them."""

import functools
from typing import Any

import numpy as np
from gymnasium import spaces

from fixfirst.game import state
from fixfirst.game.truth import TrueState

NAMES = tuple(
    name
    for name, found in vars(TrueState).items()
    if isinstance(found, property) and name not in ("step", "episode")
)


@functools.cache
def true_state_space() -> spaces.Dict:
    """The names, dtypes and shapes of the arrays of one game."""
    return spaces.Dict({name: _box(value) for name, value in arrays_of(_blank()).items()})


def arrays_of(truth: TrueState) -> dict[str, np.ndarray]:
    """The arrays of a batch of one game, without the axis of games."""
    return {name: getattr(truth, name)[0] for name in NAMES}


def _blank() -> TrueState:
    return TrueState(state.new_games(1))


def _box(value: Any) -> spaces.Box:
    dtype = np.asarray(value).dtype
    if dtype.kind == "f":
        return spaces.Box(-np.inf, np.inf, np.shape(value), dtype.type)
    most = 1 if dtype.kind == "b" else np.iinfo(dtype).max
    return spaces.Box(0, most, np.shape(value), dtype.type)
