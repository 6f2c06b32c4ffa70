"""Play a blue for a number of episodes, and say what it scored."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fixfirst.envs import options, seeding
from fixfirst.envs.batch import Batch
from fixfirst.game.tables import ACTIONS
from fixfirst.judge import statistics
from fixfirst.judge.blues import find_blue
from fixfirst.judge.view import Blue, View
from fixfirst.workflow.orders import Workflow

# Games side by side. More are no faster, and exact games take tens of kilobytes each.
GAMES_AT_ONCE = {"fast": 4096, "cpython": 1024}


@dataclass(frozen=True)
class Played:
    """What a blue scored, with all that is needed to play the same games again."""

    policy: str
    sees: str
    red: str | dict[str, float]
    rules: str
    horizon: int
    rng: str
    seed: int  # episode e was played with the seed `seed + e`
    returns: np.ndarray  # f8 [episodes]: the sum of rewards of each episode
    one_stream: bool = False  # or all episodes follow each other in one stream from that seed

    @property
    def episodes(self) -> int:
        """How many episodes were played."""
        return len(self.returns)

    @property
    def seeds(self) -> str:
        """The seeds, in words."""
        if self.one_stream:
            return f"one stream from {self.seed}"
        return f"seeds {self.seed} to {self.seed + self.episodes - 1}"

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean()) + 0.0  # no negative zero

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; infinite after a single episode."""
        return statistics.standard_error(self.returns)

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval of the mean."""
        return statistics.half_width_95(self.returns)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean."""
        return self.mean - self.half_width, self.mean + self.half_width

    def summary(self) -> dict[str, Any]:
        """All but the single returns, as JSON can hold it; `None` for what is infinite."""
        numbers = {
            "mean": self.mean,
            "standard_error": self.standard_error,
            "low_95": self.interval[0],
            "high_95": self.interval[1],
        }
        return {
            "policy": self.policy,
            "sees": self.sees,
            "red": self.red,
            "rules": self.rules,
            "horizon": self.horizon,
            "rng": self.rng,
            "seed": self.seed,
            "one_stream": self.one_stream,
            "episodes": self.episodes,
            **{name: x if math.isfinite(x) else None for name, x in numbers.items()},
        }


def play(
    policy: Any,
    red: str | Mapping[str, float] = "bline",
    *,
    rules: str = "latest",
    horizon: int = 100,
    episodes: int = 1000,
    seed: int | None = 0,
    rng: str = "fast",
    threads: int | None = None,
    on_step: Callable[[int], object] | None = None,
) -> Played:
    """Play complete episodes, and return what each of them brought.

    policy    a name, "module:function", a function or a `Blue`: see `fixfirst.judge.blues.blue`
    red       "bline", "meander" or "sleep"; or probabilities, to draw one for each episode
    episodes  how many, exactly: each is played to its horizon
    seed      episode e has the seed `seed + e`, however many are played; None draws one
    on_step   is told, after each step of the batch, how many steps of games that was

    The other arguments are those of `fixfirst.make_vec`.
    """
    count, first = checked_episodes(episodes, seed)
    player = find_blue(policy, first)
    parts = [
        play_batch(player, batch, name_of(policy), on_step)
        for batch in batches(count, first, red, rules, horizon, rng, threads)
    ]
    return Played(
        policy=name_of(policy),
        sees=player.sees,
        red=dict(red) if isinstance(red, Mapping) else red,
        rules=rules,
        horizon=horizon,
        rng=rng,
        seed=first,
        returns=np.concatenate(parts),
    )


def checked_episodes(episodes: int, seed: int | None) -> tuple[int, int]:
    """How many episodes, and the seed of the first."""
    count = options.whole("episodes", episodes, 1, None)
    if seed is None:
        return count, seeding.fresh_seed()
    return count, options.whole("seed", seed, -(2**4096), None)


def batches(
    episodes: int, seed: int, red: str | Mapping[str, float], rules: str, horizon: int, rng: str,
    threads: int | None, order: Workflow | None = None,
) -> Iterator[Batch]:  # fmt: skip
    """As many games as there are episodes, in as few batches as will do."""
    options.one_of("rng", rng, options.RNGS)
    for size in shares(episodes, GAMES_AT_ONCE[rng]):
        chosen = options.checked(size, red, rules, horizon, rng, threads, "disabled", order)
        yield Batch(chosen, seed)
        seed += size


def shares(count: int, most: int) -> list[int]:
    """Split a number of games into as few batches as can be, all about the same size."""
    batches = -(-count // most)
    return [count // batches + (k < count % batches) for k in range(batches)]


def play_batch(
    blue: Blue, batch: Batch, name: str, on_step: Callable[[int], object] | None = None
) -> np.ndarray:
    """Play one episode of every game of a batch; the returns.

    All games have the same horizon, so none ends before another and none is cut short.
    """
    for _ in episode(blue, batch, name):
        if on_step is not None:
            on_step(len(batch.games))
    return batch.true_state.episode_return.copy()


def episode(blue: Blue, batch: Batch, name: str) -> Iterator[int]:
    """Play one episode of every game, from reset to horizon; after each step its number."""
    batch.reset()
    blue.begin(np.arange(len(batch.games)))
    view = View(batch, blue.sees)
    for number in range(1, batch.options.horizon + 1):
        batch.step(ask(blue, view, name))
        yield number


def ask(blue: Blue, view: View, name: str) -> np.ndarray:
    """The actions that a blue chooses, or an error that names it if they cannot be played."""
    actions = np.asarray(blue.act(view))
    buffer = np.empty(len(view), dtype=np.int64)
    try:
        options.checked_actions(actions, buffer, ACTIONS)
    except (TypeError, ValueError) as problem:
        raise type(problem)(f"policy {name}: {problem}") from None
    return buffer


def name_of(policy: Any) -> str:
    """What a policy is called in results and errors."""
    if isinstance(policy, str):
        return policy
    return str(getattr(policy, "__name__", type(policy).__name__))
