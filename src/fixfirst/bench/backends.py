"""The backends against each other and against rivals: what `fixfirst bench backends` measures.

A bout is a few entries that play in turns. Each bout is written as soon as it is over, and one
that is there is not held again.
"""

import csv
import hashlib
import importlib.util
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fixfirst.bench import contest, machine
from fixfirst.bench.contest import SPEED, Bout, ContestantError, Entry
from fixfirst.envs.contract import TrueStates
from fixfirst.envs.shared import cores
from fixfirst.files import write_whole

SIZES = (1, 20, 50, 100, 200)
BIG = 1_000  # for those that need no process an env
EVERY = 10  # the number of steps in "true states every k steps"
MODES: tuple[TrueStates, ...] = ("never", "episode", EVERY, "step")
MODES_AT = (20, 200)  # envs with which every backend is measured in every mode
PROCESS_AN_ENV = ("pipe", "queue")
# Asleep, so that many workers can share a core; as uneven as `Awkward` calls very uneven.
UNEVEN = {"mean": 0.005, "tail": 1.0}
UNEVEN_ENVS = 64
# Envs that sleep and envs that compute, all steps alike or not: seconds of a step on average.
ASLEEP, BURNING, TAILS = (0.0002, 0.001, 0.005), (0.0002, 0.002), (0.0, 1.0)
BURNING_ENVS = 20
BARE = 2
# The best that a rival's wrappers reached with true states before and after each step, in
# transitions a second on 2 cores, 100 envs: pipes, the like-for-like figure.
BEST_RIVAL = 329.0
MEASURED = ("game/*.py", "envs/*.py", "bench/contest*.py", "bench/paced.py")  # in the package
COLUMNS = (
    "title", "env", "backend", "envs", "true_states", "workers", SPEED, "episodes_per_second",
    "creation_seconds", "memory_bytes",
)  # fmt: skip


# --- what is measured


def bouts(quick: bool, cyborg: str | None) -> list[Bout]:
    """All bouts, the built-in game first."""
    rounds, seconds = (2, 0.3) if quick else (3, 1.0)
    held = [_native(n, rounds, seconds) for n in ((100,) if quick else (*SIZES, BIG))]
    held += _python_envs((20,) if quick else SIZES, rounds, seconds, quick)
    workers = 16 if quick else UNEVEN_ENVS
    held.append(
        Bout(
            f"uneven, {UNEVEN_ENVS} envs, {workers} workers",
            tuple(
                Entry("synthetic", one, UNEVEN_ENVS, workers=workers, options=UNEVEN)
                for one in ("shared", "async")
            ),
            rounds, seconds,
        )
    )  # fmt: skip
    if not quick:
        held += _step_times(rounds, seconds / 2)
    if cyborg is not None:
        held += _cyborg(cyborg, (20,) if quick else SIZES, rounds, 2.0 * seconds, quick)
    return held


def _native(n: int, rounds: int, seconds: float) -> Bout:
    entries = [Entry("game", "native", n, mode) for mode in MODES]
    entries.append(Entry("game", "native", n, "step", options={"look": "level"}))
    # Thousands of short rounds' worth of steps: more rounds, for a ratio near one.
    return Bout(f"native, {n} games", tuple(entries), max(5, rounds), seconds / 2)


def _there(*backends: str) -> list[str]:
    """Those of the backends whose libraries are installed."""
    needs = {"sb3": "stable_baselines3", "ray": "ray"}
    return [one for one in backends if importlib.util.find_spec(needs.get(one, "fixfirst"))]


