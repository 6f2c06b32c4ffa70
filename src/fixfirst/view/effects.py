"""What an order's parts are worth: places of groups, and which of two groups goes first.

Both are averages over orders of what the model knows. An average is a weighted sum of
unknown values that the model takes to be jointly normal, so its variance follows from the
same Gaussian process: prior covariance `spread`^2 exp(-Kendall / `length`), and as
noise of each trial its standard error and the `variation` between trainings. Differences of averages do not depend on the
process's constant mean.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from fixfirst.search.gaussian import mallows
from fixfirst.search.history import History
from fixfirst.search.record import Knowledge
from fixfirst.workflow.orders import ranks_of

_ROWS = 512  # of the covariance, held in memory at once
_JITTER = 1e-9  # of the prior variance: trials without noise may repeat an order


@dataclass(frozen=True)
class PairEffect:
    """How much better orders are that fix `first` before `second` than those that do not."""

    first: int  # group numbers; this way round the effect is not negative
    second: int
    effect: float  # in mean environment reward
    deviation: float  # NaN if the model does not say


def place_means(knowledge: Knowledge, history: History) -> tuple[np.ndarray, np.ndarray]:
    """The mean posterior reward of the orders with group g in place p, and its standard
    deviation [groups, places]; NaN where there is no such order.
    """
    ranks = ranks_of(knowledge.orders)
    n, k = ranks.shape
    at = (ranks[:, :, None] == np.arange(k)).reshape(n, k * k)
    count = at.sum(axis=0)
    weights = at / np.maximum(count, 1)
    means = weights.T @ np.asarray(knowledge.mean, dtype=float)
    deviations = deviations_of(weights, knowledge, history)
    found = (np.where(count > 0, values, np.nan) for values in (means, deviations))
    mean, deviation = (values.reshape(k, k) for values in found)
    return mean, deviation


def pair_effects(knowledge: Knowledge, history: History) -> list[PairEffect]:
    """The effect of each pair of groups of which both ways round are known, largest first."""
    ranks = ranks_of(knowledge.orders)
    pairs, weights = _contrasts(ranks)
    if not pairs:
        return []
    effects = weights.T @ np.asarray(knowledge.mean, dtype=float)
    deviations = deviations_of(weights, knowledge, history)
    found = [
        PairEffect(*(pair if effect >= 0 else pair[::-1]), abs(float(effect)), float(deviation))
        for pair, effect, deviation in zip(pairs, effects, deviations, strict=True)
    ]
    return sorted(found, key=lambda one: (-one.effect, one.first, one.second))


def _contrasts(ranks: np.ndarray) -> tuple[list[tuple[int, int]], np.ndarray]:
    """The pairs, and for each the weights [orders, pairs] whose sum over the means is the mean
    of the orders with the first before the second, less that of the others.
    """
    pairs, columns = [], []
    for a, b in itertools.combinations(range(ranks.shape[1]), 2):
        before = ranks[:, a] < ranks[:, b]
        if before.all() or not before.any():
            continue
        pairs.append((a, b))
        columns.append(before / before.sum() - ~before / (~before).sum())
    return pairs, np.array(columns).T


def deviations_of(weights: np.ndarray, knowledge: Knowledge, history: History) -> np.ndarray:
    """The posterior standard deviations [m] of weighted sums [orders, m] of the orders' values."""
    length, variance = knowledge.length, knowledge.spread**2
    if not (np.isfinite(length) and np.isfinite(variance)):
        return np.full(weights.shape[1], np.nan)
    ranks = ranks_of(knowledge.orders)
    tried, _, errors = history.measured()
    prior = sum(
        np.einsum("nm,nm->m", weights[rows], _covariance(ranks[rows], ranks, knowledge) @ weights)
        for rows in _slices(len(ranks))
    )
    noise = np.diag(errors**2 + knowledge.variation**2 + _JITTER * variance)
    factor = np.linalg.cholesky(_covariance(tried, tried, knowledge) + noise)
    learnt = np.linalg.solve(factor, _covariance(tried, ranks, knowledge) @ weights)
    return np.asarray(np.sqrt(np.maximum(prior - (learnt**2).sum(axis=0), 0.0)))


def _covariance(these: np.ndarray, those: np.ndarray, knowledge: Knowledge) -> np.ndarray:
    """The prior covariance of the values of orders, by their ranks."""
    return np.asarray(knowledge.spread**2 * mallows(these, those, knowledge.length))


def _slices(rows: int) -> list[slice]:
    return [slice(start, start + _ROWS) for start in range(0, rows, _ROWS)]
