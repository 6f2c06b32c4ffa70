"""Strategies that ask no model: drawn at random, one after another, all of them."""

import math
from dataclasses import dataclass

import numpy as np

from fixfirst.search.history import History, Proposal
from fixfirst.workflow.groups import Groups
from fixfirst.workflow.orders import Workflow
from fixfirst.workflow.permutations import LISTABLE


@dataclass(frozen=True)
class Random:
    """The strategy `random`: uniform among orders not tried yet, or among all once none is left."""

    name: str = "random"

    def propose(self, history: History, count: int, seed: int) -> list[Proposal]:
        """`count` orders that are drawn."""
        taken = {trial.order for trial in history.trials}
        proposals = []
        for more in range(count):
            random = np.random.default_rng([seed, len(history.trials) + more])
            order = drawn(random, history.groups, taken)
            taken.add(order)
            proposals.append(Proposal(order, "drawn at random", self.name))
        return proposals


def drawn(random: np.random.Generator, groups: Groups, taken: set[Workflow]) -> Workflow:
    """An order drawn uniformly among those not taken, or among all if all are taken."""
    there = math.factorial(len(groups))
    if len(groups) > LISTABLE:  # a few taken ones are met so rarely that drawing again is best
        while (order := Workflow.random(random, groups)) in taken:
            pass
        return order
    free = np.setdiff1d(np.arange(there), [order.index for order in taken])
    return Workflow.from_index(int(random.choice(free if len(free) else there)), groups)


@dataclass(frozen=True)
class RoundRobin:
    """The strategy `round-robin`: all orders by index, one after another, again and again.

    The second time around an order's training goes on with its own last policy.
    """

    name: str = "round-robin"

    def propose(self, history: History, count: int, seed: int) -> list[Proposal]:
        """The `count` orders that are next."""
        there = math.factorial(len(history.groups))
        begun = len(history.trials)
        last = {trial.order: trial.number for trial in history.over}
        proposals = []
        for turn in range(begun, begun + count):
            order = Workflow.from_index(turn % there, history.groups)
            why = f"number {turn % there + 1} of {there:,} in round {turn // there + 1}"
            proposals.append(Proposal(order, why, self.name, continues=last.get(order)))
        return proposals


@dataclass(frozen=True)
class Exhaustive:
    """The strategy `exhaustive`: every order once, by index, then no more."""

    name: str = "exhaustive"

    def propose(self, history: History, count: int, seed: int) -> list[Proposal]:
        """The next orders that have not been tried; none when all have been."""
        groups = history.groups
        if len(groups) > LISTABLE:
            raise ValueError(
                f"{len(groups)} groups have {math.factorial(len(groups)):,} orders, too many for "
                f"--strategy exhaustive, which takes at most {LISTABLE} groups; use gp-ucb"
            )
        taken = {trial.order for trial in history.trials}
        every = list(Workflow.every(groups))
        free = [(i, order) for i, order in enumerate(every) if order not in taken]
        return [
            Proposal(order, f"number {i + 1} of all {len(every):,} orders", self.name)
            for i, order in free[:count]
        ]
