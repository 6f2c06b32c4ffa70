"""What searches are judged on: what a training of every order would give, known beforehand.

A landscape is a table with a row for each order. Some are measured, by training every order;
the others are made, each seed another one of its kind, with a best order that is known.
"""

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from fixfirst.search.gaussian import mallows
from fixfirst.workflow.groups import DEFAULT_GROUPS, Groups
from fixfirst.workflow.orders import Workflow, ranks_of
from fixfirst.workflow.permutations import all_ranks

HEADER = (
    "order", "reward", "standard_error", "compliance", "fixes", "passed", "episodes", "seconds",
)  # fmt: skip
# Trainings that come with this package: files named by red, one for each seed. The first is of
# every order, the others may be of some.
MEASURED = {"B_line": "bline", "Meander": "meander"}


@dataclass(frozen=True)
class Landscape:
    """What trainings give, order by order; all arrays are [orders], by index."""

    name: str
    groups: Groups
    reward: np.ndarray  # the true mean reward
    unsure: np.ndarray  # the standard error with which that is known: 0 where it is made
    error: np.ndarray  # the standard error with which one training is judged
    variation: float  # the standard deviation from one training of an order to another
    passed: np.ndarray  # whether a training reaches the gate
    episodes: np.ndarray  # that a whole training takes: to the gate, or all it may

    @property
    def best(self) -> int:
        """The order that a search should find."""
        return int(np.argmax(np.where(self.passed, self.reward, -np.inf)))

    @property
    def good(self) -> np.ndarray:
        """Whether an order is within one standard error of the best: of what is known of it, or
        where all is known, of a judgement.
        """
        best = self.best
        within = max(self.unsure[best], self.error[best])
        return np.asarray(self.passed & (self.reward >= self.reward[best] - within))


# --- measured ----------------------------------------------------------------------------


def measured() -> list[Landscape]:
    """The landscapes of the tables that come with this package."""
    found = []
    for name, red in MEASURED.items():
        tables = [read(file, name, whole=not n) for n, file in enumerate(tables_of(red))]
        if tables:
            found.append(combined(tables))
    return found


def tables_of(red: str) -> list[Traversable]:
    """The files of trainings against this red, by seed."""
    folder = resources.files("fixfirst.bench") / "data"
    there = (file for file in folder.iterdir() if file.name.startswith(f"exhaustive-{red}-"))
    return sorted(there, key=lambda file: file.name)


def combined(tables: Sequence[Landscape]) -> Landscape:
    """Several trainings of each order as one landscape.

    What two trainings of an order differ by, beyond what their judgements are off by, is the
    luck of training. It is taken to be the same for all orders. From one training of each it
    cannot be told.
    """
    rewards, errors, passed, episodes = (
        np.stack([getattr(one, of) for one in tables])
        for of in ("reward", "error", "passed", "episodes")
    )  # [tables, orders]; NaN where a table does not have the order
    count = np.isfinite(rewards).sum(axis=0)
    again = count > 1
    square = np.nanmean(errors**2, axis=0)
    luck = 0.0
    if again.any():
        spread = np.nanvar(rewards[:, again], axis=0, ddof=1)
        luck = max(0.0, float((spread - square[again]).mean()))
    return replace(
        tables[0],
        reward=np.nanmean(rewards, axis=0),
        unsure=np.sqrt((luck + square) / count),
        error=np.sqrt(square),
        variation=math.sqrt(luck),
        passed=np.nanmean(passed, axis=0) > 0.5,
        episodes=np.nanmean(episodes, axis=0),
    )


def described(landscape: Landscape) -> dict[str, Any]:
    """What there is to find, and how much there is to go by."""
    passed = landscape.passed
    spread = float(landscape.reward[passed].std())
    unsure = float(np.sqrt((landscape.unsure[passed] ** 2).mean()))
    return {
        "passed": int(passed.sum()),
        "good": int(landscape.good.sum()),
        "spread": spread,
        "spread_of_orders": math.sqrt(max(0.0, spread**2 - unsure**2)),
        "luck": landscape.variation,
        "standard_error": unsure,
        "neighbours": _neighbours(landscape),
    }


def _neighbours(landscape: Landscape) -> float:
    """How the rewards of orders correlate that one exchange makes each other."""
    pairs = [
        (landscape.reward[order.index], landscape.reward[other.index])
        for order in orders_of(landscape)
        for other in order.neighbours("adjacent")
        if landscape.passed[order.index] and landscape.passed[other.index]
    ]
    return float(np.corrcoef(np.array(pairs).T)[0, 1])


