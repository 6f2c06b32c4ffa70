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
from fixfirst.game.truth import TrueState

GAMES, HORIZON = 40_000, 100
LOOK_EVERY = 4  # steps
Z = 3.29  # 99.9%, two-sided
RETURN_BOUND = 0.03, 0.1  # of the mean return, plus reward points
REWARD_BOUND = 0.05, 0.1  # of the mean reward of a step, plus reward points
RATE_BOUND = 0.03  # for everything that is a share of the games, at every look

pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted, this many games take an hour")


class Mean(NamedTuple):
    """Means over games, and the squares of their standard errors."""

    value: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> "Mean":
        """The mean of one number a game [N]."""
        return cls(values.mean(), values.var() / len(values))

    @classmethod
    def share(cls, counts: np.ndarray) -> "Mean":
        """The share of the games of which something is so."""
        share = counts / GAMES
        return cls(share, share * (1 - share) / GAMES)

    def reach(self, other: "Mean") -> np.ndarray:
        """How far the two can be apart: the far end of the interval of their difference."""
        return abs(self.value - other.value) + Z * np.sqrt(self.variance + other.variance)


class Statistics(NamedTuple):
    """What the games of one kind come to."""

    returns: Mean
    rewards: list[Mean]  # of each step
    shares: dict[int, dict[str, Mean]]  # by the step they were looked at


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
    rewards, shares = [], {}
    for step in range(1, HORIZON + 1):
        batch.step(BLUES[blue](bits, generator))
        bits = batch.observation
        rewards.append(Mean.of(batch.results.reward))
        if step % LOOK_EVERY == 0:
            shares[step] = shares_of(batch.true_state, bits)
    return Statistics(Mean.of(batch.true_state.episode_return), rewards, shares)


def shares_of(state: TrueState, bits: np.ndarray) -> dict[str, Mean]:
    """Of how many games each of these is so after a step."""
    level = state.level
    counts = {
        "red acts": np.bincount(state.red_action, minlength=len(facts.RED_ACTIONS)),
        "red wins": np.bincount(state.red_success, minlength=3),
        "user": (level == 1).sum(axis=0),
        "privileged": (level == 2).sum(axis=0),
        "files": state.files.sum(axis=0),
        "service": np.array([state.ot_service.sum()]),
        "bits": np.ones(GAMES, np.float32) @ bits.astype(np.float32),
    }
    return {name: Mean.share(count) for name, count in counts.items()}


def bound(relative: float, absolute: float, value: float) -> float:
    return relative * abs(value) + absolute


# The rule versions differ by what follows a Restore, so only blues that restore need both.
CASES = [("latest", blue) for blue in BLUES]
CASES += [("leaderboard", blue) for blue in ("random", "restore where alarmed")]


@pytest.mark.parametrize(("rules", "blue"), CASES)
@pytest.mark.parametrize("red", facts.REDS)
def test_fast_and_exact_games_agree_within_the_bounds(red, rules, blue):
    fast, exact = (play(red, rules, rng, blue) for rng in ("fast", "cpython"))
    reach, allowed = fast.returns.reach(exact.returns), bound(*RETURN_BOUND, exact.returns.value)
    assert reach < allowed, f"returns differ by up to {reach:.3f}, allowed is {allowed:.3f}"
    for step, (mine, theirs) in enumerate(zip(fast.rewards, exact.rewards, strict=True), 1):
        reach, allowed = mine.reach(theirs), bound(*REWARD_BOUND, theirs.value)
        assert reach < allowed, f"rewards of step {step} differ by up to {reach:.3f}"
    for step, shares in fast.shares.items():
        for name, share in shares.items():
            reach = share.reach(exact.shares[step][name])
            assert reach.max() < RATE_BOUND, (
                f"{name} {reach.argmax()} at step {step}: {reach.max()}"
            )


def test_the_bounds_tell_the_two_rule_versions_apart():
    """What the comparison is worth: games that do differ are caught by it."""
    latest, leaderboard = (
        play("bline", rules, "fast", "restore where alarmed") for rules in facts.RULES
    )
    difference = abs(latest.returns.value - leaderboard.returns.value)
    assert difference > bound(*RETURN_BOUND, latest.returns.value)
    furthest = max(
        np.abs(shares["privileged"].value - leaderboard.shares[step]["privileged"].value).max()
        for step, shares in latest.shares.items()
    )
    assert furthest > RATE_BOUND
