import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from fixfirst.workflow import distances
from fixfirst.workflow.permutations import all_ranks, random_ranks

seeds = st.integers(0, 2**32)
lengths = st.integers(1, 13)
both = pytest.mark.parametrize("distance", [distances.kendall, distances.footrule])


def draw(seed, n, k):
    return random_ranks(np.random.default_rng(seed), n, k)


def plain_kendall(a, b):
    k = len(a)
    return sum((a[i] < a[j]) != (b[i] < b[j]) for i in range(k) for j in range(i))


def plain_footrule(a, b):
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    ("distance", "plain"),
    [(distances.kendall, plain_kendall), (distances.footrule, plain_footrule)],
)
@pytest.mark.parametrize("k", [1, 2, 5, 13])
def test_many_at_once_are_as_one_by_one(distance, plain, k):
    a, b = draw(k, 30, k), draw(99 + k, 20, k)
    expected = [[plain(x, y) for y in b.tolist()] for x in a.tolist()]
    found = distance(a, b, normalised=False)
    assert found.dtype == np.int64
    assert found.tolist() == expected


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(2, 13))
def test_kendall_is_what_scipy_makes_of_it(seed, k):
    a, b = draw(seed, 2, k)
    tau = kendalltau(a, b).statistic
    assert distances.kendall([a], [b])[0, 0] == pytest.approx((1 - tau) / 2)


@both
@settings(deadline=None)
@given(seed=seeds, k=lengths)
def test_each_is_a_metric(distance, seed, k):
    ranks = draw(seed, 8, k)
    d = distance(ranks, ranks, normalised=False)
    same = (ranks[:, None] == ranks[None]).all(axis=2)
    assert ((d == 0) == same).all()
    assert (d == d.T).all()
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :]).all()


@both
@settings(deadline=None)
@given(seed=seeds, k=lengths)
def test_neither_depends_on_how_the_groups_are_numbered(distance, seed, k):
    a, b = draw(seed, 2, k)
    renumbered = np.random.default_rng(seed + 1).permutation(k)
    assert distance([a], [b]) == distance([a[renumbered]], [b[renumbered]])


@both
@pytest.mark.parametrize("k", range(2, 14))
def test_the_reverse_is_the_farthest_order(distance, k):
    a = draw(k, 1, k)
    assert distance(a, k - 1 - a) == 1.0
    assert distance(a, draw(k + 1, 200, k)).max() <= 1.0


@both
def test_a_single_group_is_at_distance_0_from_itself(distance):
    assert distance([[0]], [[0]]).tolist() == [[0.0]]


def test_known_values():
    here = [[0, 1, 2, 3, 4]]
    there = [[1, 0, 2, 3, 4], [4, 0, 1, 2, 3], [4, 3, 2, 1, 0]]
    assert distances.kendall(here, there, normalised=False).tolist() == [[1, 4, 10]]
    assert distances.footrule(here, there, normalised=False).tolist() == [[2, 8, 12]]
    assert distances.kendall(here, there)[0] == pytest.approx([0.1, 0.4, 1.0])
    assert distances.footrule(here, there)[0] == pytest.approx([2 / 12, 8 / 12, 1.0])


def test_footrule_is_between_kendall_and_twice_kendall():
    ranks = all_ranks(5)
    kendall = distances.kendall(ranks, ranks, normalised=False)
    footrule = distances.footrule(ranks, ranks, normalised=False)
    assert (kendall <= footrule).all()
    assert (footrule <= 2 * kendall).all()


@both
def test_orders_of_different_lengths_are_refused(distance):
    with pytest.raises(ValueError, match="orders of 2 and of 3 groups have no distance"):
        distance([[0, 1]], [[0, 1, 2]])
