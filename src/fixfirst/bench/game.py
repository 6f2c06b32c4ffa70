"""The speed and size of the game: what `fixfirst bench game` measures.

Every figure is taken through the public environment, checks of the actions included.
Episodes are staggered, so that each step holds its share of resets, and reset in the same
step, so that every game counts one step a call.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numba
import numpy as np

from fixfirst.bench import machine
from fixfirst.envs.native import NativeVectorEnv
from fixfirst.envs.single import Cage2Env
from fixfirst.game.facts import REDS
from fixfirst.game.state import bytes_per_game
from fixfirst.game.tables import ACTIONS

HORIZON = 100
SIZES = (1, 10, 100, 1_000, 4_096, 10_000, 100_000)
QUICK_SIZES = {"fast": (1, 100, 4_096, 100_000), "cpython": (1, 100, 4_096)}
RNGS = ("fast", "cpython")
BLUES = ("random", "sleep")
PLANS = 16  # different action arrays, drawn before the clock starts


@dataclass(frozen=True)
class Cell:
    """One measurement of the batch."""

    rng: str
    red: str
    blue: str
    games: int
    threads: int


@dataclass(frozen=True)
class Speed:
    """What a cell reached."""

    cell: Cell
    steps: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Steps a second."""
        return self.steps / self.seconds

    def figures(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self.cell), "steps": self.steps, "seconds": self.seconds,
                "steps_per_second": self.per_second}  # fmt: skip


def cells(quick: bool) -> list[Cell]:
    """All that is measured, the most asked-for sizes included in both lengths."""
    threads = sorted({1, min(2, int(numba.config.NUMBA_NUM_THREADS))})
    return [
        Cell(rng, red, blue, games, count)
        for rng in RNGS
        for red in REDS
        for blue in (BLUES[:1] if quick else BLUES)
        for games in (QUICK_SIZES[rng] if quick else SIZES)
        for count in threads
        if not (games == 1 and count > 1)
    ]


def measure(cell: Cell, seconds: float) -> Speed | None:
    """Play for about so many seconds; `None` if the batch does not fit the free memory."""
    needed = cell.games * (bytes_per_game(cell.rng == "cpython", HORIZON) + 200)
    if needed > 0.8 * machine.free_memory():
        return None
    calls, spent = _play(cell, seconds)
    return Speed(cell, calls * cell.games, spent)


def _play(
    cell: Cell, seconds: float, after: Callable[[NativeVectorEnv], Any] = lambda _: None,
    **options: Any,
) -> tuple[int, float]:  # fmt: skip
    """Steps of a batch, and the seconds they took; `after` is done after each of them."""
    env = NativeVectorEnv(
        cell.games, red=cell.red, horizon=HORIZON, rng=cell.rng, seed=0, threads=cell.threads,
        autoreset="same_step", **options,
    )  # fmt: skip
    env.reset()
    env.batch.games.step = np.arange(cell.games) * HORIZON // cell.games
    draw = np.random.default_rng(0)
    shape = (PLANS, cell.games)
    plans = draw.integers(0, ACTIONS, shape) if cell.blue == "random" else np.zeros(shape, np.int64)
    for plan in plans[: 2 if cell.games > 10_000 else PLANS]:
        env.step(plan)
    calls, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or calls < 3:
        env.step(plans[calls % PLANS])
        after(env)
        calls += 1
    return calls, spent


def _read_true_state(env: NativeVectorEnv) -> None:
    state = env.true_state
    for name in ("level", "sessions", "red_action", "red_target", "red_success"):
        getattr(state, name)


# What a user may ask for beyond the plain game.
EXTRAS: dict[str, dict[str, Any]] = {
    "the plain game": {},
    "an order, compliance and alignment reward": {
        "orders": "op_server > enterprise > defender > op_host > user", "alignment_lambda": 30.0,
    },
    "observations with memory, and action masks": {"memory": True},
    "the true state, read after every step": {"after": _read_true_state},
    "fresh arrays (copy=True)": {"copy": True},
}  # fmt: skip


def extras(seconds: float) -> Iterator[tuple[str, float]]:
    """Steps a second with each of the extras, in turns, so that a busy moment hits them all."""
    cell = Cell("fast", "bline", "random", 4_096, 1)
    totals = dict.fromkeys(EXTRAS, (0, 0.0))
    for _ in range(5):
        for name, options in EXTRAS.items():
            calls, spent = _play(cell, seconds / 5, **options)
            totals[name] = totals[name][0] + calls, totals[name][1] + spent
    for name, (calls, spent) in totals.items():
        yield name, calls * cell.games / spent


