"""Training in a run folder: figures as they come, checkpoints, and a safe end."""

import contextlib
import errno
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from fixfirst.learn import checkpoint
from fixfirst.learn.rollout import Episodes
from fixfirst.learn.setup import Setup
from fixfirst.learn.training import Row, Training
from fixfirst.learn.update import NotFiniteError
from fixfirst.runs.folder import Rows, RunError, RunFolder, read_rows

METRICS = "metrics.jsonl"
FAILURE = "failure"  # the state of a training that broke off
STOPPED_BY_HAND = "ctrl-c"


@dataclass(frozen=True)
class Trained:
    """How a training ended."""

    run: Path
    checkpoint: Path
    why: str  # "gate", "plateau", "episodes", or "ctrl-c" (also if `stop` said so)
    rows: list[Row]
    logging_seconds: float = 0.0  # spent on figures and checkpoints

    @property
    def last(self) -> Row:
        """What the last update told."""
        return self.rows[-1]


def train(
    run: str | os.PathLike[str],
    setup: Setup | None = None,
    *,
    resume: bool = False,
    start_from: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 20,
    on_update: Callable[[Row], Any] | None = None,
    on_episodes: Callable[[int, Episodes], Any] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Trained:
    """Train a policy in the folder `run`; nothing but a full disk loses more than the updates
    since the last checkpoint, and those are played again as they were.

    Games that others run, such as the real CybORG, cannot be kept: with them a run that is
    resumed begins new episodes.


    setup             what to train, for a new run
    resume            go on with the run that is in the folder; its own setup is used
    start_from        a checkpoint whose weights to begin with
    checkpoint_every  updates between checkpoints; there is one at the end in any case
    on_update         is told of each update
    on_episodes       is told the number of each update and the episodes that ended in it, before
                      anything is written that would keep the update from being played again
    stop              is asked before each update whether to stop there, as after Ctrl-C
    """
    if resume == (setup is not None) or (resume and start_from is not None):
        raise ValueError("give a setup for a new run, or resume=True alone to go on with one")
    folder = RunFolder(run, new=not resume)
    try:
        training = _resumed(folder) if resume else _begun(folder, setup or Setup(), start_from)
        with contextlib.closing(training):
            return _run(folder, training, checkpoint_every, on_update, on_episodes, stop)
    except OSError as problem:
        if problem.errno not in _FULL:
            raise
        raise RunError(
            f"{folder.path}: {problem.strerror}; what was saved is whole: make room, then resume "
            "the run (or, if it holds no checkpoint yet, begin it again)"
        ) from problem
    finally:
        folder.close()


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def latest_checkpoint(run: str | os.PathLike[str]) -> Path:
    """The newest checkpoint of a run, or the checkpoint itself if that is what is named."""
    path = Path(run)
    if (path / "checkpoint.json").exists():
        return path
    there = checkpoint.finished(path / "checkpoints")
    if not there:
        raise RunError(f"{path} holds no checkpoint; name a run folder or one of its checkpoints")
    return there[-1]


def _begun(folder: RunFolder, setup: Setup, start_from: Any) -> Training:
    # The number of threads is kept: with another one the last bits of the policy would differ.
    training = Training(replace(setup, threads=setup.threads or torch.get_num_threads()))
    if start_from is not None:
        checkpoint.start_from(training, latest_checkpoint(start_from))
    checkpoint.save(training, folder.checkpoints)
    folder.write_json("config.json", training.setup.as_dict())
    return training


def _resumed(folder: RunFolder) -> Training:
    there = checkpoint.finished(folder.checkpoints)
    if not there:
        raise RunError(
            f"{folder.path} holds no checkpoint to resume from; if a run was stopped in it before "
            "its first one, begin it again"
        )
    training = checkpoint.resume(there[-1])
    folder.write_json("config.json", training.setup.as_dict())
    return training


def _run(
    folder: RunFolder, training: Training, every: int, on_update: Callable[[Row], Any] | None,
    on_episodes: Callable[[int, Episodes], Any] | None, stop: Callable[[], bool],
) -> Trained:  # fmt: skip
    began = time.perf_counter()
    rows = Rows(folder.path / METRICS, keep=training.updates)
    # What a killed run has shown of updates that are now played again is hidden.
    board = _board(folder.path / "tensorboard", training.steps + 1)
    logging = time.perf_counter() - began

    def note(row: Row) -> None:
        nonlocal logging
        began = time.perf_counter()
        told = _plain(row)
        rows.add(told)
        for name, value in told.items():
            if value is not None:
                board.add_scalar(name, value, row.steps)
        if on_episodes is not None:
            on_episodes(row.update, training.ended)
        if on_update is not None:
            on_update(row)
        if training.updates % every == 0:
            checkpoint.save(training, folder.checkpoints)
        logging += time.perf_counter() - began

    with contextlib.closing(board), contextlib.closing(rows):
        try:
            with _ctrl_c() as pressed:
                why = training.run(note, lambda: pressed() or stop()) or STOPPED_BY_HAND
        except NotFiniteError as problem:
            raise _failed(folder, training, problem) from problem
        began = time.perf_counter()
        checkpoint.save(training, folder.checkpoints)
    told = read_rows(folder.path / METRICS)
    folder.write_csv("metrics.csv", told)
    logging += time.perf_counter() - began
    there = latest_checkpoint(folder.path)
    return Trained(folder.path, there, why, [_row(one) for one in told], logging)


def _failed(folder: RunFolder, training: Training, problem: NotFiniteError) -> NotFiniteError:
    """Save all that a training is at the moment of its failure, and say where."""
    words = f"update {training.updates + 1}: {problem}"
    checkpoint.save_failure(training, folder.path / FAILURE, words)
    return NotFiniteError(
        f"{words}. The state, weights included, is in {folder.path / FAILURE}; the last good one "
        f"is {latest_checkpoint(folder.path)}"
    )


def _plain(row: Row) -> dict[str, Any]:
    """A row as plain data; `None` for the means of an update in which no episode ended."""
    told = asdict(row)
    return {name: None if math.isnan(value) else value for name, value in told.items()}


def _row(told: dict[str, Any]) -> Row:
    """The row again."""
    numbers: dict[str, Any] = {n: math.nan if v is None else v for n, v in told.items()}
    return Row(**numbers)


@contextlib.contextmanager
def _ctrl_c() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C end the training after its update, and the second one at once."""
    pressed = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread hears of it
        return
    before = signal.getsignal(signal.SIGINT)

    def hear(number: int, frame: Any) -> None:
        nonlocal pressed
        if callable(before) and before is not signal.default_int_handler:
            before(number, frame)  # who trains many policies must know, too
        elif pressed:
            raise KeyboardInterrupt
        pressed = True

    signal.signal(signal.SIGINT, hear)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _board(path: Path, first_step: int) -> Any:
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - slow to load

    return SummaryWriter(str(path), purge_step=first_step, flush_secs=30)
