"""`fixfirst train` from the command line."""

import json

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")

from fixfirst.cli.main import run

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
