"""What a search has found."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fixfirst.judge.statistics import NORMAL_95
from fixfirst.runs.folder import RunError
from fixfirst.search.history import Trial
from fixfirst.search.record import Knowledge, SearchRecord
from fixfirst.workflow.orders import Workflow

if TYPE_CHECKING:
    from fixfirst.learn.policy import Policy


@dataclass(frozen=True)
class Best:
    """The best order of those that passed the gate, by the model's mean."""

    order: Workflow
    mean: float  # of the environment reward
    deviation: float
    chance: float  # that no order is better
    trial: Trial  # the best of its trials, whose policy is to be used

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean."""
        return self.mean - NORMAL_95 * self.deviation, self.mean + NORMAL_95 * self.deviation


@dataclass(frozen=True)
class Found:
    """The outcome of a search, or how it stands."""

    record: SearchRecord

    @property
    def trials(self) -> Sequence[Trial]:
        """All trials, by number."""
        return self.record.history.trials

    @property
    def knowledge(self) -> Knowledge | None:
        """The posterior over all orders; None as long as no trial has passed the gate."""
        return self.record.knowledge

    @property
    def best(self) -> Best | None:
        """The best order; None as long as no trial has passed the gate."""
        return best_of(self.record)

    @property
    def policy(self) -> "Policy":
        """The policy for the best order."""
        from fixfirst.learn.policy import Policy  # noqa: PLC0415 - loads PyTorch

        best = self.best
        if best is None or best.trial.checkpoint is None:
            raise RunError(
                f"no trial in {self.record.folder} has passed the gate, so there is no policy; give "
                "the trials more episodes, or a larger alignment_lambda"
            )
        return Policy(self.record.folder / best.trial.checkpoint)

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.record.folder


def best_of(record: SearchRecord) -> Best | None:
    """The best order of a search as it stands."""
    known, passed = record.knowledge, record.history.passed
    if known is None or not passed:
        return None
    place = {order: number for number, order in enumerate(known.orders)}
    tried = [trial for trial in passed if trial.order in place]
    if not tried:
        return None
    number = max({place[trial.order] for trial in tried}, key=lambda one: known.mean[one])
    order = known.orders[number]
    trial = max(
        (one for one in tried if one.order == order),
        key=lambda one: one.reward if one.reward is not None else float("-inf"),
    )
    return Best(
        order,
        float(known.mean[number]),
        float(known.deviation[number]),
        float(known.best_chance[number]),
        trial,
    )
