"""Training in a run folder: figures as they come, checkpoints, and a safe end."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fixfirst.learn import checkpoint
from fixfirst.learn.setup import Setup
from fixfirst.learn.training import Row, Training
from fixfirst.learn.update import NotFiniteError
from fixfirst.runs.folder import Rows, RunError, RunFolder, read_rows

METRICS = "metrics.jsonl"
STOPPED_BY_HAND = "ctrl-c"


@dataclass(frozen=True)
class Trained:
    """How a training ended."""

    run: Path
    checkpoint: Path
    why: str  # "gate", "plateau", "episodes", or "ctrl-c"
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
) -> Trained:
    """Train a policy in the folder `run`; nothing but a full disk loses more than the updates
    since the last checkpoint, and those are played again as they were.

    setup             what to train, for a new run
    resume            go on with the run that is in the folder; its own setup is used
    start_from        a checkpoint whose weights to begin with
    checkpoint_every  updates between checkpoints; there is one at the end in any case
    on_update         is told of each update
    """
    if resume == (setup is not None) or (resume and start_from is not None):
        raise ValueError("give a setup for a new run, or resume=True alone to go on with one")
    folder = RunFolder(run, new=not resume)
    try:
        training = _resumed(folder) if resume else _begun(folder, setup or Setup(), start_from)
        return _run(folder, training, checkpoint_every, on_update or (lambda _: None))
    finally:
        folder.close()


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
    training = Training(setup)
    if start_from is not None:
        checkpoint.start_from(training, latest_checkpoint(start_from))
    folder.write_json("config.json", setup.as_dict())
    checkpoint.save(training, folder.checkpoints)
    return training


def _resumed(folder: RunFolder) -> Training:
    return checkpoint.resume(latest_checkpoint(folder.path))


def _run(
    folder: RunFolder, training: Training, every: int, on_update: Callable[[Row], Any]
) -> Trained:
    began = time.perf_counter()
    rows = Rows(folder.path / METRICS, keep=training.updates)
    board = _board(folder.path / "tensorboard", training.updates)
    logging = time.perf_counter() - began

    def note(row: Row) -> None:
        nonlocal logging
        began = time.perf_counter()
        rows.add(asdict(row))
        for name, value in asdict(row).items():
            board.add_scalar(name, value, row.steps)
        on_update(row)
        if training.updates % every == 0:
            checkpoint.save(training, folder.checkpoints)
        logging += time.perf_counter() - began

    try:
        with _ctrl_c() as asked_to_stop:
            why = training.run(note, asked_to_stop) or STOPPED_BY_HAND
    except NotFiniteError:
        folder.write_json("failure.json", {"updates": training.updates, **training.numbers()})
        raise
    else:
        began = time.perf_counter()
        checkpoint.save(training, folder.checkpoints)
    finally:
        rows.close()
        board.close()
    told = [Row(**row) for row in read_rows(folder.path / METRICS)]
    folder.write_csv("metrics.csv", [asdict(row) for row in told])
    logging += time.perf_counter() - began
    return Trained(folder.path, latest_checkpoint(folder.path), why, told, logging)


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
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    signal.signal(signal.SIGINT, hear)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _board(path: Path, updates: int) -> Any:
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - slow to load

    return SummaryWriter(str(path), purge_step=updates, flush_secs=30)
