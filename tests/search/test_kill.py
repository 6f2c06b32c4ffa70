"""A search that is killed at any instant loses nothing, counts nothing twice, and ends the same.

FIXFIRST_KILLS sets how many lives the search has that is killed at random times.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

from fixfirst.learn.checkpoint import weights_of
from fixfirst.search.folder import SearchFolder
from fixfirst.search.found import Found
from fixfirst.search.reading import read_run
from fixfirst.search.study import Study
from tests.search.small import outcome

KILLS = int(os.environ.get("FIXFIRST_KILLS", "16"))
PROGRAM = Path(__file__).with_name("killing.py")


def run(*arguments):
    """Run the program; what it told."""
    done = subprocess.run(
        [sys.executable, PROGRAM, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=3000,
        env={**os.environ, "FIXFIRST_QUIET": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def unkilled(tmp_path_factory):
    """The same search without a kill."""
    folder = tmp_path_factory.mktemp("runs") / "unkilled"
    assert run("random", folder, 0, 0)["kills"] == 0
    return Found(read_run(folder))


def check_same(folder, unkilled):
    """Nothing tells the search from the one that was left in peace."""
    found = Found(read_run(folder))
    assert found.record.state == "finished"
    assert outcome(found) == outcome(unkilled)
    assert found.record.history.episodes == sum(trial.episodes for trial in found.trials) == 1_096
    for trial in found.trials:
        ours = weights_of(folder / trial.checkpoint)
        theirs = weights_of(unkilled.folder / trial.checkpoint)
        assert all(bool((ours[name] == theirs[name]).all()) for name in theirs)
        lines = (folder / f"trials/{trial.number:04d}/episodes.csv").read_text()
        assert lines == (unkilled.folder / f"trials/{trial.number:04d}/episodes.csv").read_text()
    room, config = SearchFolder.of(folder)
    study = Study(room, config.study, None, config.settings.partition)
    try:
        told = study.trials()
    finally:
        study.close()
    assert [(t.number, t.order, t.state, t.reward) for t in told] == [
        (t.number, t.order, t.state, t.reward) for t in found.trials
    ]


def test_killed_at_random_moments_it_ends_as_if_it_had_not_been(tmp_path, unkilled):
    told = run("random", tmp_path / "killed", KILLS, 1)
    assert told["kills"] > KILLS / 2
    check_same(tmp_path / "killed", unkilled)


@pytest.mark.parametrize("every", [23, 61])
def test_killed_around_its_writes_it_ends_as_if_it_had_not_been(tmp_path, unkilled, every):
    told = run("writes", tmp_path / "killed", every)
    assert told["kills"] >= 4
    check_same(tmp_path / "killed", unkilled)
