"""Checkpoints: folders of plain files, each whole or not there. Nothing is ever unpickled.

weights.safetensors    the policy
training.safetensors   the optimiser's moments and the generator's state
games                  the games, their generators included; not there if others run them
checkpoint.json        the setup, the counters, and which version wrote it
"""

import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as tensors_from
from safetensors.torch import save as bytes_of

from fixfirst.envs.snapshot import Snapshot, SnapshotError
from fixfirst.files import write_whole
from fixfirst.learn.setup import Setup
from fixfirst.learn.training import Training
from fixfirst.version import VERSION

FORMAT = 2
KEPT = 2  # checkpoints of a run; older ones are removed


class CheckpointError(ValueError):
    """A checkpoint that is damaged, foreign, or of another kind than asked for."""


def save(training: Training, folder: Path) -> Path:
    """Write a checkpoint below `folder`, in one move, and remove old ones. Returns where."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{training.updates:08d}"
    if not target.exists():  # if it does, it is of the same update, and equal
        _write(training, target)
    for old in finished(folder)[:-KEPT]:
        _remove(old)
    return target


def save_failure(training: Training, target: Path, problem: str) -> None:
    """Keep a training that broke off, as a checkpoint that is to be looked at, not resumed."""
    if target.exists():  # of an earlier attempt
        _remove(target)
    _write(training, target, problem)


def _write(training: Training, target: Path, problem: str | None = None) -> None:
    """Write all files into a hidden folder, which gets its name when it is whole."""
    for left in target.parent.glob(".*-[0-9]*"):  # by processes that were killed
        shutil.rmtree(left, ignore_errors=True)
    unfinished = target.parent / f".{target.name}-{os.getpid()}"
    unfinished.mkdir()
    content = {
        "format": FORMAT,
        "fixfirst": VERSION,
        "setup": training.setup.as_dict(),
        "numbers": _strict(training.numbers()),
    }
    if problem is not None:
        content["failure"] = problem
    try:
        write_whole(unfinished / "weights.safetensors", bytes_of(training.weights()))
        write_whole(unfinished / "training.safetensors", bytes_of(training.tensors()))
        games = training.games()
        if games is not None:
            games.write(unfinished / "games")
        text = json.dumps(content, indent=2, allow_nan=False)
        write_whole(unfinished / "checkpoint.json", text.encode())
        unfinished.replace(target)
        _sync(target.parent)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _remove(folder: Path) -> None:
    """Remove a checkpoint. It loses its name first: what has one is whole at any moment."""
    nameless = folder.with_name(f".{folder.name}-{os.getpid()}")
    folder.replace(nameless)
    shutil.rmtree(nameless)


def _strict(value: Any) -> Any:
    """Plain data as JSON can say it: numbers that are not finite as words."""
    if isinstance(value, dict):
        return {name: _strict(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_strict(one) for one in value]
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)


def finished(folder: Path) -> list[Path]:
    """The whole checkpoints below a folder, the oldest first."""
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.name.isdigit() and p.is_dir())


def resume(checkpoint: Path) -> Training:
    """The training as it was when the checkpoint was written."""
    content = read(checkpoint)
    if "failure" in content:
        raise CheckpointError(f"{checkpoint} is of a training that broke off: {content['failure']}")
    training = Training(setup_of(checkpoint))
    games = checkpoint / "games"
    try:
        training.restore(
            weights_of(checkpoint),
            _tensors(checkpoint / "training.safetensors"),
            content["numbers"],
            Snapshot.read(games) if training.keeps_games else None,
        )
    except (KeyError, TypeError, RuntimeError, OSError, SnapshotError) as problem:
        raise CheckpointError(f"{checkpoint} cannot be resumed: {problem}") from problem
    return training


def start_from(training: Training, checkpoint: Path) -> None:
    """Begin a new training with the weights of another, whose setup must be of the same kind."""
    there, here = setup_of(checkpoint), training.setup
    pairs = {
        "memory": (there.memory, here.memory),
        "groups": (_groups(there), _groups(here)),
        "hidden layers": (there.ppo.hidden, here.ppo.hidden),
    }
    for what, (then, now) in pairs.items():
        if then != now:
            raise CheckpointError(f"{checkpoint} was trained with {what}={then}, not {now}")
    training.policy.load(weights_of(checkpoint))
    # The critic's values are in units of the returns that it has seen.
    scale, ratio = training.updater.scale, here.ppo.reward_scale / there.ppo.reward_scale
    mean, spread, scale.seen = read(checkpoint)["numbers"]["scale"]
    scale.mean, scale.spread = ratio * mean, ratio * spread


def setup_of(checkpoint: Path) -> Setup:
    """What the checkpoint's policy was trained on."""
    try:
        return Setup.from_dict(read(checkpoint)["setup"])
    except (TypeError, ValueError) as problem:
        if isinstance(problem, CheckpointError):
            raise
        raise CheckpointError(f"{checkpoint}/checkpoint.json: {problem}") from problem


def weights_of(checkpoint: Path) -> dict[str, Any]:
    """The weights alone."""
    return _tensors(checkpoint / "weights.safetensors")


def read(checkpoint: Path) -> dict[str, Any]:
    """The plain part of a checkpoint."""
    path = checkpoint / "checkpoint.json"
    try:
        content = json.loads(path.read_text())
        version = content["format"]
    except FileNotFoundError:
        raise CheckpointError(f"{checkpoint} is no checkpoint: it has no checkpoint.json") from None
    except (ValueError, KeyError, TypeError) as problem:
        raise CheckpointError(f"{path} is damaged: {problem}") from problem
    if version != FORMAT:
        raise CheckpointError(f"{path} has format {version!r}; this version reads {FORMAT}")
    return dict(content)


def _tensors(path: Path) -> dict[str, Any]:
    try:
        return dict(tensors_from(path.read_bytes()))
    except (SafetensorError, OSError) as problem:
        raise CheckpointError(f"{path} cannot be read: {problem}") from problem


def _groups(setup: Setup) -> dict[str, list[str]] | None:
    return setup.workflows[0].groups.as_mapping() if setup.orders else None


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
