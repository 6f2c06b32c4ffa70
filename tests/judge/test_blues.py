"""Policies: the scripts, those of the user's own, and what they may look at."""

import sys

import numpy as np
import pytest

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.game.names import action_index
from fixfirst.game.tables import ACTIONS, HOST_NAMES
from fixfirst.game.truth import TrueState
from fixfirst.judge.blues import SCRIPTS, blue
from fixfirst.judge.play import ask, play
from fixfirst.judge.view import View

MONITOR = action_index("Monitor")


def batch_of(count, red="bline", horizon=100):
    batch = Batch(options.checked(count, red, "latest", horizon, "fast", 1, "disabled"), 0)
    batch.reset()
    return batch


def actions_of(policy, batch, steps):
    policy.begin(np.arange(len(batch.games)))
    view = View(batch, policy.sees)
    rows = []
    for _ in range(steps):
        rows.append(ask(policy, view, "policy"))
        batch.step(rows[-1])
    return np.array(rows)


# --- the scripts


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_plays_any_number_of_games(name):
    for count in (1, 3):
        actions = actions_of(blue(name), batch_of(count), 20)
        assert actions.shape == (20, count)


@pytest.mark.parametrize(("name", "action"), [("sleep", 0), ("monitor", 1)])
def test_sleep_and_monitor_do_the_one_thing(name, action):
    assert (actions_of(blue(name), batch_of(2), 5) == action).all()


def test_random_takes_every_action_as_often():
    actions = actions_of(blue("random", seed=1), batch_of(2000, "sleep"), 100)
    counts = np.bincount(actions.ravel(), minlength=ACTIONS)
    expected = actions.size / ACTIONS
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < 220  # 144 degrees of freedom: 1 in 20,000


def test_random_draws_each_game_and_step_apart():
    actions = actions_of(blue("random", seed=1), batch_of(500, "sleep"), 100)
    same_game = (actions[1:] == actions[:-1]).mean()
    same_step = (actions[:, 1:] == actions[:, :-1]).mean()
    assert same_game == pytest.approx(1 / ACTIONS, abs=0.002)
    assert same_step == pytest.approx(1 / ACTIONS, abs=0.002)


def test_random_plays_the_k_th_episode_alike_in_any_batch():
    at_once = actions_of(blue("random", seed=5), batch_of(6), 10)
    policy = blue("random", seed=5)
    apart = [actions_of(policy, batch_of(count), 10) for count in (4, 2)]
    np.testing.assert_array_equal(at_once, np.concatenate(apart, axis=1))
    other = actions_of(blue("random", seed=6), batch_of(6), 10)
    assert (at_once != other).any()


def test_random_begins_single_games_anew():
    policy, batch = blue("random", seed=5), batch_of(3)
    first = actions_of(policy, batch, 4)
    batch.reset()
    policy.begin(np.array([1]))
    again = policy.act(View(batch))
    assert (again == first[0]).tolist() == [True, False, True]


def scene(batch, *, last, host, shell=1):
    """Set what blue did in the last step and what its sensors reported."""
    batch.games.blue_action = last
    batch.games.event_host = HOST_NAMES.index(host)
    batch.games.event_shell = shell


@pytest.mark.parametrize(
    ("name", "kind"), [("react-remove", "Remove"), ("react-restore", "Restore")]
)
def test_react_answers_a_shell_it_saw_after_a_monitor(name, kind):
    batch = batch_of(1)
    for host in HOST_NAMES:
        scene(batch, last=MONITOR, host=host)
        expected = MONITOR if host == "User0" else action_index(f"{kind} {host}")
        assert blue(name).act(View(batch, "sensors")).tolist() == [expected]


@pytest.mark.parametrize("name", ["react-remove", "react-restore"])
def test_react_misses_what_happens_while_it_fixes(name):
    batch = batch_of(1)
    scene(batch, last=action_index("Restore User1"), host="User2")
    assert blue(name).act(View(batch, "sensors")).tolist() == [MONITOR]


@pytest.mark.parametrize("name", ["react-remove", "react-restore"])
def test_react_answers_no_report_without_a_process(name):
    batch = batch_of(1)
    scene(batch, last=MONITOR, host="User2", shell=0)
    assert blue(name).act(View(batch, "sensors")).tolist() == [MONITOR]


# --- what a policy may look at


def test_a_view_gives_the_bits_the_step_and_the_last_action():
    batch = batch_of(2)
    view = View(batch)
    assert view.step.tolist() == [0, 0]
    batch.step([3, 4])
    np.testing.assert_array_equal(view.observation, batch.observation)
    assert view.step.tolist() == [1, 1]
    assert view.last_action.tolist() == [3, 4]
    assert len(view) == 2


