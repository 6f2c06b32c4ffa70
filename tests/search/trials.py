"""Histories as tests need them, without any training."""

import numpy as np

from fixfirst.search.history import FAILED, PASSED, RUNNING, History, Proposal, Trial
from fixfirst.workflow.groups import DEFAULT_GROUPS, Groups
from fixfirst.workflow.orders import Workflow

SIX = Groups(
    {
        "a": ["Defender"], "b": ["Enterprise0"], "c": ["Enterprise1", "Enterprise2"],
        "d": ["Op_Server0"], "e": ["Op_Host0", "Op_Host1", "Op_Host2"],
        "f": ["User0", "User1", "User2", "User3", "User4"],
    }
)  # fmt: skip
TWO = Groups({
    "first": ["Defender", "Enterprise0", "Enterprise1", "Enterprise2", "Op_Server0"],
    "last": ["Op_Host0", "Op_Host1", "Op_Host2", "User0", "User1", "User2", "User3", "User4"],
})  # fmt: skip


def trial(number, order, reward=None, error=0.5, state=PASSED, **more):
    more = {"proposal": Proposal(order, "a test", "test"), "compliance": 0.95} | more
    return Trial(number, order, state, reward=reward, error=error, **more)


def history(orders, rewards, error=0.5, groups=DEFAULT_GROUPS):
    """A reward each; None is a trial that failed, "running" one that runs."""
    states = {None: FAILED, "running": RUNNING}
    return History(
        groups,
        tuple(
            trial(i, order, None if reward in states else reward, error,
                  states.get(reward, PASSED))
            for i, (order, reward) in enumerate(zip(orders, rewards, strict=True))
        ),
    )  # fmt: skip


def hill(orders, top, per_step=30.0):
    """Rewards that fall with the distance from `top`."""
    return [-10.0 - per_step * order.kendall(top) for order in orders]


def some(count, groups=DEFAULT_GROUPS, seed=0):
    return Workflow.sample(np.random.default_rng(seed), count, groups)