def read(
    file: Path | Traversable, name: str, groups: Groups = DEFAULT_GROUPS, whole: bool = True
) -> Landscape:
    """The landscape of a table with the columns of `HEADER` and a row for each order, or, if it
    need not be whole, for some: what it does not have is NaN.
    """
    rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    if not rows or tuple(rows[0]) != HEADER:
        there = ", ".join(rows[0]) if rows else "no rows"
        raise ValueError(f"table {file} has {there}; its columns are {', '.join(HEADER)}")
    by_index = {Workflow(row["order"], groups).index: row for row in rows}
    every = len(list(Workflow.every(groups)))
    if len(rows) != len(by_index) or (whole and len(rows) != every):
        raise ValueError(
            f"table {file} has {len(rows)} rows for {len(by_index)} orders; "
            f"it needs one for each of the {every} orders of {', '.join(groups.names)}"
        )

    def column(key: str, value: Callable[[str], float] = float) -> np.ndarray:
        found = np.full(every, np.nan)
        try:
            for index, row in by_index.items():
                found[index] = value(row[key])
        except ValueError as problem:
            raise ValueError(f"table {file}, column {key}: {problem}") from None
        return found

    error = column("standard_error")
    return Landscape(
        name, groups, column("reward"), error, error, 0.0,
        column("passed", _truth) > 0 if whole else column("passed", _truth),
        column("episodes"),
    )  # fmt: skip


def _truth(text: str) -> float:
    known = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}
    if text.lower() not in known:
        raise ValueError(f"{text!r} is not true or false")
    return known[text.lower()]


# --- made --------------------------------------------------------------------------------

# What all made landscapes share, in units of the reward: orders spread by 10 around -40, an
# evaluation is off by 0.5 and a training by 1.
MIDDLE, SPREAD, ERROR, VARIATION = -40.0, 10.0, 0.5, 1.0
EPISODES = (1_000, 6_000)  # that trainings take to reach the gate
MOST_EPISODES = 10_000  # where they never do
SMOOTH, RUGGED = 1.0, 0.1  # lengths of the Mallows kernel; neighbours correlate 0.90 and 0.37
NEEDLE = 5.0  # by how many spreads the best order stands out


def smooth(random: np.random.Generator) -> Landscape:
    """Neighbours are much alike: drawn from a Gaussian process with the Mallows kernel."""
    return _made("smooth", _drawn(random, SMOOTH), random)


def rugged(random: np.random.Generator) -> Landscape:
    """Neighbours have little to do with each other: a very short Mallows kernel."""
    return _made("rugged", _drawn(random, RUGGED), random)


def needle(random: np.random.Generator) -> Landscape:
    """All orders are the same but one: nothing that is measured says where it is."""
    values = np.zeros(len(all_ranks(len(DEFAULT_GROUPS))))
    values[random.integers(len(values))] = NEEDLE
    return _made("needle", values, random)


def gated(random: np.random.Generator) -> Landscape:
    """Smooth, and where another smooth landscape is low the gate is never reached: a third."""
    passes = _drawn(random, SMOOTH)
    return _made("gated", _drawn(random, SMOOTH), random, passes >= np.quantile(passes, 1 / 3))


MADE: dict[str, Callable[[np.random.Generator], Landscape]] = {
    "smooth": smooth, "rugged": rugged, "needle": needle, "gated": gated,
}  # fmt: skip


def _drawn(random: np.random.Generator, length: float) -> np.ndarray:
    ranks = all_ranks(len(DEFAULT_GROUPS))
    values, vectors = np.linalg.eigh(mallows(ranks, ranks, length))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(root @ random.standard_normal(len(ranks)))


def _made(
    name: str, values: np.ndarray, random: np.random.Generator, passed: np.ndarray | None = None
) -> Landscape:
    passed = np.ones(len(values), dtype=bool) if passed is None else passed
    episodes = random.integers(*EPISODES, size=len(values))
    return Landscape(
        name, DEFAULT_GROUPS, MIDDLE + SPREAD * values, np.zeros(len(values)),
        np.full(len(values), ERROR), VARIATION, passed, np.where(passed, episodes, MOST_EPISODES).astype(float),
    )  # fmt: skip


def orders_of(landscape: Landscape) -> list[Workflow]:
    """Its orders by index."""
    return list(Workflow.every(landscape.groups))


def ranks_by_index(landscape: Landscape) -> np.ndarray:
    """The ranks of its orders by index."""
    return ranks_of(orders_of(landscape))
