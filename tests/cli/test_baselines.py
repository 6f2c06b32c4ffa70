"""`fixfirst baselines`: scores of all scripts against all reds."""

import json

import pytest

from fixfirst.cli import baselines, console
from fixfirst.game.facts import REDS
from fixfirst.judge.blues import SCRIPTS
from fixfirst.judge.play import play


def test_baselines_print_a_score_for_every_pair(cli):
    done = cli("baselines", "--episodes", "40", "--horizon", "20", "--seed", "9")
    assert (done.code, done.err) == (0, "")
    for policy in SCRIPTS:
        (line,) = [text for text in done.out.splitlines() if text.split()[1:2] == [policy]]
        for red in REDS:
            played = play(policy, red, horizon=20, episodes=40, seed=9)
            assert f"{played.mean:.1f} ± {played.half_width:.1f}" in line
    assert "40 episodes of 20 steps" in done.out
    assert "Rules latest, seeds 9 to 48." in done.out
    assert f"times CybORG's {baselines.CYBORG_STEPS_PER_SECOND}" in done.out


def test_baselines_write_all_figures(cli, tmp_path):
    file = tmp_path / "scores.json"
    done = cli(
        "baselines",
        "--episodes",
        "1",
        "--horizon",
        "5",
        "--rules",
        "leaderboard",
        "--json",
        str(file),
    )
    assert done.code == 0
    assert str(file) in done.out.replace("\n", "")
    figures = json.loads(file.read_text())
    pairs = [(result["policy"], result["red"]) for result in figures["results"]]
    assert pairs == [(policy, red) for policy in SCRIPTS for red in REDS]
    assert {result["rules"] for result in figures["results"]} == {"leaderboard"}
    assert figures["steps"] == len(pairs) * 5
    assert figures["steps_per_second"] == pytest.approx(figures["steps"] / figures["seconds"])
    assert figures["times_cyborg"] == pytest.approx(
        figures["steps_per_second"] / figures["cyborg_steps_per_second"]
    )


def test_stopped_baselines_leave_no_file(cli, tmp_path):
    file = tmp_path / "scores.json"
    assert cli("baselines", "--rules", "new", "--json", str(file)).code == 2
    assert cli("baselines", "--episodes", "0", "--json", str(file)).code == 2
    assert not file.exists()
    console.must_be_writable(file)
    assert not file.exists()
    file.write_text("old")
    console.must_be_writable(file)
    assert file.read_text() == "old"


def test_a_single_episode_has_no_interval(cli):
    assert "±" not in cli("baselines", "--episodes", "1", "--horizon", "5").out.partition("Mean")[0]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "1 seconds"),
        (120, "2 minutes"),
        (7000, "117 minutes"),
        (18750, "5 hours"),
        (9e5, "10 days"),
    ],
)
def test_durations_read_well(seconds, words):
    assert baselines._duration(seconds) == words


def test_baselines_in_a_terminal_shows_a_bar_and_leaves_the_table(terminal):
    screen = terminal("baselines", "--episodes", "3000", "--horizon", "60")
    screen.wait_for("Playing")
    written, code = screen.end()
    assert "react-restore" in written
    assert code == 0
