"""The folder of a search: what is where, and who holds what.

docs/search.md describes the files. A lock is held by a process and is free when the process
ends, in whatever way.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fixfirst.files import write_whole
from fixfirst.runs.folder import RunError
from fixfirst.search.history import Trial
from fixfirst.search.plain import trial_as_dict, trial_from
from fixfirst.search.settings import Settings
from fixfirst.version import VERSION
from fixfirst.workflow.groups import Groups

FORMAT = 1
CONFIG, ENDED, TRIAL, STAGE = "config.json", "ended.json", "trial.json", "stage.json"
EPISODES, DATABASE = "episodes.csv", "study.db"


@dataclass(frozen=True)
class Config:
    """What a search was started with."""

    study: str  # its name in the database
    settings: Settings
    format: int = FORMAT
    fixfirst: str = VERSION


@dataclass(frozen=True)
class Sign:
    """A sign of life of a worker: what it is doing."""

    worker: str
    began: float  # seconds since 1970, as the worker's machine has it
    last: float
    trial: int | None = None
    order: str | None = None
    episodes: int = 0  # of that trial so far
    compliance: float | None = None
    reward: float | None = None


class Lock:
    """A file that one process holds, until `free` or its end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: Any = None

    def take(self, wait: bool = False) -> bool:
        """Take it; whether it is now held."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.path.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            file.close()
            return False
        except BaseException:
            file.close()
            raise
        self._file = file
        return True

    def free(self) -> None:
        """Let others take it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @contextlib.contextmanager
    def freed_on_error(self) -> Iterator[None]:
        """Keep it only if what is done under it is done."""
        try:
            yield
        except BaseException:
            self.free()
            raise


def held(path: Path) -> bool:
    """Whether some process holds a lock. Nothing is written."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


class SearchFolder:
    """The paths and plain files of a search."""

    def __init__(self, path: str | os.PathLike[str], checkpoint_dir: str | None = None) -> None:
        self.path = Path(path)
        self.trials = self.path / (checkpoint_dir or "trials")

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> tuple["SearchFolder", Config]:
        """The search in a folder, or an error that says why there is none."""
        config = read_config(Path(path))
        return cls(path, config.settings.checkpoint_dir), config

    # --- what is where

    def trial(self, number: int) -> Path:
        """The folder of a trial."""
        return self.trials / f"{number:04d}"

    @property
    def stage(self) -> Path:
        """The folder of the one policy for all orders with which `warm_start=all` begins."""
        return self.trials / "all"

    def named(self, path: Path) -> str:
        """A path as the files of the run name it: below the run folder if it lies there."""
        return str(path.relative_to(self.path) if path.is_relative_to(self.path) else path)

    # --- locks

    def lease(self, name: str) -> Lock:
        """The lock of a trial (by its number) or of the stage: who holds it works on it."""
        return Lock(self.path / "locks" / name)

    def lock_of_trial(self, number: int) -> Lock:
        """Who holds it works on the trial."""
        return self.lease(f"trial-{number:04d}")

    @contextlib.contextmanager
    def choosing(self) -> Iterator[None]:
        """One process at a time chooses orders and ends trials."""
        lock = self.lease("choosing")
        lock.take(wait=True)
        try:
            yield
        finally:
            lock.free()

    @property
    def running(self) -> bool:
        """Whether any worker is at work on the search."""
        return any(map(held, (self.path / "locks").glob("worker-*")))

    # --- plain files

    def write(self, path: Path, content: Mapping[str, Any]) -> None:
        """Write a file of plain data, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())

    def write_config(self, config: Config) -> None:
        """Write what the search is started with."""
        plain = asdict(config) | {"settings": config.settings.as_dict()}
        self.write(self.path / CONFIG, plain)

    def write_trial(self, trial: Trial) -> None:
        """Write how a trial stands."""
        self.write(self.trial(trial.number) / TRIAL, trial_as_dict(trial))

    def read_trials(self, groups: Groups) -> list[Trial]:
        """The trials by their own files, by number."""
        found = []
        for file in sorted(self.trials.glob(f"[0-9]*/{TRIAL}")):
            found.append(trial_from(read_json(file), groups))
        return sorted(found, key=lambda trial: trial.number)

    def write_lines(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a file of one JSON object a line, whole or not at all."""
        write_whole(self.path / name, "".join(json.dumps(row) + "\n" for row in rows).encode())

    @property
    def before(self) -> int:
        """Episodes spent on the one policy for all orders."""
        file = self.stage / STAGE
        return int(read_json(file)["episodes"]) if file.exists() else 0

    # --- signs of life

    def give_sign(self, sign: Sign) -> None:
        """Tell that a worker lives, and what it does."""
        path = self.path / "workers" / f"{sign.worker}.json"
        path.parent.mkdir(exist_ok=True)
        aside = path.with_suffix(".new")
        aside.write_text(json.dumps(asdict(sign)))  # lost with the power, which does no harm
        aside.replace(path)

    def signs(self) -> list[Sign]:
        """What the workers told last, those that are gone included."""
        found = []
        for file in sorted((self.path / "workers").glob("*.json")):
            with contextlib.suppress(OSError, ValueError, TypeError):
                found.append(Sign(**json.loads(file.read_text())))
        return found

    @property
    def seconds(self) -> float:
        """For how long any worker was at work."""
        total, until = 0.0, 0.0
        for sign in sorted(self.signs(), key=lambda sign: sign.began):
            total += max(0.0, sign.last - max(sign.began, until))
            until = max(until, sign.last)
        return total


def read_json(path: Path) -> dict[str, Any]:
    """A file of plain data, or an error that names it."""
    try:
        content = json.loads(path.read_text())
    except ValueError as problem:
        raise RunError(f"{path} is damaged: {problem}") from None
    if not isinstance(content, dict):
        raise RunError(f"{path} is damaged: it holds no table")
    return content


def read_config(path: Path) -> Config:
    """What the search in a folder was started with."""
    file = path / CONFIG
    if not file.is_file():
        raise RunError(f"{path} is no search: it has no {CONFIG}")
    content = read_json(file)
    if "study" not in content:
        raise RunError(f"{path} is no search: its {CONFIG} is that of a training")
    if content.get("format") != FORMAT:
        raise RunError(
            f"{path} was written by fixfirst {content.get('fixfirst')} in format "
            f"{content.get('format')!r}; this is fixfirst {VERSION}, which reads {FORMAT}"
        )
    try:
        return Config(content["study"], Settings.from_dict(content["settings"]))
    except (KeyError, TypeError, ValueError) as problem:
        raise RunError(f"{file} is damaged: {problem}") from None


def now() -> float:
    """Seconds since 1970."""
    return time.time()
