"""Recorded games of the real CybORG: read, checked, and played again.

A golden file has its rules and its red in its name, as `latest-bline.npz` does, and holds N
episodes of T steps each, one row an episode. The keys and what they hold are in `KEYS`; keys
beyond these are not read.

What the games are played from (seeds and actions) must be right, or they cannot be played.
What they are compared with may be anything: what no game can show is a difference like others.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.game import facts
from fixfirst.game.state import MAX_HORIZON, bytes_per_game
from fixfirst.game.tables import ACTIONS, HOST_NAMES, HOSTS, OBSERVATION_BITS
from fixfirst.parity.difference import Difference, compare

_OBSERVATION_BYTES = -(-OBSERVATION_BITS // 8)
_REPLAY_BYTES = 2**28  # games replayed at once take no more memory than this

# What NumPy and the zip reader raise for a file that is not what it says.
_UNREADABLE = (
    OSError, ValueError, KeyError, EOFError, MemoryError, NotImplementedError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


class GoldenError(ValueError):
    """A golden file that is damaged, foreign, or not there."""


class Key(NamedTuple):
    """What a key must hold. In `shape`, "N" is the number of episodes, "T" that of steps."""

    kinds: tuple[str, ...]  # how NumPy's name of the dtype begins, after the byte order
    shape: tuple[Any, ...]
    bounds: tuple[int, int] | None = None  # of what the games are played from


_TEXT, _WHOLE, _REAL = ("U",), ("i", "u"), ("f4", "f8")
KEYS = {
    "hosts": Key(_TEXT, (HOSTS,)),
    "red_actions": Key(_TEXT, (len(facts.RED_ACTIONS),)),
    "seed": Key(_WHOLE, ("N",), (-(2**63), 2**64 - 1)),
    "action": Key(_WHOLE, ("N", "T"), (0, ACTIONS - 1)),
    "obs": Key(("u1",), ("N", "T+1", _OBSERVATION_BYTES)),
    "reward": Key(_REAL, ("N", "T")),
    "level": Key(_WHOLE, ("N", "T+1", HOSTS)),
    "red_action": Key(_WHOLE, ("N", "T")),
    "red_target": Key(_WHOLE, ("N", "T")),
    "red_success": Key(_WHOLE, ("N", "T")),
    "next_random": Key(("f8",), ("N",)),
    "policy": Key(_TEXT, ("N",)),
}
_OF_EPISODES = tuple(name for name, key in KEYS.items() if key.shape[0] == "N")


@dataclass(frozen=True)
class Golden:
    """The episodes of one golden file."""

    name: str
    rules: str
    red: str
    data: dict[str, np.ndarray]

    @property
    def episodes(self) -> int:
        """How many games were recorded."""
        return int(self.data["action"].shape[0])

    @property
    def length(self) -> int:
        """How many steps each of them has."""
        return int(self.data["action"].shape[1])


@dataclass(frozen=True)
class Replay:
    """What came of playing a golden file again."""

    golden: Golden
    equal: int  # steps after which everything that was recorded is equal
    difference: Difference | None  # the first one of the first episode that has any
    episode: int = 0  # which

    @property
    def steps(self) -> int:
        """Steps compared."""
        return self.golden.episodes * self.golden.length

    @property
    def place(self) -> str:
        """File and episode of the difference."""
        data = self.golden.data
        return (
            f"{self.golden.name}, episode {self.episode} "
            f"(seed {data['seed'][self.episode]}, policy {data['policy'][self.episode]})"
        )


# --- reading


def shipped() -> list[Traversable]:
    """The golden files that come with the package."""
    folder = resources.files("fixfirst.parity") / "golden"
    return sorted((f for f in folder.iterdir() if f.name.endswith(".npz")), key=lambda f: f.name)


def files_in(folder: Path) -> list[Traversable]:
    """The golden files in a folder, or the one file that is named."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise GoldenError(f"{folder} {what}; name a folder of golden files")
    found = sorted(folder.glob("*.npz"))
    if not found:
        raise GoldenError(f"there is no golden file in {folder}: they are named *.npz")
    return list(found)


def load(file: Traversable) -> Golden:
    """The games in a file, or an error that names the file and the key that is wrong."""
    rules, red = _named(file)
    data = _read(file)
    _check_names(file, "hosts", data["hosts"], HOST_NAMES)
    _check_names(file, "red_actions", data["red_actions"], facts.RED_ACTIONS)
    if data["action"].ndim != 2 or not data["action"].size:
        raise GoldenError(f"{file}: key 'action' has shape {data['action'].shape}; it is N, T")
    episodes, length = data["action"].shape
    if length > MAX_HORIZON:
        raise GoldenError(f"{file}: key 'action' has {length} steps; {MAX_HORIZON} is the most")
    for name, key in KEYS.items():
        _check(file, name, data[name], key, {"N": episodes, "T": length, "T+1": length + 1})
    return Golden(file.name, rules, red, data)


def _named(file: Traversable) -> tuple[str, str]:
    """The rules and the red that a file is named by.

    The name begins with the rules; the red is the next word, or else the only one that is named.
    """
    rules, *words = re.split(r"[^a-z0-9]+", file.name.removesuffix(".npz"))
    reds = [word for word in words if word in facts.REDS]
    if rules in facts.RULES and reds and (words[0] == reds[0] or len(set(reds)) == 1):
        return rules, reds[0]
    raise GoldenError(
        f"{file}: the name does not tell its rules and red, as {facts.RULES[0]}-{facts.REDS[0]}.npz "
        f"does; rules are {', '.join(facts.RULES)}, reds {', '.join(facts.REDS)}"
    )


