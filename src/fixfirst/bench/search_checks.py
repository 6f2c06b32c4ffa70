"""Checks of the search's model: against the textbook, against GPyTorch, and against truths that
were drawn from it.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from fixfirst.bench import landscapes
from fixfirst.search.gaussian import Hyperparameters, Posterior, mallows
from fixfirst.search.model import fit, gaussian_process
from fixfirst.workflow.permutations import all_ranks, random_ranks

GROUPS = 5
LENGTHS = (0.02, 0.1, 0.5, 2.0, 10.0)
LEVELS = {"50 %": 0.674490, "80 %": 1.281552, "95 %": 1.959964}  # and their normal points
SEEN = (10, 20, 40)  # trials that the intervals are made from
TRUE = Hyperparameters(length=0.5, spread=10.0, variation=2.0, centre=-40.0)
ERROR = 0.5  # the known error beside it

Told = Callable[[int], Any]


def parts(draws: int) -> int:
    """How many pieces of work there are."""
    return 3 + draws * (1 + len(CALIBRATED) * len(SEEN))


def run(draws: int, told: Told = lambda more: None) -> dict[str, Any]:
    """All checks."""
    return {
        "textbook": _told(textbook(), told),
        "gpytorch": _told(library(), told),
        "kernel": _told(eigenvalues(), told),
        "recovery": recovery(draws, told),
        "calibration": calibration(draws, told),
    }


def _told(result: Any, told: Told) -> Any:
    told(1)
    return result


# --- the posterior


def textbook() -> float:
    """The largest difference between the posterior and the formulas written out: loops over
    pairs of groups, and C inverted as it stands.
    """
    seen, rewards, noise, asked = _example(30)
    got = Posterior(TRUE, seen, rewards, noise).joint(asked)
    prior = TRUE.spread**2

    def kernel(these: np.ndarray, those: np.ndarray) -> np.ndarray:
        return np.array([[prior * math.exp(-_kendall(a, b) / TRUE.length) for b in those]
                         for a in these])  # fmt: skip

    inverse = np.linalg.inv(kernel(seen, seen) + np.diag(noise))
    cross = kernel(asked, seen)
    mean = TRUE.centre + cross @ inverse @ (rewards - TRUE.centre)
    covariance = kernel(asked, asked) - cross @ inverse @ cross.T
    return float(max(np.abs(got[0] - mean).max(), np.abs(got[1] - covariance).max()))


def _kendall(a: np.ndarray, b: np.ndarray) -> float:
    pairs = list(itertools.combinations(range(len(a)), 2))
    apart = sum(bool((a[i] < a[j]) != (b[i] < b[j])) for i, j in pairs)
    return apart / len(pairs)


def library() -> float:
    """The largest difference between the posterior and that of GPyTorch's exact process."""
    seen, rewards, noise, asked = _example(30)
    model = gaussian_process(seen, rewards - TRUE.centre, noise)
    model.covar_module.base_kernel.lengthscale = TRUE.length
    model.covar_module.outputscale = TRUE.spread**2
    model.likelihood.second_noise = TRUE.variation**2
    model.eval()
    with torch.no_grad():
        there = model.posterior(torch.tensor(asked, dtype=torch.float64))
        mean, deviation = there.mean[:, 0].numpy(), there.variance[:, 0].sqrt().numpy()
    got = Posterior(TRUE, seen, rewards, noise + TRUE.variation**2).predict(asked)
    return float(max(np.abs(got[0] - TRUE.centre - mean).max(), np.abs(got[1] - deviation).max()))


def _example(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Measurements, one order twice among them, and all orders to ask about."""
    random = np.random.default_rng(0)
    every = all_ranks(GROUPS)
    seen = every[random.permutation(len(every))[:count]]
    seen[-1] = seen[0]
    rewards = TRUE.centre + TRUE.spread * random.standard_normal(count)
    return seen, rewards, random.uniform(0.1, 4.0, count), every


def eigenvalues() -> dict[str, float]:
    """The smallest eigenvalue of the kernel at several lengths: over all orders of 5 groups, and
    over 500 random orders of 13.
    """
    many = random_ranks(np.random.default_rng(0), 500, 13)
    return {
        f"{len(ranks)} orders of {ranks.shape[1]} groups": min(
            float(np.linalg.eigvalsh(mallows(ranks, ranks, length)).min()) for length in LENGTHS
        )
        for ranks in (all_ranks(GROUPS), many)
    }


# --- truths drawn from the model


def recovery(draws: int, told: Told = lambda more: None) -> dict[str, Any]:
    """What the fit makes of data from known hyperparameters, every order measured twice."""
    every = np.repeat(all_ranks(GROUPS), 2, axis=0)
    found = []
    for draw in range(draws):
        random = np.random.default_rng(draw)
        rewards = np.repeat(_draw(random), 2)
        rewards += math.hypot(TRUE.variation, ERROR) * random.standard_normal(len(rewards))
        found.append(fit(every, rewards, np.full(len(rewards), ERROR)).given)
        told(1)
    return {
        name: {
            "true": getattr(TRUE, name),
            "quartiles": np.quantile([getattr(f, name) for f in found], (0.25, 0.5, 0.75)).tolist(),
        }
        for name in ("length", "spread", "variation")
    }


def _draw(random: np.random.Generator) -> np.ndarray:
    ranks = all_ranks(GROUPS)
    root = np.linalg.cholesky(mallows(ranks, ranks, TRUE.length) + 1e-10 * np.eye(len(ranks)))
    return np.asarray(TRUE.centre + TRUE.spread * (root @ random.standard_normal(len(ranks))))


CALIBRATED = ("smooth", "rugged")


def calibration(draws: int, told: Told = lambda more: None) -> dict[str, Any]:
    """How often the true mean rewards of orders that were not tried lie in their intervals."""
    found: dict[str, Any] = {}
    for name, seen in itertools.product(CALIBRATED, SEEN):
        inside = dict.fromkeys(LEVELS, 0)
        count = 0
        for draw in range(draws):
            random = np.random.default_rng([draw, seen])
            off = _held_out(landscapes.MADE[name](random), seen, random)
            count += len(off)
            for level, point in LEVELS.items():
                inside[level] += int((off < point).sum())
            told(1)
        found[f"{name}, {seen} trials"] = {level: n / count for level, n in inside.items()}
    return found


def _held_out(
    landscape: landscapes.Landscape, seen: int, random: np.random.Generator
) -> np.ndarray:
    """How many deviations the true means of untried orders are off."""
    ranks = landscapes.ranks_by_index(landscape)
    mixed = random.permutation(len(ranks))
    tried, others = mixed[:seen], mixed[seen:]
    noise = np.hypot(landscape.variation, landscape.error[tried])
    rewards = landscape.reward[tried] + noise * random.standard_normal(seen)
    mean, deviation = fit(ranks[tried], rewards, landscape.error[tried]).predict(ranks[others])
    return np.asarray(np.abs(landscape.reward[others] - mean) / deviation)
