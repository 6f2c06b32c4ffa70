"""Contestants that play in turns, each in a process of its own: see `contestant`."""

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from fixfirst.envs.contract import TrueStates

SPEED = "transitions_per_second"


def when(true_states: TrueStates) -> str:
    """When true states are read, in words for tables."""
    return true_states if isinstance(true_states, str) else f"every {true_states} steps"


@dataclass(frozen=True)
class Entry:
    """What is measured: a backend with so many envs."""

    env: str  # "game", "synthetic" or "cyborg"
    backend: str  # one of ours, "gymnasium", "sb3" or "bare"
    envs: int
    true_states: TrueStates = "never"
    workers: int | None = None
    start_method: str = "fork"  # of rivals: their fastest to begin
    explain: bool = False  # say where the time goes, at the cost of a clock in each env
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Bout:
    """Entries that are compared with each other, so they play in turns."""

    title: str
    entries: tuple[Entry, ...]
    rounds: int
    seconds: float  # of each entry in each round

    def as_dict(self) -> dict[str, Any]:
        """As plain data: what was measured, and how."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


class ContestantError(RuntimeError):
    """A contestant could not play."""


class Contestant:
    """The process of an entry."""

    def __init__(self, entry: Entry, warm_up: float) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fixfirst.bench.contestant"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            start_new_session=True,  # Ctrl-C is for us, and we end it
        )  # fmt: skip
        try:
            self._say(json.dumps(asdict(entry) | {"warm_up": warm_up}))
            self.created = float(self._answer()["created"])
        except BaseException:
            self.end()
            raise

    def play(self, seconds: float) -> dict[str, Any]:
        """What it did in so many seconds."""
        return self._ask(f"play {seconds}")

    def memory(self) -> int:
        """Bytes that it and its workers hold."""
        return int(self._ask("memory")["bytes"])

    def end(self) -> None:
        """Have it close its envs; kill it if it does not."""
        with contextlib.suppress(OSError):
            self._say("end")
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for file in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                assert file is not None
                file.close()

    def _ask(self, command: str) -> dict[str, Any]:
        self._say(command)
        return self._answer()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            lines = self._errors.read().strip().splitlines()
            raise ContestantError(lines[-1] if lines else "its process ended")
        return json.loads(line)  # type: ignore[no-any-return]


@contextlib.contextmanager
def _all(entries: Sequence[Entry], warm_up: float) -> Iterator[list[Contestant]]:
    there: list[Contestant] = []
    try:
        for entry in entries:
            there.append(Contestant(entry, warm_up))
        yield there
    finally:
        for one in there:
            one.end()


def hold(bout: Bout) -> list[dict[str, Any]]:
    """What each entry of a bout reached: medians of the rounds, and the rounds themselves."""
    with _all(bout.entries, min(0.5, bout.seconds)) as there:
        memory = [one.memory() for one in there]
        rounds = [[one.play(bout.seconds) for one in there] for _ in range(bout.rounds)]
        return [
            _summary(entry, one.created, held, [row[k] for row in rounds])
            for k, (entry, one, held) in enumerate(zip(bout.entries, there, memory, strict=True))
        ]


def _summary(
    entry: Entry, created: float, memory: int, played: list[dict[str, Any]]
) -> dict[str, Any]:
    speeds = [one["transitions"] / one["seconds"] for one in played]
    found: dict[str, Any] = {
        **asdict(entry),
        SPEED: statistics.median(speeds),
        "rounds": speeds,
        "episodes_per_second": statistics.median(o["episodes"] / o["seconds"] for o in played),
        "creation_seconds": created,
        "memory_bytes": memory,
    }
    if "shares" in played[0]:
        found["shares"] = {
            name: statistics.median(one["shares"][name] for one in played)
            for name in played[0]["shares"]
        }
    return found


def ratio(one: dict[str, Any], other: dict[str, Any]) -> float:
    """How many times as fast one entry was as another of its bout: the median of the rounds."""
    pairs = zip(one["rounds"], other["rounds"], strict=True)
    return float(statistics.median(a / b for a, b in pairs))
