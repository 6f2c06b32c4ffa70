"""`fixfirst watch`: an episode, step by step."""

import numpy as np
import pytest

from fixfirst.cli import show
from fixfirst.cli.options import Setting
from fixfirst.envs import render
from fixfirst.game import tables
from fixfirst.game.facts import DECOYS
from fixfirst.judge.blues import SCRIPTS
from fixfirst.judge.play import play

GAME = ("watch", "--seed", "3", "--horizon", "6")


def test_all_steps_are_shown_with_both_tables(cli):
    done = cli(*GAME)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("react-restore against bline, rules latest, 6 steps, seed 3\n")
    for step in range(1, 7):
        assert f"Step {step} of 6   blue: " in done.out
    assert done.out.count("Blue sees:") == done.out.count("The truth:") == 6
    assert "\x1b" not in done.out


@pytest.mark.parametrize("policy", ["react-restore", "random"])
@pytest.mark.parametrize("red", ["bline", "meander"])
def test_the_episode_is_the_one_that_play_scores(cli, policy, red):
    done = cli("watch", "--policy", policy, "--red", red, "--seed", "5", "--horizon", "40")
    played = play(policy, red, horizon=40, episodes=1, seed=5)
    assert done.out.endswith(f"Score after 40 steps: {played.mean:.1f}\n")


@pytest.mark.parametrize(("steps", "shown"), [("4", [4]), ("2-4", [2, 3, 4]), ("1-6", range(1, 7))])
def test_only_the_steps_asked_for_are_shown(cli, steps, shown):
    done = cli(*GAME, "--steps", steps)
    assert [k for k in range(1, 7) if f"Step {k} of" in done.out] == list(shown)
    assert "Score after 6 steps" in done.out


def test_step_by_step_goes_on_at_enter_and_stops_at_anything_else(cli):
    done = cli(*GAME, "--step", stdin="\n\nq\n\n")
    assert [k for k in range(1, 7) if f"Step {k} of" in done.out] == [1, 2, 3]
    assert "Score after 3 steps" in done.out
    assert "Score after 6 steps" in cli(*GAME, "--step", stdin="\n" * 5).out
    assert "Score after 1 steps" in cli(*GAME, "--step", stdin="").out


def test_in_a_terminal_a_line_a_step_and_the_tables_below(terminal):
    screen = terminal(*GAME, "--delay", "0")
    written, code = screen.end()
    assert code == 0
    for word in ("sweep User", "exploit", "Blue sees", "The truth", "Score after 6 steps"):
        assert word in written
    assert "Traceback" not in written


def test_control_c_stops_an_episode(terminal):
    screen = terminal(*GAME, "--delay", "100")
    screen.wait_for("The truth")
    screen.type("\x03")
    written, code = screen.end()
    assert code == 130
    assert "stopped" in written
    assert "Traceback" not in written


def test_the_help_names_all_policies(cli):
    told = " ".join(cli("watch", "--help").out.replace("│", " ").split())
    assert f"Who defends: {', '.join(SCRIPTS)}; or module:function" in told
    assert "[N, 52]" in told


# --- what is shown of a step


def game_after(actions, red="bline", rng="fast"):
    batch = show.new_game(Setting(red, "latest", 50, 3, rng))
    for action in actions:
        batch.step([action])
    return batch


def test_a_new_game_stands_before_its_first_step():
    """Getting ready plays a step; it leaves no trace."""
    fresh = game_after([])
    assert fresh.true_state.step.tolist() == [0]
    assert fresh.true_state.episode_return.tolist() == [0.0]
    totals = [
        play("sleep", horizon=50, episodes=1, seed=3, rng=rng).mean for rng in ("fast", "cpython")
    ]
    for rng, total in zip(("fast", "cpython"), totals, strict=True):
        assert game_after([0] * 50, rng=rng).true_state.episode_return[0] == pytest.approx(total)


def test_moves_are_told_in_few_words():
    batch = show.new_game(Setting("bline", "latest", 50, 3, "fast"))
    seen = []
    for _ in range(30):
        batch.step([0])
        seen.append(show.last_move(batch))
    assert seen[0].red == "sweep User"
    assert seen[-1].red == "impact Op_Server0"
    assert seen[-1].total == pytest.approx(sum(move.reward for move in seen))
    assert all(len(move.line()) == len(show.MOVE_TITLES) <= 80 for move in seen)
    batch.step([132])
    assert show.last_move(batch).blue == "Restore Defender"


def test_every_move_of_red_has_its_words():
    batch = show.new_game(Setting("meander", "latest", 200, 1, "fast"))
    draws = np.random.default_rng(0)
    told = set()
    for _ in range(200):
        batch.step([draws.integers(tables.ACTIONS)])
        move = show.last_move(batch)
        told.add(move.red.split()[0])
        assert move.red.endswith("failed") == (batch.true_state.red_success[0] == tables.FAILURE)
    assert told >= {"sweep", "scan", "exploit", "escalate"}
    assert show.last_move(game_after([0], red="sleep")).red == "sleep"


def test_decoys_are_listed_by_name_or_number():
    apache, vsftpd = (2 + 13 * (2 + k) for k in (0, 7))
    assert (DECOYS[0].name, DECOYS[7].name) == ("DecoyApache", "DecoyVsftpd")
    batch = game_after([apache, vsftpd, vsftpd], red="sleep")
    assert show.decoys_of(batch, 0, names=True) == "Apache, Vsftpd x2"
    assert show.decoys_of(batch, 0, names=False) == "3"
    assert show.decoys_of(batch, 1, names=True) == show.decoys_of(batch, 1, names=False) == ""


def test_rows_hold_what_the_state_says():
    batch = game_after([0] * 12, rng="cpython")
    blue_rows, true_rows = render.rows_of(batch, 0)
    state = batch.true_state
    assert [row[2] for row in blue_rows] == [row[2] for row in true_rows] == list(tables.HOST_NAMES)
    levels = ("None", "User", "Privileged")
    assert [row[5] for row in true_rows] == [levels[level] for level in state.level[0]]
    assert [row[3] == "True" for row in true_rows] == state.known_addresses[0].tolist()
    assert len({row[1] for row in true_rows}) == tables.HOSTS
    assert all(row[1].startswith("10.0.") for row in blue_rows)
    assert len({row[0] for row in blue_rows}) == tables.SUBNETS
