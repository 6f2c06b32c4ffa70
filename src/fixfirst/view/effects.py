"""What an order's parts are worth: places of groups, and which of two groups goes first.

Both are averages over orders of what the model knows: over all orders, or over many drawn
evenly where there are too many. An average is a weighted sum of unknown values that the model
takes to be jointly normal, so its variance follows from the same Gaussian process: prior
covariance `spread`^2 exp(-Kendall / `length`), and as noise of each trial its standard error
and the `variation` between trainings (the notation is that of `fixfirst.search.gaussian`).
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from fixfirst.search.gaussian import Hyperparameters, Posterior, mallows
from fixfirst.search.history import History
from fixfirst.search.record import Knowledge
from fixfirst.workflow.orders import ranks_of
from fixfirst.workflow.permutations import random_ranks

DRAWN = 4096  # orders, where there are too many to list; half of them mirror the others
_ROWS = 512  # of the covariance, held in memory at once
_LEAST = 1e-9  # noise as a share of the prior variance: orders may be repeated without any


@dataclass(frozen=True)
class PairEffect:
    """How much better orders are that fix `first` before `second` than those that do not."""

    first: int  # group numbers; this way round the effect is not negative
    second: int
    effect: float  # in mean environment reward
    deviation: float  # NaN if the model does not say


@dataclass(frozen=True)
class Basis:
    """The orders that averages are over, and what the model knows of them."""

    ranks: np.ndarray  # [n, k]
    mean: np.ndarray  # [n]
    words: str  # which orders these are
    posterior: Posterior | None  # None if the model does not say how orders hang together


def basis_of(knowledge: Knowledge, history: History) -> Basis:
    """All orders; an even draw of them if the model lists only some; if it has no kernel, those."""
    listed = ranks_of(knowledge.orders, history.groups)
    n, k = listed.shape
    mean = np.asarray(knowledge.mean, dtype=float)
    posterior = _posterior(knowledge, history)
    if n == math.factorial(k):
        return Basis(listed, mean, f"all {n:,} orders", posterior)
    if posterior is None:
        return Basis(listed, mean, f"the {n:,} orders that the model lists", None)
    drawn = random_ranks(np.random.default_rng(0), DRAWN // 2, k)
    ranks = np.concatenate([drawn, k - 1 - drawn])
    words = f"{DRAWN:,} orders drawn evenly from all {math.factorial(k):,}"
    return Basis(ranks, posterior.predict(ranks)[0], words, posterior)


def _posterior(knowledge: Knowledge, history: History) -> Posterior | None:
    given = Hyperparameters(
        knowledge.length, knowledge.spread, knowledge.variation, knowledge.centre
    )
    if not np.isfinite([given.length, given.spread, given.variation, given.centre]).all():
        return None
    ranks, rewards, errors = history.measured()
    noise = errors**2 + given.variation**2 + _LEAST * given.spread**2
    return Posterior(given, ranks, rewards, noise)


def place_means(basis: Basis) -> tuple[np.ndarray, np.ndarray]:
    """The mean posterior reward of the orders with group g in place p, and its standard
    deviation [groups, places]; NaN where there is no such order.
    """
    n, k = basis.ranks.shape
    at = (basis.ranks[:, :, None] == np.arange(k)).reshape(n, k * k)
    count = at.sum(axis=0)
    weights = at / np.maximum(count, 1)
    found = (weights.T @ basis.mean, deviations_of(weights, basis))
    mean, deviation = (np.where(count > 0, one, np.nan).reshape(k, k) for one in found)
    return mean, deviation


def pair_effects(basis: Basis) -> list[PairEffect]:
    """The effect of each pair of groups of which both ways round are known, largest first."""
    pairs, weights = _contrasts(basis.ranks)
    if not pairs:
        return []
    effects = weights.T @ basis.mean
    deviations = deviations_of(weights, basis)
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


def deviations_of(weights: np.ndarray, basis: Basis) -> np.ndarray:
    """The posterior standard deviations [m] of weighted sums [orders, m] of the orders' values."""
    if basis.posterior is None:
        return np.full(weights.shape[1], np.nan)
    given, tried = basis.posterior.given, basis.posterior.ranks
    variance = given.spread**2
    prior = np.zeros(weights.shape[1])
    for start in range(0, len(basis.ranks), _ROWS):
        rows = slice(start, start + _ROWS)
        kernel = mallows(basis.ranks[rows], basis.ranks, given.length)
        prior += variance * (weights[rows] * (kernel @ weights)).sum(axis=0)
    measured = variance * mallows(tried, tried, given.length) + np.diag(basis.posterior.noise)
    shared = variance * mallows(tried, basis.ranks, given.length) @ weights
    learnt = np.linalg.solve(np.linalg.cholesky(measured), shared)
    return np.asarray(np.sqrt(np.maximum(prior - (learnt**2).sum(axis=0), 0.0)))