def _read(file: Traversable) -> dict[str, np.ndarray]:
    try:
        with file.open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise GoldenError(f"{file}: it is a single array, not a golden file")
            with archive:
                return {key: _read_key(file, archive, key) for key in KEYS}
    except GoldenError:
        raise
    except _UNREADABLE as problem:
        raise GoldenError(f"{file}: it cannot be read as a golden file: {problem}") from problem


def _read_key(file: Traversable, archive: Any, key: str) -> np.ndarray:
    if key not in archive.files:
        raise GoldenError(f"{file}: key {key!r} is missing; a golden file has {', '.join(KEYS)}")
    try:
        return np.asarray(archive[key])
    except _UNREADABLE as problem:
        raise GoldenError(f"{file}: key {key!r} cannot be read: {problem}") from problem


def _check_names(file: Traversable, key: str, values: np.ndarray, names: tuple[str, ...]) -> None:
    if tuple(values.tolist()) != names:
        raise GoldenError(f"{file}: key {key!r} names {values.tolist()}; here they are {names}")


def _check(
    file: Traversable, name: str, values: np.ndarray, key: Key, sizes: dict[str, int]
) -> None:
    shape = tuple(sizes.get(size, size) for size in key.shape)
    if not values.dtype.str[1:].startswith(key.kinds):
        raise GoldenError(
            f"{file}: key {name!r} is of dtype {values.dtype.str!r}; after the byte order it "
            f"begins with {' or '.join(key.kinds)}"
        )
    if values.shape != shape:
        raise GoldenError(f"{file}: key {name!r} has shape {values.shape}; here it is {shape}")
    if key.bounds is None:
        return
    least, most = key.bounds
    wrong = (values < least) | (values > most)
    if wrong.any():
        raise GoldenError(
            f"{file}: key {name!r} holds {values[wrong][0]}; values are {least} to {most}"
        )


# --- playing again


def replay(golden: Golden) -> Replay:
    """Play the recorded actions from the recorded seeds and compare all that was recorded."""
    equal, first, where = 0, None, 0
    for rows in _portions(golden):
        steps_equal, differences = _replay_rows(golden, rows)
        equal += steps_equal
        if first is None and differences:
            where = min(differences)
            first = differences[where]
    return Replay(golden, equal, first, where)


def _portions(golden: Golden) -> Iterator[range]:
    size = max(1, _REPLAY_BYTES // bytes_per_game(True, golden.length))
    for start in range(0, golden.episodes, size):
        yield range(start, min(start + size, golden.episodes))


def _replay_rows(golden: Golden, rows: range) -> tuple[int, dict[int, Difference]]:
    """Steps equal among some episodes, and the first difference of each that has one."""
    data = {key: golden.data[key][rows.start : rows.stop] for key in _OF_EPISODES}
    batch = Batch(
        options.checked(
            len(rows), golden.red, golden.rules, golden.length, "cpython", 1, "disabled"
        ),
        [int(seed) for seed in data["seed"]],
    )
    batch.reset()
    differences: dict[int, Difference] = {}
    wrong_at_reset = _compare(data, batch, 0, rows, differences)
    equal = 0
    for step in range(1, golden.length + 1):
        batch.step(data["action"][:, step - 1].astype(np.int64))
        wrong = _compare(data, batch, step, rows, differences)
        if step == 1:
            wrong |= wrong_at_reset
        equal += int((~wrong).sum())
    return equal, differences


def _compare(
    data: dict[str, np.ndarray], batch: Batch, step: int, rows: range,
    differences: dict[int, Difference],
) -> np.ndarray:  # fmt: skip
    """Which episodes differ after a step [n]; an episode's first difference is noted."""
    recorded, played = _recorded(data, step), _played(batch, data, step)
    any_wrong = np.zeros(len(rows), dtype=np.bool_)
    for field, values in recorded.items():
        wrong = (values != played[field]).reshape(len(rows), -1).any(axis=1)
        any_wrong |= wrong
        for i in np.flatnonzero(wrong):
            difference = compare(step, field, values[i], played[field][i])
            if difference is not None:
                differences.setdefault(rows[i], difference)
    return any_wrong


def _recorded(data: dict[str, np.ndarray], step: int) -> dict[str, np.ndarray]:
    """What was recorded after a step, step 0 being the reset, and at the end of the game."""
    bits = np.unpackbits(data["obs"][:, step], axis=1)
    fields = {
        "bits": bits[:, :OBSERVATION_BITS],
        "bits beyond the observation": bits[:, OBSERVATION_BITS:],
        "level": data["level"][:, step],
    }
    if step:
        names = ("reward", "red_action", "red_target", "red_success")
        fields |= {name: data[name][:, step - 1] for name in names}
    if step == data["action"].shape[1]:
        fields["next_random"] = data["next_random"]
    return fields


def _played(batch: Batch, data: dict[str, np.ndarray], step: int) -> dict[str, np.ndarray]:
    """The same of the games played now."""
    state = batch.true_state
    none = np.zeros((len(batch.games), 8 * _OBSERVATION_BYTES - OBSERVATION_BITS), np.uint8)
    fields = {
        "bits": batch.observation,
        "bits beyond the observation": none,
        "level": state.level,
    }
    if step:
        fields |= {
            "reward": batch.results.reward.astype(data["reward"].dtype),
            "red_action": state.red_action,
            "red_target": state.red_target,
            "red_success": state.red_success,
        }
    if step == data["action"].shape[1]:
        fields["next_random"] = batch.next_random()
    return fields
