"""What warm starts do to the fairness of a search: the same orders, begun with other weights.

Orders are tried one after another, the same ones in the same turn for each kind of warm start,
each with the same number of episodes. From scratch all have had equal training. With a warm start
a later order inherits the training of earlier ones, which is an advantage that has nothing to do
with the order: it shows as rewards that grow with the turn, beside those from scratch.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fixfirst.bench import landscapes, machine
from fixfirst.judge.report import Sheet, figure
from fixfirst.search.found import Found
from fixfirst.search.history import PASSED, History, Trial
from fixfirst.search.loop import Spectator
from fixfirst.search.run import search
from fixfirst.search.settings import ALL, NEAREST, SCRATCH, Settings

STARTS = (SCRATCH, NEAREST, ALL)
TABLES = {"bline": "B_line", "meander": "Meander"}  # of exhaustive trainings, by red


def settings_of(red: str, orders: int, episodes: int, start: str) -> Settings:
    """A search that tries so many orders, drawn at random, with so many episodes each."""
    # The policy for all orders is paid for, too: it has as much as all orders together.
    stage = orders * episodes if start == ALL else 0
    return Settings(
        red_agent=red, strategy="random", warm_start=start, stop_at_gate=False,
        n_workflows=orders, max_episodes=episodes, total_episodes=orders * episodes + stage,
        stage_episodes=stage or None,
        evaluation_episodes=4_000,
    )  # fmt: skip


def run(
    out: Path, red: str, orders: int, episodes: int, told: Callable[[int], Any] = lambda more: None
) -> dict[str, Any]:
    """One search for each kind of warm start, in folders below `out`; what is there goes on."""
    rewards, passed, names = {}, {}, []
    for start in STARTS:
        found = _searched(out / start, settings_of(red, orders, episodes, start), told)
        trials = found.trials
        names = [str(trial.order) for trial in trials]
        rewards[start] = np.array([trial.reward for trial in trials], dtype=float)
        passed[start] = sum(trial.state == PASSED for trial in trials)
    truth = _truth(red, names)
    return {
        "machine": machine.describe(),
        "red": red, "orders": names, "episodes": episodes,
        "starts": {
            start: {
                "reward": rewards[start].tolist(),
                "passed": passed[start],
                **_fairness(rewards[start], rewards[SCRATCH], truth),
            }
            for start in STARTS
        },
    }  # fmt: skip


def _searched(run: Path, settings: Settings, told: Callable[[int], Any]) -> Found:
    watching = _Counting(told)
    if (run / "config.json").exists():
        found = search(run, resume=True, spectator=watching)
    else:
        found = search(run, settings, spectator=watching)
    if found.record.state != "finished":
        raise KeyboardInterrupt
    told(len(found.trials) - watching.count)  # those of an earlier attempt
    return found


class _Counting(Spectator):
    def __init__(self, told: Callable[[int], Any]) -> None:
        self._told, self.count = told, 0

    def ended(self, trial: Trial, history: History) -> None:
        """One more."""
        self.count += 1
        self._told(1)


def _truth(red: str, names: list[str]) -> np.ndarray | None:
    """What long trainings of these orders gave, where a table tells."""
    for land in landscapes.measured():
        if land.name == TABLES.get(red):
            by_order = dict(zip(map(str, landscapes.orders_of(land)), land.reward, strict=True))
            return np.array([by_order[name] for name in names])
    return None


def _fairness(reward: np.ndarray, scratch: np.ndarray, truth: np.ndarray | None) -> dict[str, Any]:
    """How much better than from scratch, early and late, and whether the ranks stay right."""
    gain = reward - scratch
    third = max(1, len(gain) // 3)
    return {
        "gain": float(np.median(gain)),
        "early_gain": float(np.median(gain[:third])),
        "late_gain": float(np.median(gain[-third:])),
        "turn_correlation": _spearman(np.arange(len(reward)), reward),
        "truth_correlation": None if truth is None else _spearman(truth, reward),
    }


def _spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of the ranks; mean rewards of thousands of games have no ties."""
    return float(np.corrcoef(one.argsort().argsort(), other.argsort().argsort())[0, 1])


def sheets(figures: dict[str, Any]) -> list[Sheet]:
    """The table."""
    count = len(figures["orders"])

    def row(start: str, one: dict[str, Any]) -> tuple[str, ...]:
        truth = one["truth_correlation"]
        return (
            start, figure(float(np.median(one["reward"]))), f"{one['passed']} of {count}",
            figure(one["gain"]), figure(one["early_gain"]), figure(one["late_gain"]),
            f"{one['turn_correlation']:+.2f}", "-" if truth is None else f"{truth:+.2f}",
        )  # fmt: skip

    return [
        Sheet(
            f"Warm starts against {figures['red']}: {count} orders, {figures['episodes']:,} "
            "episodes each",
            ("begun with", "median reward", "passed", "gain", "first third", "last third",
             "with turn", "with truth"),
            [row(start, one) for start, one in figures["starts"].items()],
            ("Gain: median of the reward beside that from scratch for the same order; in the first "
             "and the last third of the search. With turn, with truth: Spearman correlation of the "
             "reward with its turn, and with the reward of long training from scratch.",),
        )
    ]  # fmt: skip
