"""`fixfirst search` and `fixfirst runs` from the command line."""

import csv
import json
import re
import signal

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

from fixfirst.cli import console
from fixfirst.search import run as run_room
from fixfirst.search.loop import Spectator

CONFIG = """
max_steps = 10
n_envs = 8
total_episodes = 240
n_workflows = 3
compliance_threshold = 0.0
stop_at_gate = false
score = "training"
strategy = "random"
threads = 1

[ppo]
hidden = [8]
minibatch = 40
epochs = 1
"""


@pytest.fixture
def config(tmp_path):
    """A file with the settings of a search that takes a second."""
    file = tmp_path / "small.toml"
    file.write_text(CONFIG)
    return str(file)


@pytest.fixture
def run(tmp_path):
    """A run folder that is not there yet."""
    return tmp_path / "runs" / "one"


def test_a_search_tells_in_plain_lines_what_it_does_and_what_it_found(cli, config, run):
    done = cli("search", str(run), "--config", config, "--n-workflows", "2", "--seed", "5")
    assert done.code == 0
    assert "\x1b" not in done.err + done.out
    lines = done.err.splitlines()
    assert lines[0] == f"Searching in {run}"
    assert sum(line.startswith("trial ") for line in lines) == 2
    assert sum("passed the gate: reward" in line for line in lines) >= 1
    assert "workflow 2 of 2" in done.err
    assert "Finished: as many workflows are tried as were asked for." in done.out
    assert "Best order: " in done.out
    assert f"Summary: {run / 'summary.md'}" in done.out
    settings = json.loads((run / "config.json").read_text())["settings"]
    assert (settings["n_workflows"], settings["seed"], settings["n_envs"]) == (2, 5, 8)


def test_flags_reach_the_settings_and_win_over_the_file(cli, config, run, monkeypatch):
    seen = []
    monkeypatch.setattr(
        run_room, "search", lambda folder, settings, spectator: seen.append(settings)
    )
    cli(
        "search", str(run), "--config", config, "--red-agent", "bline,meander", "--rules",
        "leaderboard", "--max-steps", "30", "--total-episodes", "999", "--max-episodes", "77",
        "--stage-episodes", "88", "--time", "2.5", "--n-envs", "9", "--update-steps", "60", "--alignment-lambda", "12",
        "--compliance-threshold", "0.5", "--stop-at-gate", "--patience", "4", "--warm-start",
        "all", "--score", "evaluation", "--evaluation-episodes", "44", "--memory", "--mask",
        "--strategy", "tpe", "--gp-beta", "1.5", "--workers", "3", "--threads", "2", "--storage",
        "sqlite:///x.db", "--checkpoint-dir", "/far", "--groups", "hosts",
    )  # fmt: skip
    (settings,) = seen
    plain = settings.as_dict()
    assert plain.pop("groups")["defender"] == ["Defender"]
    assert plain == {
        "red_agent": {"bline": 0.5, "meander": 0.5}, "rules": "leaderboard", "max_steps": 30,
        "total_episodes": 999, "n_workflows": 3, "max_episodes": 77, "stage_episodes": 88, "time": 2.5, "n_envs": 9,
        "update_steps": 60, "alignment_lambda": 12.0, "compliance_threshold": 0.5,
        "stop_at_gate": True, "patience": 4, "warm_start": "all", "score": "evaluation",
        "evaluation_episodes": 44, "memory": True, "mask": True,
        "ppo": {"hidden": [8], "minibatch": 40, "epochs": 1}, "strategy": "tpe", "gp_beta": 1.5,
        "seed": 0, "workers": 3, "threads": 2, "storage": "sqlite:///x.db",
        "checkpoint_dir": "/far",
    }  # fmt: skip


class Impatient(Spectator):
    """Presses Ctrl-C in the second trial."""

    def updated(self, trial, row):
        if trial.number == 1:
            signal.raise_signal(signal.SIGINT)


