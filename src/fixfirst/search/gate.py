"""The chance that a training for an order passes the gate.

Failed trainings have no reward that could be compared, so the model of the reward does not see
them. They stand here instead: orders near those that failed are likely to fail, too.

Each trial that is over votes with the weight of the Mallows kernel, exp(-d / LENGTH), beside a
prior that counts as much as one trial of the same order. That is the mean of a Beta
distribution with fractional counts: no fit, never 0 or 1, and right where an order is tried
again and again.
"""

import numpy as np

from fixfirst.search.gaussian import mallows
from fixfirst.search.history import PASSED, History
from fixfirst.workflow.orders import ranks_of

LENGTH = 0.2  # exchanging neighbours among 5 groups halves a trial's vote, about
# Most orders pass. The chance of any order is learnt as well, from this prior of so many trials.
EXPECTED, COUNTS_AS = 0.9, 2.0


def chance(history: History, ranks: np.ndarray) -> np.ndarray:
    """The chance to pass the gate [m] of orders given by their ranks [m, k]."""
    over = history.over
    passed = np.array([trial.state == PASSED for trial in over], dtype=float)
    anywhere = (COUNTS_AS * EXPECTED + passed.sum()) / (COUNTS_AS + len(passed))
    if not over:
        return np.full(len(ranks), anywhere)
    tried = ranks_of([trial.order for trial in over], history.groups)
    votes = mallows(ranks, tried, LENGTH)
    return np.asarray((anywhere + votes @ passed) / (1.0 + votes.sum(axis=1)))
