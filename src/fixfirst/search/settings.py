"""The settings of a search, checked at the door. The names are those of the command line."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from fixfirst.envs.options import one_of, whole
from fixfirst.game.facts import REDS, RULES
from fixfirst.game.state import MAX_HORIZON
from fixfirst.game.tables import HOST_NAMES
from fixfirst.workflow.groups import DEFAULT_GROUPS, Groups, groups_from
from fixfirst.workflow.permutations import LISTABLE

EVALUATION, TRAINING = "evaluation", "training"
SCORES = (EVALUATION, TRAINING)
NEAREST, SAME, ALL, SCRATCH = "nearest", "same", "all", "scratch"
WARM_STARTS = (NEAREST, SAME, ALL, SCRATCH)
EXHAUSTIVE = "exhaustive"

N_WORKFLOWS = 20  # unless the strategy tries them all

# What a search that is resumed may be given more of.
EXTENDABLE = ("total_episodes", "n_workflows", "time")


@dataclass(frozen=True)
class Settings:
    """A search, as plain values that a file can hold. None stands for a default that depends on
    the others; `resolved` writes it out.
    """

    # --- the game
    red_agent: str | dict[str, float] = "bline"  # or "bline,meander", or shares
    rules: str = "latest"
    max_steps: int = 100  # in an episode
    groups: str | dict[str, list[str]] | None = None
    # --- the budget
    total_episodes: int = 100_000
    n_workflows: int | None = None  # trials; None: 20, or all orders if the search is exhaustive
    max_episodes: int | None = None  # of a trial; None: an equal share of the budget
    stage_episodes: int | None = None  # of warm_start="all" before all trials; None: half of all
    time: float | None = None  # minutes
    # --- a trial
    n_envs: int = 200
    update_steps: int | None = None  # of each game in an update; None: an episode
    alignment_lambda: float = 30.0
    compliance_threshold: float = 0.90
    stop_at_gate: bool = True
    patience: int = 0  # updates without a gain of 1 % after which to stop; 0 never
    warm_start: str = NEAREST
    score: str = EVALUATION
    evaluation_episodes: int = 1_000
    memory: bool = False
    mask: bool = False
    ppo: dict[str, Any] = field(default_factory=dict)
    # --- the choice of orders
    strategy: str = "gp-ucb"
    gp_beta: float | str = 2.0  # a number, or the name of a schedule
    # --- how it is run
    seed: int = 0
    workers: int = 1
    threads: int | None = None  # of each worker; None: the machine's, shared evenly
    storage: str | None = None  # the database's URL; None: SQLite in the run folder
    checkpoint_dir: str | None = None  # of the trials; None: `trials` in the run folder

    def __post_init__(self) -> None:
        object.__setattr__(self, "red_agent", _red(self.red_agent))
        one_of("rules", self.rules, RULES)
        whole("max_steps", self.max_steps, 1, MAX_HORIZON)
        for name in ("total_episodes", "n_envs", "workers"):
            whole(name, getattr(self, name), 1, None)
        for name in ("n_workflows", "max_episodes", "stage_episodes", "update_steps", "threads"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), 1, None)
        whole("patience", self.patience, 0, None)
        whole("seed", self.seed, 0, 2**32 - 1)
        whole("evaluation_episodes", self.evaluation_episodes, 2, None)
        one_of("score", self.score, SCORES)
        one_of("warm_start", self.warm_start, WARM_STARTS)
        if self.stage_episodes is not None and self.warm_start != ALL:
            raise ValueError(
                f"stage_episodes={self.stage_episodes} is for warm_start={ALL!r}, and here it is "
                f"{self.warm_start!r}"
            )
        if self.time is not None:
            _above_zero("time", self.time, "minutes")
        for name in ("stop_at_gate", "memory", "mask"):
            if not isinstance(value := getattr(self, name), bool):
                raise TypeError(f"{name}={value!r} is neither true nor false")
        for name in ("storage", "checkpoint_dir"):
            if not isinstance(value := getattr(self, name), str | None):
                raise TypeError(f"{name}={value!r} is no text")
        options: Any = self.ppo
        if not isinstance(options, dict):
            raise TypeError(f"ppo={options!r} is no table of options, such as minibatch = 500")
        if "steps" in self.ppo:
            raise ValueError("ppo.steps is named update_steps here; give that")
        object.__setattr__(self, "groups", _plain_groups(groups_from(self.groups)))

    # --- reading and writing

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Settings":
        """From plain data; unknown names are refused."""
        known = [f.name for f in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise ValueError(
                f"a search has no setting {unknown[0]!r}; it has {', '.join(sorted(known))}"
            )
        return cls(**given)

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for a file."""
        return asdict(self)

    # --- what follows from them

    @property
    def partition(self) -> Groups:
        """The groups whose order is searched."""
        return groups_from(self.groups)

    def resolved(self, cores: int = 1) -> "Settings":
        """The same with all defaults written out, on a machine with so many cores."""
        count = self.n_workflows
        if count is None:
            orders = math.factorial(len(self.partition))
            if self.strategy == EXHAUSTIVE and len(self.partition) > LISTABLE:
                raise ValueError(
                    f"{len(self.partition)} groups have {orders:,} orders, too many for "
                    f"strategy={EXHAUSTIVE!r}, which takes at most {LISTABLE} groups; use gp-ucb"
                )
            count = orders if self.strategy == EXHAUSTIVE else N_WORKFLOWS
        steps = self.max_steps if self.update_steps is None else self.update_steps
        stage, before = None, 0
        if self.warm_start == ALL:
            stage = self.stage_episodes or self.total_episodes // 2
            before = self.most_within(stage)
            if before >= self.total_episodes:
                raise ValueError(
                    f"stage_episodes={stage} leaves nothing of total_episodes="
                    f"{self.total_episodes} for trials; give fewer, or more in all"
                )
        made = replace(
            self,
            n_workflows=count,
            update_steps=steps,
            stage_episodes=stage,
            max_episodes=self.max_episodes or max(1, (self.total_episodes - before) // count),
            threads=self.threads or max(1, cores // self.workers),
        )
        least = made.most_within(0, at_least_one=True)
        for name in ("total_episodes", "max_episodes", "stage_episodes"):
            given = getattr(made, name)
            if given is not None and given < least:
                raise ValueError(
                    f"{name}={given} is less than one update, which is {least} episodes of "
                    f"{self.n_envs} games; give more episodes, or fewer games with n_envs"
                )
        return made

    def most_within(self, episodes: int, at_least_one: bool = False) -> int:
        """How many episodes the most updates take that fit into so many: updates are never cut.

        All games begin together, so the episodes of a training end `n_envs` at a time.
        """
        steps = self.max_steps if self.update_steps is None else self.update_steps
        # After u updates each game has ended u * steps // max_steps episodes.
        rounds = episodes // self.n_envs
        updates = ((rounds + 1) * self.max_steps - 1) // steps
        if at_least_one and updates * steps // self.max_steps < 1:
            updates = -(-self.max_steps // steps)
        return self.n_envs * (updates * steps // self.max_steps)


def read_config(path: Path) -> dict[str, Any]:
    """The settings that a TOML file gives."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ValueError(f"config {path} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(f"config {path} is not TOML: {problem}") from None
    try:
        Settings.from_dict(given)
    except (ValueError, TypeError) as problem:
        raise ValueError(f"config {path}: {problem}") from None
    return given


def _red(red: str | Mapping[str, float]) -> str | dict[str, float]:
    """A red, or the share of each; several with commas share evenly."""
    given: Any = red
    if not isinstance(given, str | Mapping):
        raise TypeError(f"red_agent={given!r} is neither a name nor shares of names")
    if not isinstance(red, str):
        for name in red:
            one_of("red_agent", name, REDS)
        return dict(red)
    names = [one_of("red_agent", name.strip(), REDS) for name in red.split(",")]
    if len(set(names)) < len(names):
        raise ValueError(f"red_agent={red!r} names a red twice")
    return names[0] if len(names) == 1 else {name: 1 / len(names) for name in names}


def _plain_groups(groups: Groups) -> dict[str, list[str]] | None:
    """The groups written out, so that a run does not depend on a file elsewhere."""
    if groups == DEFAULT_GROUPS:
        return None
    return {
        name: [HOST_NAMES[host] for host in members]
        for name, members in zip(groups.names, groups.members, strict=True)
    }


def _above_zero(name: str, value: Any, unit: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:
        raise ValueError(f"{name}={value!r} makes no sense here; it is {unit}, more than 0")
