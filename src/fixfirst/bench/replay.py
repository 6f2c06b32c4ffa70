"""A search replayed on a landscape: what is trained is looked up, so a trial takes no time."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fixfirst.bench.landscapes import Landscape
from fixfirst.search.history import FAILED, PASSED, History, Proposal, Strategy, Trial


@dataclass(frozen=True)
class Replayed:
    """How a search went; the arrays are [trials]."""

    order: np.ndarray  # the index of the order that was tried
    spent: np.ndarray  # whole trainings that the trials so far have cost
    regret: np.ndarray  # how much worse than the best the order is that looks best by now
    reached: float  # whole trainings until an order within one standard error of the best had
    # passed; infinite if none did

    def regret_after(self, trainings: np.ndarray) -> np.ndarray:
        """The regret after so many whole trainings; before the first one ended it is infinite."""
        last = np.searchsorted(self.spent, trainings + 1e-9, side="right") - 1
        return np.where(last >= 0, self.regret[np.maximum(last, 0)], np.inf)


class _Row(NamedTuple):
    """A trial, and how things stand after it."""

    order: int
    spent: float  # whole trainings, by this trial and those before
    leader: int | None  # the order with the highest mean of its measured rewards
    found: bool  # whether this order is within one standard error of the best, and passed


def replay(
    landscape: Landscape, strategy: Strategy, trainings: int, seed: int, enough: int | None = None
) -> Replayed:
    """Search until so many whole trainings are spent, or nothing is left to try; or, once
    `enough` of them are, until an order within one standard error of the best has passed.
    """
    rows: list[_Row] = []
    for row in _rows(landscape, strategy, trainings, seed):
        rows.append(row)
        if enough is not None and row.spent >= enough and any(r.found for r in rows):
            break
    best = landscape.reward[landscape.best]
    regret = [np.inf if r.leader is None else best - landscape.reward[r.leader] for r in rows]
    return Replayed(
        order=np.array([r.order for r in rows], dtype=int),
        spent=np.array([r.spent for r in rows], dtype=float),
        regret=np.array(regret, dtype=float),
        reached=min((r.spent for r in rows if r.found), default=math.inf),
    )


def _rows(landscape: Landscape, strategy: Strategy, trainings: int, seed: int) -> Iterator[_Row]:
    history, spent = History(landscape.groups), 0.0
    random = np.random.default_rng([seed, 1])
    good = landscape.good
    while spent < trainings:
        proposals = strategy.propose(history, 1, seed)
        if not proposals:
            return
        trial = _train(landscape, history, proposals[0], random)
        history = replace(history, trials=(*history.trials, trial))
        index = trial.order.index
        spent += trial.episodes / landscape.episodes[index]
        yield _Row(index, spent, _leader(history), trial.state == PASSED and bool(good[index]))


def _leader(history: History) -> int | None:
    rewards: dict[int, list[float]] = {}
    for trial in history.passed:
        rewards.setdefault(trial.order.index, []).append(float(trial.reward or 0.0))
    means = {order: sum(values) / len(values) for order, values in rewards.items()}
    return max(means, key=lambda order: means[order], default=None)


def _train(
    landscape: Landscape, history: History, proposal: Proposal, random: np.random.Generator
) -> Trial:
    """What the training gives that a strategy asks for.

    A training ends at the gate. So a short one has either the reward of the whole one, or has
    not reached the gate yet; what it goes on with counts.
    """
    index = proposal.order.index
    before = _trained(history, proposal.continues)
    needs = landscape.episodes[index]
    may = needs if proposal.episodes is None else float(proposal.episodes)
    # A policy that is at the gate already still trains for one update, here 1 % of the whole.
    takes = max(needs - before, needs / 100)
    passes = bool(landscape.passed[index]) and may >= takes
    luck = landscape.variation * random.standard_normal()
    luck += landscape.error[index] * random.standard_normal()
    done = min(1.0, (before + min(may, takes)) / needs)
    return Trial(
        number=len(history.trials),
        order=proposal.order,
        state=PASSED if passes else FAILED,
        proposal=proposal,
        reward=float(landscape.reward[index] + luck),
        error=float(landscape.error[index]),
        compliance=0.9 * done,
        episodes=round(min(may, takes)),
    )


def _trained(history: History, number: int | None) -> float:
    """The episodes behind the policy of a trial, those before it included."""
    if number is None:
        return 0.0
    (trial,) = (t for t in history.trials if t.number == number)
    return trial.episodes + _trained(history, trial.proposal.continues)
