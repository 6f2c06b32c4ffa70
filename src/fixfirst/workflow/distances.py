"""How far apart orders are. Both distances are metrics, 0 for the same order and, normalised,
1 for its reverse.

- Kendall: the number of pairs that the two orders put the other way round.
- Spearman's footrule: how many places the groups have moved, summed over the groups.
"""

import itertools

import numpy as np

from fixfirst.workflow.permutations import checked_ranks


def largest_kendall(length: int) -> int:
    """The Kendall distance of an order from its reverse: all pairs."""
    return length * (length - 1) // 2


def largest_footrule(length: int) -> int:
    """The footrule distance of an order from its reverse."""
    return length * length // 2


def kendall(these: object, those: object, normalised: bool = True) -> np.ndarray:
    """Kendall distances [m, n] between orders given by their ranks [m, k] and [n, k]."""
    a, b = _same_length(these, those)
    k = a.shape[1]
    # A pair counts +1 where both orders agree on it and -1 where not. Sums of up to 78 ones
    # are exact in float32, whose matrix product is the fast one.
    agreement = _pair_signs(a) @ _pair_signs(b).T
    pairs = largest_kendall(k)
    return _scaled((pairs - agreement.astype(np.int64)) // 2, pairs, normalised)


def footrule(these: object, those: object, normalised: bool = True) -> np.ndarray:
    """Spearman's footrule [m, n] between orders given by their ranks [m, k] and [n, k]."""
    a, b = _same_length(these, those)
    k = a.shape[1]
    moved = np.zeros((len(a), len(b)), dtype=np.int64)
    for group in range(k):  # one group at a time: no array of m x n x k
        moved += np.abs(a[:, group, None] - b[:, group])
    return _scaled(moved, largest_footrule(k), normalised)


def _same_length(these: object, those: object) -> tuple[np.ndarray, np.ndarray]:
    a, b = checked_ranks(these), checked_ranks(those)
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"orders of {a.shape[1]} and of {b.shape[1]} groups have no distance from each other"
        )
    return a, b


def _pair_signs(ranks: np.ndarray) -> np.ndarray:
    """For every pair of groups, +1 if the first comes first, else -1 [n, pairs]."""
    pairs = np.array(list(itertools.combinations(range(ranks.shape[1]), 2)), dtype=np.int64)
    first, second = pairs.reshape(-1, 2).T
    return np.where(ranks[:, first] < ranks[:, second], 1, -1).astype(np.float32)


def _scaled(distance: np.ndarray, largest: int, normalised: bool) -> np.ndarray:
    """The counts as they are, or as shares of the largest. A single group has one order only."""
    return distance / max(largest, 1) if normalised else distance
