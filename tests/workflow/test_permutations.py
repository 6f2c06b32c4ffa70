import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixfirst.workflow import permutations

orders = st.integers(1, 13).flatmap(lambda k: st.permutations(range(k))).map(tuple)
never_slow = settings(deadline=None)


def test_indices_count_orders_in_lexicographic_order():
    for k in range(1, 7):
        for index, order in enumerate(itertools.permutations(range(k))):
            assert permutations.index_of(order) == index
            assert permutations.order_at(index, k) == order


@never_slow
@given(orders)
def test_an_index_leads_back_to_its_order(order):
    index = permutations.index_of(order)
    assert 0 <= index < math.factorial(len(order))
    assert permutations.order_at(index, len(order)) == order


@never_slow
@given(st.integers(0, math.factorial(13) - 1))
def test_an_order_of_13_leads_back_to_its_index(index):
    assert permutations.index_of(permutations.order_at(index, 13)) == index


def test_the_last_order_of_13_has_the_last_index():
    assert permutations.index_of(tuple(range(12, -1, -1))) == 6_227_020_799


@never_slow
@given(orders)
def test_ranks_lead_back_to_their_order(order):
    ranks = permutations.inverse(order)
    assert permutations.inverse(ranks) == order
    assert all(order[ranks[number]] == number for number in order)


# --- neighbours


@never_slow
@given(orders)
def test_each_neighbourhood_holds_each_order_once_and_not_its_middle(order):
    k = len(order)
    sizes = {"adjacent": k - 1, "swaps": k * (k - 1) // 2, "insertions": (k - 1) ** 2}
    for kind, size in sizes.items():
        found = list(permutations.NEIGHBOURHOODS[kind](order))
        assert len(found) == len(set(found)) == size
        assert order not in found
        assert all(sorted(one) == list(range(k)) for one in found)


def test_neighbours_of_three():
    of = {kind: set(moves((0, 1, 2))) for kind, moves in permutations.NEIGHBOURHOODS.items()}
    assert of["adjacent"] == {(1, 0, 2), (0, 2, 1)}
    assert of["swaps"] == of["adjacent"] | {(2, 1, 0)}
    assert of["insertions"] == of["adjacent"] | {(1, 2, 0), (2, 0, 1)}


# --- many at once


@pytest.mark.parametrize("k", range(1, 8))
def test_all_ranks_stand_in_the_order_of_the_indices(k):
    ranks = permutations.all_ranks(k)
    assert ranks.shape == (math.factorial(k), k)
    for index in range(0, len(ranks), 97):
        assert permutations.inverse(ranks[index].tolist()) == permutations.order_at(index, k)


@pytest.mark.parametrize("k", [0, 8])
def test_too_many_orders_are_not_put_into_an_array(k):
    with pytest.raises(ValueError, match=f"the orders of {k} groups .* up to 7 groups"):
        permutations.all_ranks(k)


def test_random_ranks_are_uniform():
    ranks = permutations.random_ranks(np.random.default_rng(5), 60_000, 4)
    indices = [permutations.index_of(permutations.inverse(row)) for row in ranks.tolist()]
    counts = np.bincount(indices, minlength=24)
    chi_squared = ((counts - 2500) ** 2 / 2500).sum()
    assert 5 < chi_squared < 60  # 23 degrees of freedom


def test_random_ranks_repeat_with_their_seed():
    draws = [permutations.random_ranks(np.random.default_rng(s), 50, 13) for s in (1, 1, 2)]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] != draws[2]).any()


@never_slow
@given(st.integers(1, 9), st.integers(0, 4), st.integers(0, 2**32))
def test_one_hots_lead_back_to_their_ranks(k, n, seed):
    ranks = permutations.random_ranks(np.random.default_rng(seed), n, k)
    matrices = permutations.one_hots(ranks)
    assert matrices.shape == (n, k, k)
    assert matrices.dtype == np.float32
    for row, matrix in zip(ranks, matrices, strict=True):
        assert all(matrix[row[group], group] == 1 for group in range(k))
        assert matrix.sum() == k
    assert (permutations.ranks_of_one_hots(matrices) == ranks).all()


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        ([[[1, 0], [1, 0]]], "matrix 0 is not one-hot"),
        ([[[1, 1], [0, 0]]], "matrix 0 is not one-hot"),
        ([[[1, 0], [0, 1]], [[0, 1], [0.5, 0.5]]], "matrix 1 is not one-hot"),
        ([[[2, -1], [-1, 2]]], "matrix 0 is not one-hot"),
        ([[[float("nan"), 0], [0, 1]]], "matrix 0 is not one-hot"),
        ([[1, 0], [0, 1]], r"have shape \(2, 2\); they have shape \(n, k, k\)"),
    ],
)
def test_what_is_not_one_hot_is_refused(matrix, complaint):
    with pytest.raises(ValueError, match=complaint):
        permutations.ranks_of_one_hots(matrix)


@pytest.mark.parametrize(
    ("ranks", "complaint"),
    [
        ([[0, 1], [1, 1]], r"ranks \[1, 1\] are no order; each of 0 to 1 stands once"),
        ([[0, 2]], r"ranks \[0, 2\] are no order"),
        ([[0, -1]], r"ranks \[0, -1\] are no order"),
        ([0, 1], r"of shape \(2,\); they are whole numbers of shape"),
        ([[0.0, 1.0]], "ranks are float64"),
    ],
)
def test_bad_ranks_are_refused(ranks, complaint):
    with pytest.raises(ValueError, match=complaint):
        permutations.checked_ranks(ranks)


def test_ranks_for_other_groups_are_refused():
    with pytest.raises(ValueError, match="ranks have 2 columns; there are 5 groups"):
        permutations.checked_ranks([[0, 1]], 5)