def single_step() -> dict[str, float]:
    """Microseconds of one step of one game, bare and as `gym.make` wraps it."""
    import gymnasium as gym  # noqa: PLC0415 - has its registry filled by fixfirst

    from fixfirst.envs.registration import ENV_ID  # noqa: PLC0415

    return {
        "Cage2Env": _step_time(Cage2Env(horizon=HORIZON)),
        "gym.make": _step_time(gym.make(ENV_ID, horizon=HORIZON)),
    }


def _step_time(env: Any, steps: int = 20_000) -> float:
    plan = np.random.default_rng(0).integers(0, ACTIONS, steps).tolist()
    env.reset(seed=0)
    env.step(0)
    env.reset(seed=0)
    began = time.perf_counter()
    for action in plan:
        _, _, _, truncated, _ = env.step(action)
        if truncated:
            env.reset()
    return 1e6 * (time.perf_counter() - began) / steps


def memory() -> dict[str, int]:
    """Bytes of one game, by random source and length of the episode."""
    return {
        f"{rng}, up to {size} steps": bytes_per_game(rng == "cpython", size)
        for rng in RNGS
        for size in ((HORIZON,) if rng == "fast" else (1_000, 8_000))
    }


_START = """
import time
began = time.perf_counter()
import fixfirst
imported = time.perf_counter()
env = fixfirst.{make}
env.reset(seed=0)
env.step({action})
print(imported - began, time.perf_counter() - began)
"""
_STARTS = {
    "one game": {"make": "Cage2Env()", "action": "0"},
    "a batch on threads": {"make": "make_vec(4096)", "action": "[0] * 4096"},
    "a batch, cpython draws": {"make": "make_vec(4096, rng='cpython')", "action": "[0] * 4096"},
}


def start_up(quick: bool) -> Iterator[tuple[str, dict[str, float]]]:
    """Seconds from an empty process to the first step: nothing compiled yet, and then again."""
    for name, words in list(_STARTS.items())[: 1 if quick else None]:
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (_start(_START.format(**words), cache) for _ in range(2))
        yield name, {"import": warm[0], "cold": cold[1], "warm": warm[1]}


def _start(program: str, cache: str) -> tuple[float, float]:
    done = subprocess.run(  # noqa: S603 - a program of our own
        [sys.executable, "-c", program],
        env={**os.environ, "FIXFIRST_CACHE_DIR": cache, "FIXFIRST_QUIET": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    imported, stepped = map(float, done.stdout.split())
    return imported, stepped


def cyborg(folder: str, seconds: float) -> dict[str, float]:
    """Steps a second of the real CybORG, blue random, resets included, by red."""
    from fixfirst.envs.cyborg import CyborgGame  # noqa: PLC0415 - only where there is one

    speeds = {}
    for red in REDS:
        game = CyborgGame(folder, red)
        plan = np.random.default_rng(0).integers(0, ACTIONS, HORIZON).tolist()
        game.reset(seed=0)
        steps, began = 0, time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            for action in plan:
                game.step(action)
            game.reset()
            steps += HORIZON
        speeds[red] = steps / spent
    return speeds


def run(
    quick: bool, cyborg_folder: str | None, on_part: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Measure everything; `on_part` is told of each part as it is done."""
    results: dict[str, Any] = {"machine": machine.describe(), "horizon": HORIZON, "quick": quick}
    if cyborg_folder is not None:
        results["cyborg"] = cyborg(cyborg_folder, 3.0 if quick else 10.0)
        on_part("CybORG")
    speeds = []
    skipped = []
    for cell in cells(quick):
        speed = measure(cell, 0.12 if quick else 0.5)
        if speed is None:
            skipped.append(asdict(cell))
        else:
            speeds.append(speed.figures())
        on_part(f"{cell.rng} {cell.red} {cell.games}")
    results["batch"] = speeds
    results["skipped_for_memory"] = skipped
    results["single_step_microseconds"] = single_step()
    on_part("one game")
    results["bytes_per_game"] = memory()
    results["extras"] = dict(extras(0.5 if quick else 2.0))
    on_part("extras")
    results["start_up_seconds"] = {}
    for name, seconds in start_up(quick):
        results["start_up_seconds"][name] = seconds
        on_part(f"start of {name}")
    return results


def parts(quick: bool, with_cyborg: bool) -> int:
    """How many times `run` calls `on_part`."""
    return len(cells(quick)) + 2 + (1 if quick else len(_STARTS)) + with_cyborg
