"""`fixfirst train` from the command line."""

import json
from dataclasses import fields

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")

import typer

from fixfirst.cli import ppo_options, training_display
from fixfirst.cli.main import app, run
from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup
from fixfirst.learn.training import Row

SMALL = ["--episodes", "64", "--n-envs", "32", "--horizon", "10", "--threads", "1"]


def test_a_run_is_trained_and_resumed_where_it_was_left(tmp_path, capsys):
    folder = str(tmp_path / "run")
    assert run(["train", folder, *SMALL]) == 0
    printed = capsys.readouterr().out
    assert "all episodes are played" in printed
    assert "64 episodes" in printed
    assert run(["train", folder, "--resume"]) == 0


def test_options_reach_the_setup(tmp_path):
    options = ["--red", "bline,meander", "--orders", "random:3", "--memory", "--mask"]
    options += ["--seed", "5", "--no-stop-at-gate", "--rules", "leaderboard"]
    assert run(["train", str(tmp_path / "run"), *SMALL, *options]) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["red"] == {"bline": 0.5, "meander": 0.5}
    assert len(config["orders"]) == 3
    assert (config["memory"], config["mask"], config["seed"]) == (True, True, 5)
    assert config["ppo"]["steps"] == 10


def test_a_partition_from_a_file_is_kept_with_the_run(tmp_path):
    (tmp_path / "own.toml").write_text(
        '[groups]\nservers = ["Op_Server0", "Enterprise0", "Enterprise1", "Enterprise2", '
        '"Defender"]\nrest = ["Op_Host0", "Op_Host1", "Op_Host2", "User0", "User1", "User2", '
        '"User3", "User4"]\n'
    )
    options = ["--groups", str(tmp_path / "own.toml"), "--order", "servers > rest"]
    assert run(["train", str(tmp_path / "run"), *SMALL, *options]) == 0
    (tmp_path / "own.toml").unlink()
    assert run(["train", str(tmp_path / "run"), "--resume"]) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--order", "balanced", "--orders", "all"], "not both"),
        (["--orders", "some"], "all (of at most 7 groups) or random:K"),
        (["--red", "bline,bline"], "names a red twice"),
        (["--red", "x"], "red='x'"),
        (["--episodes", "0"], "episodes=0"),
        (["--threads", "0"], "threads=0"),
        (["--hidden", "64;64"], "--hidden '64;64' is not understood"),
        (["--clip", "0"], "clip=0.0"),
        (["--entropy-schedule", "cosine"], "entropy_schedule='cosine'"),
        (["--groups", "hosts"], "--groups is about keeping to an order"),
        (["--alignment-lambda", "5"], "--alignment-lambda is about keeping to an order"),
        (["--order", "balanced", "--compliance-rule", "x"], "compliance rule 'x'"),
        (["--orders", "random:0"], "--orders 'random:0'"),
        (["--orders", "random:121"], "121 different orders cannot be drawn"),
        (["--resume"], "no such folder"),
        (["--ppo", "none.toml"], "none.toml"),
    ],
)
def test_bad_options_are_refused(tmp_path, capsys, options, words):
    assert run(["train", str(tmp_path / "run"), *options]) == 2
    assert words in capsys.readouterr().err


def test_unknown_ppo_options_are_named(tmp_path, capsys):
    (tmp_path / "ppo.toml").write_text("clipp = 0.1\n")
    assert run(["train", str(tmp_path / "run"), "--ppo", str(tmp_path / "ppo.toml")]) == 2
    assert "'clipp'" in capsys.readouterr().err


def test_a_folder_in_use_is_refused(tmp_path, capsys):
    (tmp_path / "note").write_text("mine")
    assert run(["train", str(tmp_path)]) == 2
    assert "is in use" in capsys.readouterr().err


def test_every_option_of_ppo_can_be_given_and_comes_before_the_file(tmp_path):
    given = {
        "hidden": "16,8", "steps": 5, "minibatch": 70, "epochs": 2, "gamma": 0.9, "gae_lambda": 0.8,
        "clip": 0.3, "value_coefficient": 0.4, "entropy": 0.02, "entropy_schedule": "constant",
        "reward_scale": 0.2, "normalise_advantages": False, "normalise_values": False,
        "learning_rate": 0.003, "learning_rate_schedule": "constant", "max_gradient_norm": 0.6,
        "adam_epsilon": 1e-6,
    }  # fmt: skip
    assert set(given) == {field.name for field in fields(PPO)}
    assert all(given[name] != default for name, default in PPO().as_dict().items())
    (tmp_path / "ppo.toml").write_text("epochs = 3\nclip = 0.1\n")
    options = ["--ppo", str(tmp_path / "ppo.toml")]
    for name, value in given.items():
        option = name.replace("_", "-")
        options += [f"--no-{option}"] if value is False else [f"--{option}", str(value)]
    assert run(["train", str(tmp_path / "run"), *SMALL, *options]) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["ppo"] == given | {"hidden": [16, 8]}


