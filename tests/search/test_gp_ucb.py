"""GP-UCB: what it chooses, why, and several at once."""

import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("botorch", reason="the extra `search` is not installed")

from fixfirst.search import gate, gp_ucb
from fixfirst.search.climb import climb, codes, highest, neighbours
from fixfirst.search.gaussian import mallows
from fixfirst.search.gp_ucb import GpUcb, deviations, gain
from fixfirst.search.history import PASSED, History
from fixfirst.search.model import fit
from fixfirst.search.posterior import best_orders, know
from fixfirst.workflow import permutations
from fixfirst.workflow.groups import DEFAULT_GROUPS, HOST_GROUPS
from fixfirst.workflow.orders import Workflow, ranks_of
from fixfirst.workflow.permutations import all_ranks, random_ranks
from tests.search.trials import hill, history, some, trial

EVERY = list(Workflow.every(DEFAULT_GROUPS))


def untouched(there):
    """The model's mean and deviation of every order, and which are fresh."""
    posterior = fit(*there.measured())
    fresh = np.array([order not in {t.order for t in there.trials} for order in EVERY])
    return (*posterior.predict(all_ranks(5)), fresh)


def test_the_choice_is_the_highest_reach_of_all_fresh_orders():
    orders = some(8)
    there = history(orders, hill(orders, orders[0]))
    for beta in (1.0, 2.0, 4.0):
        mean, deviation, fresh = untouched(there)
        worth = gain(mean + beta * deviation - max(mean[~fresh]), gate.chance(there, all_ranks(5)))
        (one,) = GpUcb(beta).propose(there, 1, seed=0)
        assert one.order == EVERY[np.argmax(np.where(fresh, worth, -np.inf))]
        assert one.guess.mean == pytest.approx(mean[one.order.index])
        assert one.guess.deviation == pytest.approx(deviation[one.order.index])


def test_no_deviation_exploits_and_many_explore():
    orders = some(8)
    there = history(orders, hill(orders, orders[0]))
    (sure,) = GpUcb(0.0).propose(there, 1, seed=0)
    (bold,) = GpUcb(50.0).propose(there, 1, seed=0)
    assert (sure.kind, bold.kind) == ("exploit", "explore")
    assert "the highest of all that is left" in sure.why or "measured once more" in sure.why
    assert "it may reach" in bold.why
    assert sure.order.kendall(orders[0]) < bold.order.kendall(orders[0])


def test_the_top_three_are_those_of_the_model():
    orders = some(8)
    there = history(orders, hill(orders, orders[0]))
    mean, _, _ = untouched(there)
    (one,) = GpUcb().propose(there, 1, seed=0)
    best = np.argsort(-mean, kind="stable")[:3]
    assert [guess.order for guess in one.top] == [EVERY[i] for i in best]
    assert one.top[0].mean >= one.top[1].mean >= one.top[2].mean


def test_several_at_once_are_those_that_would_follow_if_each_were_running():
    orders = some(6)
    there = history(orders, hill(orders, orders[0]))
    together = GpUcb().propose(there, 3, seed=0)
    one_by_one = []
    for number in range(6, 9):
        (one,) = GpUcb().propose(there, 1, seed=0)
        one_by_one.append(one.order)
        there = replace(there, trials=(*there.trials, trial(number, one.order, None, state="running")))  # fmt: skip
    assert [one.order for one in together] == one_by_one
    assert len(set(one_by_one)) == 3


def test_several_at_once_lie_apart_where_the_second_best_alone_would_not():
    """A running order takes the interest from its neighbours: the batch spreads further than
    the orders of the highest reach do.
    """
    orders = some(4)
    there = history(orders, hill(orders, orders[0]))
    mean, deviation, fresh = untouched(there)
    reach = np.where(fresh, mean + 2 * deviation, -np.inf)
    naive = [EVERY[i] for i in np.argsort(-reach, kind="stable")[:4]]
    batch = [one.order for one in GpUcb().propose(there, 4, seed=0)]

    def spread(chosen):
        return np.mean([a.kendall(b) for a in chosen for b in chosen])

    assert spread(batch) > spread(naive)


def test_an_order_is_not_tried_again_while_a_fresh_one_may_be_better():
    top = EVERY[33]
    orders = [top, *some(7)]
    there = history(orders, hill(orders, top), error=0.1)
    (one,) = GpUcb().propose(there, 1, seed=0)
    assert one.order not in orders


def flat_but(top, looks):
    """All 120 orders but one are tried and far worse than `top`, which was tried so often."""
    orders = [order for order in EVERY[:-1] if order != top]
    rewards = [-60.0 - order.kendall(top) for order in orders]
    return history([*orders, *[top] * looks], [*rewards, *[-10.0] * looks], error=0.5)


def test_an_order_is_tried_again_when_nothing_fresh_reaches_the_best_but_not_for_ever():
    top = EVERY[10]
    (again,) = GpUcb().propose(flat_but(top, 1), 1, seed=0)
    assert again.order == top
    assert "measured once more (1 so far)" in again.why
    (other,) = GpUcb().propose(flat_but(top, gp_ucb.LOOKS), 1, seed=0)
    assert other.order != top


def test_before_any_reward_orders_far_from_those_that_failed_are_tried():
    first = some(1)
    there = history(first, [None])
    one, two = GpUcb().propose(there, 2, seed=0)
    assert one.order.kendall(first[0]) == 1.0  # its reverse
    assert two.order.kendall(first[0]) >= 0.3
    assert two.order.kendall(one.order) >= 0.3


def test_the_schedule_of_srinivas_is_theirs():
    # sqrt(2 log(120 * 4^2 * pi^2 / (6 * 0.1))), the fourth measurement
    assert deviations("srinivas", 3, 5) == pytest.approx(
        math.sqrt(2 * math.log(120 * 16 * math.pi**2 / 0.6))
    )
    assert deviations(2.0, 3, 5) == 2.0