def _python_envs(sizes: Sequence[int], rounds: int, seconds: float, quick: bool) -> list[Bout]:
    """The same Python env, which costs next to nothing, so that what is seen is the backend."""
    held = []
    ours = (
        ("serial", "pipe") if quick else _there("serial", *PROCESS_AN_ENV, "shared", "async", "ray")
    )
    for n in (*sizes, BIG):
        if n <= sizes[-1]:
            rivals = tuple(Entry("game", b, n) for b in _there("shared", "gymnasium", "sb3"))
            held.append(Bout(f"rivals, {n} envs", rivals, rounds, seconds))
        for backend in ours:
            if n > sizes[-1] and (quick or backend in PROCESS_AN_ENV):
                continue
            modes = MODES if n in MODES_AT else MODES[:1]
            entries = tuple(Entry("game", backend, n, mode) for mode in modes)
            held.append(Bout(f"{backend}, {n} envs", entries, rounds, seconds / 2))
    n = sizes[-1]
    explained = tuple(
        Entry("game", b, n, mode, explain=True)
        for b in ("serial", "shared") for mode in ("never", "step")
    )  # fmt: skip
    return [*held, Bout(f"where time goes, {n} envs", explained, rounds, seconds)]


def _step_times(rounds: int, seconds: float) -> list[Bout]:
    """Synthetic envs whose steps take more or less time, all alike or very uneven: asleep, with
    a worker for each; and computing, with a worker for each core.
    """
    held = []
    for tail in TAILS:
        kind = "uneven" if tail else "even"
        for mean in ASLEEP:
            options = {"mean": mean, "tail": tail, "dtype": "float32"}
            ours = [
                Entry("synthetic", b, UNEVEN_ENVS, workers=w, options=options)
                for b, w in (("shared", UNEVEN_ENVS), ("async", UNEVEN_ENVS), ("pipe", None))
            ]
            rivals = [
                Entry("synthetic", b, UNEVEN_ENVS, options=options)
                for b in _there("gymnasium", "sb3")
            ]
            title = f"asleep {1000 * mean:g} ms, {kind}, {UNEVEN_ENVS} envs"
            held.append(Bout(title, (*ours, *rivals), rounds, seconds))
        for mean in BURNING:
            options = {"mean": mean, "tail": tail, "burn": True, "dtype": "float32"}
            entries = tuple(
                Entry("synthetic", b, BURNING_ENVS, options=options)
                for b in _there("shared", "async", "serial", "ray", "gymnasium", "sb3")
            )
            title = f"computing {1000 * mean:g} ms, {kind}, {BURNING_ENVS} envs"
            held.append(Bout(title, entries, rounds, seconds))
    return held


def _cyborg(
    folder: str, sizes: Sequence[int], rounds: int, seconds: float, quick: bool
) -> list[Bout]:
    options = {"folder": folder}

    def entry(backend: str, n: int, mode: TrueStates = "never", **more: Any) -> Entry:
        return Entry("cyborg", backend, n, mode, options=options, **more)

    held = []
    for n in sizes:
        entries = [entry("bare", BARE)] + [entry("shared", n, mode) for mode in MODES]
        if n > BARE:  # the same envs in each process as `shared` has
            entries.append(entry("bare", n))
        held.append(Bout(f"CybORG, shared, {n} envs", tuple(entries), rounds, seconds))
        if quick:
            continue
        others = _there("serial", "async", "ray")
        if n <= 20:  # a process an env: each has to load CybORG
            others += PROCESS_AN_ENV
        modes = MODES if n in MODES_AT[:1] else ("never", "step")
        held += [
            Bout(f"CybORG, {b}, {n} envs", tuple(entry(b, n, mode) for mode in modes), rounds,
                 seconds / 2)
            for b in others
        ]  # fmt: skip
        if n <= 100:  # a process an env: memory for no more
            held += [
                Bout(f"CybORG, {b}, {n} envs",
                     (entry("shared", n), entry(b, n), entry(b, n, "step")), rounds, seconds)
                for b in _there("gymnasium", "sb3")
            ]  # fmt: skip
    if not quick:
        explained = tuple(entry("shared", 100, mode, explain=True) for mode in ("never", "step"))
        held.append(Bout("CybORG, where time goes", explained, rounds, seconds))
    return held


# --- measuring


