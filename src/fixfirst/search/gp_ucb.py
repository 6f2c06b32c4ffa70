"""GP-UCB: the order whose reward may be the highest, by the model's mean and deviation.

An order's *reach* is its mean plus beta deviations (Srinivas, Krause, Kakade and Seeger 2010).
A training that fails the gate earns nothing, so what counts is the reach beyond the best mean
so far, times the chance to pass.
"""

import math
from dataclasses import dataclass

import numpy as np

from fixfirst.search import gate
from fixfirst.search.climb import codes, highest
from fixfirst.search.history import RUNNING, Guess, History, Proposal, Trial
from fixfirst.search.posterior import best_orders
from fixfirst.search.gaussian import Posterior, mallows
from fixfirst.workflow.groups import Groups
from fixfirst.workflow.orders import Workflow, ranks_of

SRINIVAS = "srinivas"
DELTA = 0.1  # that schedule's bound holds with chance 1 - DELTA
TOP = 3  # orders that a proposal names beside its own


def deviations(beta: float | str, measured: int, groups: int) -> float:
    """How many deviations the reach adds to the mean.

    `srinivas` is the schedule of their theorem 1 for finitely many orders, the root of
    2 log(orders t^2 pi^2 / (6 delta)), at the t-th measurement. It grows without end and is
    known to explore more than is good for small budgets.
    """
    if not isinstance(beta, str):
        return float(beta)
    t = measured + 1
    return math.sqrt(2 * (math.lgamma(groups + 1) + math.log(t**2 * math.pi**2 / (6 * DELTA))))


@dataclass(frozen=True)
class GpUcb:
    """The strategy `gp-ucb`."""

    beta: float | str = 2.0
    name: str = "gp-ucb"

    def propose(self, history: History, count: int, seed: int) -> list[Proposal]:
        """Orders one after another, each as if those before it were running already."""
        random = np.random.default_rng([seed, len(history.trials)])
        if not history.passed:
            return _before_any_reward(history, count, random)
        from fixfirst.search.model import fit  # noqa: PLC0415 - loads PyTorch

        posterior = fit(*history.measured())
        choice = _Choice(history, posterior, self.beta, random)
        return [choice.next() for _ in range(count)]


def _before_any_reward(history: History, count: int, random: np.random.Generator) -> list[Proposal]:
    """Orders with the best chance to pass, far from each other: without a reward there is no
    model of it.
    """
    k = len(history.groups)
    taken = ranks_of([trial.order for trial in history.trials], history.groups)
    proposals = []
    for _ in range(count):
        if not len(taken):
            order, why = Workflow.random(random, history.groups), "drawn: nothing is known yet"
        else:
            busy = codes(taken)

            def score(
                ranks: np.ndarray, taken: np.ndarray = taken, busy: np.ndarray = busy
            ) -> np.ndarray:
                near = mallows(ranks, taken, gate.LENGTH).sum(axis=1)
                value = gate.chance(history, ranks) / (1.0 + near)
                return np.asarray(np.where(np.isin(codes(ranks), busy), value - 1e9, value))

            order = Workflow.from_ranks(highest(score, k, taken, random), history.groups)
            why = "far from all others: no reward is known yet"
        proposals.append(Proposal(order, why, "explore"))
        taken = np.concatenate([taken, order.ranks[None]])
    return proposals


class _Choice:
    """One round of choosing: the model as it is, and the orders that are taken."""

    def __init__(
        self, history: History, posterior: Posterior, beta: float | str,
        random: np.random.Generator,
    ) -> None:  # fmt: skip
        self.history, self.groups, self.random = history, history.groups, random
        self.posterior = posterior
        self.beta = deviations(beta, len(posterior.rewards), len(self.groups))
        self.tried = _ranks(history.of_state("passed", "failed"), self.groups)
        self.waiting = _ranks(history.of_state(RUNNING), self.groups)
        known = best_orders(history, posterior, random)
        mean, deviation = posterior.predict(known)
        first = np.argsort(-mean, kind="stable")
        self.starts = known[first[:8]]
        self.top = tuple(
            Guess(Workflow.from_ranks(known[i], self.groups), float(mean[i]), float(deviation[i]))
            for i in first[:TOP]
        )
        self.best = float(posterior.predict(posterior.ranks)[0].max())

    def next(self) -> Proposal:
        """One order more."""
        later = self.posterior.awaiting(self.waiting)
        taken = codes(np.concatenate([self.tried, self.waiting]))
        taken = np.unique(taken)
        if len(taken) >= math.factorial(len(self.groups)):
            taken = taken[:0]  # all are tried: some again

        def worth(ranks: np.ndarray, beta: float) -> np.ndarray:
            mean, deviation = later.predict(ranks)
            value = gain(mean + beta * deviation - self.best, gate.chance(self.history, ranks))
            return np.where(np.isin(codes(ranks), taken), -np.inf, value)

        k = len(self.groups)
        chosen = highest(lambda r: worth(r, self.beta), k, self.starts, self.random)
        surest = highest(lambda r: worth(r, 0.0), k, self.starts, self.random)
        kind = "exploit" if (chosen == surest).all() else "explore"
        self.waiting = np.concatenate([self.waiting, chosen[None]])
        return self._proposal(chosen, kind)

    def _proposal(self, chosen: np.ndarray, kind: str) -> Proposal:
        mean, deviation = (float(value[0]) for value in self.posterior.predict(chosen[None]))
        passes = float(gate.chance(self.history, chosen[None])[0])
        reach = (
            f"{mean:.1f} + {self.beta:.1f} x {deviation:.1f} = {mean + self.beta * deviation:.1f}"
        )
        if kind == "exploit":
            why = f"its mean is the highest of what is left: {mean:.1f}, deviation {deviation:.1f}"
        else:
            why = f"it may reach {reach}, where the best so far has {self.best:.1f}"
        if passes < 0.8:
            why += f"; {100 * passes:.0f} % likely to pass the gate"
        order = Workflow.from_ranks(chosen, self.groups)
        return Proposal(order, why, kind, self.top, Guess(order, mean, deviation))


def gain(beyond: np.ndarray, passes: np.ndarray) -> np.ndarray:
    """What a trial is worth: its reach beyond the best so far times the chance to pass.

    Where the reach is not beyond the best, a smaller chance must not make it better, as a
    product would: there it is divided.
    """
    return np.asarray(np.where(beyond > 0, beyond * passes, beyond / passes))


def _ranks(trials: list[Trial], groups: Groups) -> np.ndarray:
    return ranks_of([trial.order for trial in trials], groups)
