"""Is the search any good? Every strategy replayed on landscapes whose best order is known, and
checks of the model.
"""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fixfirst.bench import landscapes, machine, search_checks
from fixfirst.bench.landscapes import Landscape
from fixfirst.bench.replay import replay
from fixfirst.judge.statistics import finite
from fixfirst.search.gaussian import Posterior
from fixfirst.search.gp_ucb import GpUcb
from fixfirst.search.history import Strategy
from fixfirst.search.model import fit
from fixfirst.search.run import search as real_search
from fixfirst.search.settings import Settings
from fixfirst.search.strategies import STRATEGIES, make_strategy

QUARTILES = (0.25, 0.5, 0.75)
OURS, BASE = "gp-ucb", "random"
# GP-UCB that knows beforehand which hyperparameters fit the whole landscape: what is left to be
# found then is where the best orders are.
INFORMED = "gp-ucb, informed"
COMPARED = (*STRATEGIES, INFORMED)


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    seeds: int
    shown: int  # whole trainings whose regret is told
    most: int  # whole trainings until an order that is not found counts as not found
    draws: int  # of the checks of the model
    workflows: int  # that a real search tries
    episodes: int  # that it trains in all


FULL = Size(seeds=50, shown=60, most=120, draws=40, workflows=20, episodes=100_000)
QUICK = Size(seeds=4, shown=20, most=40, draws=4, workflows=2, episodes=2_000)
# Episodes a second of the package that searches orders by process pools, on 2 cores.
PACE_BEFORE = 6.5


@dataclass(frozen=True)
class Task:
    """One search to be replayed."""

    landscape: str
    strategy: str
    seed: int
    size: Size


def tasks(size: Size) -> list[Task]:
    """All searches, those of all strategies on the same landscapes with the same seeds."""
    names = [*landscapes.MADE, *(one.name for one in landscapes.measured())]
    return [
        Task(landscape, strategy, seed, size)
        for seed in range(size.seeds)
        for landscape in names
        for strategy in COMPARED
    ]


def parts(quick: bool) -> int:
    """How many pieces of work there are."""
    size = QUICK if quick else FULL
    return len(tasks(size)) + search_checks.parts(size.draws) + 1


def run(
    quick: bool = False, told: Callable[[int], Any] = lambda more: None, workers: int | None = None
) -> dict[str, Any]:
    """Replay all searches and check the model, in as many processes as there are cores."""
    size = QUICK if quick else FULL
    todo = tasks(size)
    workers = len(os.sched_getaffinity(0)) if workers is None else workers
    found = dict(_replayed(todo, workers, told))
    names = list(dict.fromkeys(task.landscape for task in todo))
    return {
        "machine": machine.describe(),
        "seeds": size.seeds,
        "most": size.most,
        "landscapes": {
            name: {
                strategy: summary([found[t] for t in todo
                                   if (t.landscape, t.strategy) == (name, strategy)])
                for strategy in COMPARED
            }
            for name in names
        },
        "tables": {name: landscapes.described(land) for name, land in _tables().items()},
        "model": search_checks.run(size.draws, told),
        "end_to_end": end_to_end(size, told),
    }  # fmt: skip


def _replayed(
    todo: list[Task], workers: int, told: Callable[[int], Any]
) -> Iterable[tuple[Task, tuple[float, np.ndarray]]]:
    """Each task with what came of it, in any order."""
    if workers < 2:
        for task in todo:
            yield task, one(task)
            told(1)
        return
    # Fresh processes: PyTorch's threads do not survive a fork.
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        doing = {pool.submit(one, task): task for task in todo}
        for done in as_completed(doing):
            yield doing[done], done.result()
            told(1)
    finally:
        pool.shutdown(cancel_futures=True)


def one(task: Task) -> tuple[float, np.ndarray]:
    """Replay one search: whole trainings until a good order, and the regret after 1, 2, ..."""
    size, landscape = task.size, _landscape(task.landscape, task.seed)
    strategy = (
        informed(landscape) if task.strategy == INFORMED
        else make_strategy(task.strategy, max_episodes=landscapes.MOST_EPISODES)
    )  # fmt: skip
    done = replay(landscape, strategy, size.most, task.seed, enough=size.shown)
    return done.reached, done.regret_after(np.arange(1, size.shown + 1))


def end_to_end(size: Size, told: Callable[[int], Any]) -> dict[str, Any]:
    """A real search against B_line in 200 games, every trial to its cap, timed as a whole."""
    settings = Settings(
        n_workflows=size.workflows, total_episodes=size.episodes, stop_at_gate=False
    )
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        found = real_search(Path(folder) / "run", settings)
        seconds = time.perf_counter() - began
    told(1)
    history, best = found.record.history, found.best
    return {
        "workflows": len(history.trials),
        "passed": len(history.passed),
        "episodes": history.episodes,
        "seconds": seconds,
        "seconds_before": history.episodes / PACE_BEFORE,
        "best": None if best is None else
        {"order": str(best.order), "reward": best.mean, "interval": best.interval,
         "chance": best.chance},
    }  # fmt: skip


def informed(landscape: Landscape) -> Strategy:
    """GP-UCB with the hyperparameters of the whole landscape."""
    passed = landscape.passed
    ranks = landscapes.ranks_by_index(landscape)[passed]
    known = fit(ranks, landscape.reward[passed], landscape.unsure[passed]).given
    known = replace(known, variation=landscape.variation)

    def fitted(ranks: np.ndarray, rewards: np.ndarray, errors: np.ndarray) -> Posterior:
        return Posterior(known, ranks, rewards, errors**2 + known.variation**2)

    return GpUcb(name=INFORMED, fitted=fitted)


@cache
def _tables() -> dict[str, Landscape]:
    return {one.name: one for one in landscapes.measured()}


def _landscape(name: str, seed: int) -> Landscape:
    if name in landscapes.MADE:
        return landscapes.MADE[name](np.random.default_rng([seed, 0]))
    return _tables()[name]


def summary(found: list[tuple[float, np.ndarray]]) -> dict[str, Any]:
    """Quartiles over the seeds. What is infinite, as JSON cannot say it, is None."""
    reached = np.array([one[0] for one in found])
    regret = np.array([one[1] for one in found])
    return {
        "reached": _quartiles(reached),
        "regret": [_quartiles(column) for column in regret.T],
        "mean_regret": [finite(float(column.mean())) for column in regret.T],
    }


def _quartiles(values: np.ndarray) -> list[float | None]:
    """Quartiles that are values which occurred, so that infinite ones do no harm."""
    there = np.quantile(values, QUARTILES, method="inverted_cdf")
    return [finite(float(value)) for value in there]


def ratio(strategies: dict[str, Any]) -> float | None:
    """The median of trainings until a good order: GP-UCB's as a share of random search's."""
    ours, base = (strategies[name]["reached"][1] for name in (OURS, BASE))
    return None if ours is None or base is None else float(ours / base)
