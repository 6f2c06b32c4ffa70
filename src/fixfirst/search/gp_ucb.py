"""GP-UCB: the order whose reward may be the highest, by the model's mean and deviation.

An order's *reach* is its mean plus beta deviations (Srinivas, Krause, Kakade and Seeger 2010).
A training that fails the gate earns nothing, so what counts is the reach beyond the best mean
so far, times the chance to pass.

An order that has been tried is tried again only when no fresh one reaches beyond the best mean,
and then to tell the best ones apart: a second look at what is known buys little as long as
something unknown may be better. It has at most `LOOKS` trials while there are fresh ones, so
that a model which is too sure of itself cannot stay with one order for ever.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from fixfirst.search import gate
from fixfirst.search.climb import codes, highest
from fixfirst.search.gaussian import Posterior, mallows
from fixfirst.search.history import FAILED, PASSED, RUNNING, Guess, History, Proposal
from fixfirst.search.posterior import best_orders
from fixfirst.workflow.groups import Groups
from fixfirst.workflow.orders import Workflow, ranks_of

SRINIVAS = "srinivas"
DELTA = 0.1  # the bound of that schedule holds with chance 1 - DELTA
LOOKS = 3
TOP = 3  # orders that a proposal names beside its own
STARTS = 8  # climbs that begin at the best known orders
LIKELY = 0.8  # a smaller chance to pass the gate is mentioned

Fitted = Callable[[np.ndarray, np.ndarray, np.ndarray], Posterior]  # of ranks, rewards, errors


def deviations(beta: float | str, measured: int, groups: int) -> float:
    """How many deviations the reach adds to the mean.

    `srinivas` is the schedule of their theorem 1 for finitely many orders, at the t-th
    measurement the root of 2 log(orders t^2 pi^2 / (6 delta)). It grows without end.
    """
    if not isinstance(beta, str):
        return float(beta)
    t = measured + 1
    return math.sqrt(2 * (math.lgamma(groups + 1) + math.log(t**2 * math.pi**2 / (6 * DELTA))))


def gain(beyond: np.ndarray, passes: np.ndarray) -> np.ndarray:
    """What a trial is worth: its reach beyond the best so far times the chance to pass.

    Where the reach stays behind the best, a smaller chance must not make it better, as a
    product would: there it is divided.
    """
    return np.asarray(np.where(beyond > 0, beyond * passes, beyond / passes))


@dataclass(frozen=True)
class GpUcb:
    """The strategy `gp-ucb`."""

    beta: float | str = 2.0
    name: str = "gp-ucb"
    fitted: Fitted | None = None  # how the model is made; by default it is fitted to the trials

    def propose(self, history: History, count: int, seed: int) -> list[Proposal]:
        """Orders one after another, each as if those before it were running already."""
        random = np.random.default_rng([seed, len(history.trials)])
        if not history.passed:
            return _before_any_reward(history, count, random)
        posterior = (self.fitted or _fit)(*history.measured())
        choice = _Choice(history, posterior, self.beta, random)
        return [choice.next() for _ in range(count)]


def _fit(ranks: np.ndarray, rewards: np.ndarray, errors: np.ndarray) -> Posterior:
    from fixfirst.search.model import fit  # noqa: PLC0415 - loads PyTorch

    return fit(ranks, rewards, errors)


# --- without a reward


def _before_any_reward(history: History, count: int, random: np.random.Generator) -> list[Proposal]:
    """Orders that are likely to pass, far from all others: what is wanted is any reward."""
    groups = history.groups
    taken = ranks_of([trial.order for trial in history.trials], groups)
    proposals = []
    for _ in range(count):
        if len(taken):
            far = highest(partial(_apart, history, taken), len(groups), taken, random)
            order, why = Workflow.from_ranks(far, groups), "far from the others: no reward yet"
        else:
            order, why = Workflow.random(random, groups), "drawn at random: nothing is known yet"
        proposals.append(Proposal(order, why, "explore"))
        taken = np.concatenate([taken, order.ranks[None]])
    return proposals


def _apart(history: History, taken: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The chance to pass, shared with the orders nearby that are taken; those come last."""
    near = mallows(ranks, taken, gate.LENGTH).sum(axis=1)
    value = gate.chance(history, ranks) / (1.0 + near)
    return np.asarray(value - np.isin(codes(ranks), codes(taken)))


