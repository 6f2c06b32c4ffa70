"""What a search knows: its trials, and why each of their orders was chosen.

Strategies read a `History` and nothing else, so that a search which is killed and resumed,
or shared by several workers, goes on just as it would have.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from fixfirst.workflow.groups import Groups
from fixfirst.workflow.orders import Workflow, ranks_of

RUNNING, PASSED, FAILED = "running", "passed", "failed"
STATES = (RUNNING, PASSED, FAILED)


@dataclass(frozen=True)
class Guess:
    """What the model thinks of an order."""

    order: Workflow
    mean: float
    deviation: float


@dataclass(frozen=True)
class Proposal:
    """An order to try next, and why."""

    order: Workflow
    why: str  # one short sentence for people
    kind: str  # "explore", "exploit", or the name of a strategy that makes no such difference
    top: tuple[Guess, ...] = ()  # the model's best orders at that moment, the best first
    guess: Guess | None = None  # what the model thought of the chosen one
    episodes: int | None = None  # a cap of its own, below that of the search
    continues: int | None = None  # the trial whose policy is trained on, if not the nearest


@dataclass(frozen=True)
class Trial:
    """One order, trained until the gate, a plateau or the cap, and judged."""

    number: int
    order: Workflow
    state: str  # one of STATES; FAILED is a trial that did not pass the gate
    proposal: Proposal
    reward: float | None = None  # mean environment reward, once it is over
    error: float | None = None  # the standard error of that mean
    compliance: float | None = None
    fixes: float | None = None  # an episode
    episodes: int = 0  # spent on training
    why: str | None = None  # why training ended: "gate", "plateau", "episodes", "diverged"
    started_from: int | None = None  # the trial whose weights it began with
    seconds: float = 0.0  # of training and judging
    worker: str = ""
    checkpoint: str | None = None  # below the run folder
    cap: int = 0  # episodes that it may train
    judged: int = 0  # episodes behind the reward


@dataclass(frozen=True)
class History:
    """The trials of a search so far, those that other workers are running included."""

    groups: Groups
    trials: Sequence[Trial] = field(default_factory=tuple)
    before: int = 0  # episodes spent before the first trial, on one policy for all orders

    def of_state(self, *states: str) -> list[Trial]:
        """The trials in these states, in the order in which they began."""
        return [trial for trial in self.trials if trial.state in states]

    @property
    def passed(self) -> list[Trial]:
        """The trials that tell the model a reward."""
        return self.of_state(PASSED)

    @property
    def over(self) -> list[Trial]:
        """The trials that have ended."""
        return self.of_state(PASSED, FAILED)

    @property
    def episodes(self) -> int:
        """Training episodes spent in all."""
        return self.before + sum(trial.episodes for trial in self.trials)

    def measured(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ranks [n, k], rewards [n] and standard errors [n] of the trials that passed."""
        passed = self.passed
        return (
            ranks_of([trial.order for trial in passed], self.groups),
            np.array([trial.reward for trial in passed], dtype=float),
            np.array([trial.error for trial in passed], dtype=float),
        )


class Strategy(Protocol):
    """A way to choose orders. It keeps nothing between calls but its own settings."""

    @property
    def name(self) -> str:
        """Its name, as in `--strategy`."""
        ...

    def propose(self, history: History, count: int, seed: int) -> list[Proposal]:
        """`count` orders to try next, to be run at the same time; fewer, or none, when the
        strategy has nothing left to try. The same history and seed give the same proposals.
        """
        ...
