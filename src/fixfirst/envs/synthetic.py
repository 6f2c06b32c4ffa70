"""A small env with nothing behind it, made to be awkward: for tests of backends and benchmarks.

Its observations are of odd dtypes, its infos are dicts that come and go, its episodes end early,
its steps take what time they are told to, evenly or not, and it fails when it is told to.
"""

import os
import time
from dataclasses import asdict, dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

FAILURES = ("raise", "die", "hang")


@dataclass(frozen=True)
class Awkward:
    """Makes a `SyntheticEnv`; a factory that can be sent to any process.

    length      steps after which an episode is truncated
    ends        chance of a step to terminate it before
    mean        seconds that a step takes on average
    tail        how uneven the steps are: 0 not at all, 1 very (the spread of a lognormal)
    burn        spend the time computing, and not asleep
    dtype       of the observations; Gymnasium's own AsyncVectorEnv cannot share a float16
    nested      observations in a dict, and not a single array
    talkative   tell something in the info now and then
    fail_at     the step of an episode at which it fails, or 0
    fail_episode    in which of its episodes it does, or 0 for all
    failure     how: "raise", "die" (kills its process) or "hang"
    """

    length: int = 20
    ends: float = 0.0
    mean: float = 0.0
    tail: float = 0.0
    burn: bool = False
    dtype: str = "float16"
    nested: bool = False
    talkative: bool = False
    fail_at: int = 0
    fail_episode: int = 0
    failure: str = "raise"

    def __call__(self) -> "SyntheticEnv":
        """One such env."""
        return SyntheticEnv(**asdict(self))


class SyntheticEnv(gym.Env[Any, int]):
    """The env that `Awkward` describes. Its state is a number that actions move about."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012
    true_state_space = spaces.Dict(
        {
            "level": spaces.Box(0, 255, (13,), np.uint8),
            "place": spaces.Box(-np.inf, np.inf, (), np.float64),
            "met": spaces.MultiBinary((2, 3)),
        }
    )

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        self.options = Awkward(**options)
        if self.options.failure not in FAILURES:
            raise ValueError(
                f"failure={self.options.failure!r} is not known; it is one of {', '.join(FAILURES)}"
            )
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(5)
        self._dtype = np.dtype(self.options.dtype)
        flat = spaces.Box(-1000, 1000, (6,), self._dtype.type)
        self.observation_space: gym.Space[Any] = flat
        if self.options.nested:
            self.observation_space = spaces.Dict(
                {
                    "flat": flat,
                    "bits": spaces.MultiBinary((2, 3)),
                    "pair": spaces.Tuple(
                        (spaces.Discrete(7, start=-3), spaces.MultiDiscrete([3, 4], dtype=np.int16))
                    ),
                }
            )
        self._place, self._steps, self._episodes = 0.0, 0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; `options` may name the place to begin at."""
        super().reset(seed=seed)
        self._place = float(self.np_random.integers(-50, 50))
        if options:
            self._place = float(options["place"])
        self._steps = 0
        self._episodes += 1
        return self._observation(), {"began": self._episodes} if self.options.talkative else {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move, after having taken the time and met the failure that were asked for."""
        asked = self.options
        self._steps += 1
        if asked.fail_at == self._steps and asked.fail_episode in (0, self._episodes):
            self._fail()
        self._wait()
        self._place += int(action) - 2 + float(self.np_random.normal())
        self._place = float(np.clip(self._place, -999.0, 999.0))
        terminated = bool(asked.ends and self.np_random.random() < asked.ends)
        truncated = not terminated and self._steps >= asked.length
        info: dict[str, Any] = {}
        if asked.talkative and (self._steps % 3 == 0 or terminated):
            info = {
                "place": self._place,
                "inner": {"steps": self._steps},
                "word": f"s{self._steps}",
            }
        return self._observation(), -abs(self._place), terminated, truncated, info

    def true_state_arrays(self) -> dict[str, np.ndarray]:
        """The place, and two arrays that follow from it."""
        there = int(abs(self._place))
        return {
            "level": (np.arange(13) * there % 256).astype(np.uint8),
            "place": np.array(self._place),
            "met": (np.arange(6).reshape(2, 3) + self._steps) % 2 == 0,
        }

    def render(self) -> str:  # type: ignore[override]
        """The place as text."""
        return f"at {self._place:.2f} after {self._steps} steps"

    def _observation(self) -> Any:
        flat = (self._place * np.arange(6) / 6).astype(self._dtype)
        if not self.options.nested:
            return flat
        there = int(abs(self._place))
        bits = (np.arange(6).reshape(2, 3) & there > 0).astype(np.int8)
        pair = (there % 7 - 3, np.array([there % 3, there % 4], dtype=np.int16))
        return {"flat": flat, "bits": bits, "pair": pair}

    def _wait(self) -> None:
        asked = self.options
        if not asked.mean:
            return
        seconds = asked.mean
        if asked.tail:  # a lognormal of this mean
            seconds *= float(self.np_random.lognormal(-(asked.tail**2) / 2, asked.tail))
        if not asked.burn:
            time.sleep(seconds)
            return
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            pass

    def _fail(self) -> None:
        if self.options.failure == "die":
            os.kill(os.getpid(), 9)
        if self.options.failure == "hang":
            time.sleep(1e6)
        raise RuntimeError(f"told to fail at step {self._steps}")