@pytest.mark.parametrize(
    ("sees", "refused"), [("bits", ("shells", "truth")), ("sensors", ("truth",)), ("truth", ())]
)
def test_a_view_gives_no_more_than_the_policy_says_it_sees(sees, refused):
    view = View(batch_of(1), sees)
    for part in ("shells", "truth"):
        if part in refused:
            with pytest.raises(ValueError, match=f"says that it sees '{sees}'"):
                getattr(view, part)
        else:
            getattr(view, part)


def test_truth_is_the_true_state():
    view = View(batch_of(1), "truth")
    assert isinstance(view.truth, TrueState)
    assert view.truth.level[0, HOST_NAMES.index("User0")] == 2


def test_a_policy_that_looks_at_more_than_it_says_is_stopped():
    class Sly:
        sees = "bits"

        def begin(self, games):
            pass

        def act(self, view):
            return view.truth.level[:, 0]

    with pytest.raises(ValueError, match="says that it sees 'bits', but this takes 'truth'"):
        play(Sly(), episodes=1, horizon=1)


def test_unknown_sight_is_refused():
    with pytest.raises(ValueError, match=r"sees='all' .* bits, sensors, truth"):
        View(batch_of(1), "all")


# --- policies by name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("react", "policy='react' is not known; did you mean react-"),
        ("Slep", "did you mean sleep"),
        ("nonsense", r"is not known\. Policies are sleep, monitor, random, react-remove"),
        ("", "policy='' is not known"),
        ("a:", "not of the form module:function"),
        (":b", "not of the form module:function"),
        ("no_such_module:f", "no module 'no_such_module'"),
        ("math:no_such", "module 'math' has no 'no_such'"),
        ("no.such.module:f", "no module 'no.such.module'"),
        ("math:pi", "policy math:pi is a float; a policy is a function"),
        ("fractions:Fraction", "is a class; give an object"),
    ],
)
def test_names_that_lead_to_no_policy(name, words):
    with pytest.raises((ValueError, TypeError), match=words):
        blue(name)


@pytest.fixture
def my_module(tmp_path, monkeypatch):
    """A module of the user's own, in the current folder."""
    (tmp_path / "my_blues.py").write_text(
        "import numpy as np\n"
        "def restore(observation):\n"
        "    assert observation.shape[1] == 52\n"
        "    return np.full(len(observation), 132)\n"
        "class Own:\n"
        "    sees = 'truth'\n"
        "    def begin(self, games): pass\n"
        "    def act(self, view): return 132 + view.truth.level.argmax(axis=1)\n"
        "own = Own()\n"
    )
    (tmp_path / "lacking.py").write_text("import no_such_module\n")
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("my_blues", None)
    assert str(tmp_path) not in sys.path


@pytest.mark.usefixtures("my_module")
def test_a_function_of_a_module_in_the_current_folder_plays():
    played = play("my_blues:restore", "sleep", episodes=3, horizon=4)
    assert (played.policy, played.sees) == ("my_blues:restore", "bits")
    assert played.returns.tolist() == [-4.0] * 3


@pytest.mark.usefixtures("my_module")
def test_a_blue_of_a_module_plays_and_says_what_it_sees():
    played = play("my_blues:own", "sleep", episodes=2, horizon=2)
    assert played.sees == "truth"
    assert played.returns.tolist() == [-2.0] * 2


@pytest.mark.usefixtures("my_module")
def test_what_a_module_lacks_is_named():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        blue("lacking:f")


# --- what policies answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda seen: np.zeros(len(seen)), "policy .*lambda.*: actions .* are of dtype float64"),
        (lambda seen: np.zeros(len(seen), bool), "dtype bool"),
        (lambda seen: np.zeros(len(seen) + 1, int), r"actions have shape \(4,\); 3 games"),
        (lambda seen: np.full(len(seen), 145), "action 145 of game 0 does not exist"),
        (lambda seen: np.array([0, 0, -1]), "action -1 of game 2 does not exist"),
        (lambda seen: None, "dtype object"),
        (lambda seen: 3, r"shape \(\)"),
    ],
)
def test_actions_that_cannot_be_played_are_refused_and_the_policy_named(answer, words):
    with pytest.raises((ValueError, TypeError), match=words):
        play(answer, episodes=3, horizon=2)


def test_a_list_of_actions_will_do():
    assert play(lambda seen: [0] * len(seen), "sleep", episodes=2, horizon=2).mean == 0.0


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "has act\\(\\) but no sees and no begin"),
        ({"sees": "bits"}, "has act\\(\\) but no begin"),
        ({"sees": "all", "begin": None}, "sees='all'; it is one of bits, sensors, truth"),
    ],
)
def test_half_a_blue_is_refused(attributes, words):
    half = type("Half", (), {"act": lambda self, view: None, **attributes})()
    with pytest.raises((ValueError, TypeError), match=words):
        blue(half)
