"""The options of PPO, each with its default; `docs/ppo.md` says why."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

SCHEDULES = ("constant", "linear")


@dataclass(frozen=True)
class PPO:
    """How a policy is trained. On the command line the names have `-` for `_`."""

    # --- the networks
    hidden: tuple[int, ...] = (64, 64)  # of actor and critic each, tanh
    # --- the batch
    steps: int | None = None  # of each game in an update; None for the horizon
    minibatch: int = 1000
    epochs: int = 4
    # --- the objective
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_coefficient: float = 0.5
    entropy: float = 0.01
    entropy_schedule: str = "linear"
    reward_scale: float = 0.1
    normalise_advantages: bool = True
    normalise_values: bool = True
    # --- the optimiser
    learning_rate: float = 2e-3
    learning_rate_schedule: str = "linear"
    max_gradient_norm: float = 0.5
    adam_epsilon: float = 1e-5

    def __post_init__(self) -> None:
        if not self.hidden:
            raise ValueError(f"hidden={self.hidden!r} gives no layers; it is widths of 1 or more")
        for width in self.hidden:
            _whole("hidden", width)
        for name in ("steps", "minibatch", "epochs"):
            if (name, self.steps) != ("steps", None):
                _whole(name, getattr(self, name))
        for name in ("gamma", "gae_lambda"):
            _number(name, getattr(self, name), most=1.0)
        for name in ("clip", "learning_rate", "max_gradient_norm", "reward_scale", "adam_epsilon"):
            _number(name, getattr(self, name), above_zero=True)
        for name in ("value_coefficient", "entropy"):
            _number(name, getattr(self, name))
        for name in ("normalise_advantages", "normalise_values"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}={getattr(self, name)!r} is neither True nor False")
        for name in ("entropy_schedule", "learning_rate_schedule"):
            if getattr(self, name) not in SCHEDULES:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not known; it is one of "
                    + ", ".join(SCHEDULES)
                )

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for a file."""
        return asdict(self) | {"hidden": list(self.hidden)}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "PPO":
        """From plain data; unknown names are refused."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise ValueError(f"PPO has no option {unknown[0]!r}; it has {', '.join(sorted(known))}")
        hidden = given.get("hidden", cls.hidden)
        if not isinstance(hidden, list | tuple):
            raise TypeError(f"hidden={hidden!r} is no list of widths")
        return cls(**(given | {"hidden": tuple(hidden)}))


def scheduled(value: float, schedule: str, progress: float) -> float:
    """The value when a share `progress` of the training is done."""
    return value * max(0.0, 1.0 - progress) if schedule == "linear" else value


def _whole(name: str, value: Any) -> None:
    """Raise unless the value is a whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name}={value!r} makes no sense here; it is a whole number, 1 or more")


def _number(name: str, value: Any, *, most: float = math.inf, above_zero: bool = False) -> None:
    """Raise unless the value is a finite number within its bounds."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not (fits and 0 <= value <= most and (value > 0 or not above_zero)):
        least = "above 0" if above_zero else "0 or more"
        allowed = least if most == math.inf else f"from 0 to {most:g}"
        raise ValueError(f"{name}={value!r} makes no sense here; it is a number, {allowed}")