# --- with rewards


class _Choice:
    """A round of choosing, with the model as it is."""

    def __init__(
        self, history: History, posterior: Posterior, beta: float | str,
        random: np.random.Generator,
    ) -> None:  # fmt: skip
        self.history, self.groups, self.random = history, history.groups, random
        self.posterior = posterior
        self.beta = deviations(beta, len(posterior.rewards), len(self.groups))
        self.best = float(posterior.predict(posterior.ranks)[0].max())
        self.tried = _codes(history, self.groups, PASSED, FAILED)
        self.running = ranks_of([t.order for t in history.of_state(RUNNING)], self.groups)
        known = best_orders(history, posterior, random)
        mean, deviation = posterior.predict(known)
        first = np.argsort(-mean, kind="stable")
        self.starts = known[first[:STARTS]]
        self.top = tuple(
            Guess(Workflow.from_ranks(known[i], self.groups), float(mean[i]), float(deviation[i]))
            for i in first[:TOP]
        )

    def next(self) -> Proposal:
        """One order more, those chosen before counted as running."""
        later = self.posterior.awaiting(self.running)
        for barred, least in self._barred():
            chosen = self._highest(later, barred, self.beta)
            if self._worth(later, barred, self.beta, chosen[None])[0] > least:
                break
        surest = self._highest(later, barred, 0.0)
        self.running = np.concatenate([self.running, chosen[None]])
        return self._proposal(chosen, bool((chosen == surest).all()))

    def _barred(self) -> list[tuple[np.ndarray, float]]:
        """Step by step, the codes of orders not to be chosen, and what the best of the others
        must be worth if the next step is not to be taken.
        """
        running = codes(self.running)
        tried, times = np.unique(self.tried, return_counts=True)
        often = tried[times >= LOOKS]
        steps = [
            (np.concatenate([running, tried]), 0.0),
            (np.concatenate([running, often]), -np.inf),
            (running, -np.inf),
            (running[:0], -np.inf),
        ]
        there = math.factorial(len(self.groups))
        return [step for step in steps if len(np.unique(step[0])) < there]

    def _highest(self, later: Posterior, barred: np.ndarray, beta: float) -> np.ndarray:
        worth = partial(self._worth, later, barred, beta)
        return highest(worth, len(self.groups), self.starts, self.random)

    def _worth(
        self, later: Posterior, barred: np.ndarray, beta: float, ranks: np.ndarray
    ) -> np.ndarray:
        mean, deviation = later.predict(ranks)
        value = gain(mean + beta * deviation - self.best, gate.chance(self.history, ranks))
        return np.asarray(np.where(np.isin(codes(ranks), barred), -np.inf, value))

    def _proposal(self, chosen: np.ndarray, surest: bool) -> Proposal:
        mean, deviation = (float(value[0]) for value in self.posterior.predict(chosen[None]))
        passes = float(gate.chance(self.history, chosen[None])[0])
        again = int((self.tried == codes(chosen[None])[0]).sum())
        reach = mean + self.beta * deviation
        if again:
            why = f"measured once more ({again} so far): no other may reach beyond {self.best:.1f}"
        elif surest:
            why = f"its mean {mean:.1f} ± {deviation:.1f} is the highest of all that is left"
        else:
            why = (
                f"it may reach {reach:.1f} (mean {mean:.1f}, deviation {deviation:.1f}); "
                f"the best so far has {self.best:.1f}"
            )
        if passes < LIKELY:
            why += f"; {100 * passes:.0f} % likely to pass the gate"
        order = Workflow.from_ranks(chosen, self.groups)
        kind = "exploit" if surest else "explore"
        return Proposal(order, why, kind, self.top, Guess(order, mean, deviation))


def _codes(history: History, groups: Groups, *states: str) -> np.ndarray:
    return codes(ranks_of([trial.order for trial in history.of_state(*states)], groups))
