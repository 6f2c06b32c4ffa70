"""A step and a reset as wholes."""

import numpy as np
import pytest

from fixfirst.game import facts, state, step, tables
from fixfirst.game.names import action_index, host_index
from fixfirst.game.truth import TrueState
from tests.game.conftest import Play

OP = host_index("Op_Server0")


@pytest.mark.parametrize("red", facts.REDS)
@pytest.mark.parametrize("exact", [False, True])
def test_reset_leaves_nothing_of_the_episode_before(red, exact):
    """After a wild episode, a reset game differs from a new one in its generators alone."""
    played, new = Play(exact, red), Play(exact, red)
    rng = np.random.default_rng(1)
    for action in rng.integers(0, tables.ACTIONS, 150):
        step.step(played.game, played.ids, action)
    step.reset(played.game, played.ids)
    for field in state.GAME.names:
        if field != "random":
            assert np.array_equal(played.games[field], new.games[field]), field
    if exact:
        assert not played.ids.ephemeral.any()
        assert not played.ids.recorded.any()
        assert played.ids.processes == len(tables.FIRST_SESSIONS)
        assert played.ids.suspects == 0


def test_the_reward_counts_privilege_availability_and_restores(play):
    assert step.cost(play.game) == 0, "red's first session costs nothing"
    for host in range(tables.HOSTS):
        play.root[host] = 1
    confidentiality = sum(h.confidentiality for h in facts.HOSTS)
    assert step.cost(play.game) == confidentiality
    play.ot_running = 0
    assert step.cost(play.game) == confidentiality + 100
    play.blue_action = action_index("Restore User1")
    assert step.cost(play.game) == confidentiality + 110


def test_unprivileged_sessions_cost_nothing(play):
    for host in range(tables.HOSTS):
        play.user[host] = 3
    assert step.cost(play.game) == 0


@pytest.mark.parametrize("cost", range(0, 700, 7))
def test_the_reward_is_the_nearest_double_of_its_tenths(play, cost):
    play.cost = cost
    assert step.reward(play.game) == round(-0.1 * cost, 1)
    assert repr(step.reward(play.game)) != "-0.0"


def test_the_reward_breakdown_adds_up(exact):
    play = Play(exact, "bline", seed=2)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(180):
        step.step(play.game, play.ids, int(rng.choice([0, action_index("Restore User4")])))
        view = TrueState(play.games)
        parts = view.confidentiality.sum() + view.availability.sum() + view.action_cost.sum()
        assert abs(parts - step.reward(play.game)) < 1e-9
        assert view.reward[0] == step.reward(play.game)
        seen |= {view.availability[0, OP], view.action_cost[0]}
    assert seen == {0.0, -10.0, -1.0}


def test_true_state_spells_out_the_record(exact):
    play = Play(exact, "meander", seed=5)
    rng = np.random.default_rng(3)
    for action in rng.integers(0, tables.ACTIONS, 120):
        step.step(play.game, play.ids, action)
    view, game = TrueState(play.games), play.game
    for host in range(tables.HOSTS):
        level = 2 if game.root[host] else 1 if game.user[host] else 0
        assert view.level[0, host] == level
        assert view.sessions[0, host] == game.user[host] + game.root[host]
        assert view.known_addresses[0, host] == bool(game.known_address & 1 << host)
        assert view.files[0, host] == bool(game.files & 1 << host)
        kinds = [k for k in range(8) if game.decoys[host] >> k & 1]
        assert np.flatnonzero(view.decoys[0, host, :7]).tolist() == kinds
        assert view.decoys[0, host, 7] == game.stacked[host]
    assert view.decoys.sum() > 5
    assert view.step[0] == 120
    assert view.episode_return[0] == -int(game.lost) / 10


def test_services_tell_real_ones_from_decoys(play):
    from fixfirst.game import blue

    before = TrueState(play.games).services[0].copy()
    assert (before == (tables.IMAGE_SERVICE > 0)).all()
    blue.act(play.game, play.ids, action_index("DecoyApache User1"))
    blue.act(play.game, play.ids, action_index("DecoyVsftpd User3"))
    after = TrueState(play.games).services[0]
    http = [e.name for e in facts.EXPLOITS].index("HTTPRFI")
    assert (before != after).sum() == 1, "User3's own web server answers before the decoy"
    assert after[host_index("User1"), http] == 2


def test_a_frozen_true_state_keeps():
    play = Play(False, "bline")
    window, kept = TrueState(play.games), TrueState(play.games).frozen()
    step.step(play.game, None, 0)
    assert (window.step[0], kept.step[0]) == (1, 0)
