"""The protocols of CAGE Challenge 2: nine cells, and the total of their means."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.envs.where import BUILT_IN
from fixfirst.game.facts import REDS
from fixfirst.judge import statistics
from fixfirst.judge.blues import find_blue
from fixfirst.judge.evaluate import evaluate
from fixfirst.judge.play import Played, checked_episodes, episode, name_of

HORIZONS = (30, 50, 100)
CELLS = tuple((horizon, red) for horizon in HORIZONS for red in REDS)  # in CybORG's order
EPISODES = 1000
OFFICIAL_SEED = 153


@dataclass(frozen=True)
class Scored:
    """The nine cells of a protocol."""

    protocol: str  # "leaderboard" or "official"
    on: str
    cells: Sequence[Played]  # in the order of `CELLS`

    @property
    def total(self) -> float:
        """The sum of the nine means."""
        return sum(cell.mean for cell in self.cells)

    @property
    def half_width(self) -> float:
        """Half the width of the total's 95 % interval; the cells are independent.

        The degrees of freedom are Welch's and Satterthwaite's.
        """
        squares = [cell.standard_error**2 for cell in self.cells]
        spread, degrees = sum(squares), self.cells[0].episodes - 1
        if not 0 < spread < math.inf:
            return math.sqrt(spread)
        effective = spread**2 / sum(square**2 / degrees for square in squares)
        return statistics.student_95(int(effective)) * math.sqrt(spread)

    @property
    def seeds(self) -> str:
        """The seeds of all cells, in words."""
        first, last = self.cells[0], self.cells[-1]
        if first.one_stream:
            return f"one stream from seed {first.seed}"
        return f"seeds {first.seed} to {last.seed + last.episodes - 1}"

    def summary(self) -> dict[str, Any]:
        """All but the single episodes, as JSON can hold it."""
        finite = statistics.finite
        return {
            "protocol": self.protocol,
            "on": self.on,
            "policy": self.cells[0].policy,
            "sees": self.cells[0].sees,
            "rules": self.cells[0].rules,
            "seeds": self.seeds,
            "total": self.total,
            "total_low_95": finite(self.total - self.half_width),
            "total_high_95": finite(self.total + self.half_width),
            "cells": [cell.summary() for cell in self.cells],
        }


def steps_of(episodes: int) -> int:
    """How many steps a protocol takes."""
    return episodes * sum(horizon for horizon, _ in CELLS)


def leaderboard(
    policy: Any,
    *,
    rules: str | None = None,
    episodes: int = EPISODES,
    seed: int | None = 0,
    rng: str | None = None,
    on: str = BUILT_IN,
    on_step: Callable[[int], object] | None = None,
) -> Scored:
    """Play the nine cells, each with seeds of its own, so that they are independent."""
    count, first = checked_episodes(episodes, seed)
    cells = [
        evaluate(
            policy, red, rules=rules, horizon=horizon, episodes=count, seed=first + k * count,
            rng=rng, on=on, on_step=on_step,
        ).played
        for k, (horizon, red) in enumerate(CELLS)
    ]  # fmt: skip
    return Scored("leaderboard", on, cells)


def official(
    policy: Any,
    *,
    rules: str = "latest",
    episodes: int = EPISODES,
    seed: int = OFFICIAL_SEED,
    on_step: Callable[[int], object] | None = None,
) -> Scored:
    """Play what CybORG's own `Evaluation/evaluation.py` plays after one `random.seed(seed)`.

    The script gives no seed itself; the challenge gave 153 before it. All nine cells draw from
    the one stream, in the script's order. For each cell it makes a CybORG and wraps it, either
    of which draws what a reset draws, and it resets once more when the last episode is over.
    """
    count, first = checked_episodes(episodes, seed)
    player = find_blue(policy, first)
    name = name_of(policy)
    cells = []
    generator = None
    for horizon, red in CELLS:
        batch = Batch(options.checked(1, red, rules, horizon, "cpython", 1, "disabled"), first)
        if generator is not None:
            batch.set_generator_state(generator)
        batch.reset()  # made
        batch.reset()  # wrapped
        returns = np.zeros(count)
        for number in range(count):
            for _ in episode(player, batch, name):
                pass
            if on_step is not None:
                on_step(horizon)
            returns[number] = batch.true_state.episode_return[0]
        batch.reset()  # after the last episode, too
        generator = batch.generator_state()
        cells.append(
            Played(name, player.sees, red, rules, horizon, "cpython", first, returns, True)
        )
    return Scored("official", BUILT_IN, cells)
