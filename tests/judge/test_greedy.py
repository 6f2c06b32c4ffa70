"""Greedy by workflow: restores where its order says, by the true state."""

import numpy as np
import pytest

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.game.names import action_index
from fixfirst.game.tables import BIT, CONFIDENTIALITY, HOST_NAMES, HOSTS
from fixfirst.judge.blues import GREEDY_ORDER, find_blue
from fixfirst.judge.evaluate import evaluate
from fixfirst.judge.scripts import RESTORE_OF, Greedy, held_hosts
from fixfirst.judge.view import View
from fixfirst.workflow import compliance
from fixfirst.workflow.groups import HOST_GROUPS, Groups
from fixfirst.workflow.orders import WELL_KNOWN, Workflow

SLEEP = 0


def batch_of(count):
    batch = Batch(options.checked(count, "bline", "latest", 100, "fast", 1, "disabled"), 0)
    batch.reset()
    return batch


def scattered(count, seed=0):
    """Games in which red holds hosts at random, User0 always, often twice, at times no other."""
    batch, draw = batch_of(count), np.random.default_rng(seed)
    there = draw.random((count, HOSTS)) < draw.choice([0, 0.15, 0.6], size=(count, 1))
    privileged = draw.random((count, HOSTS)) < 0.5
    batch.games.user = there & ~privileged
    batch.games.root = there & privileged
    batch.games.root[:, HOST_NAMES.index("User0")] += 1
    return batch


def chosen(order, batch):
    return find_blue(f"greedy:{order}").act(View(batch, "truth"))


def by_hand(order, truth, game):
    """The action, the slow way: the first held group's dearest host, privileged ones first."""
    groups = Workflow(order).groups
    held = held_hosts(truth)[game]
    for number in Workflow(order).numbers:
        hosts = [host for host in groups.members[number] if held[host]]
        if hosts:
            level = truth.level[game]
            best = max(hosts, key=lambda h: (level[h], CONFIDENTIALITY[h], -h))
            return action_index(f"Restore {HOST_NAMES[best]}")
    return SLEEP


def test_held_hosts_are_those_that_compliance_counts():
    batch = scattered(300)
    masks = [compliance.held_hosts(game) for game in batch.games]
    np.testing.assert_array_equal(held_hosts(batch.true_state) @ BIT[:HOSTS], masks)


@pytest.mark.parametrize("order", [*WELL_KNOWN, "op_server,user,op_host,enterprise,defender"])
def test_greedy_restores_a_host_of_the_first_held_group(order):
    batch = scattered(400)
    expected = [by_hand(order, batch.true_state, game) for game in range(400)]
    assert len(set(expected)) > 8
    np.testing.assert_array_equal(chosen(order, batch), expected)


def test_greedy_takes_the_place_in_the_order_before_level_and_cost():
    batch = batch_of(1)
    batch.games.user[0, HOST_NAMES.index("User4")] = 1
    batch.games.root[0, HOST_NAMES.index("Op_Server0")] = 1
    assert chosen("reverse", batch).tolist() == [action_index("Restore User4")]
    assert chosen("critical-first", batch).tolist() == [action_index("Restore Op_Server0")]


def test_greedy_sleeps_while_red_has_its_foothold_alone():
    batch = batch_of(1)
    assert chosen("user-priority", batch).tolist() == [SLEEP]
    batch.games.user[0, HOST_NAMES.index("User0")] = 1
    assert chosen("user-priority", batch).tolist() == [action_index("Restore User0")]


def test_greedy_starts_the_stopped_service_once_red_is_gone():
    batch = batch_of(1)
    batch.games.ot_running = 0
    assert chosen("user-priority", batch).tolist() == [action_index("Restore Op_Server0")]
    batch.games.user[0, HOST_NAMES.index("User1")] = 1
    assert chosen("critical-first", batch).tolist() == [action_index("Restore User1")]


def test_greedy_follows_orders_of_any_groups():
    order = Workflow([*reversed(HOST_GROUPS.names)], HOST_GROUPS)
    batch = scattered(50, seed=1)
    held = held_hosts(batch.true_state)
    last = HOSTS - 1 - held[:, ::-1].argmax(axis=1)
    expected = np.where(held.any(axis=1), RESTORE_OF[last], SLEEP)
    np.testing.assert_array_equal(Greedy(order).act(View(batch, "truth")), expected)


@pytest.mark.parametrize("red", ["bline", "meander"])
@pytest.mark.parametrize("order", ["reverse", "operational-focus"])
def test_greedy_keeps_to_its_own_order_in_every_fix(red, order):
    done = evaluate(f"greedy:{order}", red, episodes=200, order=order)
    assert done.kept.fixes.min() > 5
    np.testing.assert_array_equal(done.kept.compliant, done.kept.fixes)
    assert done.played.mean > -60


def test_greedy_says_that_it_sees_the_truth():
    assert evaluate("greedy", episodes=1, horizon=1).played.sees == "truth"


def test_greedy_has_an_order_of_its_own():
    batch = scattered(100)
    mine = find_blue("greedy").act(View(batch, "truth"))
    np.testing.assert_array_equal(mine, chosen(GREEDY_ORDER, batch))
    assert (mine != chosen("reverse", batch)).any()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("greedy:", "the order '' is empty"),
        ("greedy:op_server", "leaves out defender"),
        ("greedy:best-first", "names 'best-first', which is no group"),
        ("gredy", "did you mean greedy"),
    ],
)
def test_orders_that_are_none_are_refused(name, words):
    with pytest.raises(ValueError, match=words):
        find_blue(name)


def test_it_follows_an_order_of_other_groups(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        "[groups]\n"
        'servers = ["Op_Server0", "Enterprise0", "Enterprise1", "Enterprise2"]\n'
        'clients = ["User0", "User1", "User2", "User3", "User4"]\n'
        'others = ["Defender", "Op_Host0", "Op_Host1", "Op_Host2"]\n'
    )
    batch = batch_of(1)
    batch.games.user[0, [HOST_NAMES.index(name) for name in ("User3", "Op_Host1")]] = 1
    view = View(batch, "truth")
    orders = {
        f"greedy:{path}:clients > others > servers": "Restore User3",
        f"greedy:{path}:others > clients > servers": "Restore Op_Host1",
        "greedy:hosts:" + ",".join(["op_host1", *(n for n in HOSTS_IN_LOWER if n != "op_host1")]): (
            "Restore Op_Host1"
        ),
    }
    for name, action in orders.items():
        assert find_blue(name).act(view).tolist() == [action_index(action)]
    own = Workflow("clients > others > servers", Groups.from_toml(path))
    done = evaluate(f"greedy:{path}:{own}", "meander", episodes=50, order=own)
    assert done.kept.fixes.sum() > 100
    assert (done.kept.compliance == 1.0).all()


HOSTS_IN_LOWER = [name.lower() for name in HOST_NAMES]
