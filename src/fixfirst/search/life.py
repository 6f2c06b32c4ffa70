"""Workers have names, and give signs of life while they work."""

import contextlib
import os
import secrets
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optuna.exceptions import StorageInternalError

from fixfirst.search.folder import SearchFolder, Sign, now
from fixfirst.search.history import Trial
from fixfirst.search.study import Study

if TYPE_CHECKING:
    from fixfirst.learn.training import Row

SIGN_EVERY = 1.0  # seconds between signs in the run folder
BEAT_EVERY = 10  # signs between beats in the study, for other machines


@dataclass(frozen=True)
class Name:
    """A worker's name: no two are ever the same."""

    machine: str
    process: int
    word: str

    @classmethod
    def of_this_process(cls) -> "Name":
        """A new name for a worker in this process."""
        machine = socket.gethostname().replace(":", "-").replace("/", "-") or "here"
        return cls(machine, os.getpid(), secrets.token_hex(4))

    @classmethod
    def read(cls, text: str) -> "Name":
        """The name that was written so."""
        machine, process, word = text.rsplit(":", 2)
        return cls(machine, int(process), word)

    def __str__(self) -> str:
        return f"{self.machine}:{self.process}:{self.word}"


class Life:
    """Tells the run folder and the study, from a thread of its own, that a worker lives."""

    def __init__(self, folder: SearchFolder, study: Study, name: Name) -> None:
        self._folder, self._study = folder, study
        self._name, self._began = str(name), now()
        self._doing: dict[str, Any] = {}
        self._lock = folder.lease(f"worker-{name.word}")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="signs of life", daemon=True)

    def __enter__(self) -> "Life":
        self._lock.take(wait=True)  # for one who looks whether it is held
        self._tell()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        with contextlib.suppress(OSError):
            self._tell()
        self._lock.path.unlink(missing_ok=True)
        self._lock.free()

    def doing(self, trial: Trial | None, row: "Row | None" = None) -> None:
        """What the worker is at."""
        told: dict[str, Any] = {}
        if trial is not None:
            told |= {"trial": trial.number, "order": str(trial.order)}
        if row is not None:
            told |= {"episodes": row.episodes, "compliance": row.compliance,
                     "reward": row.environment_reward}  # fmt: skip
        self._doing = told

    def _tell(self) -> None:
        self._folder.give_sign(Sign(self._name, self._began, now(), **self._doing))

    def _beat(self) -> None:
        """A sign that cannot be given is lost, no more: the next one will do."""
        count = 0
        while not self._over.wait(SIGN_EVERY):
            with contextlib.suppress(OSError):
                self._tell()
            count += 1
            trial = self._doing.get("trial")
            if count % BEAT_EVERY == 0 and trial is not None:
                with contextlib.suppress(StorageInternalError, KeyError):
                    self._study.beat(trial, now())
