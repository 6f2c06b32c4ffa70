"""A run's folder: one process at a time, and rows of figures that survive a kill."""

import contextlib
import csv
import fcntl
import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from fixfirst.files import write_whole

LOCK = "lock"
BEGINNING = ".config.json."  # a first file that a kill has left half written


class RunError(ValueError):
    """A run folder that cannot be used as asked."""


class RunFolder:
    """A folder that this process holds until `close`, or until it ends in any way."""

    def __init__(self, path: str | os.PathLike[str], new: bool) -> None:
        self.path = Path(path)
        if new:
            self._must_be_free()
            self.path.mkdir(parents=True, exist_ok=True)
        elif not self.path.is_dir():
            raise RunError(f"{self.path} is no run: there is no such folder")
        self._lock = (self.path / LOCK).open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise RunError(
                f"{self.path} is in use by another process; wait for it, or name another folder"
            ) from None
        if new:
            try:
                self._must_be_free()  # another process may have come and gone meanwhile
            except RunError:
                self.close()
                raise

    def _must_be_free(self) -> None:
        """Raise if there is more than a run leaves that was stopped before its first checkpoint."""
        if not self.path.exists():
            return
        if self.path.is_dir():
            there = [
                p for p in self.path.iterdir()
                if p.name != LOCK and p != self.checkpoints and not p.name.startswith(BEGINNING)
            ]  # fmt: skip
            if self.checkpoints.is_dir():
                there += [p for p in self.checkpoints.iterdir() if not p.name.startswith(".")]
            if not there:
                return
        raise RunError(f"{self.path} is in use; name a new folder, or resume the run in it")

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()

    @property
    def checkpoints(self) -> Path:
        """Where the checkpoints are."""
        return self.path / "checkpoints"

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a file of plain data, whole or not at all."""
        write_whole(self.path / name, (json.dumps(content, indent=2) + "\n").encode())

    def write_csv(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows as a table, whole or not at all."""
        given = list(rows)
        text = io.StringIO()
        if given:
            writer = csv.DictWriter(text, fieldnames=list(given[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(given)
        write_whole(self.path / name, text.getvalue().encode())


class Rows:
    """A file of one JSON object a line, to which rows are added as they come."""

    def __init__(self, path: Path, keep: int) -> None:
        """Keep the first so many rows of what is there (what came after is played again)."""
        self.path = path
        kept = read_rows(path)[:keep] if path.exists() else []
        write_whole(path, "".join(json.dumps(row) + "\n" for row in kept).encode())
        self._file: TextIO = path.open("a")

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        self._file.write(json.dumps(row, allow_nan=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        """No more rows."""
        self._file.close()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All whole rows of a file; a last one that was cut off is left out."""
    lines = path.read_text().split("\n")
    rows = [json.loads(line) for line in lines[:-1]]
    if lines[-1]:
        with contextlib.suppress(ValueError):  # cut off by a kill: its update is played again
            rows.append(json.loads(lines[-1]))
    return rows