def test_a_stopped_search_says_how_to_go_on_and_goes_on(cli, config, run, monkeypatch):
    real = run_room._work

    def impatient(folder, config, study, spectator, stop):
        return real(folder, config, study, Impatient(), stop)

    with monkeypatch.context() as patch:
        patch.setattr(run_room, "_work", impatient)
        stopped = cli("search", str(run), "--config", config)
    assert stopped.code == 130
    assert f"fixfirst search --resume {run}" in stopped.out.replace("\n", " ")
    done = cli("search", "--resume", str(run))
    assert done.code == 0
    assert "workflow 3 of 3" in done.err
    more = cli("search", "--resume", str(run), "--n-workflows", "4", "--total-episodes", "320")
    assert "4 trials" in more.out
    joined = cli("search", "--join", str(run))
    assert joined.code == 0
    assert "4 trials" in joined.out


def test_runs_are_listed_with_their_state_and_best_order(cli, config, run, monkeypatch):
    monkeypatch.setattr(console.out, "_width", 200)
    cli("search", str(run), "--config", config)
    (run.parent / "other").mkdir()
    (run.parent / "broken").mkdir()
    (run.parent / "broken/config.json").write_text('{"study": "x", "format": 77}')
    listed = cli("runs", str(run.parent))
    assert listed.code == 0
    assert "other" not in listed.out
    assert "informat77" in re.sub(r"\W", "", listed.out)  # its cell is narrow
    (line,) = [line for line in listed.out.splitlines() if " one " in line]
    assert "finished" in line
    assert "3 of 3" in line
    assert " > " in line
    shown = cli("runs", "show", str(run))
    assert shown.out.rstrip() == (run / "summary.md").read_text().rstrip()


def test_trials_are_exported_by_order(cli, config, run, tmp_path):
    cli("search", str(run), "--config", config)
    assert cli("runs", "show", str(run), "--csv", str(tmp_path / "t.csv")).code == 0
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert list(rows[0]) == [
        "order", "reward", "standard_error", "compliance", "fixes", "passed", "episodes", "seconds",
    ]  # fmt: skip
    assert len(rows) == 3
    assert [row["order"] for row in rows] == sorted(row["order"] for row in rows)


def test_a_folder_without_searches_is_said_to_be_so(cli, tmp_path):
    assert cli("runs", str(tmp_path)).out == f"No searches in {tmp_path}.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search", "a", "--resume", "b"], "one of the three"),
        (["search", "--resume", "b", "--join", "b"], "one of the three"),
        (["search", "--resume", "none"], "none is no search"),
        (["search", "--join", "none"], "none is no search"),
        (["search", "--join", "b", "--seed", "3"], "leave seed away"),
        (["search", "--resume", "b", "--config", "x.toml"], "--config is for a new search"),
        (["search", "a", "--config", "none.toml"], "none.toml cannot be read"),
        (["search", "a", "--ppo", "none.toml"], "none.toml: No such file"),
        (["search", "a", "--strategy", "luck"], "no strategy is named 'luck'"),
        (["search", "a", "--gp-beta", "much"], "'much'"),
        (["search", "a", "--red-agent", "green"], "red_agent='green' is not known"),
        (["search", "a", "--n-envs", "0"], "n_envs=0"),
        (["search", "a", "--compliance-threshold", "2"], "compliance_threshold=2.0"),
        (["runs", "none"], "none is no folder"),
        (["runs", "show"], "is not understood"),
        (["runs", "show", "none"], "none is no search"),
        (["runs", "here", "--csv", "x"], "--csv is for one run"),
    ],
)
def test_bad_usage_is_refused_in_one_line_and_leaves_nothing(
    cli, tmp_path, monkeypatch, arguments, words
):
    monkeypatch.chdir(tmp_path)
    done = cli(*arguments)
    assert done.code == 2
    assert words in done.err
    assert done.err.splitlines()[-1].startswith("fixfirst: ")
    assert list(tmp_path.iterdir()) == []


def test_in_a_terminal_a_search_is_watched_live(terminal, config, run):
    screen = terminal("search", str(run), "--config", config)
    screen.wait_for("best so far")
    written, code = screen.end()
    assert "Best order" in written
    assert code == 0
