"""Evaluations: the same episodes as `play`, and an account of what was lost."""

import numpy as np
import pytest

import fixfirst
from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.game.names import action_index
from fixfirst.game.tables import HOST_NAMES, NONE
from fixfirst.judge import cyborg
from fixfirst.judge import play as play_module
from fixfirst.judge.evaluate import evaluate
from fixfirst.judge.play import play
from fixfirst.workflow.alignment import Compliance, checked_terms
from fixfirst.workflow.groups import HOST_GROUPS
from fixfirst.workflow.orders import Workflow
from tests.parity.standin import StandIn

DEFENDER, OP_SERVER = HOST_NAMES.index("Defender"), HOST_NAMES.index("Op_Server0")


@pytest.fixture
def stand_in(monkeypatch):
    """A second game of fixfirst in the place of CybORG."""
    monkeypatch.setattr(cyborg, "CyborgGame", StandIn)


@pytest.mark.parametrize("red", ["bline", {"meander": 0.5, "sleep": 0.5}])
@pytest.mark.parametrize("policy", ["random", "react-restore"])
def test_an_evaluation_plays_the_same_episodes(policy, red):
    options = {"rules": "leaderboard", "horizon": 40, "episodes": 30, "seed": 5}
    done, played = evaluate(policy, red, **options), play(policy, red, **options)
    np.testing.assert_array_equal(done.played.returns, played.returns)
    assert done.played.summary() == played.summary()


@pytest.mark.parametrize("red", ["bline", "meander"])
def test_the_losses_of_all_hosts_add_up_to_the_mean(monkeypatch, red):
    monkeypatch.setitem(play_module.GAMES_AT_ONCE, "fast", 30)
    done = evaluate("random", red, episodes=80)
    assert done.losses.total.sum() == pytest.approx(done.played.mean, abs=1e-9)
    assert (done.losses.confidentiality < 0).sum() > 6


def test_a_restore_costs_the_host_that_it_was_aimed_at():
    done = evaluate(lambda seen: np.full(len(seen), 132), "sleep", episodes=3, horizon=7)
    assert done.losses.action_cost.tolist() == [-7.0] + [0.0] * 12
    assert done.losses.confidentiality.sum() == done.losses.availability.sum() == 0


def test_a_stopped_service_costs_its_host_ten_a_step():
    losses = evaluate("sleep", "bline", episodes=50).losses
    assert set(np.flatnonzero(losses.availability)) == {OP_SERVER}
    assert losses.availability[OP_SERVER] == pytest.approx(10 * losses.confidentiality[OP_SERVER],
                                                           rel=0.05)  # fmt: skip
    assert losses.summary()["Op_Server0"]["availability"] == losses.availability[OP_SERVER]
    assert losses.confidentiality[DEFENDER] == 0


def test_quantiles_are_those_of_the_returns():
    done = evaluate("random", episodes=101)
    ordered = np.sort(done.played.returns)
    expected = [ordered[k] for k in (0, 5, 25, 50, 75, 95, 100)]
    assert list(done.quantiles.values()) == pytest.approx(expected)
    assert list(done.quantiles) == ["min", "5 %", "25 %", "median", "75 %", "95 %", "max"]


@pytest.mark.parametrize("order", ["reverse", Workflow(HOST_GROUPS.names, HOST_GROUPS)])
def test_compliance_is_that_of_the_environment(order):
    done = evaluate("random", "meander", episodes=12, horizon=50, seed=3, order=order)
    env = fixfirst.make_vec(
        12, red="meander", horizon=50, seed=3, orders=order, autoreset="disabled"
    )
    env.reset()
    blue = play_module.find_blue("random", 3)
    blue.begin(np.arange(12))
    for _ in range(50):
        env.step(blue.act(play_module.View(env.batch)))
    kept = done.kept
    for name in ("fixes", "compliant", "compliance"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(env.compliance, name))
    told = done.summary()["workflow"]
    assert told["compliance"] == pytest.approx(kept.compliance.mean())
    assert told["compliant_fixes"] == pytest.approx(kept.compliant.mean())
    assert (told["order"], told["fixes"]) == (str(kept.order), kept.fixes.mean())


