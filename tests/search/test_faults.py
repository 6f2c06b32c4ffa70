"""What can go wrong around a search: it is repaired or refused clearly, and nothing is lost."""

import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

from fixfirst.learn.update import NotFiniteError, Updater
from fixfirst.search.reading import read_run
from fixfirst.search.run import search
from tests.search.small import Listener, outcome, small


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A search that nothing happened to."""
    return search(tmp_path_factory.mktemp("runs") / "whole", small())


def stopped(run, updates):
    """A search that was stopped after so many updates."""
    listener = Listener()
    listener.on_update = lambda trial, row: (
        listener.updates == updates and signal.raise_signal(signal.SIGINT)
    )
    return search(run, small(), spectator=listener)


# --- the study


def destroyed(database):
    database.write_bytes(b"nonsense" * 1000)


def overwritten(database):
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 2 * 4096))


def cut(database):
    with database.open("r+b") as file:
        file.truncate(5000)


def emptied(database):
    database.write_bytes(b"")


def removed(database):
    database.unlink()


def of_another_search(database):
    with sqlite3.connect(database) as connection:
        connection.execute("update studies set study_name = 'another'")
    connection.close()


@pytest.mark.parametrize("harm", [destroyed, overwritten, cut, emptied, removed, of_another_search])
def test_a_damaged_study_is_made_anew_from_the_trials_own_files(tmp_path, whole, harm):
    run = tmp_path / "run"
    stopped(run, 15)
    harm(run / "study.db")
    listener = Listener()
    found = search(run, resume=True, spectator=listener)
    assert "it is made anew from the files of 3 trials" in " ".join(listener.notes)
    assert outcome(found) == outcome(whole)
    assert found.record.history.episodes == 240
    if harm is not removed:
        assert (run / "damaged-1-study.db").exists()


def test_a_damaged_study_shows_in_the_record(tmp_path):
    stopped(tmp_path / "run", 8)
    destroyed(tmp_path / "run/study.db")
    record = read_run(tmp_path / "run", knowledge=False)
    assert record.state == "damaged"
    assert f"fixfirst search --resume {tmp_path / 'run'}" in record.why
    assert len(record.history.trials) == 2


def test_a_study_of_another_version_is_refused(tmp_path):
    stopped(tmp_path / "run", 8)
    with sqlite3.connect(tmp_path / "run/study.db") as connection:
        connection.execute("update study_user_attributes set value_json='9' where key='format'")
    connection.close()
    with pytest.raises(ValueError, match=r"the study .* in format 9; this is fixfirst .* reads 1"):
        search(tmp_path / "run", resume=True)


def test_a_study_of_another_version_of_optuna_is_refused(tmp_path):
    stopped(tmp_path / "run", 8)
    with sqlite3.connect(tmp_path / "run/study.db") as connection:
        connection.execute("update version_info set schema_version = 99")
        connection.execute("update alembic_version set version_num = 'v9.9.9.a'")
    connection.close()
    with pytest.raises(ValueError, match=r"study\.db is of another version of Optuna"):
        search(tmp_path / "run", resume=True)


# --- the folder


def test_a_run_of_another_version_is_refused(tmp_path):
    stopped(tmp_path / "run", 2)
    content = json.loads((tmp_path / "run/config.json").read_text())
    content["format"] = 3
    (tmp_path / "run/config.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"was written by fixfirst .* in format 3; .* reads 1"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is damaged"),
        ("[]", "is damaged: it holds no table"),
        ("{}", "is that of a training"),
        ('{"study": "x", "format": 1}', "is damaged: 'settings'"),
        ('{"study": "x", "format": 1, "settings": {"seeed": 1}}', "no setting 'seeed'"),
    ],
)
def test_a_damaged_config_is_named(tmp_path, content, words):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ValueError, match=words):
        search(tmp_path, resume=True)


def test_folders_that_hold_no_search_or_hold_one_already_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"is no search: it has no config\.json"):
        search(tmp_path, resume=True)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="in use; name a new folder"):
        search(tmp_path, small())
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_search_that_was_killed_before_it_had_a_study_begins(tmp_path, whole):
    stopped(tmp_path / "run", 1)
    shutil.rmtree(tmp_path / "run/trials")
    (tmp_path / "run/study.db").unlink()
    found = search(tmp_path / "run", resume=True)
    assert outcome(found) == outcome(whole)


# --- checkpoints


def test_a_missing_checkpoint_of_a_trial_that_is_over_is_noted_and_another_begun_with(tmp_path):
    run = tmp_path / "run"
    stopped(run, 12)  # in the last update of the second trial
    shutil.rmtree(run / "trials/0001/train/checkpoints")
    listener = Listener()
    found = search(run, resume=True, spectator=listener)
    assert found.record.state == "finished"
    assert all(trial.started_from != 1 for trial in found.trials[2:])
    told = [trial for trial in found.trials if trial.number == 1]
    assert told[0].reward is not None  # its result stands


def test_a_trial_whose_checkpoints_are_gone_begins_again_and_is_counted_once(tmp_path, whole):
    run = tmp_path / "run"
    stopped(run, 15)
    shutil.rmtree(run / "trials/0002/train/checkpoints")
    found = search(run, resume=True)
    assert outcome(found) == outcome(whole)
    assert found.record.history.episodes == 240


@pytest.mark.parametrize("name", ["checkpoint.json", "weights.safetensors", "games"])
def test_a_damaged_checkpoint_is_set_aside_for_the_one_before(tmp_path, whole, name):
    run = tmp_path / "run"
    stopped(run, 15)
    (newest,) = (run / "trials/0002/train/checkpoints").glob("00000003")
    damaged = newest / name
    damaged.write_bytes(damaged.read_bytes()[:20])
    found = search(run, resume=True)
    assert (newest.parent / "damaged-00000003").is_dir()
    assert outcome(found) == outcome(whole)


def test_a_checkpoint_of_another_version_is_not_thrown_away(tmp_path):
    run = tmp_path / "run"
    stopped(run, 15)
    file = run / "trials/0002/train/checkpoints/00000003/checkpoint.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 99}))
    with pytest.raises(ValueError, match="format 99"):
        search(run, resume=True)
    assert file.exists()


# --- the disk


def test_a_full_disk_is_said_so_and_nothing_is_lost(tmp_path, whole, monkeypatch):
    run, listener = tmp_path / "run", Listener()
    real = os.fsync

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    listener.on_update = lambda trial, row: (
        listener.updates == 9 and monkeypatch.setattr(os, "fsync", full)
    )
    with pytest.raises(ValueError, match=r"the disk of .* is full; .* --resume"):
        search(run, small(), spectator=listener)
    monkeypatch.setattr(os, "fsync", real)
    assert outcome(search(run, resume=True)) == outcome(whole)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", place],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("mounting a file system needs the rights of root")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_disk_that_fills_up_is_said_so_and_the_search_goes_on_with_more_room(small_disk, whole):
    run = small_disk / "run"
    with pytest.raises(ValueError, match=r"the disk of .* is full; .* --resume"):
        search(run, small())
    with pytest.raises(ValueError, match="is full"):
        search(run, resume=True)
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    assert outcome(search(run, resume=True)) == outcome(whole)


def test_a_read_only_disk_is_refused_by_name(small_disk):
    run = small_disk / "run"
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    stopped(run, 8)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(OSError, match="Read-only file system") as refused:
        search(run, resume=True)
    assert str(run) in str(refused.value)
    with pytest.raises(OSError, match="Read-only file system"):
        search(small_disk / "other", small())
    record = read_run(run)  # reading needs no right to write
    assert record.state == "stopped"


# --- training itself


def test_a_training_that_diverges_fails_the_gate_and_the_search_goes_on(tmp_path, monkeypatch):
    real, calls = Updater.update, []

    def diverging(self, *arguments):
        calls.append(1)
        if len(calls) == 9:
            raise NotFiniteError("the losses are no longer finite")
        return real(self, *arguments)

    monkeypatch.setattr(Updater, "update", diverging)
    found = search(tmp_path / "run", small())
    broken = found.trials[1]
    assert (broken.state, broken.why, broken.reward) == ("failed", "diverged", None)
    assert broken.episodes == 16  # two updates were paid for
    assert [trial.why for trial in found.trials if trial is not broken] == ["episodes"] * 4
    assert all(trial.started_from != 1 for trial in found.trials)
    assert "diverged" in (found.folder / "summary.md").read_text()
