"""Permutations of 0 .. k-1, as tuples one at a time and as arrays many at a time.

An *order* lists the numbers, first to last. Its *ranks* say the place of each number, so
the two are inverse to each other. Orders are counted from 0 in lexicographic order.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

Order = tuple[int, ...]

# Up to this length all orders are put into one array (7! = 5,040 rows).
LISTABLE = 7


def index_of(order: Order) -> int:
    """The index of an order among all of its length."""
    rest = sorted(order)
    index = 0
    for number in order:
        smaller = rest.index(number)
        index += smaller * math.factorial(len(rest) - 1)
        del rest[smaller]
    return index


def order_at(index: int, length: int) -> Order:
    """The order with this index. The index must be among 0 .. length! - 1."""
    rest = list(range(length))
    order = []
    while rest:
        smaller, index = divmod(index, math.factorial(len(rest) - 1))
        order.append(rest.pop(smaller))
    return tuple(order)


def inverse(order: Sequence[int]) -> Order:
    """Ranks for an order, or the order for ranks."""
    places = [0] * len(order)
    for place, number in enumerate(order):
        places[number] = place
    return tuple(places)


# --- neighbours ------------------------------------------------------------------------


def adjacent_swaps(order: Order) -> Iterator[Order]:
    """The k-1 orders in which two neighbours have changed places."""
    for i in range(len(order) - 1):
        yield (*order[:i], order[i + 1], order[i], *order[i + 2 :])


def swaps(order: Order) -> Iterator[Order]:
    """The k(k-1)/2 orders in which any two have changed places."""
    for i, j in itertools.combinations(range(len(order)), 2):
        swapped = list(order)
        swapped[i], swapped[j] = order[j], order[i]
        yield tuple(swapped)


def insertions(order: Order) -> Iterator[Order]:
    """The (k-1)^2 orders in which one has moved to another place, each once."""
    for i, j in itertools.permutations(range(len(order)), 2):
        if j == i - 1:
            continue  # moving back by one is the same as moving the other one forward
        rest = order[:i] + order[i + 1 :]
        yield (*rest[:j], order[i], *rest[j:])


NEIGHBOURHOODS: dict[str, Callable[[Order], Iterator[Order]]] = {
    "adjacent": adjacent_swaps,
    "swaps": swaps,
    "insertions": insertions,
}


# --- many at once ----------------------------------------------------------------------


def all_ranks(length: int) -> np.ndarray:
    """The ranks of all orders of a length [length!, length], row i for the order of index i."""
    if not 1 <= length <= LISTABLE:
        raise ValueError(
            f"the orders of {length} groups are not put into one array; up to {LISTABLE} groups "
            "are, beyond that go through them one by one"
        )
    return np.argsort(np.array(list(itertools.permutations(range(length)))), axis=1)


def random_ranks(random: np.random.Generator, count: int, length: int) -> np.ndarray:
    """The ranks of orders drawn independently and uniformly [count, length]."""
    return random.permuted(np.tile(np.arange(length), (count, 1)), axis=1)


def checked_ranks(ranks: object, length: int | None = None) -> np.ndarray:
    """Ranks [n, k] as an array, if every row holds each of 0 .. k-1 once."""
    rows = np.asarray(ranks)
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"ranks are {rows.dtype} of shape {rows.shape}; they are whole numbers of shape (n, k)"
        )
    k = rows.shape[1]
    if length is not None and k != length:
        raise ValueError(f"ranks have {k} columns; there are {length} groups")
    wrong = np.flatnonzero((np.sort(rows, axis=1) != np.arange(k)).any(axis=1))
    if len(wrong):
        raise ValueError(
            f"ranks {rows[wrong[0]].tolist()} are no order; each of 0 to {k - 1} stands once"
        )
    return rows.astype(np.int64, copy=False)


def one_hots(ranks: object) -> np.ndarray:
    """One-hot matrices [n, k, k] of ranks [n, k]: a 1 where the row is the column's rank."""
    rows = checked_ranks(ranks)
    return np.asarray(rows[:, None, :] == np.arange(rows.shape[1])[:, None], dtype=np.float32)


def ranks_of_one_hots(matrices: object) -> np.ndarray:
    """The ranks [n, k] of one-hot matrices [n, k, k], refusing what is not one."""
    given = np.asarray(matrices)
    if given.ndim != 3 or given.shape[1] != given.shape[2] or given.shape[1] == 0:
        raise ValueError(f"one-hot matrices have shape {given.shape}; they have shape (n, k, k)")
    single = ((given == 0) | (given == 1)).all(axis=(1, 2))
    single &= (given.sum(axis=1) == 1).all(axis=1) & (given.sum(axis=2) == 1).all(axis=1)
    wrong = np.flatnonzero(~single)
    if len(wrong):
        raise ValueError(
            f"matrix {wrong[0]} is not one-hot: each row and column holds a single 1, else 0"
        )
    return np.asarray(np.argmax(given, axis=1))
