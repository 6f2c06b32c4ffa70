"""`fixfirst evaluate`: scores, protocols, files, and what is refused."""

import csv
import json

import pytest

from fixfirst.judge import cyborg
from fixfirst.judge.evaluate import evaluate
from fixfirst.judge.protocol import leaderboard, official
from tests.parity.standin import StandIn


def test_evaluate_prints_the_score_and_how_it_came_about(cli):
    done = cli(
        "evaluate", "react-restore", "--red", "meander", "--rules", "leaderboard", "--horizon",
        "30", "--episodes", "50", "--seed", "3", "--order", "reverse",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    expected = evaluate(
        "react-restore", "meander", rules="leaderboard", horizon=30, episodes=50, seed=3,
        order="reverse",
    )  # fmt: skip
    assert f"{expected.played.mean:.2f} ± {expected.played.half_width:.2f}" in done.out
    assert f"{expected.kept.mean:.2f} ± " in done.out
    assert "50 episodes of 30 steps, rules leaderboard, seeds 3 to 52, draws fast." in done.out
    assert "all hosts" in done.out


def test_evaluate_writes_figures_episodes_and_tables(cli, tmp_path):
    files = {kind: tmp_path / f"it.{kind}" for kind in ("json", "csv", "markdown")}
    options = [text for kind, path in files.items() for text in (f"--{kind}", str(path))]
    done = cli(
        "evaluate", "greedy", "--episodes", "4", "--order", "Defender", "--groups", "hosts",
        *options,
    )  # fmt: skip
    assert done.code == 2
    assert not any(path.exists() for path in files.values())
    done = cli("evaluate", "greedy", "--episodes", "4", "--order", "user-priority", *options)
    assert (done.code, done.err) == (0, "")
    figures = json.loads(files["json"].read_text())
    assert (figures["policy"], figures["rules"], figures["on"]) == ("greedy", "latest", "fixfirst")
    assert figures["workflow"]["order"] == "user > defender > enterprise > op_server > op_host"
    assert sum(sum(parts.values()) for parts in figures["losses"].values()) == pytest.approx(
        figures["mean"]
    )
    lines = list(csv.DictReader(files["csv"].read_text().splitlines()))
    assert [line["seed"] for line in lines] == ["0", "1", "2", "3"]
    assert files["markdown"].read_text().startswith("## What greedy scores")
    assert done.out.replace("\n", "").count(str(tmp_path)) == 3


def test_evaluate_knows_orders_of_other_groups(cli):
    order = ",".join(f"user{k}" for k in range(5)) + ",defender,op_server0"
    order += "".join(f",enterprise{k},op_host{k}" for k in range(3))
    done = cli("evaluate", "random", "--episodes", "3", "--order", order, "--groups", "hosts")
    assert done.code == 0
    assert "Order: user0 > user1" in done.out


def test_the_leaderboard_is_played_by_the_boards_rules(cli, tmp_path):
    file = tmp_path / "it.json"
    done = cli("evaluate", "random", "--leaderboard", "--episodes", "5", "--json", str(file))
    assert (done.code, done.err) == (0, "")
    expected = leaderboard("random", rules="leaderboard", episodes=5)
    assert f"{expected.total:.0f} ± {expected.half_width:.1f}" in done.out
    assert "CardiffUni, PPO + Greedy Decoys" in done.out
    assert "-54.57 ± 0.43" in done.out
    figures = json.loads(file.read_text())
    assert (figures["total"], figures["rules"]) == (expected.total, "leaderboard")
    assert (len(figures["cells"]), len(figures["board"]["rows"])) == (9, 20)
    assert figures["board"]["rules"] == "leaderboard"


def test_the_official_protocol_is_played(cli):
    done = cli(
        "evaluate", "sleep", "--protocol", "official", "--episodes", "2", "--rules", "latest"
    )
    assert (done.code, done.err) == (0, "")
    expected = official("sleep", rules="latest", episodes=2)
    assert f"{expected.total:.0f} ± {expected.half_width:.1f}" in done.out
    assert "one stream from seed 153" in done.out
    assert "not the rules of the board" in done.out


def test_cyborg_can_be_judged(cli, monkeypatch):
    monkeypatch.setattr(cyborg, "CyborgGame", StandIn)
    done = cli("evaluate", "react-remove", "--on", "cyborg:x", "--episodes", "2", "--horizon", "20")
    assert (done.code, done.err) == (0, "")
    expected = evaluate("react-remove", rng="cpython", episodes=2, horizon=20)
    assert f"{expected.played.mean:.2f} ± {expected.played.half_width:.2f}" in done.out
    assert "draws cpython, on the real CybORG (cyborg:x)." in done.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["slep"], "did you mean sleep"),
        (["sleep", "--red", "green"], "red='green' is not known"),
        (["sleep", "--red", ""], "red='' is not known"),
        (["sleep", "--episodes", "0"], "episodes=0"),
        (["sleep", "--rules", "new"], "rules='new'"),
        (["sleep", "--rng", "dice"], "rng='dice'"),
        (["sleep", "--order", "best"], "names 'best', which is no group"),
        (["sleep", "--groups", "hosts"], "needs --order ORDER"),
        (["sleep", "--leaderboard", "--red", "bline"], "--red cannot be chosen with --leaderboard"),
        (["sleep", "--leaderboard", "--horizon", "9"], "--horizon cannot be chosen"),
        (["sleep", "--leaderboard", "--order", "reverse"], "--order cannot be chosen"),
        (["sleep", "--leaderboard", "--rules", ""], "rules='' is not known"),
        (["sleep", "--protocol", "own"], "protocol='own' is not known; it is one of official"),
        (["sleep", "--protocol", "official", "--rng", "fast"], "--rng cannot be chosen with"),
        (["sleep", "--protocol", "official", "--rules", "new"], "rules='new' is not known"),
        (["sleep", "--protocol", "official", "--leaderboard"], "two protocols; choose one"),
        (["sleep", "--protocol", "official", "--on", "cyborg:x"], "leave out --on"),
        (["sleep", "--on", "there"], "on='there' is not known"),
        (["sleep", "--on", "cyborg:/no/such/folder"], "/no/such/folder does not exist"),
        (["sleep", "--json", "/no/such/folder/f"], "/no/such/folder/f: No such file"),
        (["sleep", "--json", "f", "--csv", "f"], "cannot hold two results"),
    ],
)
def test_bad_usage_is_refused_in_one_line(cli, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli("evaluate", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_in_a_narrow_terminal_the_names_have_lines_of_their_own(terminal):
    written, code = terminal("evaluate", "random", "--leaderboard", "--episodes", "2").end()
    assert code == 0
    lines = [line.rstrip() for line in written.splitlines()]
    figures = lines[lines.index("CCS Random, Random Agent") + 1]
    assert figures.split()[:3] == ["-154.1", "-33.43", "-2.80"]
    assert len(figures) < 80
