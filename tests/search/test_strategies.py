"""What every strategy promises, and what each of them does."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("optuna", reason="the extra `search` is not installed")
pytest.importorskip("botorch", reason="the extra `search` is not installed")

from fixfirst.search import tpe
from fixfirst.search.halving import rungs_of
from fixfirst.search.history import FAILED, PASSED, RUNNING, History
from fixfirst.search.strategies import STRATEGIES, make_strategy
from fixfirst.workflow import distances
from fixfirst.workflow.groups import DEFAULT_GROUPS, HOST_GROUPS
from fixfirst.workflow.orders import Workflow
from fixfirst.workflow.permutations import all_ranks
from tests.search.trials import SIX, TWO, hill, history, some, trial

every = pytest.mark.parametrize("name", STRATEGIES)


def begun(groups=DEFAULT_GROUPS):
    """Seven trials of each kind: passed, failed, running."""
    orders = some(7, groups)
    rewards = hill(orders, orders[0])
    return history(orders, [*rewards[:4], None, None, "running"], groups=groups)


@every
@pytest.mark.parametrize("groups", [DEFAULT_GROUPS, SIX, TWO])
def test_the_same_history_and_seed_give_the_same_proposals(name, groups):
    there = begun(groups) if len(groups) > 2 else History(groups)
    first, again = (make_strategy(name).propose(there, 2, seed=3) for _ in range(2))
    assert first == again
    assert len(first) == 2
    assert len({one.order for one in first}) == 2
    for one in first:
        assert one.order.groups == groups
        assert one.why
        assert "\n" not in one.why


@every
def test_a_search_begins_without_any_trial(name):
    (one,) = make_strategy(name).propose(History(DEFAULT_GROUPS), 1, seed=0)
    assert one.kind in ("explore", name)


@pytest.mark.parametrize("name", ["gp-ucb", "random", "exhaustive", "tpe"])
def test_no_order_is_proposed_that_is_taken_while_others_are_promising(name):
    there = begun()
    proposals = make_strategy(name).propose(there, 5, seed=0)
    taken = {one.order for one in there.trials}
    assert len({one.order for one in proposals} - taken) == 5


@pytest.mark.parametrize("name", ["gp-ucb", "random", "round-robin", "tpe"])
def test_once_all_orders_are_tried_they_are_tried_again(name):
    orders = list(Workflow.every(TWO))
    there = history(orders, [-10.0, -20.0], groups=TWO)
    proposals = make_strategy(name).propose(there, 3, seed=0)
    assert len(proposals) == 3


@pytest.mark.parametrize("name", ["gp-ucb", "random", "tpe", "successive-halving", "round-robin"])
def test_13_groups_work(name):
    orders = some(12, HOST_GROUPS)
    there = history(orders, [*hill(orders, orders[0])[:10], None, "running"], groups=HOST_GROUPS)
    proposals = make_strategy(name).propose(there, 2, seed=0)
    assert len({one.order for one in proposals}) == 2
    assert proposals == make_strategy(name).propose(there, 2, seed=0)


@pytest.mark.parametrize("name", ["ucb", "", "GP UCB"])
def test_names_that_are_none_are_refused_with_all_that_are(name):
    with pytest.raises(ValueError, match=f"'{name}'.*gp-ucb, random, round-robin"):
        make_strategy(name)


@pytest.mark.parametrize("beta", [-1, "many", float("nan"), float("inf"), "-0.5"])
def test_betas_that_are_none_are_refused(beta):
    with pytest.raises(ValueError, match=r"beta .* 0 or more .*srinivas"):
        make_strategy("gp-ucb", beta=beta)


def test_a_beta_is_read_from_text():
    assert make_strategy("gp-ucb", beta="1.5") == make_strategy("gp-ucb", beta=1.5)
    assert make_strategy("gp-ucb", beta=" Srinivas") == make_strategy("gp-ucb", beta="srinivas")


# --- random, round-robin, exhaustive


def test_random_draws_every_order_once_and_differs_by_seed():
    def run(seed):
        there, drawn = History(DEFAULT_GROUPS), []
        for number in range(120):
            (one,) = make_strategy("random").propose(there, 1, seed)
            drawn.append(one.order)
            there = replace(there, trials=(*there.trials, trial(number, one.order, -1.0)))
        return drawn

    first, other = run(0), run(1)
    assert len(set(first)) == 120
    assert first != other


def test_round_robin_goes_by_index_and_then_on_with_each_last_policy():
    orders = list(Workflow.every(TWO))
    there = history(orders, [-1.0, None], groups=TWO)
    proposals = make_strategy("round-robin").propose(there, 2, seed=0)
    assert [one.order for one in proposals] == orders
    assert [one.continues for one in proposals] == [0, 1]
    (first,) = make_strategy("round-robin").propose(History(TWO), 1, seed=0)
    assert (first.order, first.continues) == (orders[0], None)


def test_exhaustive_takes_each_order_once_and_ends():
    orders = list(Workflow.every(DEFAULT_GROUPS))
    there = history(orders[:118], [-1.0] * 116 + [None, "running"])
    proposals = make_strategy("exhaustive").propose(there, 5, seed=0)
    assert [one.order for one in proposals] == orders[118:]
    assert make_strategy("exhaustive").propose(history(orders, [-1.0] * 120), 1, seed=0) == []
    with pytest.raises(ValueError, match=r"13 groups have 6,227,020,800 orders.*at most 7 groups"):
        make_strategy("exhaustive").propose(History(HOST_GROUPS), 1, seed=0)


# --- successive halving


def halved(rewards, state=PASSED):
    """A first rung with these rewards, on different orders."""
    orders = some(len(rewards))
    strategy = make_strategy("successive-halving", max_episodes=2700)
    return strategy, History(
        DEFAULT_GROUPS,
        tuple(trial(i, order, reward, state=state)
              for i, (order, reward) in enumerate(zip(orders, rewards, strict=True))),
    )  # fmt: skip


def test_the_best_third_of_a_rung_is_trained_on_three_times_as_long():
    strategy, there = halved([-30.0, -10.0, -20.0, -40.0, -15.0, -50.0])
    first, second, new = strategy.propose(there, 3, seed=0)
    assert (first.continues, second.continues) == (1, 4)  # -10 and -15
    assert first.order == there.trials[1].order
    assert first.episodes == 200  # 100 in the first rung, 300 in all after the second
    assert (new.continues, new.episodes) == (None, 100)
    assert new.order not in {one.order for one in there.trials}


def test_nobody_is_promoted_twice_nor_while_it_runs():
    strategy, there = halved([-30.0, -10.0, -20.0])
    (first,) = strategy.propose(there, 1, seed=0)
    on = trial(3, first.order, -9.0, state=RUNNING, proposal=first)
    there = replace(there, trials=(*there.trials, on))
    (next_,) = strategy.propose(there, 1, seed=0)
    assert next_.continues is None
    assert rungs_of(there) == {0: 0, 1: 0, 2: 0, 3: 1}


def test_the_rungs_of_an_order_add_up_to_the_longest_training():
    strategy, there = halved([-1.0])
    spent = 100
    for number in range(3):
        # Two others that are worse at the rung of the last one let it rise.
        last = there.trials[-1]
        below = [
            trial(100 * number + i + 10, order, -99.0, proposal=last.proposal)
            for i, order in enumerate(some(2, seed=number + 1))
        ]
        there = replace(there, trials=(*there.trials[:-1], *below, last))
        (up,) = strategy.propose(there, 1, seed=0)
        spent += up.episodes
        assert up.continues == last.number
        there = replace(there, trials=(*there.trials, trial(number + 1, up.order, -1.0, proposal=up)))  # fmt: skip
    assert spent == 2700


def test_among_those_that_failed_the_nearest_to_the_gate_is_promoted():
    strategy, there = halved([None, None, None], state=FAILED)
    trials = [replace(one, compliance=c) for one, c in zip(there.trials, (0.3, 0.8, 0.5), strict=True)]  # fmt: skip
    (up,) = strategy.propose(replace(there, trials=tuple(trials)), 1, seed=0)
    assert up.continues == 1


# --- TPE


def test_tpes_weights_fall_with_the_kendall_distance():
    ranks = all_ranks(5)
    weights = tpe.kernels(ranks[[17]], ranks)
    apart = distances.kendall(ranks[[17]], ranks)[0]
    assert weights.shape == (2, 120)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert (np.diff(weights[0][np.argsort(apart, kind="stable")]) <= 1e-15).all()
    assert weights[0].argmax() == 17
    assert np.ptp(weights[1]) == 0  # the prior


def test_tpe_stays_near_what_was_good():
    top = some(1)[0]
    orders = some(60, seed=4)
    there = history(orders, hill(orders, top))
    strategy = make_strategy("tpe")
    near = [strategy.propose(there, 1, seed)[0].order.kendall(top) for seed in range(15)]
    anywhere = np.mean([order.kendall(top) for order in Workflow.every(DEFAULT_GROUPS)])
    assert np.mean(near) < 0.75 * anywhere


def test_optuna_says_nothing_of_its_studies(caplog, capfd):
    make_strategy("tpe").propose(begun(), 2, seed=0)
    said = capfd.readouterr()
    assert "A new study" not in said.err + said.out + caplog.text
