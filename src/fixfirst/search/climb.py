"""Finding the order with the highest score: exactly where all orders can be listed, by local
search beyond.
"""

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np

from fixfirst.workflow import permutations
from fixfirst.workflow.permutations import LISTABLE

Score = Callable[[np.ndarray], np.ndarray]  # of orders by their ranks [m, k], a number each [m]

RANDOM_STARTS = 16
STEPS = 200  # at most; a climb among 13 groups takes some 20


def highest(
    score: Score, length: int, starts: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """The ranks [k] of the order with the highest score, the first one among equals.

    Beyond 5,040 orders it is the highest that climbs from `starts` [s, k] and from random
    orders reach.
    """
    if length <= LISTABLE:
        every = permutations.all_ranks(length)
        return np.asarray(every[np.argmax(score(every))])
    drawn = permutations.random_ranks(random, RANDOM_STARTS, length)
    tops, scores = climb(score, np.concatenate([starts.reshape(-1, length), drawn]))
    return np.asarray(tops[np.argmax(scores)])


def climb(score: Score, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the steepest climbs from these ranks [s, k] end, and the scores there [s].

    A step exchanges any two groups, or moves one group to another place. All climbs go up
    together, so that each step scores one large batch.
    """
    ranks, scores = starts.copy(), score(starts)
    going = np.arange(len(ranks))
    for _ in range(STEPS):
        if not len(going):
            break
        around = neighbours(ranks[going])
        found = score(around.reshape(-1, around.shape[-1])).reshape(around.shape[:2])
        steepest = found.argmax(axis=1)
        reached = found[np.arange(len(going)), steepest]
        up = reached > scores[going]
        ranks[going[up]] = around[up, steepest[up]]
        scores[going[up]] = reached[up]
        going = going[up]
    return ranks, scores


def neighbours(ranks: np.ndarray) -> np.ndarray:
    """The ranks of all orders one move away [m, moves, k], of orders given by theirs [m, k]."""
    orders = np.argsort(ranks, axis=1)
    return np.argsort(orders[:, _moves(ranks.shape[1])], axis=2)


@cache
def _moves(length: int) -> np.ndarray:
    """What each move makes of the order 0 .. k-1 [moves, k], every move once."""
    first = tuple(range(length))
    both = itertools.chain(permutations.swaps(first), permutations.insertions(first))
    return np.array(list(dict.fromkeys(both)), dtype=np.int64).reshape(-1, length)


def codes(ranks: np.ndarray) -> np.ndarray:
    """A whole number for each order [m], equal exactly for equal ones, of ranks [m, k].

    13 groups need less than 2^49.
    """
    length = ranks.shape[1]
    return np.asarray(ranks @ (length ** np.arange(length, dtype=np.int64)))
