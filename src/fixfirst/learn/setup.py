"""What is trained, and against whom: the options of a training, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from fixfirst.envs.options import Options, checked, whole
from fixfirst.envs.where import BUILT_IN
from fixfirst.learn import games
from fixfirst.learn.options import PPO
from fixfirst.workflow.alignment import checked_terms
from fixfirst.workflow.groups import DEFAULT_GROUPS, Groups, groups_from
from fixfirst.workflow.orders import Workflow

# Games are cheap beside the networks, whose own threads should not have to wait for theirs.
GAME_THREADS = 1


@dataclass(frozen=True)
class Setup:
    """A training, as plain values that a file can hold."""

    red: str | dict[str, float] = "bline"
    rules: str = "latest"
    horizon: int = 100
    n_envs: int = 200
    episodes: int = 50_000
    orders: tuple[str, ...] = ()
    groups: str | dict[str, list[str]] | None = None  # kept written out; None for the default
    alignment_lambda: float = 30.0
    compliant_bonus: float = 0.0  # in units of lambda
    violation_penalty: float = 0.0  # in units of lambda
    compliance_rule: str = "held"
    compliance_threshold: float = 0.90
    stop_at_gate: bool = True
    patience: int = 0  # updates without a gain of 1% after which to stop; 0 never
    memory: bool = False
    mask: bool = False
    seed: int = 0
    device: str = "cpu"
    threads: int | None = None  # for the networks; None for as many as PyTorch uses
    on: str = BUILT_IN  # where games are played; or "cyborg:DIR", the real CybORG
    backend: str | None = None  # what runs them; None for native, or shared for CybORG
    ppo: PPO = field(default_factory=PPO)

    def __post_init__(self) -> None:
        _settle(self, "groups", _written_out(self.groups))
        _settle(self, "on", games.checked_place(self.on))
        _settle(self, "backend", games.checked_backend(self.backend, self.on))
        if self.ppo.steps is None:
            _settle(self, "ppo", replace(self.ppo, steps=self.horizon))
        if self.threads is not None:
            whole("threads", self.threads, 1, None)
        whole("n_envs", self.n_envs, 1, None)
        whole("episodes", self.episodes, 1, None)
        whole("patience", self.patience, 0, None)
        whole("seed", self.seed, 0, 2**63 - 1)
        if len(self.orders) > self.n_envs:
            raise ValueError(
                f"{len(self.orders)} orders need a game each, and n_envs={self.n_envs}; give "
                f"n_envs={len(self.orders)} or more, or fewer orders"
            )
        stop: Any = self.stop_at_gate
        if not isinstance(stop, bool):
            raise TypeError(f"stop_at_gate={stop!r} is neither True nor False")
        threshold: Any = self.compliance_threshold
        is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not (is_number and 0.0 <= threshold <= 1.0):
            raise ValueError(
                f"compliance_threshold={self.compliance_threshold!r} makes no sense here; "
                "it is from 0 to 1"
            )
        self.checked()

    @property
    def steps(self) -> int:
        """Of each game in an update."""
        return self.horizon if self.ppo.steps is None else self.ppo.steps

    @property
    def workflows(self) -> list[Workflow]:
        """The orders, read."""
        groups = groups_from(self.groups)
        return [Workflow(order, groups) for order in self.orders]

    @property
    def order_of_game(self) -> list[Workflow]:
        """The order of each game: they take turns. Empty if there is none."""
        read = self.workflows
        return [read[i % len(read)] for i in range(self.n_envs)] if read else []

    def checked(self) -> Options:
        """The options of the batch of games."""
        return checked(
            self.n_envs, self.red, self.rules, self.horizon, "fast", GAME_THREADS, "same_step",
            self.order_of_game or None,
            checked_terms(
                self.alignment_lambda, self.compliance_rule, self.compliant_bonus,
                self.violation_penalty,
            ),
            self.memory or self.mask,  # masks are made of what blue remembers
        )  # fmt: skip

    def first_seed(self, updates: int = 0) -> int:
        """The seed of the first of the games that begin after so many updates.

        Different seeds of training share no game's seed.
        """
        words = [self.seed, updates] if updates else self.seed
        return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])

    def batch(self) -> games.Games:
        """The games, seeded."""
        assert self.backend is not None
        return games.make(
            self.checked(), self.red, self.rules, self.on, self.backend, self.first_seed()
        )

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for a file."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain | {"orders": list(self.orders), "ppo": self.ppo.as_dict()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Setup":
        """From plain data; unknown names are refused."""
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise ValueError(f"a training has no option {unknown[0]!r}")
        values = dict(given)
        values["orders"] = tuple(values.get("orders", ()))
        values["ppo"] = PPO.from_dict(values.get("ppo", {}))
        return cls(**values)


def _settle(setup: Setup, name: str, value: Any) -> None:
    """Write out what an option stands for, while the setup is made."""
    object.__setattr__(setup, name, value)


def _written_out(groups: Any) -> dict[str, list[str]] | None:
    """Groups in full, so that a run does not depend on a file elsewhere."""
    of: Groups = groups_from(groups)
    return None if of == DEFAULT_GROUPS else of.as_mapping()
