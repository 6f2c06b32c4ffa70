"""Games kept outside a batch: in memory for planners, or as bytes in a file."""

import hashlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.recfunctions import repack_fields

from fixfirst.envs import memory
from fixfirst.envs.options import RNGS, Options
from fixfirst.files import write_whole
from fixfirst.game import state
from fixfirst.game.facts import RULES
from fixfirst.game.state import Games
from fixfirst.workflow import alignment

_MAGIC = b"fixfirst games 1\n"


class SnapshotError(ValueError):
    """A snapshot that is damaged, foreign, or of games that differ from these."""


@dataclass(frozen=True)
class Snapshot:
    """Some games as they were at one moment, generators included."""

    games: Games
    horizon: int
    ids: Games = None  # of exact games
    alignments: Games = None  # of games that follow orders
    memories: Games = None  # of games whose observation has memory

    def __len__(self) -> int:
        return len(self.games)

    def check_for(self, count: int, options: Options) -> None:
        """Raise unless these games can go on in a batch with the given options."""
        if len(self.games) != count:
            raise SnapshotError(f"the snapshot holds {len(self.games)} games, not {count}")
        pairs = {
            "rng": (RNGS[self.ids is not None], RNGS[options.exact]),
            "rules": (RULES[self.games.rules[0]], RULES[options.rules]),
            "horizon": (self.horizon, options.horizon),
            "orders": (self.alignments is not None, bool(options.orders)),
            "memory": (self.memories is not None, options.memory),
        }
        for what, (then, now) in pairs.items():
            if then != now:
                raise SnapshotError(f"the snapshot is of games with {what}={then}, not {now}")

    def _parts(self) -> dict[str, Games]:
        parts = {name: getattr(self, name) for name in ("games", "ids", "alignments", "memories")}
        return {name: rows for name, rows in parts.items() if rows is not None}

    def to_bytes(self) -> bytes:
        """The games as bytes, with what is needed to recognise them and a checksum."""
        body = io.BytesIO()
        parts = self._parts()
        for rows in parts.values():
            np.save(body, repack_fields(rows.view(np.ndarray)).view(np.uint8))
        header = {
            "layout": _layout(tuple(parts), self.horizon),
            "parts": list(parts),
            "horizon": self.horizon,
            "count": len(self.games),
        }
        content = json.dumps(header).encode() + b"\n" + body.getvalue()
        return _MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n" + content

    @classmethod
    def from_bytes(cls, data: object) -> "Snapshot":
        """The games that `to_bytes` wrote; an error if they are damaged or foreign."""
        if not isinstance(data, bytes) or not data.startswith(_MAGIC):
            raise SnapshotError("these are not games that fixfirst saved")
        checksum, _, content = data[len(_MAGIC) :].partition(b"\n")
        if hashlib.sha256(content).hexdigest().encode() != checksum:
            raise SnapshotError("the saved games are damaged: the checksum does not match")
        line, _, body = content.partition(b"\n")
        try:
            header = json.loads(line)
            names, horizon = tuple(header["parts"]), int(header["horizon"])
            count, layout = int(header["count"]), header["layout"]
            if not (1 <= horizon <= state.MAX_HORIZON and layout == _layout(names, horizon)):
                raise SnapshotError("the games were saved by another version of fixfirst")
            stream = io.BytesIO(body)
            parts = {name: _rows(stream, _dtype(name, horizon), count) for name in names}
            snapshot = cls(horizon=horizon, **parts)
        except (KeyError, TypeError, ValueError) as problem:
            if isinstance(problem, SnapshotError):
                raise
            raise SnapshotError(f"the saved games cannot be read: {problem}") from problem
        snapshot._check_values()
        return snapshot

    def _check_values(self) -> None:
        wrong = state.first_wrong_field(self.games, self.ids, self.horizon)
        if wrong is None and self.alignments is not None:
            wrong = alignment.first_wrong_field(self.alignments)
        if wrong is None and self.memories is not None:
            wrong = memory.first_wrong_field(self.memories)
        if wrong is not None:
            raise SnapshotError(f"the saved games hold an impossible value in {wrong}")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the games to a file, whole or not at all."""
        write_whole(path, self.to_bytes())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Snapshot":
        """The games in a file."""
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except SnapshotError as problem:
            raise SnapshotError(f"{path}: {problem}") from None


def _dtype(part: str, horizon: int) -> np.dtype:
    if part == "ids":
        return state.identity(horizon)
    return {"games": state.GAME, "alignments": alignment.ALIGNMENT, "memories": memory.MEMORY}[part]


def _layout(parts: tuple[str, ...], horizon: int) -> str:
    text = repr([(part, _dtype(part, horizon).descr) for part in parts])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rows(stream: io.BytesIO, dtype: np.dtype, count: int) -> Games:
    raw = np.load(stream, allow_pickle=False)
    packed = repack_fields(dtype)
    if raw.dtype != np.uint8 or raw.shape != (count * packed.itemsize,):
        raise SnapshotError("the saved games have the wrong size")
    return raw.view(packed).astype(dtype).view(np.recarray)
