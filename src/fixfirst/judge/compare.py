"""Two blues in the same games, and whether one of them is better."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fixfirst.envs.where import BUILT_IN
from fixfirst.judge import statistics
from fixfirst.judge.evaluate import Evaluated, evaluate
from fixfirst.judge.play import Played

# The chance of seeing a difference where there is none.
LEVEL = 0.05


@dataclass(frozen=True)
class Compared:
    """What two blues scored, episode by episode with the same seeds."""

    first: Evaluated
    second: Evaluated

    @property
    def played(self) -> tuple[Played, Played]:
        """Both scores."""
        return self.first.played, self.second.played

    @property
    def differences(self) -> np.ndarray:
        """The first's return minus the second's, in each episode; rewards are whole tenths."""
        a, b = self.played
        return np.asarray(np.rint(10 * (a.returns - b.returns)) / 10)

    @property
    def mean(self) -> float:
        """The mean difference: above zero if the first is better."""
        return float(self.differences.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean difference."""
        return statistics.standard_error(self.differences)

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval of the mean difference."""
        return statistics.half_width_95(self.differences)

    @property
    def t_p(self) -> float | None:
        """The p-value of the paired t-test; a single difference has none."""
        error = self.standard_error
        if math.isinf(error):
            return None
        if error == 0:
            return float(self.mean == 0)
        return statistics.student_p(self.mean / error, len(self.differences) - 1)

    @cached_property
    def sign_flip_p(self) -> float:
        """The p-value of the sign-flip test, by which the two are judged."""
        return statistics.sign_flip_p(self.differences)

    def summary(self) -> dict[str, Any]:
        """All but the single episodes, as JSON can hold it."""
        differences = self.differences
        finite = statistics.finite
        return {
            "difference": {
                "mean": self.mean,
                "standard_error": finite(self.standard_error),
                "low_95": finite(self.mean - self.half_width),
                "high_95": finite(self.mean + self.half_width),
                "sign_flip_p": self.sign_flip_p,
                "t_p": self.t_p,
                "first_better": int((differences > 0).sum()),
                "equal": int((differences == 0).sum()),
                "second_better": int((differences < 0).sum()),
            },
            "first": self.first.summary(),
            "second": self.second.summary(),
        }


def compare(
    first: Any,
    second: Any,
    red: str = "bline",
    *,
    rules: str | None = None,
    horizon: int = 100,
    episodes: int = 1000,
    seed: int | None = 0,
    rng: str | None = None,
    on: str = BUILT_IN,
    on_step: Callable[[int], object] | None = None,
) -> Compared:
    """Play both policies with the same seeds. The arguments are those of `evaluate`."""
    options: dict[str, Any] = {
        "rules": rules, "horizon": horizon, "episodes": episodes, "rng": rng, "on": on,
        "on_step": on_step,
    }  # fmt: skip
    one = evaluate(first, red, seed=seed, **options)
    return Compared(one, evaluate(second, red, seed=one.played.seed, **options))