# --- the gate


def test_the_chance_to_pass_is_a_beta_mean_with_the_kernels_votes():
    orders = some(3)
    there = history(orders, [-1.0, None, -2.0])
    ranks = all_ranks(5)
    votes = mallows(ranks, ranks_of(orders), gate.LENGTH)
    anywhere = (2 * 0.9 + 2) / (2 + 3)
    expected = (anywhere + votes[:, 0] + votes[:, 2]) / (1 + votes.sum(axis=1))
    np.testing.assert_allclose(gate.chance(there, ranks), expected)
    assert gate.chance(History(DEFAULT_GROUPS), ranks) == pytest.approx(0.9)


def test_failures_make_their_neighbours_unlikely_and_leave_what_is_far_alone():
    failed = EVERY[0]
    there = history([failed, EVERY[60]], [None, -10.0])
    by_distance = {
        order.kendall(failed): gate.chance(there, order.ranks[None])[0]
        for order in (failed, *failed.neighbours("adjacent")[:1], Workflow.from_index(119))
    }
    at, near, far = (by_distance[d] for d in sorted(by_distance))
    assert at < near < far
    again = history([failed] * 6, [None] * 6)
    assert gate.chance(again, failed.ranks[None])[0] < 0.1


def test_a_likely_failure_makes_an_order_worth_less_whatever_its_reach():
    passes = np.array([0.9, 0.3])
    assert gain(np.array([2.0, 2.0]), passes).tolist() == pytest.approx([1.8, 0.6])
    behind = gain(np.array([-2.0, -2.0]), passes)
    assert behind[1] < behind[0] < 0  # a plain product would turn them round


def test_the_search_turns_away_from_where_trainings_fail():
    """Two equal hills; around the second all trials failed."""
    good, bad = EVERY[0], EVERY[119]
    near_bad = bad.neighbours("adjacent")
    orders = [*good.neighbours("adjacent")[:2], *near_bad, *some(6, seed=2)]
    there = history(orders, [-12.0, -12.0, *[None] * len(near_bad), *[-30.0] * 6])
    proposals = GpUcb().propose(there, 3, seed=0)
    assert all(one.order.kendall(bad) > 0.2 for one in proposals)


# --- beyond what can be listed


def test_neighbours_are_all_orders_one_exchange_or_insertion_away():
    start = Workflow.random(np.random.default_rng(1), HOST_GROUPS)
    expected = {*start.neighbours("swaps"), *start.neighbours("insertions")}
    got = neighbours(start.ranks[None])[0]
    assert {Workflow.from_ranks(row, HOST_GROUPS) for row in got} == expected
    assert len(got) == len(expected) == 13 * 12 // 2 + 12 * 12 - 12


def test_codes_tell_orders_apart():
    assert len(np.unique(codes(all_ranks(6)))) == 720
    many = random_ranks(np.random.default_rng(0), 1000, 13)
    assert len(np.unique(codes(many))) == len(np.unique(many, axis=0))


def test_a_climb_among_13_groups_finds_the_one_top():
    top = random_ranks(np.random.default_rng(5), 1, 13)

    def score(ranks):
        return mallows(ranks, top, 0.5)[:, 0]

    found = highest(score, 13, top[:0], np.random.default_rng(0))
    assert (found == top[0]).all()
    ends, scores = climb(score, random_ranks(np.random.default_rng(6), 3, 13))
    assert (ends == top).all()
    assert scores.tolist() == [1.0] * 3


def test_local_search_finds_what_listing_finds(monkeypatch):
    """The same choice of 720 orders, listed or climbed."""
    orders = some(10, seed=3)
    there = history(orders, hill(orders, orders[0]))
    (listed,) = GpUcb().propose(there, 1, seed=0)
    monkeypatch.setattr("fixfirst.search.climb.LISTABLE", 1)
    (climbed,) = GpUcb().propose(there, 1, seed=0)
    assert climbed.order == listed.order


# --- what is known


def test_what_is_known_covers_all_120_orders_and_adds_up():
    orders = some(15)
    known = know(history(orders, [*hill(orders, orders[0])[:13], None, "running"]))
    assert [order.index for order in known.orders] == list(range(120))
    assert known.best_chance.sum() == pytest.approx(1)
    assert known.orders[known.best].kendall(orders[0]) <= 0.3
    assert ((known.gate_chance > 0) & (known.gate_chance < 1)).all()
    assert known.spread > 0 < known.length
    again = know(history(orders, [*hill(orders, orders[0])[:13], None, "running"]))
    np.testing.assert_array_equal(known.best_chance, again.best_chance)


def test_of_13_groups_the_best_orders_found_are_known():
    orders = some(20, HOST_GROUPS)
    there = history(orders, hill(orders, orders[0]), groups=HOST_GROUPS)
    known = know(there)
    assert 100 < len(known.orders) == len(set(known.orders)) <= 300
    assert orders[0] in known.orders
    assert (np.diff(known.mean) <= 1e-12).all()
    assert known.best_chance.sum() == pytest.approx(1)


def test_nothing_is_known_before_a_trial_has_passed():
    with pytest.raises(ValueError, match="no trial has passed the gate"):
        know(history(some(2), [None, "running"]))


def test_best_orders_are_all_of_them_while_they_can_be_listed():
    orders = some(3)
    there = history(orders, hill(orders, orders[0]))
    assert {t.state for t in there.trials} == {PASSED}
    found = best_orders(there, fit(*there.measured()), np.random.default_rng(0))
    np.testing.assert_array_equal(found, permutations.all_ranks(5))
