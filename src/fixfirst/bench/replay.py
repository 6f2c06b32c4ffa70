"""A search replayed on a landscape: what is trained is looked up, so a trial takes no time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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


def replay(landscape: Landscape, strategy: Strategy, trainings: int, seed: int) -> Replayed:
    """Search until so many whole trainings are spent, or nothing is left to try."""
    history = History(landscape.groups)
    random = np.random.default_rng([seed, 1])
    rows = list(_trials(landscape, strategy, history, trainings, seed, random))
    order = np.array([row[0] for row in rows], dtype=int)
    spent = np.cumsum([row[1] for row in rows])
    regret = landscape.reward[landscape.best] - np.array(
        [-np.inf if row[2] is None else landscape.reward[row[2]] for row in rows]
    )
    hits = [s for s, row in zip(spent, rows, strict=True) if row[3] and landscape.good[row[0]]]
    return Replayed(order, spent, regret, float(hits[0]) if hits else np.inf)


def _trials(
    landscape: Landscape, strategy: Strategy, history: History, trainings: int, seed: int,
    random: np.random.Generator,
) -> Iterator[tuple[int, float, int | None, bool]]:  # fmt: skip
    """Trial by trial: the order, its cost in whole trainings, the order that looks best by now
    (the one with the highest measured reward), and whether it passed.
    """
    spent = 0.0
    while spent < trainings:
        proposals = strategy.propose(history, 1, seed)
        if not proposals:
            return
        trial = _train(landscape, history, proposals[0], random)
        history = replace(history, trials=(*history.trials, trial))
        index = trial.order.index
        cost = trial.episodes / landscape.episodes[index]
        spent += cost
        passed = history.passed
        leader = max(passed, key=lambda t: t.reward or -np.inf).order.index if passed else None
        yield index, cost, leader, trial.state == PASSED


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
