"""The loop of a worker: choose an order, train it, judge it, tell the study; again.

Nothing is kept between two rounds but what stands in the study and the folder. So a worker that
is killed at any instant leaves nothing undone that another one, or itself when it is resumed,
does not take up again.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fixfirst.search.folder import STAGE, Config, Lock, SearchFolder, read_json
from fixfirst.search.history import FAILED, PASSED, RUNNING, History, Proposal, Strategy, Trial
from fixfirst.search.life import Life, Name
from fixfirst.search.settings import ALL, NEAREST, SAME, Settings
from fixfirst.search.study import Study
from fixfirst.search.tables import write_tables
from fixfirst.search.trial import (
    DIVERGED,
    Result,
    Task,
    Watch,
    checkpoint_of,
    run_stage,
    run_trial,
)
from fixfirst.workflow.orders import Workflow
from fixfirst.workflow.permutations import LISTABLE

if TYPE_CHECKING:
    from fixfirst.learn.training import Row

POLL = 0.5  # seconds between two looks for work that others leave
SILENCE = 60.0  # seconds without a beat after which a worker on another machine counts as dead

# Why a worker came home.
NUMBER = "as many workflows are tried as were asked for"
EPISODES = "the episode budget is used up"
NOTHING_LEFT = "the strategy has nothing left to try"
TIME = "the time is used up"
BY_HAND = "stopped by hand"
OVER = (NUMBER, EPISODES, NOTHING_LEFT)  # the search is finished

# What random numbers are for: each kind has its own.
_CHOICE, _TRAINING, _STAGE = range(3)


class Spectator:
    """Who watches a search. This one looks away; others override what they care for."""

    def opened(self, folder: SearchFolder, settings: Settings) -> None:
        """The folder and the study are there."""

    def began(self, trial: Trial, history: History) -> None:
        """An order was chosen, or the trial of a dead worker taken up."""

    def updated(self, trial: Trial, row: "Row") -> None:
        """One more update of the trial's training."""

    def judging(self, trial: Trial) -> None:
        """Training is over."""

    def ended(self, trial: Trial, history: History) -> None:
        """The trial is over."""

    def waiting(self, history: History) -> None:
        """All there is to do is being done by others."""

    def staged(self, row: "Row", cap: int) -> None:
        """One more update of the one policy for all orders."""

    def note(self, text: str) -> None:
        """Something that people should know."""


@dataclass(frozen=True)
class Claim:
    """A trial that this worker is to run, or the stage before all trials (None)."""

    trial: Trial | None
    lock: Lock


