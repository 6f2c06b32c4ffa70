"""The options of PPO, each with its default; `docs/ppo.md` says why."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

SCHEDULES = ("constant", "linear")


@dataclass(frozen=True)
class PPO:
    """How a policy is trained. The names are those of the command line."""

    # --- the networks
    hidden: tuple[int, ...] = (64, 64)  # of actor and critic each, tanh
    # --- the batch
    steps: int = 100  # of each game in an update
    minibatch: int = 2000
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
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden={self.hidden!r} gives no layers; it is widths of 1 or more")
        for name in ("steps", "minibatch", "epochs"):
            _check(name, getattr(self, name), isinstance(getattr(self, name), int), 1, None)
        for name in ("gamma", "gae_lambda"):
            _check(name, getattr(self, name), True, 0.0, 1.0)
        for name in ("clip", "learning_rate", "max_gradient_norm", "reward_scale", "adam_epsilon"):
            _check(name, getattr(self, name), getattr(self, name) > 0, 0.0, None)
        for name in ("value_coefficient", "entropy"):
            _check(name, getattr(self, name), True, 0.0, None)
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
        return cls(**(given | {"hidden": tuple(given.get("hidden", cls.hidden))}))


def scheduled(value: float, schedule: str, progress: float) -> float:
    """The value when a share `progress` of the training is done."""
    return value * max(0.0, 1.0 - progress) if schedule == "linear" else value


def _check(name: str, value: Any, fits: bool, least: float, most: float | None) -> None:
    inside = math.isfinite(value) and value >= least and (most is None or value <= most)
    if not (fits and inside):
        allowed = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}={value!r} makes no sense here; it is {allowed}")