def test_options_of_a_file_come_before_the_defaults(tmp_path):
    (tmp_path / "ppo.toml").write_text("epochs = 3\nhidden = [9]\n")
    chosen = ppo_options.chosen(tmp_path / "ppo.toml", {"clip": 0.3, "epochs": None})
    assert chosen == PPO(epochs=3, hidden=(9,), clip=0.3)
    (tmp_path / "ppo.toml").write_text("epochs: 3")
    with pytest.raises(ValueError, match=r"ppo.toml is not TOML.* a line like clip = 0.2"):
        ppo_options.chosen(tmp_path / "ppo.toml", {})


def test_every_option_of_a_training_is_an_option_of_the_command():
    there = {option.name for option in typer.main.get_command(app).commands["train"].params}
    assert {field.name for field in fields(Setup)} <= there


def test_how_orders_are_paid_for_reaches_the_setup(tmp_path):
    options = ["--order", "balanced", "--compliance-rule", "attempted", "--compliant-bonus", "0.5"]
    options += ["--violation-penalty", "0.25", "--alignment-lambda", "7", "--patience", "9"]
    assert run(["train", str(tmp_path / "run"), *SMALL, *options]) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    told = [config[name] for name in ("compliance_rule", "compliant_bonus", "violation_penalty")]
    assert told == ["attempted", 0.5, 0.25]
    assert (config["alignment_lambda"], config["patience"], config["threads"]) == (7.0, 9, 1)


@pytest.mark.parametrize(
    "options",
    [["--red", "meander"], ["--episodes", "128"], ["--threads", "2"], ["--no-stop-at-gate"]]
    + [["--clip", "0.1"], ["--start-from", "elsewhere"], ["--order", "balanced"]],
)
def test_a_resumed_run_takes_no_other_options(tmp_path, capsys, options):
    folder = str(tmp_path / "run")
    assert run(["train", folder, "--resume", *options]) == 2
    words = capsys.readouterr().err
    assert f"{options[0].replace('--no-', '--')} cannot be chosen with --resume" in words
    assert "config.json" in words


def test_an_update_without_the_end_of_an_episode_is_shown(tmp_path, capsys):
    assert run(["train", str(tmp_path / "run"), *SMALL, "--steps", "4"]) == 0
    first = capsys.readouterr().err
    assert "episodes 0 of 64" in first
    assert "environment reward -" in first


def row(**figures):
    given = dict.fromkeys((field.name for field in fields(Row)), 0.0)
    return Row(**(given | figures))


def test_the_display_tells_speed_shares_and_the_time_that_is_left():
    times = {"play_seconds": 3.0, "game_seconds": 1.0, "advantage_seconds": 0.5}
    times["update_seconds"] = 1.5
    first = row(update=4, episodes=40, steps=4000, environment_reward=-9.0, **times)
    shown = dict(training_display.figures(first, first, 0.0, 100))
    assert shown["steps/s"] == "200"  # 1,000 in the 5 seconds that it took
    now = row(
        update=8, episodes=80, steps=8000, environment_reward=-8.125, alignment_reward=1.5,
        total_reward=-6.625, compliance=0.75, fixes=2.0, **times,
    )  # fmt: skip
    assert training_display.figures(now, first, 8.0, 100) == [
        ("episodes", "80 of 100"),
        ("environment reward", "-8.12"),
        ("alignment reward", "1.50"),
        ("their sum", "-6.62"),
        ("compliance", "0.75 of 2.0 fixes an episode"),
        ("steps/s", "500"),
        ("time", "games 20 %, networks and draws 40 %, advantages 10 %, update 30 %"),
        ("left", "4 s at most"),
    ]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (99, "99 s"), (150, "2 min"), (6100, "1 h 42 min")]
)
def test_times_are_told_as_people_do(seconds, words):
    assert training_display._duration(seconds) == words


def test_a_terminal_shows_the_figures_while_it_trains(terminal, tmp_path):
    shown = terminal(
        "train", str(tmp_path / "run"), "--n-envs", "32", "--horizon", "10", "--threads", "1",
        "--episodes", "1600", "--order", "balanced", "--no-stop-at-gate",
    )  # fmt: skip
    for words in ("of 1,600", "alignment reward", "networks and draws", "at most"):
        shown.wait_for(words)
    shown.wait_for("all episodes are played")
    assert shown.end()[1] == 0
