"""What a search has found, as its report states it: read off the record, nothing added."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fixfirst.search.history import FAILED, PASSED, RUNNING, Trial
from fixfirst.search.record import Knowledge, SearchRecord
from fixfirst.view import words
from fixfirst.view.effects import Basis, basis_of
from fixfirst.workflow.groups import Groups
from fixfirst.workflow.orders import Workflow

_TIMED = ("play", "game", "advantage", "update")  # the games are a part of playing
_LEARNING = ("play", "advantage", "update")


@dataclass(frozen=True)
class Ranked:
    """An order and its place among all that the model knows, 1 for the best."""

    place: int
    order: Workflow
    mean: float
    deviation: float
    best_chance: float
    gate_chance: float
    trials: tuple[Trial, ...]  # of this order, that are over

    @property
    def passed(self) -> list[Trial]:
        """Its trials that passed the gate."""
        return [trial for trial in self.trials if trial.state == PASSED]


@dataclass(frozen=True)
class Part:
    """A part of the time."""

    name: str
    seconds: float


class Facts:
    """A record, and what follows from it."""

    def __init__(self, record: SearchRecord) -> None:
        self.record = record
        self.history = record.history
        self.groups: Groups = record.history.groups
        self.settings: Mapping[str, Any] = record.settings

    # --- the trials

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order in which they began."""
        return sorted(self.history.trials, key=lambda trial: trial.number)

    @property
    def running(self) -> list[Trial]:
        """The trials that are not over."""
        return [trial for trial in self.trials if trial.state == RUNNING]

    @property
    def passed(self) -> list[Trial]:
        """The trials that passed the gate."""
        return [trial for trial in self.trials if trial.state == PASSED]

    @property
    def failed(self) -> list[Trial]:
        """The trials that did not."""
        return [trial for trial in self.trials if trial.state == FAILED]

    @property
    def measured(self) -> list[Trial]:
        """The trials with a reward to show: those that failed first, so that they lie below."""
        return [trial for trial in self.failed + self.passed if words.known(trial.reward)]

    @property
    def best_so_far(self) -> list[tuple[int, float]]:
        """The number of each trial that passed, and the best reward measured up to it."""
        best, found = -math.inf, []
        for trial in self.passed:
            best = max(best, float(trial.reward or 0.0))
            found.append((trial.number, best))
        return found

    # --- what the model knows

    @property
    def knowledge(self) -> Knowledge | None:
        """What the model knows; nothing before a trial has passed."""
        known = self.record.knowledge
        return known if known is not None and len(known.orders) else None

    @cached_property
    def ranked(self) -> list[Ranked]:
        """All orders that the model knows, the best first."""
        known = self.knowledge
        if known is None:
            return []
        tried: dict[Workflow, list[Trial]] = {}
        for trial in self.passed + self.failed:
            tried.setdefault(trial.order, []).append(trial)
        return [
            Ranked(
                place, known.orders[i], float(known.mean[i]), float(known.deviation[i]),
                float(known.best_chance[i]), float(known.gate_chance[i]),
                tuple(tried.get(known.orders[i], ())),
            )
            for place, i in enumerate(np.argsort(-known.mean, kind="stable").tolist(), 1)
        ]  # fmt: skip

    @cached_property
    def basis(self) -> Basis | None:
        """The orders that averages are over."""
        return None if self.knowledge is None else basis_of(self.knowledge, self.history)

    @property
    def best(self) -> Ranked | None:
        """The order that the model thinks best."""
        return self.ranked[0] if self.ranked else None

    @property
    def first_chance(self) -> float:
        """The chance that the best order begins with the same group as the one thought best."""
        same = (one for one in self.ranked if one.order.names[0] == self.ranked[0].order.names[0])
        return min(math.fsum(one.best_chance for one in same), 1.0)

    @property
    def best_trained(self) -> Ranked | None:
        """The best of the orders that a policy has passed the gate for."""
        trained = (one for one in self.ranked if one.passed)
        return next(trained, None)

    @property
    def best_trial(self) -> Trial | None:
        """Of the trials of that order, the one that scored most."""
        best = self.best_trained
        return max(best.passed, key=lambda trial: trial.reward or 0.0) if best else None

    @property
    def all_orders(self) -> int:
        """How many orders there are."""
        return math.factorial(len(self.groups))

    @property
    def lists_all(self) -> bool:
        """Whether the model knows every order, not just the best ones found."""
        return len(self.ranked) == self.all_orders

    @property
    def whose_orders(self) -> str:
        """Which orders the model lists, in words."""
        if self.lists_all:
            return f"all {self.all_orders:,} orders"
        return f"the {len(self.ranked):,} orders measured or found best, of {self.all_orders:,}"

    # --- the settings

    def setting(self, *names: str) -> Any:
        """The first of these settings that the record holds, else `None`."""
        for name in names:
            if self.settings.get(name) is not None:
                return self.settings[name]
        return None

    @property
    def threshold(self) -> float | None:
        """The compliance at which the gate opens."""
        value = self.setting("compliance_threshold")
        return None if value is None else float(value)

    @property
    def rules(self) -> str:
        """The rules version."""
        return str(self.setting("rules") or "not recorded")

    @property
    def seed(self) -> str:
        """The seed of the search."""
        value = self.setting("seed")
        return "not recorded" if value is None else str(value)

    @property
    def red(self) -> str:
        """Who attacks."""
        value = self.setting("red_agent", "red")
        if isinstance(value, Mapping):
            return " and ".join(
                f"{words.percent(float(share))} {name}" for name, share in value.items()
            )
        return str(value or "an unrecorded red")

    # --- the training, and the time

    def rows_of(self, trial: Trial) -> Sequence[Mapping[str, Any]]:
        """The figures of a trial's updates."""
        return self.record.updates.get(trial.number, ())

    @property
    def time_parts(self) -> list[Part]:
        """Where the time of all workers together went."""
        rows = [row for rows in self.record.updates.values() for row in rows]
        play, game, advantage, update = (_seconds(rows, name) for name in _TIMED)
        learning = play + advantage + update
        judging = math.fsum(
            max(trial.seconds - sum(_seconds(self.rows_of(trial), name) for name in _LEARNING), 0.0)
            for trial in self.trials
        )
        wall = self.record.worker_seconds
        return [
            Part("playing: the games", game),
            Part("playing: the networks", play - game),
            Part("advantages", advantage),
            Part("updates of the policy", update),
            Part("judging, checkpoints", judging),
            Part("model, logging, waiting", max(wall - learning - judging, 0.0)),
        ]

    @property
    def workers(self) -> int:
        """How many worked at the search at the same time, most of it."""
        together, wall = self.record.worker_seconds, self.record.seconds
        return max(1, round(together / wall)) if wall else 1


def _seconds(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return math.fsum(float(row.get(f"{name}_seconds") or 0.0) for row in rows)
