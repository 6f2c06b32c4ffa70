"""What `bench backends` says was measured is what was measured."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fixfirst.bench import backends, backends_plot, backends_report, contest
from fixfirst.bench.contest import SPEED, Bout, Contestant, ContestantError, Entry
from fixfirst.bench.paced import Staggered, where_time_goes
from fixfirst.envs.synthetic import Awkward


def row(backend, rounds, envs=20, mode="never", env="game", **more):
    return {
        "env": env, "backend": backend, "envs": envs, "true_states": mode, "workers": None,
        "rounds": rounds, SPEED: sorted(rounds)[len(rounds) // 2], "explain": False, "options": {},
        "creation_seconds": 1.0, "memory_bytes": 2**20, **more,
    }  # fmt: skip


def held(title, *results):
    return {"bout": {"title": title}, "results": list(results)}


# --- what is put around envs


def test_first_episodes_end_one_after_another_and_later_ones_at_the_horizon():
    env = Staggered(Awkward(length=1_000)(), first=3, horizon=5)
    env.reset(seed=0)
    ends = []
    for step in range(1, 14):
        if env.step(0)[3]:
            ends.append(step)
            env.reset()
    assert ends == [3, 8, 13]


def test_the_shares_of_the_time_are_those_of_the_clocks():
    # Two workers of one env each, two steps: the slowest takes 3 s, then 4 s; the wall clock 10 s.
    clocks = [np.array([[1.0, 4.0], [0.0, 0.0]]), np.array([[2.0, 1.0], [1.0, 1.0]])]
    shares = where_time_goes(clocks, 2, 10.0, 2)
    assert shares["env step"] == pytest.approx((1 + 4 + 2 + 1) / 2 / 10)
    assert shares["true states"] == pytest.approx((1 + 1) / 2 / 10)
    assert shares["barrier wait"] == pytest.approx((3 - 2 + 4 - 3) / 10)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["transfer and the rest"] == pytest.approx(0.3)


# --- contestants


@pytest.mark.parametrize("backend", ["serial", "shared", "async", "bare"])
def test_a_contestant_counts_what_it_plays(backend):
    one = Contestant(Entry("synthetic", backend, 2, options={"mean": 0.002}), 0.01)
    try:
        played = one.play(0.5)
        assert played["seconds"] > 0.45
        # No env can take more steps than its time allows.
        assert 0 < played["transitions"] <= 2 * played["seconds"] / 0.002 + 2
        assert one.memory() > 10 * 2**20
        assert one.created > 0
    finally:
        one.end()


def test_gymnasiums_own_vector_env_is_a_contestant_too():
    one = Contestant(Entry("game", "gymnasium", 2, true_states="step"), 0.01)
    try:
        played = one.play(0.3)
        assert played["transitions"] > 0
        assert played["transitions"] % 2 == 0
    finally:
        one.end()


def test_a_contestant_that_cannot_play_says_why():
    with pytest.raises(ContestantError, match="backend='nothing' is not known"):
        Contestant(Entry("synthetic", "nothing", 2), 0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which Linux has")
@pytest.mark.parametrize("backend", ["shared", "gymnasium"])
def test_no_contestant_outlives_a_benchmark_that_is_killed(backend):
    script = (
        "import time\n"
        "from fixfirst.bench.contest import Contestant, Entry\n"
        f"one = Contestant(Entry('game', '{backend}', 2), 0.01)\n"
        "print(one._process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        pid = int(process.stdout.readline())
        workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        assert workers
        os.kill(process.pid, signal.SIGKILL)
    until = time.monotonic() + 30
    there = [Path(f"/proc/{one}") for one in (pid, *workers)]
    while time.monotonic() < until and any(one.exists() for one in there):
        time.sleep(0.1)
    assert not any(one.exists() for one in there)


# --- bouts


def test_a_bout_that_is_there_is_not_held_again(tmp_path, monkeypatch):
    times = []

    def hold(bout):
        times.append(bout.title)
        return [{**row("serial", [1.0])}]

    monkeypatch.setattr(contest, "hold", hold)
    entry = Entry("synthetic", "serial", 1)
    first, second = (Bout(title, (entry,), 1, 0.1) for title in ("one", "two"))
    backends.run(tmp_path, [first])
    found = backends.run(tmp_path, [first, second])
    assert times == ["one", "two"]
    assert [one["bout"]["title"] for one in found["bouts"]] == ["one", "two"]
    backends.run(tmp_path, [Bout("one", (entry,), 2, 0.1)])  # another bout of this name
    assert times == ["one", "two", "one"]
    monkeypatch.setattr(backends.machine, "describe", lambda: {"processor": "another"})
    backends.run(tmp_path, [second])
    assert times == ["one", "two", "one", "two"]
    monkeypatch.setattr(backends, "_code", lambda: "another version")
    backends.run(tmp_path, [second])
    assert times == ["one", "two", "one", "two", "two"]


def test_a_bout_that_failed_is_told_of_and_held_again(tmp_path, monkeypatch):
    def fail(bout):
        raise ContestantError("no memory")

    monkeypatch.setattr(contest, "hold", fail)
    bout = Bout("one", (Entry("synthetic", "serial", 1),), 1, 0.1)
    found = backends.run(tmp_path, [bout])
    assert found["bouts"][0]["failed"] == "no memory"
    assert list((tmp_path / "bouts").iterdir()) == []


def test_titles_make_different_files():
    for cyborg in (None, "folder"):
        for quick in (False, True):
            wanted = backends.bouts(quick, cyborg)
            assert len({backends._place(Path(), bout) for bout in wanted}) == len(wanted)


# --- bars


def test_a_ratio_is_of_rounds_played_in_turns():
    assert contest.ratio(row("a", [10.0, 2.0, 30.0]), row("b", [5.0, 1.0, 10.0])) == 2.0


def test_every_bar_is_worked_out_from_its_own_bout():
    found = backends.bars(
        [
            held("native, 20 games", row("native", [100.0]), row("native", [90.0]),
                 row("native", [91.0]), row("native", [94.0], mode="step")),
            held("rivals, 20 envs", row("shared", [50.0]), row("gymnasium", [25.0]),
                 row("sb3", [40.0])),
            held("rivals, 50 envs", row("shared", [30.0]), row("gymnasium", [40.0], 50),
                 row("sb3", [20.0], 50)),
            held("uneven, 64 envs, 64 workers", row("shared", [100.0]), row("async", [250.0])),
            held("CybORG, shared, 100 envs", row("bare", [1000.0]), row("shared", [950.0]),
                 row("shared", [987.0]), row("shared", [700.0]), row("shared", [658.0])),
        ]
    )  # fmt: skip
    told = {bar["what"]: (bar["figure"], bar["met"], bar["where"]) for bar in found}
    assert told == {
        "CybORG, states every step: shared / 329 per s": (2.0, True, "100 envs"),
        "CybORG, states at episode ends: shared / 329 per s": (3.0, True, "100 envs"),
        "CybORG, no states: shared / two bare processes": (0.95, True, "100 envs"),
        "uneven 5 ms env, 64 envs: async / shared": (2.5, True, "uneven, 64 envs, 64 workers"),
        "the same Python env: shared / AsyncVectorEnv, at any size": (
            0.75,
            False,
            "rivals, 50 envs",
        ),
        "the same Python env: shared / SubprocVecEnv, at any size": (1.25, True, "rivals, 20 envs"),
        "native: states every step / without": (0.94, False, "native, 20 games"),
    }


def test_what_was_not_measured_is_no_bar():
    assert backends.bars([held("native, 20 games")]) == []


# --- the sheets, the picture, the command


def test_the_sheets_hold_each_figure_where_it_belongs():
    held_before = [
        held("rivals, 20 envs", row("shared", [50.0]), row("gymnasium", [25.0])),
        held("shared, 20 envs", row("shared", [60.0]), row("shared", [40.0], mode=10)),
        held("shared, 1000 envs", row("shared", [70.0], 1_000)),
        held("native, 20 games", row("native", [2e6]), row("native", [90.0], mode="step"),
             row("native", [80.0], mode="step", options={"look": "level"})),
        held("CybORG, shared, 20 envs", row("bare", [9.0], 2, env="cyborg"),
             row("shared", [8.0], env="cyborg"), row("bare", [7.0], env="cyborg")),
        held("asleep", row("shared", [5.0], env="synthetic"), row("async", [6.0], env="synthetic")),
        held("where", row("shared", [1.0], explain=True, shares={"env step": 0.25})),
    ]  # fmt: skip
    machine = {"processor": "P", "python": "3", "gymnasium": "1"}
    bars = [{"what": "w", "target": 1.0, "figure": 0.5, "met": False, "where": "here"}]
    found = backends_report.sheets(
        {"bouts": held_before, "machine": machine, "usable_cores": 2, "bars": bars}
    )
    game, states, cyborg, synthetic, shares, reached = found
    assert game.columns == ("transitions/s", "20 envs", "1,000 envs", "20 made in", "memory")
    assert game.rows == [
        ("native", "2.0 million", "-", "1.0 s", "1 MiB"),
        ("shared", "50", "70", "1.0 s", "1 MiB"),
        ("Gymnasium AsyncVectorEnv", "25", "-", "1.0 s", "1 MiB"),
    ]
    assert states.columns == (
        "transitions/s", "envs", "never", "step", "step, level read", "every 10 steps",
    )  # fmt: skip
    assert states.rows == [
        ("native", "20", "2.0 million", "90", "80", "-"), ("shared", "20", "50", "-", "-", "40"),
    ]  # fmt: skip
    assert cyborg.rows == [
        ("shared", "never", "-", "8"),
        ("no backend: two processes of one env each", "never", "9", "-"),
        ("no backend: two processes, half each", "never", "-", "7"),
    ]
    assert synthetic.rows == [("asleep", "5", "6")]
    assert shares.rows == [("where: shared", "never", "25.0")]
    assert reached.rows == [("w", "1.00", "0.50", "not met", "here")]


def test_curves_hold_each_size_once_and_only_what_is_comparable():
    rows = [
        row("shared", [5.0], 20), row("shared", [9.0], 20), row("shared", [4.0], 1),
        row("shared", [7.0], 50, mode="step"), row("bare", [1.0], 2),
        row("serial", [3.0], 20, env="cyborg"),
    ]  # fmt: skip
    assert backends_plot.curves(rows, "game") == {"shared": [(1, 4.0), (20, 5.0)]}


def test_some_bouts_alone_can_be_asked_for(tmp_path, monkeypatch):
    from fixfirst.cli import bench_backends

    wanted = [Bout(title, (), 1, 0.1) for title in ("native, 1 games", "pipe, 1 envs", "pipe, 20")]
    assert bench_backends._wanted(wanted, None) == wanted
    assert bench_backends._wanted(wanted, "pipe") == wanted[1:]
    with pytest.raises(ValueError, match="no bout begins with 'ray'; they begin with native, pipe"):
        bench_backends._wanted(wanted, "native,ray")


def test_the_command_writes_tables_and_pictures(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="the extra `search` is not installed")
    from fixfirst.cli.bench import app

    tiny = Bout("serial, 2 envs", (Entry("game", "serial", 2),), 1, 0.1)
    monkeypatch.setattr(backends, "bouts", lambda quick, cyborg: [tiny])
    out, copy, pages = tmp_path / "out", tmp_path / "copy.json", tmp_path / "tables.md"
    asked = ["backends", str(out), "--json", str(copy), "--markdown", str(pages)]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    figures = json.loads(copy.read_text())
    assert figures == json.loads((out / "backends.json").read_text())
    (found,) = figures["bouts"][0]["results"]
    assert found[SPEED] > 0
    lines = (out / "backends.csv").read_text().splitlines()
    assert lines[0].split(",")[:3] == ["title", "env", "backend"]
    assert len(lines) == 2
    assert "| serial |" in pages.read_text()
    assert (out / "backends.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (out / "backends.svg").read_bytes()
