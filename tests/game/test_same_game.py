"""The fast source plays the same game as the exact one.

Two games are called the same here if every statistic agrees to within a stated bound, and
is *shown* to: the whole 99.9% interval of the difference must lie inside the bound. A test
that merely found no difference would pass with too few games; this one fails with too few.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.game import facts, tables
from fixfirst.game.compile import INTERPRETED

GAMES, HORIZON = 40_000, 40
Z = 3.29  # 99.9%, two-sided
RETURN_BOUND = 0.02  # of the mean return, plus
RETURN_SLACK = 0.1  # reward points
RATE_BOUND = 0.025  # for everything that is a share of the games

pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted, this many games take an hour")


class Statistics(NamedTuple):
    """Means over games, and their standard errors."""

    returns: np.ndarray  # [2]: mean, standard error
    rates: dict[str, np.ndarray]


def random_blue(bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, tables.ACTIONS, len(bits))


def sleeping_blue(bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.zeros(len(bits), dtype=np.int64)


def acting_where_alarmed(kind: int) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """Does one kind of thing to the first host that looks exploited or compromised."""

    def act(bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        alarmed = bits.reshape(len(bits), tables.HOSTS, 4)[:, :, 1:].any(axis=2)
        alarmed[:, tables.ENTRY] = False
        target = alarmed.argmax(axis=1)
        return np.where(alarmed.any(axis=1), 2 + 13 * (kind - 2) + target, 0)

    return act


def decoy_blue(bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    decoy = rng.integers(tables.FIRST_DECOY, tables.RESTORE, len(bits))
    return 2 + 13 * (decoy - 2) + rng.integers(0, tables.HOSTS, len(bits))


BLUES = {
    "sleep": sleeping_blue,
    "random": random_blue,
    "remove where alarmed": acting_where_alarmed(tables.REMOVE),
    "restore where alarmed": acting_where_alarmed(tables.RESTORE),
    "decoys": decoy_blue,
}


def play(red: str, rules: str, rng: str, blue: str) -> Statistics:
    chosen = options.checked(GAMES, red, rules, HORIZON, rng, None, AutoresetMode.DISABLED)
    batch = Batch(chosen, seed=1_000_000)
    generator = np.random.default_rng(77)
    bits = batch.reset()
    rates: dict[str, list[np.ndarray]] = {"red acts": [], "red wins": [], "level": [], "bits": []}
    for step in range(HORIZON):
        batch.step(BLUES[blue](bits, generator))
        bits = batch.observation
        if step % 8 == 7:
            state = batch.true_state
            acts = state.red_action[:, None] == np.arange(len(facts.RED_ACTIONS))
            rates["red acts"].append(acts.mean(axis=0))
            rates["red wins"].append(np.array([(state.red_success == 1).mean()]))
            rates["level"].append((state.level[..., None] == [1, 2]).mean(axis=0).ravel())
            rates["bits"].append(bits.mean(axis=0))
    total = batch.true_state.episode_return
    error = total.std() / np.sqrt(GAMES)
    return Statistics(
        np.array([total.mean(), error]), {name: np.stack(rows) for name, rows in rates.items()}
    )


# The rule versions differ by what follows a Restore, so only blues that restore need both.
CASES = [("latest", blue) for blue in BLUES]
CASES += [("leaderboard", blue) for blue in ("random", "restore where alarmed")]


@pytest.mark.parametrize(("rules", "blue"), CASES)
@pytest.mark.parametrize("red", facts.REDS)
def test_fast_and_exact_games_agree_within_the_bounds(red, rules, blue):
    fast, exact = (play(red, rules, rng, blue) for rng in ("fast", "cpython"))
    difference = abs(fast.returns[0] - exact.returns[0])
    reach = difference + Z * np.hypot(fast.returns[1], exact.returns[1])
    bound = RETURN_BOUND * abs(exact.returns[0]) + RETURN_SLACK
    assert reach < bound, f"returns differ by up to {reach:.3f}, allowed is {bound:.3f}"
    for name, rows in exact.rates.items():
        spread = np.sqrt((rows * (1 - rows) + fast.rates[name] * (1 - fast.rates[name])) / GAMES)
        reach = np.abs(rows - fast.rates[name]) + Z * spread
        assert reach.max() < RATE_BOUND, f"{name}: up to {reach.max():.4f} at {reach.argmax()}"


def test_the_bounds_tell_the_two_rule_versions_apart():
    """What the comparison is worth: games that do differ are caught by it."""
    latest, leaderboard = (
        play("bline", rules, "fast", "restore where alarmed") for rules in facts.RULES
    )
    difference = abs(latest.returns[0] - leaderboard.returns[0])
    levels = np.abs(latest.rates["level"] - leaderboard.rates["level"]).max()
    assert levels > RATE_BOUND
    assert difference > RETURN_BOUND * abs(latest.returns[0]) + RETURN_SLACK