class Worker:
    """One process's share in a search."""

    def __init__(
        self, folder: SearchFolder, config: Config, study: Study, strategy: Strategy,
        spectator: Spectator, stop: Callable[[], bool],
    ) -> None:  # fmt: skip
        self.folder, self.settings, self.study = folder, config.settings, study
        self.strategy, self.spectator = strategy, spectator
        self.name = Name.of_this_process()
        self._stop = stop
        self._stopped = False
        self._silent: dict[int, tuple[float, float]] = {}  # others' last beats, since when
        self._deadline = float("inf")
        if self.settings.time is not None:
            self._deadline = time.monotonic() + self.settings.time * 60 - folder.seconds

    def run(self) -> str:
        """Work until there is a reason not to, and return it."""
        with Life(self.folder, self.study, self.name) as self.life:
            while True:
                if time.monotonic() > self._deadline:
                    return TIME
                if self._stopped or self._stop():
                    return BY_HAND
                found = self._next()
                if isinstance(found, str):
                    return found
                if found is None:
                    self.spectator.waiting(self.history())
                    time.sleep(POLL)
                    continue
                try:
                    self._work(found)
                finally:
                    found.lock.free()

    def history(self) -> History:
        """The search as the study has it."""
        return History(self.settings.partition, tuple(self.study.trials()), self.folder.before)

    # --- choosing what to do

    def _next(self) -> Claim | str | None:
        """What to do: a trial; why there is nothing more to do; None while others may leave
        something.
        """
        if self.settings.warm_start == ALL and not self._stage_over():
            lock = self.folder.lease("stage")
            if not lock.take():
                return None
            if not self._stage_over():
                return Claim(None, lock)
            lock.free()
        with self.study.alone():
            history = self.history()
            running = history.of_state(RUNNING)
            for trial in running:
                lock_of = self._left_behind(trial)
                if lock_of is not None:
                    with lock_of.freed_on_error():
                        return Claim(self._taken_up(trial, history), lock_of)
            found = self._chosen(history)
        return None if isinstance(found, str) and running else found

    def _chosen(self, history: History) -> Claim | str:
        """The next order, put into the study; or why there is none."""
        settings, trials = self.settings, history.trials
        assert settings.n_workflows is not None
        if len(trials) >= settings.n_workflows:
            return NUMBER
        left = self.left(history)
        if left == 0:
            return EPISODES
        number = trials[-1].number + 1 if trials else 0
        proposals = self.strategy.propose(history, 1, _seed(settings.seed, _CHOICE, number))
        if not proposals:
            return NOTHING_LEFT
        proposal = proposals[0]
        trial = Trial(
            number, proposal.order, RUNNING, proposal,
            started_from=self._source(proposal, history), worker=str(self.name),
            cap=self._cap(proposal, left),
        )  # fmt: skip
        number = self.study.add(trial)
        trial = replace(trial, number=number)
        lock = self.folder.lock_of_trial(number)
        lock.take(wait=True)
        with lock.freed_on_error():
            self.folder.write_trial(trial)
            write_tables(self.folder, [*trials, trial])
        return Claim(trial, lock)

    def left(self, history: History) -> int:
        """How many episodes one more trial may train: what is not spent, nor promised to others,
        in whole updates.
        """
        promised = sum(trial.cap for trial in history.of_state(RUNNING))
        settings = self.settings
        assert settings.max_episodes is not None
        left = settings.total_episodes - history.episodes - promised
        return settings.most_within(max(0, min(left, settings.max_episodes)))

    def _cap(self, proposal: Proposal, left: int) -> int:
        if proposal.episodes is None:
            return left
        return self.settings.most_within(min(left, proposal.episodes), at_least_one=True)

    def _left_behind(self, trial: Trial) -> Lock | None:
        """The lock of a running trial whose worker is dead; None while it lives.

        On one machine the lock tells. Whether a lock of another machine is seen here depends on
        the file system, so a worker there must have been silent, too, by this machine's clock.
        """
        lock = self.folder.lock_of_trial(trial.number)
        if not lock.take():
            return None
        if Name.read(trial.worker).machine == self.name.machine:
            return lock
        beat, clock = self.study.last_beat(trial.number), time.monotonic()
        before, since = self._silent.get(trial.number, (beat, clock))
        if beat != before:
            since = clock
        self._silent[trial.number] = (beat, since)
        if clock - since >= SILENCE:
            return lock
        lock.free()
        return None

    def _taken_up(self, trial: Trial, history: History) -> Trial:
        """The trial, now of this worker."""
        started_from = trial.started_from
        lost = started_from is not None and self._weights(started_from) is None
        if lost and checkpoint_of(self.folder.trial(trial.number)) is None:
            started_from = self._source(trial.proposal, history)
        mine = replace(trial, worker=str(self.name), started_from=started_from)
        self.study.update(mine)
        self.folder.write_trial(mine)
        return mine

    # --- where a training begins

    def _source(self, proposal: Proposal, history: History) -> int | None:
        """The trial with whose weights to begin; None for none."""
        if proposal.continues is not None:
            if self._weights(proposal.continues) is not None:
                return proposal.continues
            self._missing(proposal.continues)
        if self.settings.warm_start not in (NEAREST, SAME):
            return None
        ended = [trial for trial in history.over if trial.why != DIVERGED]
        if self.settings.warm_start == SAME:
            ended = [trial for trial in ended if trial.order == proposal.order]
        # Of those at the same distance the latest.
        for trial in sorted(
            ended, key=lambda one: (one.order.kendall(proposal.order, False), -one.number)
        ):
            if self._weights(trial.number) is not None:
                return trial.number
            self._missing(trial.number)
        return None

    def _weights(self, number: int) -> Path | None:
        """The checkpoint of a trial, if it is there."""
        return checkpoint_of(self.folder.trial(number))

    def _missing(self, number: int) -> None:
        self.spectator.note(
            f"the checkpoint of trial {number} is missing from "
            f"{self.folder.trial(number)}; its weights cannot be begun with"
        )

    def _task(self, trial: Trial) -> Task:
        start_from = None
        if trial.started_from is not None:
            start_from = self._weights(trial.started_from)
        elif self.settings.warm_start == ALL:
            start_from = checkpoint_of(self.folder.stage)
        return Task(
            folder=self.folder.trial(trial.number),
            orders=(trial.order,),
            episodes=trial.cap,
            seed=_seed(self.settings.seed, _TRAINING, trial.number),
            start_from=start_from,
            stop_at_gate=self.settings.stop_at_gate,
        )

    # --- doing it

    def _work(self, claim: Claim) -> None:
        """Run what was claimed, and tell the result unless it was stopped."""
        trial = claim.trial
        if trial is None:
            self._work_on_stage()
            return
        self.spectator.began(trial, self.history())

        def updated(row: "Row") -> None:
            self.life.doing(trial, row)
            self.spectator.updated(trial, row)

        self.life.doing(trial)
        watch = Watch(updated, lambda: self.spectator.judging(trial), self._must_stop)
        result = run_trial(self._task(trial), self.settings, watch)
        self.life.doing(None)
        if result is None:
            self._stopped = True
            return
        over = self._told(trial, result)
        if over is not None:
            self.spectator.ended(over, self.history())

    def _told(self, trial: Trial, result: Result) -> Trial | None:
        """The trial as it ended; None if another worker has it now and will tell."""
        over = replace(
            trial,
            state=PASSED if result.passed else FAILED,
            reward=result.reward, error=result.error, compliance=result.compliance,
            fixes=result.fixes, episodes=result.episodes, judged=result.judged, why=result.why,
            seconds=result.seconds, checkpoint=self.folder.named(result.checkpoint),
        )  # fmt: skip
        with self.study.alone():
            there = {one.number: one for one in self.study.trials()}
            mine = there[trial.number]
            if mine.state != RUNNING or mine.worker != trial.worker:
                self.spectator.note(f"trial {trial.number} was taken up by {mine.worker}")
                return None
            self.folder.write_trial(over)
            self.study.end(over)
            write_tables(self.folder, [*({**there, over.number: over}).values()])
        return over

    def _must_stop(self) -> bool:
        return self._stop() or time.monotonic() > self._deadline

    # --- the one policy for all orders

    def _stage_over(self) -> bool:
        file = self.folder.stage / STAGE
        return file.exists() and bool(read_json(file)["over"])

    def _work_on_stage(self) -> None:
        """Train one policy for all orders, or for as many as there are games."""
        settings = self.settings
        assert settings.stage_episodes is not None
        cap = settings.most_within(min(settings.stage_episodes, settings.total_episodes))
        task = Task(
            folder=self.folder.stage,
            orders=_all_orders(settings),
            episodes=cap,
            seed=_seed(settings.seed, _STAGE, 0),
            stop_at_gate=False,
        )
        watch = Watch(lambda row: self.spectator.staged(row, cap), stop=self._must_stop)
        trained = run_stage(task, settings, watch)
        if trained is None:
            self._stopped = True
            return
        episodes, checkpoint = trained
        content = {
            "over": True,
            "episodes": episodes,
            "orders": len(task.orders),
            "checkpoint": self.folder.named(checkpoint),
        }
        self.folder.write(self.folder.stage / STAGE, content)


def _all_orders(settings: Settings) -> tuple[Workflow, ...]:
    """All orders, or as many of them as there are games, drawn."""
    groups = settings.partition
    random = np.random.default_rng(_seed(settings.seed, _STAGE, 1))
    if len(groups) > LISTABLE:
        return tuple(Workflow.random(random, groups) for _ in range(settings.n_envs))
    if math.factorial(len(groups)) <= settings.n_envs:
        return tuple(Workflow.every(groups))
    return tuple(Workflow.sample(random, settings.n_envs, groups))


def _seed(seed: int, purpose: int, number: int) -> int:
    """A seed of its own for each purpose and number."""
    return int(np.random.SeedSequence([seed, purpose, number]).generate_state(1, np.uint32)[0])
