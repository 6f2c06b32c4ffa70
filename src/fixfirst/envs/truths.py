"""True states of envs in arrays: a record an env, and when it is read."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from fixfirst.envs.contract import EPISODE, NEVER, STEP, TrueStates
from fixfirst.envs.rows import has_fixed_size


class States:
    """True states of N envs, under the names that the envs give them: `states.level` is [N, ...].

    An object of this class is a window: read what you need before the next call. `frozen()`
    gives one that keeps. The episode is 0 where no state was read yet.
    """

    def __init__(self, records: np.ndarray) -> None:
        self.records = records

    def __getattr__(self, name: str) -> np.ndarray:
        if name == "records" or name.startswith("__"):  # asked for while being unpickled
            raise AttributeError(name)
        if name not in self.names:
            raise AttributeError(f"true states have no {name!r}; they have {', '.join(self.names)}")
        return np.asarray(self.records[name])

    def __len__(self) -> int:
        return len(self.records)

    @property
    def names(self) -> tuple[str, ...]:
        """What a state is made of, beside its step and episode."""
        return tuple(name for name in self.records.dtype.names or () if name not in LABELS)

    @property
    def step(self) -> np.ndarray:
        """The step of the episode that each state belongs to [N]."""
        return np.asarray(self.records["step"])

    @property
    def episode(self) -> np.ndarray:
        """The episode that each state belongs to [N], counted from 1."""
        return np.asarray(self.records["episode"])

    def frozen(self) -> "States":
        """The same, unaffected by later calls."""
        return States(self.records.copy())


LABELS = ("step", "episode")


def record_of(space: spaces.Dict) -> np.dtype[Any]:
    """The record that holds one true state: the parts of the space, and what it belongs to."""
    parts: list[Any] = [("step", "u4"), ("episode", "u4")]
    for name, part in space.spaces.items():
        if name in LABELS or not has_fixed_size(part) or part.shape is None:
            raise ValueError(
                f"true_state_space has {name!r}: {part}; its parts are arrays of fixed size, "
                f"none of them called {' or '.join(LABELS)}"
            )
        parts.append((name, part.dtype, part.shape))
    return np.dtype(parts, align=True)


def space_of(env: gym.Env[Any, Any]) -> spaces.Dict:
    """What the true states of an env are made of; an error if it has none."""
    try:
        space = env.get_wrapper_attr("true_state_space")
        env.get_wrapper_attr("true_state_arrays")
    except AttributeError:
        raise ValueError(
            f"{env} has no true states to read: an env that has them has true_state_space and "
            "true_state_arrays(); use true_states='never'"
        ) from None
    if not isinstance(space, spaces.Dict):
        raise TypeError(f"true_state_space of {env} is {space!r}; it is a gymnasium.spaces.Dict")
    return space


def is_due(when: TrueStates, step: int, ended: bool) -> bool:
    """Whether the state after this step of an episode is to be read."""
    if when == STEP:
        return True
    if when == NEVER:
        return False
    return ended if when == EPISODE else step % int(when) == 0
