"""The blues of the comparison go where they are meant to, and leave Python's dice alone."""

import random

import numpy as np
import pytest

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.game import tables
from fixfirst.game.names import action_index, host_index
from fixfirst.game.tables import ACTION_HOST, ACTION_KIND, ACTIONS
from fixfirst.parity.policies import POLICIES, aimed, make_policy


def played(name, red="bline", steps=300, seed=0):
    """The actions of a policy in a game, and the game after them."""
    batch = Batch(options.checked(1, red, "latest", 1000, "cpython", 1, "disabled"), [seed])
    bits = batch.reset()[0]
    policy = make_policy(name, seed)
    actions = []
    for _ in range(steps):
        actions.append(policy(bits))
        batch.step(actions[-1:])
        bits = batch.observation[0]
    return np.array(actions), batch


def test_aimed_is_the_number_of_the_action():
    assert aimed(tables.RESTORE, host_index("User4")) == action_index("Restore User4")
    assert aimed(tables.ANALYSE, 0) == action_index("Analyse Defender")


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_follows_from_name_and_seed_and_draws_nothing_of_pythons(name):
    before = random.getstate()
    first, _ = played(name)
    again, _ = played(name)
    other, _ = played(name, seed=1)
    assert random.getstate() == before
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert first.min() >= 0
    assert first.max() < ACTIONS


@pytest.mark.parametrize("seed", [-1, 2**70])
def test_any_seed_will_do(seed):
    assert make_policy("mixed", seed)(np.zeros(52)) in range(ACTIONS)


def test_decoy_places_every_decoy_everywhere_and_stacks():
    actions, batch = played("decoy")
    placing = [a for a in actions if tables.FIRST_DECOY <= ACTION_KIND[a] < tables.RESTORE]
    assert len(set(placing)) == 8 * 13
    assert batch.true_state.decoys[0, :, tables.STACKABLE].max() >= 5


def test_restore_storm_restores_the_first_host_and_the_defender_most():
    actions, _ = played("restore-storm")
    hosts = [ACTION_HOST[a] for a in actions if ACTION_KIND[a] == tables.RESTORE]
    often = {host_index("User0"), host_index("Defender"), host_index("Op_Server0")}
    assert len(hosts) > 150
    assert {h for h in hosts if hosts.count(h) > 30} == often


def test_hoarder_lets_red_gather_many_sessions_on_a_host():
    most = max(
        played("hoarder", "meander", 600, seed)[1].true_state.sessions.max() for seed in (0, 1)
    )
    assert most >= 10
    actions, _ = played("hoarder")
    assert tables.RESTORE not in ACTION_KIND[actions]


def test_react_restores_where_it_sees_privilege_and_removes_where_it_sees_a_user():
    policy = make_policy("react", 0)
    bits = np.zeros((13, 4), dtype=np.int8)
    bits[9] = (0, 0, 1, 1)
    assert policy(bits.ravel()) == action_index("Restore User1")
    bits[9] = (1, 1, 0, 1)
    kinds = {int(ACTION_KIND[policy(bits.ravel())]) for _ in range(50)}
    assert kinds == {tables.REMOVE, tables.ANALYSE, tables.RESTORE}


def test_idle_only_sleeps_and_reads_the_sensors():
    assert set(played("idle")[0]) == {0, 1}


def test_late_wakes_when_red_is_deep_in_the_network_and_sleeps_again():
    actions, _ = played("late", steps=400)
    busy = np.flatnonzero(actions)
    assert busy[0] >= 15
    assert np.diff(busy).max() >= 5
    assert {tables.ANALYSE, tables.REMOVE, tables.RESTORE} <= set(ACTION_KIND[actions])


def test_churn_keeps_to_the_user_hosts():
    actions, _ = played("churn")
    hosts = {int(ACTION_HOST[a]) for a in actions if a > 1}
    assert hosts == {host_index(f"User{k}") for k in range(5)}


def test_stacker_adds_a_process_at_every_step_on_reds_way_most_often():
    actions, batch = played("stacker", steps=200)
    assert set(ACTION_KIND[actions].tolist()) == {tables.FIRST_DECOY + tables.STACKABLE}
    stacked = batch.true_state.decoys[0, :, tables.STACKABLE]
    assert stacked.sum() == 200
    assert stacked.max() > 200 // 8
    assert batch.ids.processes[0] > len(tables.FIRST_SESSIONS) + 200
