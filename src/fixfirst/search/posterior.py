"""What the trials of a search say of all orders, or of the best that are found."""

import numpy as np

from fixfirst.search import gate
from fixfirst.search.climb import climb, codes, neighbours
from fixfirst.search.gaussian import Posterior, chance_of_best
from fixfirst.search.history import History
from fixfirst.search.record import Knowledge
from fixfirst.workflow import permutations
from fixfirst.workflow.orders import Workflow

MOST = 300  # orders told of where they cannot be listed
RIVALS = 600  # orders that may be the best one and are drawn together
FAR_BEHIND = 6.0  # deviations: an order that much behind is the best with chance 1e-9 at most


def know(history: History) -> Knowledge:
    """The posterior of all orders; of the best ones found where there are more than 5,040.

    At least one trial must have passed the gate.
    """
    if not history.passed:
        raise ValueError("no trial has passed the gate, so nothing is known of any reward")
    from fixfirst.search.model import fit  # noqa: PLC0415 - loads PyTorch

    posterior = fit(*history.measured())
    random = np.random.default_rng(0)
    ranks = best_orders(history, posterior, random)
    mean, deviation = posterior.predict(ranks)
    return Knowledge(
        orders=[Workflow.from_ranks(row, history.groups) for row in ranks],
        mean=mean,
        deviation=deviation,
        best_chance=_chances(posterior, ranks, mean, deviation, random),
        gate_chance=gate.chance(history, ranks),
        length=posterior.given.length,
        spread=posterior.given.spread,
        centre=posterior.given.centre,
        variation=posterior.given.variation,
    )


def best_orders(history: History, posterior: Posterior, random: np.random.Generator) -> np.ndarray:
    """The ranks of all orders by index, or of the best ones found where these are too many.

    The latter are the measured ones, the tops of climbs from the best of them and from random
    orders, and what lies around the highest top.
    """
    k = len(history.groups)
    if k <= permutations.LISTABLE:
        return permutations.all_ranks(k)

    def score(ranks: np.ndarray) -> np.ndarray:
        return posterior.predict(ranks)[0]

    best = posterior.ranks[np.argsort(-score(posterior.ranks), kind="stable")]
    starts = np.concatenate([best[:8], permutations.random_ranks(random, 8, k)])
    tops, scores = climb(score, starts)
    around = neighbours(tops[[np.argmax(scores)]])[0]
    found = np.concatenate([tops, posterior.ranks, around])
    found = found[np.sort(np.unique(codes(found), return_index=True)[1])]
    return found[np.argsort(-score(found), kind="stable")[:MOST]]


def _chances(
    posterior: Posterior, ranks: np.ndarray, mean: np.ndarray, deviation: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """The chance of each order to be the best one [m]. Of orders that are far behind it is 0."""
    reach = mean + FAR_BEHIND * deviation
    rivals = np.argsort(-reach, kind="stable")[:RIVALS]
    rivals = rivals[reach[rivals] >= (mean - FAR_BEHIND * deviation).max()]
    chances = np.zeros(len(ranks))
    chances[rivals] = chance_of_best(*posterior.joint(ranks[rivals]), random)
    return chances
