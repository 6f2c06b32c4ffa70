"""Checks of what users give, for every room above the game."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode


def one_of(what: str, value: object, allowed: Sequence[str]) -> str:
    """The value, if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{what}={value!r} is not known; it is one of {', '.join(allowed)}")
    return value


def truth(what: str, value: Any) -> bool:
    """The value, if it is a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{what}={value!r} is of type {type(value).__name__}; it is True or False")
    return bool(value)


def whole(what: str, value: Any, least: int, most: int | None) -> int:
    """The value as an int, if it is a whole number within its bounds."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{what}={value!r} is of type {type(value).__name__}; it is a whole number"
        ) from None
    if number < least or (most is not None and number > most):
        allowed = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{what}={number} makes no sense here; it is {allowed}")
    return number


def autoreset_mode(value: Any) -> AutoresetMode:
    """The mode, also by its name."""
    names = {mode.name.lower(): mode for mode in AutoresetMode}
    if isinstance(value, AutoresetMode):
        return value
    name = value.lower() if isinstance(value, str) else value
    return names[one_of("autoreset", name, tuple(names))]


def reset_mask(mask: Any, count: int) -> np.ndarray:
    """A truth value for each env, or an error."""
    given = np.asarray(mask)
    if given.dtype != np.bool_ or given.shape != (count,):
        raise ValueError(
            f"reset_mask is {given.dtype} of shape {given.shape}; it is one truth value a game, "
            f"bool of shape ({count},)"
        )
    return given