def test_compliance_is_kept_for_more_games_than_one_thread_has():
    done = evaluate("react-restore", episodes=1500, horizon=20, order="reverse")
    assert len(done.kept.compliance) == 1500


def test_without_an_order_nothing_is_said_of_one():
    assert evaluate("sleep", episodes=2, horizon=3).summary()["workflow"] is None


# --- on CybORG


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("red", ["bline", "meander"])
@pytest.mark.parametrize("policy", ["random", "react-remove", "greedy:user-priority"])
def test_cyborg_is_judged_by_the_same_yardstick(policy, red):
    same = {"horizon": 60, "episodes": 3, "seed": 4}
    there = evaluate(policy, red, on="cyborg:a-folder", order="reverse", **same).summary()
    here = evaluate(policy, red, rng="cpython", **same).summary()
    assert (there.pop("on"), here.pop("on")) == ("cyborg:a-folder", "fixfirst")
    kept, _ = there.pop("workflow"), here.pop("workflow")
    assert there == here
    assert kept["fixes"] > 0
    if policy == "random":
        assert 0 < kept["compliance"] < 1


def test_an_order_is_kept_on_cyborg_by_the_rules_of_the_built_in_game():
    chosen = options.checked(
        1, "meander", "latest", 100, "fast", 1, "disabled", "reverse", checked_terms(0.0)
    )
    batch, keeping = Batch(chosen, 0), cyborg.Keeping(Workflow("reverse"))
    draw = np.random.default_rng(0)
    for _ in range(3):
        batch.reset()
        keeping.begin()
        for _ in range(100):
            action = int(draw.integers(145))
            keeping.before_action(batch.true_state, action)
            batch.step([action])
        expected = Compliance(batch.following.alignments)
        for name in ("fixes", "compliant", "compliance"):
            assert getattr(keeping.compliance, name) == getattr(expected, name)
        assert 0 < keeping.compliance.compliance[0] < 1


@pytest.mark.usefixtures("stand_in")
def test_a_game_of_cyborg_begins_with_no_shell_seen_and_no_action_taken():
    games = cyborg.CyborgGames("a-folder", "bline")
    games.reset(0, "sensors")
    seen = []
    for _ in range(100):
        assert games.play(action_index("Monitor")) <= 0
        seen.append(int(games.shells[0]))
        if seen[-1] != NONE:
            break
    assert seen[-1] != NONE
    assert (games.last_action.tolist(), games.step.tolist()) == ([1], [len(seen)])
    games.reset(0, "sensors")
    assert games.shells.tolist() == [NONE]
    assert (games.last_action.tolist(), games.step.tolist()) == ([0], [0])


@pytest.mark.usefixtures("stand_in")
def test_a_blue_sees_no_more_on_cyborg_than_it_says():
    class Sly:
        sees = "bits"

        def begin(self, games):
            pass

        def act(self, view):
            return view.truth.level[:, 0]

    with pytest.raises(ValueError, match="says that it sees 'bits', but this takes 'truth'"):
        evaluate(Sly(), episodes=1, horizon=1, on="cyborg:a-folder")


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"on": "there"}, "on='there' is not known; it is fixfirst, or cyborg:DIR"),
        ({"on": "cyborg:"}, "on='cyborg:' is not known"),
        ({"on": "cyborg:x", "rng": "fast"}, "CybORG has the draws of rng='cpython' only"),
        ({"on": "cyborg:x", "red": {"bline": 1.0}}, "on CybORG one red plays all episodes"),
        ({"on": "cyborg:x", "horizon": 0}, "horizon=0"),
        ({"order": "reverse > reverse"}, "which is no group"),
        ({"rules": ""}, "rules='' is not known"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        evaluate("sleep", **options)
