"""The training episodes of a trial, a row each, in a file that survives a kill."""

import os
from pathlib import Path
from typing import TextIO

import numpy as np

from fixfirst.files import write_whole
from fixfirst.learn.rollout import Episodes

HEADER = "update,game,environment_reward,alignment_reward,fixes,compliant\n"
COLUMNS = 6


class EpisodeFile:
    """Rows are added update by update. Those of updates that are played again are replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None

    def add(self, update: int, ended: Episodes) -> None:
        """The episodes that ended in an update. They are on the disk when this returns, as the
        update may be in the next checkpoint.
        """
        if self._file is None:
            self._file = self._opened(update)
        columns = zip(
            ended.game.tolist(), ended.environment.tolist(), ended.alignment.tolist(),
            ended.fixes.tolist(), ended.compliant.tolist(), strict=True,
        )  # fmt: skip
        self._file.write("".join(
            f"{update},{game:.0f},{environment:.1f},{alignment:.6g},{fixes:.0f},{compliant:.0f}\n"
            for game, environment, alignment, fixes, compliant in columns
        ))  # fmt: skip
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """No more rows."""
        if self._file is not None:
            self._file.close()

    @classmethod
    def read(cls, path: Path) -> Episodes:
        """All episodes of a file, in the order in which they ended."""
        rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
        rows = rows.reshape(-1, COLUMNS)
        return Episodes(
            environment=rows[:, 2],
            alignment=rows[:, 3],
            fixes=rows[:, 4].astype(np.int64),
            compliant=rows[:, 5].astype(np.int64),
            game=rows[:, 1].astype(np.int64),
        )

    def _opened(self, update: int) -> TextIO:
        """The file, with the rows of earlier updates alone."""
        kept = [HEADER]
        if self.path.exists():
            for line in self.path.read_text().splitlines(keepends=True)[1:]:
                if line.endswith("\n") and int(line.partition(",")[0]) < update:
                    kept.append(line)
        write_whole(self.path, "".join(kept).encode())
        return self.path.open("a")
