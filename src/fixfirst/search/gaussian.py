"""The mathematics of the model: a Gaussian process with known hyperparameters, in NumPy.

Notation, here and in `docs/search.md`:

    k        groups, so k! orders
    n        trainings that were measured; the same order can be measured more than once
    m        orders that are asked about
    d(a, b)  Kendall distance between orders, as a share of its largest value (0 to 1)
    l        length: how far one has to go until orders have little to do with each other
    M        Mallows kernel [n, n], exp(-d / l)
    y        measured rewards [n]
    e        their standard errors [n], known
    s        spread: the standard deviation of f before anything was measured
    t        variation: the standard deviation from one training of an order to another
    c        centre: the mean of f before anything was measured
    f        what is sought: the mean reward of trainings of an order
    C        covariance of what is measured [n, n], s^2 M + diag(e^2 + t^2)

So y = f + training's luck + error of the evaluation, and by the book (Rasmussen and Williams
2006, equations 2.25 and 2.26), with K* = s^2 M* [m, n] between orders asked about and measured:

    mean of f        c + K* C^-1 (y - c)
    covariance of f  s^2 M** - K* C^-1 K*^T
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fixfirst.workflow import distances


def mallows(these: np.ndarray, those: np.ndarray, length: float) -> np.ndarray:
    """The Mallows kernel [m, n] between orders given by their ranks [m, k] and [n, k]."""
    return np.asarray(np.exp(-distances.kendall(these, those) / length))


@dataclass(frozen=True)
class Hyperparameters:
    """What the marginal likelihood decides, in units of the reward but for the length."""

    length: float
    spread: float
    variation: float
    centre: float


@dataclass(frozen=True)
class Posterior:
    """What measurements say of every order, given the hyperparameters."""

    given: Hyperparameters
    ranks: np.ndarray  # [n, k]
    rewards: np.ndarray  # [n]
    noise: np.ndarray  # [n] variances, of the errors and of training's luck together

    def predict(self, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean [m] and the standard deviation [m] of f at orders given by their ranks."""
        cross = self._cross(ranks)
        explained = (self._whitened(cross) ** 2).sum(axis=0)
        variance = self.given.spread**2 - explained
        return self._mean(cross), np.sqrt(np.maximum(variance, 0.0))

    def joint(self, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean [m] and the covariance [m, m] of f."""
        cross = self._cross(ranks)
        white = self._whitened(cross)
        prior = self.given.spread**2 * mallows(ranks, ranks, self.given.length)
        return self._mean(cross), prior - white.T @ white

    def awaiting(self, ranks: np.ndarray) -> "Posterior":
        """The posterior as it will be once these orders [p, k] are measured, too, if each turns
        out as expected: the mean stays, the deviation falls.

        That is how orders are chosen while others run (Desautels, Krause and Burdick 2014).
        """
        if not len(ranks):
            return self
        expected, _ = self.predict(ranks)
        noise = np.full(len(ranks), np.median(self.noise))
        return replace(
            self,
            ranks=np.concatenate([self.ranks, ranks]),
            rewards=np.concatenate([self.rewards, expected]),
            noise=np.concatenate([self.noise, noise]),
        )

    def _cross(self, ranks: np.ndarray) -> np.ndarray:
        """The covariance [m, n] between orders asked about and measured ones."""
        kernel = mallows(ranks, self.ranks, self.given.length)
        return np.asarray(self.given.spread**2 * kernel)

    def _mean(self, cross: np.ndarray) -> np.ndarray:
        return np.asarray(self.given.centre + cross @ self._weights)

    def _whitened(self, cross: np.ndarray) -> np.ndarray:
        """The root of C, inverted, times the transpose of `cross` [n, m]."""
        return np.asarray(self._inverse_root @ cross.T)

    @cached_property
    def _inverse_root(self) -> np.ndarray:
        """The inverse of the lower Cholesky factor of C [n, n]."""
        covariance = self._cross(self.ranks) + np.diag(self.noise)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))

    @cached_property
    def _weights(self) -> np.ndarray:
        """C^-1 (y - c) [n]."""
        residual = self._inverse_root @ (self.rewards - self.given.centre)
        return np.asarray(self._inverse_root.T @ residual)


def chance_of_best(
    mean: np.ndarray, covariance: np.ndarray, random: np.random.Generator, draws: int = 20_000
) -> np.ndarray:
    """How often each of m orders is the best one [m], in joint draws of all their means.

    The eigenvalues are cut off at zero: after repeated measurements rounding leaves tiny
    negative ones.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    won = np.zeros(len(mean))
    at_once = max(1, 4_000_000 // len(mean))  # numbers held in memory
    for start in range(0, draws, at_once):
        count = min(at_once, draws - start)
        drawn = mean + random.standard_normal((count, len(mean))) @ root.T
        won += np.bincount(drawn.argmax(axis=1), minlength=len(mean))
    return won / draws
