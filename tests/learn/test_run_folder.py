"""A run folder keeps what was learnt, whatever happens to the run."""

import errno
import json
import math
import os
import shutil

import pytest
import torch

from fixfirst.learn import checkpoint
from fixfirst.learn.checkpoint import CheckpointError
from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import latest_checkpoint, train
from fixfirst.learn.training import Training
from fixfirst.learn.update import NotFiniteError
from fixfirst.runs.folder import Rows, RunError, RunFolder, read_rows

FAST = PPO(steps=20, minibatch=640, hidden=(16,))


def setup(**options):
    given = {"n_envs": 64, "horizon": 20, "episodes": 64 * 6, "ppo": FAST} | options
    return Setup(**given)


class Killed(BaseException):
    """What no `except Exception` catches, as a kill would not be."""


def kill_at(update):
    def on_update(row):
        if row.update == update:
            raise Killed

    return on_update


# --- who may use it


def test_a_run_folder_holds_one_process_and_one_run(tmp_path):
    train(tmp_path / "run", setup())
    with pytest.raises(RunError, match="is in use; name a new folder"):
        train(tmp_path / "run", setup())
    folder = RunFolder(tmp_path / "run", new=False)
    with pytest.raises(RunError, match="another process"):
        train(tmp_path / "run", resume=True)
    folder.close()
    with pytest.raises(RunError, match="no such folder"):
        train(tmp_path / "none", resume=True)


def test_a_run_that_was_stopped_before_its_first_checkpoint_may_begin_again(tmp_path):
    with pytest.raises(ValueError, match="device='cuda:99'"):
        train(tmp_path / "run", setup(device="cuda:99"))
    (tmp_path / "run" / "checkpoints" / ".00000000-1").mkdir(parents=True)
    with pytest.raises(RunError, match="holds no checkpoint to resume from"):
        train(tmp_path / "run", resume=True)
    assert train(tmp_path / "run", setup()).why == "episodes"
    assert not list((tmp_path / "run" / "checkpoints").glob(".*"))


def test_a_first_file_that_was_half_written_leaves_the_folder_free(tmp_path):
    (tmp_path / ".config.json.abc").write_text("{")
    RunFolder(tmp_path, new=True).close()


@pytest.mark.parametrize("name", ["note", "config.json", "checkpoints/00000000"])
def test_a_folder_that_holds_anything_else_is_not_free(tmp_path, name):
    (tmp_path / name).mkdir(parents=True)
    with pytest.raises(RunError, match="is in use; name a new folder"):
        RunFolder(tmp_path, new=True)
    assert not (tmp_path / "lock").exists()


# --- checkpoints


def test_old_unfinished_checkpoints_do_not_count_and_are_swept(tmp_path):
    train(tmp_path / "run", setup())
    folder = tmp_path / "run" / "checkpoints"
    (folder / f".00000099-{os.getpid()}").mkdir()
    assert latest_checkpoint(tmp_path / "run") == folder / "00000006"
    trained = checkpoint.resume(folder / "00000006")
    trained.update()
    checkpoint.save(trained, folder)
    assert sorted(p.name for p in folder.iterdir()) == ["00000006", "00000007"]


def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one(tmp_path, monkeypatch):
    trained = Training(setup())
    checkpoint.save(trained, tmp_path)
    trained.update()

    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_whole", full)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(trained, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["00000000"]


@pytest.mark.parametrize("moment", range(7))
def test_a_kill_in_the_middle_of_a_checkpoint_leaves_a_whole_one(tmp_path, monkeypatch, moment):
    """The writing of the third checkpoint breaks off at every call that changes the disk."""
    trained = Training(setup())
    for _ in range(2):
        checkpoint.save(trained, tmp_path)
        trained.update()
    left = moment
    steps = [(checkpoint, "write_whole"), (checkpoint, "_sync"), (checkpoint.Path, "replace")]
    steps.append((checkpoint.shutil, "rmtree"))

    def breaking(function):
        def call(*arguments, **options):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return function(*arguments, **options)

        return call

    for owner, name in steps:
        monkeypatch.setattr(owner, name, breaking(getattr(owner, name)))
    with pytest.raises(Killed):
        checkpoint.save(trained, tmp_path)
    monkeypatch.undo()
    newest = checkpoint.finished(tmp_path)[-1]
    assert newest.name in ("00000001", "00000002")
    assert checkpoint.resume(newest).updates == int(newest.name)
    for there in checkpoint.finished(tmp_path):
        assert checkpoint.resume(there).updates == int(there.name)


def test_a_checkpoint_of_the_same_update_is_not_touched(tmp_path):
    trained = Training(setup())
    there = checkpoint.save(trained, tmp_path)
    before = there.stat().st_mtime_ns
    assert checkpoint.save(trained, tmp_path) == there
    assert there.stat().st_mtime_ns == before


