"""What the benchmark of backends puts around every env, whoever runs it."""

import itertools
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np


def paced(
    make: Callable[[], gym.Env[Any, Any]], first: int, horizon: int, clocked: bool
) -> gym.Env[Any, Any]:
    """An env of the benchmark."""
    env = Staggered(make(), first, horizon)
    return Clocked(env) if clocked else env


class Staggered(gym.Wrapper[Any, Any, Any, Any]):
    """Ends episodes after `horizon` steps, the first one after `first`: so that the envs of a
    vector env do not all reset in the same step, and every stretch of steps holds its share.
    """

    def __init__(self, env: gym.Env[Any, Any], first: int, horizon: int) -> None:
        super().__init__(env)
        self._left, self._horizon = first, horizon
        self._begun = False

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        if self._begun:
            self._left = self._horizon
        self._begun = True
        return self.env.reset(**given)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play a step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._left -= 1
        return observation, reward, terminated, truncated or self._left <= 0, info


class Clocked(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps how long each step took, with the reset that it called for, and how long true states
    took to read.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.true_state_space = env.get_wrapper_attr("true_state_space")
        self._read = env.get_wrapper_attr("true_state_arrays")
        self._steps: list[float] = []
        self._reads: list[float] = []

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        began = time.perf_counter()
        found = self.env.reset(**given)
        if self._steps:
            self._steps[-1] += time.perf_counter() - began
        return found

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play a step."""
        began = time.perf_counter()
        found = self.env.step(action)
        self._steps.append(time.perf_counter() - began)
        self._reads.append(0.0)
        return found

    def true_state_arrays(self) -> Any:
        """Read the true state."""
        began = time.perf_counter()
        found = self._read()
        if self._reads:
            self._reads[-1] += time.perf_counter() - began
        return found

    def clock(self) -> np.ndarray:
        """Seconds of each step and of its reading [2, steps] since this was last asked."""
        found = np.array([self._steps, self._reads])
        self._steps, self._reads = [], []
        return found


def where_time_goes(
    clocks: list[np.ndarray], workers: int, seconds: float, calls: int
) -> dict[str, float]:
    """The shares of a barrier's wall time: env steps and true states of a worker on average,
    waiting for the slowest worker, and the rest, which is transfer, waking and our own loop.
    """
    steps = min(calls, *(clock.shape[1] for clock in clocks))
    found = np.stack([clock[:, clock.shape[1] - steps :] for clock in clocks])  # [N, 2, steps]
    ends = [len(clocks) * k // workers for k in range(workers + 1)]
    busy = np.stack([found[a:b].sum(axis=0) for a, b in itertools.pairwise(ends)])
    both = busy.sum(axis=1)  # [workers, steps]
    wall = seconds * steps / calls
    parts = {
        "env step": busy[:, 0].mean(axis=0).sum(),
        "true states": busy[:, 1].mean(axis=0).sum(),
        "barrier wait": (both.max(axis=0) - both.mean(axis=0)).sum(),
    }
    shares = {name: float(value / wall) for name, value in parts.items()}
    return shares | {"transfer and the rest": 1.0 - sum(shares.values())}
