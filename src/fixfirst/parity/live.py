"""CybORG and fixfirst side by side: the same seeds, the same actions, everything compared."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.envs.cyborg import CyborgGame
from fixfirst.game.tables import OBSERVATION_BITS
from fixfirst.parity import identities
from fixfirst.parity.difference import Difference, compare, compare_lists
from fixfirst.parity.policies import Policy, make_policy

# What both true states show under the same name.
READINGS = (
    "level", "sessions", "files",
    "red_action", "red_target", "red_subnet", "red_success",
    "known_addresses", "known_names", "known_subnets", "known_ports", "knows_ot",
    "decoys", "ot_service", "services",
    "belief", "activity",
    "confidentiality", "availability", "action_cost",
)  # fmt: skip


class Match:
    """One game of CybORG and one of fixfirst, which must never differ."""

    def __init__(self, game: CyborgGame, horizon: int) -> None:
        self.game = game
        chosen = options.checked(1, game.red, game.rules, horizon, "cpython", 1, "disabled")
        self.batch = Batch(chosen)
        self.bits = np.zeros(OBSERVATION_BITS, dtype=np.int8)

    def reset(self, seed: int | None = None) -> Difference | None:
        """Begin an episode on both sides; without a seed both generators go on."""
        self.bits = self.game.reset(seed)
        self.batch.seed([seed])
        self.batch.reset()
        addresses = self.game.true_state.addresses
        return (
            compare(0, "addresses", addresses, self._ids.address) or self._compare() or self.end()
        )

    def step(self, action: int) -> Difference | None:
        """Play one step on both sides."""
        number = self.game.steps + 1
        self.batch.step([action])
        try:
            self.bits, reward = self.game.step(action)
        except Exception as problem:  # whatever it is, fixfirst goes on where CybORG does not
            failure = f"over, by {type(problem).__name__}: {problem}"
            return Difference(number, "the game", "", failure, "going on")
        return compare(number, "reward", reward, self.batch.results.reward[0]) or self._compare()

    def end(self) -> Difference | None:
        """What is compared at the ends of an episode only: all of the generator, so that every
        later draw is equal too, and the ephemeral ports given out."""  # noqa: D209
        step, theirs = self.game.steps, self.game.true_state.ephemeral_ports
        return compare(
            step, "generator", self.game.random_state[1], identities.generator(self._ids)
        ) or compare_lists(step, "ephemeral_ports", theirs, identities.ephemeral_ports(self._ids))

    @property
    def _ids(self) -> np.record:
        assert self.batch.ids is not None
        return self.batch.ids[0]  # type: ignore[no-any-return]

    def _compare(self) -> Difference | None:
        """What is compared after every step."""
        step, ids = self.game.steps, self._ids
        theirs, ours = self.game.true_state, self.batch.true_state
        found = compare(step, "bits", self.bits, self.batch.observation[0])
        for name in READINGS:
            found = found or compare(step, name, getattr(theirs, name), getattr(ours, name)[0])
        return (
            found
            or compare_lists(step, "pids", theirs.pids, identities.pids(self.batch.games[0], ids))
            or compare_lists(step, "suspects", theirs.suspects, identities.suspects(ids))
        )


@dataclass(frozen=True)
class Found:
    """A difference, and the episode that shows it again."""

    difference: Difference
    policy: str
    red: str
    seed: int


@dataclass
class Tally:
    """How much was compared, and the difference that ended it, if one did."""

    episodes: int = 0
    steps: int = 0  # played on both sides
    equal: int = 0  # of them, those after which everything was equal
    found: Found | None = None


def play_episode(
    match: Match, policy: Policy, seed: int | None, horizon: int, on_step: Callable[[], None]
) -> tuple[int, Difference | None]:
    """Play an episode on both sides, up to the first difference; how many steps were equal."""
    difference = match.reset(seed)
    step = 0
    while difference is None and step < horizon:
        difference = match.step(policy(match.bits))
        step += difference is None
        on_step()
    return step, difference or match.end()


def play(
    match: Match, policy: str, seeds: Sequence[int], horizon: int, on_step: Callable[[], None]
) -> Tally:
    """Play one policy from each seed, up to the first difference."""
    tally = Tally()
    for seed in seeds:
        equal, difference = play_episode(match, make_policy(policy, seed), seed, horizon, on_step)
        tally.episodes += 1
        tally.equal += equal
        tally.steps += equal
        if difference is not None:
            tally.steps += difference.step > equal
            tally.found = Found(difference, policy, match.game.red, seed)
            break
    return tally


def command(
    folder: str | os.PathLike[str], rules: str, horizon: int, found: Found
) -> Sequence[str]:
    """The command line that shows a difference again."""
    return (
        "fixfirst", "verify", "--cyborg", os.fspath(folder), "--rules", rules,
        "--red", found.red, "--policy", found.policy, "--seed", str(found.seed),
        "--episodes", "1", "--horizon", str(horizon),
    )  # fmt: skip