# --- figures


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path, monkeypatch):
    train(tmp_path / "whole", setup(episodes=64 * 8))

    def full(self, row):
        if row["update"] == 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        add(self, row)

    add = Rows.add
    monkeypatch.setattr(Rows, "add", full)
    with pytest.raises(RunError, match=r"run: No space left on device; .* make room, then resume"):
        train(tmp_path / "run", setup(episodes=64 * 8), checkpoint_every=2)
    monkeypatch.undo()
    train(tmp_path / "run", resume=True)
    weights = [checkpoint.weights_of(latest_checkpoint(tmp_path / n)) for n in ("run", "whole")]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[1])
    assert [row["update"] for row in read_rows(tmp_path / "run" / "metrics.jsonl")] == [
        *range(1, 9)
    ]


def test_tensorboard_shows_each_update_of_a_resumed_run_once(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with pytest.raises(Killed):
        train(tmp_path / "run", setup(), checkpoint_every=2, on_update=kill_at(5))
    train(tmp_path / "run", resume=True)
    shown = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    rows = read_rows(tmp_path / "run" / "metrics.jsonl")
    for name in ("environment_reward", "alignment_reward", "total_reward", "compliance", "fixes"):
        events = [(event.step, event.value) for event in shown.Scalars(name)]
        assert events == [(row["steps"], pytest.approx(row[name])) for row in rows]


def test_an_update_in_which_no_episode_ends_has_no_means(tmp_path):
    short = setup(episodes=64, ppo=PPO(steps=8, minibatch=256, hidden=(8,)))
    ended = train(tmp_path / "run", short)
    first, *_, last = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert json.loads(first, parse_constant=pytest.fail)["environment_reward"] is None
    assert json.loads(last)["environment_reward"] == ended.last.environment_reward < 0
    assert math.isnan(ended.rows[0].environment_reward)
    table = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    assert table[1].startswith("1,0,512,,,,0.5,")


# --- failures


def test_not_finite_numbers_stop_the_training_loudly_with_the_state_saved(tmp_path):
    wild = setup(ppo=PPO(steps=20, minibatch=640, hidden=(16,), learning_rate=1e30))
    for resume in (False, True):
        with pytest.raises(NotFiniteError, match=r"no longer finite.* weights included, is in"):
            train(tmp_path / "run", None if resume else wild, resume=resume)
        failure = tmp_path / "run" / "failure"
        weights = checkpoint.weights_of(failure)
        assert not all(tensor.isfinite().all() for tensor in weights.values())
        assert "no longer finite" in checkpoint.read(failure)["failure"]
        assert (failure / "training.safetensors").exists()
        assert (failure / "games").exists()
        assert checkpoint.finished(tmp_path / "run" / "checkpoints")
    with pytest.raises(CheckpointError, match="broke off: update 1: "):
        checkpoint.resume(failure)


def test_weights_that_are_not_finite_are_noticed_even_if_the_losses_are_finite():
    trained = Training(setup(ppo=PPO(steps=20, minibatch=64 * 20, epochs=1)))
    trained.updater.adam.step = lambda: trained.policy.flat[:1].fill_(math.nan)
    with pytest.raises(NotFiniteError, match="losses or weights"):
        trained.update()


# --- what a run keeps to


def test_a_resumed_run_keeps_its_number_of_threads(tmp_path):
    with pytest.raises(Killed):
        train(tmp_path / "run", setup(threads=2), on_update=kill_at(2))
    assert json.loads((tmp_path / "run" / "config.json").read_text())["threads"] == 2
    assert torch.get_num_threads() == 1
    resumed = checkpoint.resume(latest_checkpoint(tmp_path / "run"))
    assert resumed.workers.threads == 2


def test_groups_are_kept_written_out(tmp_path):
    path = tmp_path / "own.toml"
    everything = [name for names in _HALVES.values() for name in names]
    path.write_text(f"[groups]\na = {_HALVES['a']}\nb = {_HALVES['b']}\n".replace("'", '"'))
    own = setup(groups=str(path), orders=("b > a",))
    path.write_text(f"[groups]\na = {everything}\n".replace("'", '"'))
    assert own.groups == _HALVES
    assert Setup.from_dict(json.loads(json.dumps(own.as_dict()))) == own


def test_weights_for_groups_of_the_same_names_and_other_hosts_are_refused(tmp_path):
    train(tmp_path / "first", setup(groups=_HALVES, orders=("b > a",)))
    other = {"a": _HALVES["a"][1:], "b": [_HALVES["a"][0], *_HALVES["b"]]}
    with pytest.raises(CheckpointError, match="was trained with groups="):
        train(
            tmp_path / "second", setup(groups=other, orders=("b > a",)),
            start_from=tmp_path / "first",
        )  # fmt: skip
    shutil.rmtree(tmp_path / "second")
    ended = train(
        tmp_path / "second", setup(groups=_HALVES, orders=("a > b",)),
        start_from=tmp_path / "first",
    )  # fmt: skip
    assert ended.why in ("episodes", "gate")


_HALVES = {
    "a": ["Defender", "Enterprise0", "Enterprise1", "Enterprise2", "Op_Server0"],
    "b": ["Op_Host0", "Op_Host1", "Op_Host2", "User0", "User1", "User2", "User3", "User4"],
}