def run(
    out: Path, wanted: Sequence[Bout], on_bout: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Hold the bouts that are not there yet; everything as plain data."""
    cells = out / "bouts"
    cells.mkdir(parents=True, exist_ok=True)
    here = machine.describe() | {"code": _code()}
    held = []
    for bout in wanted:
        held.append(_held_before(cells, bout, here) or _hold(cells, bout, here))
        on_bout(bout.title)
    figures = {"machine": here, "usable_cores": cores(), "bouts": held, "bars": bars(held)}
    write_whole(out / "backends.json", (json.dumps(figures, indent=2) + "\n").encode())
    write_whole(out / "backends.csv", _csv(held).encode())
    return figures


def _code() -> str:
    """Name everything that was measured: what another version measured is measured again."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
    for pattern in MEASURED:
        for file in sorted(package.glob(pattern)):
            digest.update(f"{file.relative_to(package)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _hold(cells: Path, bout: Bout, here: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"bout": bout.as_dict(), "machine": here}
    try:
        found["results"] = contest.hold(bout)
    except ContestantError as problem:
        return found | {"results": [], "failed": str(problem)}  # held again the next time
    write_whole(_place(cells, bout), json.dumps(found, indent=2).encode())
    return found


def _held_before(cells: Path, bout: Bout, here: dict[str, Any]) -> dict[str, Any] | None:
    """The results of the very same bout on the very same machine and versions."""
    try:
        found = json.loads(_place(cells, bout).read_text())
    except (OSError, ValueError):
        return None
    same = found.get("bout") == bout.as_dict() and found.get("machine") == here
    return found if same else None


def _place(cells: Path, bout: Bout) -> Path:
    return cells / ("".join(c if c.isalnum() else "-" for c in bout.title.lower()) + ".json")


def rows(held: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every entry of every bout, with the bout's title."""
    return [{"title": one["bout"]["title"], **row} for one in held for row in one["results"]]


def _csv(held: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(held))
    return text.getvalue()


# --- the bars


def bars(held: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was to be reached, and what was; those that were not measured are left out."""
    found: list[dict[str, Any]] = []

    def bar(what: str, target: float, figures: Sequence[tuple[float, str]]) -> None:
        if figures:
            worst, where = min(figures)
            found.append(
                {"what": what, "target": target, "figure": worst, "where": where,
                 "met": worst >= target}
            )  # fmt: skip

    of = {one["bout"]["title"]: one["results"] for one in held if one["results"]}
    bar_entries = of.get("CybORG, shared, 100 envs")
    if bar_entries:
        bare, never, episode, _, step, *_ = bar_entries
        where = "100 envs"
        bar(
            "CybORG, states every step: shared / 329 per s",
            1.5,
            [(step[SPEED] / BEST_RIVAL, where)],
        )
        bar("CybORG, states at episode ends: shared / 329 per s", 3.0,
            [(episode[SPEED] / BEST_RIVAL, where)])  # fmt: skip
        bar(
            "CybORG, no states: shared / two bare processes",
            0.9,
            [(contest.ratio(never, bare), where)],
        )
    bar("uneven 5 ms env, 64 envs: async / shared", 2.0,
        [(contest.ratio(r[1], r[0]), t) for t, r in of.items() if t.startswith("uneven")])  # fmt: skip
    for rival, name in (("gymnasium", "AsyncVectorEnv"), ("sb3", "SubprocVecEnv")):
        pairs = [
            (contest.ratio(r[0], row), title)
            for title, r in of.items()
            for row in r[1:]
            if r[0]["backend"] == "shared" and row["backend"] == rival
            and row["true_states"] == "never"
        ]  # fmt: skip
        bar(f"the same Python env: shared / {name}, at any size", 1.0, pairs)
    natives = [(contest.ratio(r[3], r[0]), t) for t, r in of.items() if t.startswith("native")]
    bar("native: states every step / without", 0.95, natives)
    return found
