"""What places and pairs of groups are worth, against the textbook."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from fixfirst.view.effects import DRAWN, basis_of, deviations_of, pair_effects, place_means
from fixfirst.workflow.distances import kendall
from fixfirst.workflow.groups import HOST_GROUPS
from fixfirst.workflow.orders import ranks_of
from tests.view import fabricated
from tests.view.conftest import record_of


def dense(record, variation=0.0):
    """The posterior covariance of all listed orders, by the book."""
    known = record.knowledge
    ranks = ranks_of(known.orders)
    tried, _, errors = record.history.measured()

    def prior(a, b):
        return known.spread**2 * np.exp(-kendall(a, b) / known.length)

    noise = np.diag(errors**2 + variation**2)
    explained = prior(ranks, tried) @ np.linalg.inv(prior(tried, tried) + noise)
    return prior(ranks, ranks) - explained @ prior(tried, ranks)


def test_pair_effects_are_differences_of_means_with_their_posterior_deviation(finished):
    known = finished.knowledge
    covariance = dense(finished)
    found = pair_effects(basis_of(known, finished.history))
    assert len(found) == 10
    assert [one.effect for one in found] == sorted((one.effect for one in found), reverse=True)
    for one in found:
        places = [order.ranks for order in known.orders]
        before = np.array([place[one.first] < place[one.second] for place in places])
        weights = np.where(before, 1 / before.sum(), -1 / (~before).sum())
        assert one.effect == pytest.approx(weights @ known.mean)
        assert one.effect >= 0
        assert one.deviation == pytest.approx(np.sqrt(weights @ covariance @ weights), rel=1e-4)
    pairs = {frozenset((one.first, one.second)) for one in found}
    assert pairs == {frozenset(pair) for pair in itertools.combinations(range(5), 2)}


def test_place_means_are_means_of_the_orders_with_the_group_there(finished):
    known = finished.knowledge
    covariance = dense(finished)
    means, deviations = place_means(basis_of(known, finished.history))
    for group, place in itertools.product(range(5), range(5)):
        there = np.array([order.ranks[group] == place for order in known.orders])
        assert there.sum() == 24
        assert means[group, place] == pytest.approx(known.mean[there].mean())
        variance = covariance[np.ix_(there, there)].mean()
        assert deviations[group, place] == pytest.approx(np.sqrt(variance), rel=1e-4)


def test_the_variation_between_trainings_makes_effects_less_sure(finished):
    known = replace(finished.knowledge, variation=1.5)
    covariance = dense(finished, variation=1.5)
    found = deviations_of(np.eye(120), basis_of(known, finished.history))
    np.testing.assert_allclose(found, np.sqrt(np.diag(covariance)), rtol=1e-4)
    assert (found > finished.knowledge.deviation).all()


def test_single_orders_are_as_unsure_as_the_record_says(finished):
    known = finished.knowledge
    found = deviations_of(np.eye(120), basis_of(known, finished.history))
    np.testing.assert_allclose(found, known.deviation, rtol=1e-3, atol=1e-4)


def test_averages_are_over_an_even_draw_where_orders_cannot_be_listed():
    record = record_of("13 groups")
    basis = basis_of(record.knowledge, record.history)
    assert basis.words == "4,096 orders drawn evenly from all 6,227,020,800"
    np.testing.assert_allclose(basis.ranks.mean(axis=0), 6)  # every order and its mirror image
    means, deviations = place_means(basis)
    assert np.isfinite(means).all()
    assert np.isfinite(deviations).all()
    assert len(pair_effects(basis)) == 78
    listed, _ = basis.posterior.predict(ranks_of(record.knowledge.orders))
    np.testing.assert_allclose(listed, record.knowledge.mean, atol=1e-3)


def test_without_a_kernel_averages_are_over_the_listed_orders_and_have_no_interval():
    record = fabricated.record(HOST_GROUPS, 5, listed=fabricated.near(HOST_GROUPS, 5))
    known = replace(record.knowledge, length=float("nan"))
    basis = basis_of(known, record.history)
    assert len(basis.ranks) == len(known.orders) < DRAWN
    means, deviations = place_means(basis)
    assert np.isnan(means).any()  # not every group stands in every place
    assert np.isfinite(means).any()
    assert np.isnan(deviations).all()
    assert all(np.isnan(one.deviation) for one in pair_effects(basis))


def test_a_single_order_has_no_pairs(finished):
    known = finished.knowledge
    one = replace(
        known, orders=known.orders[:1], mean=known.mean[:1], deviation=known.deviation[:1],
        length=float("nan"),
    )  # fmt: skip
    assert pair_effects(basis_of(one, finished.history)) == []
