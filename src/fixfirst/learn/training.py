"""The training loop: play, estimate, update, until there is a reason to stop."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from fixfirst.envs.batch import Batch
from fixfirst.envs.snapshot import Snapshot
from fixfirst.envs.vector_games import VectorGames
from fixfirst.game.tables import ACTIONS
from fixfirst.learn.network import ActorCritic
from fixfirst.learn.options import scheduled
from fixfirst.learn.rollout import Episodes, Rollout, input_width, join, order_features
from fixfirst.learn.setup import Setup
from fixfirst.learn.update import Updater
from fixfirst.learn.workers import Workers

GATE, PLATEAU, EPISODES = "gate", "plateau", "episodes"
LEAST_FIXES = 10  # in all, for the gate; and one an episode on average
GAIN = 0.01  # what counts as a gain, as a share of the best so far


@dataclass(frozen=True)
class Row:
    """What one update tells. Rewards are means over the episodes that ended in it."""

    update: int
    episodes: int  # in all so far
    steps: int  # in all so far
    environment_reward: float
    alignment_reward: float
    total_reward: float
    compliance: float
    fixes: float  # an episode
    policy_loss: float
    value_loss: float
    entropy: float
    clipped: float
    divergence: float
    gradient_norm: float
    explained: float
    play_seconds: float  # games, networks and draws
    game_seconds: float  # of these, the games
    advantage_seconds: float
    update_seconds: float


def passes_gate(episodes: Episodes, threshold: float) -> bool:
    """Whether these episodes keep to their orders, and not by never fixing anything."""
    fixes = int(episodes.fixes.sum())
    enough = fixes >= LEAST_FIXES and fixes >= len(episodes.fixes)
    return enough and episodes.compliance >= threshold


class Training:
    """A policy in training: everything that changes from update to update."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.device = _device(setup.device)
        workflows = setup.order_of_game
        width = input_width(workflows, setup.memory)
        self.policy = ActorCritic(width, ACTIONS, setup.ppo.hidden, setup.seed, self.device)
        threads = setup.threads or torch.get_num_threads()
        # On a graphics card PyTorch shares the work out by itself.
        self.workers = Workers(threads if self.device.type == "cpu" else 1)
        self.rollout = Rollout(
            setup.steps, setup.n_envs, width, self.device, setup.memory, setup.mask, self.workers
        )
        self.rollout.set_orders(order_features(workflows, setup.n_envs))
        self.updater = Updater(self.policy, setup.ppo, self.rollout, self.workers)
        self.generator = torch.Generator().manual_seed(setup.seed)
        self.batch = setup.batch()
        self.batch.reset()
        self.updates = self.episodes = self.steps = 0
        self.ended = join([])  # the episodes that ended in the last update
        self.best = -float("inf")
        self.since_best = 0
        self.stopped: str | None = None

    def run(
        self,
        after_update: Callable[[Row], object] = lambda _: None,
        asked_to_stop: Callable[[], bool] = lambda: False,
    ) -> str | None:
        """Train until there is a reason to stop, and return it; `None` if asked to stop."""
        while self.stopped is None and not asked_to_stop():
            after_update(self.update())
        return self.stopped

    def update(self) -> Row:
        """Play one rollout and learn from it."""
        ppo = self.setup.ppo
        progress = min(1.0, self.episodes / self.setup.episodes)
        with torch.no_grad(), self.workers.alone():
            began = time.perf_counter()
            ended = self.rollout.collect(self.batch, self.policy, self.generator, ppo.reward_scale)
            played = time.perf_counter()
            advantages, returns = self.updater.advantages(self.rollout)
            estimated = time.perf_counter()
            told = self.updater.update(
                self.rollout, advantages, returns,
                scheduled(ppo.learning_rate, ppo.learning_rate_schedule, progress),
                scheduled(ppo.entropy, ppo.entropy_schedule, progress),
                self.generator,
            )  # fmt: skip
            learnt = time.perf_counter()
        self.ended = ended
        self.updates += 1
        self.episodes += len(ended.environment)
        self.steps += self.rollout.steps * self.rollout.games
        self._judge(ended)
        return Row(
            update=self.updates,
            episodes=self.episodes,
            steps=self.steps,
            **_means(ended),
            **asdict(told),
            play_seconds=played - began,
            game_seconds=self.rollout.game_seconds,
            advantage_seconds=estimated - played,
            update_seconds=learnt - estimated,
        )

    def close(self) -> None:
        """End the processes that run games, if there are any."""
        if isinstance(self.batch, VectorGames):
            self.batch.close()

    def _judge(self, ended: Episodes) -> None:
        """Note whether there is a reason to stop."""
        setup = self.setup
        if not len(ended.environment):
            return
        mean = float(ended.total.mean())
        if mean > self.best + GAIN * abs(self.best) or self.best == -float("inf"):
            self.best, self.since_best = mean, 0
        else:
            self.since_best += 1
        if setup.orders and setup.stop_at_gate and passes_gate(ended, setup.compliance_threshold):
            self.stopped = GATE
        elif setup.patience and self.since_best >= setup.patience:
            self.stopped = PLATEAU
        elif self.episodes >= setup.episodes:
            self.stopped = EPISODES

    # --- what is kept of a training, so that it can go on as if nothing had happened

    def weights(self) -> dict[str, Tensor]:
        """The policy."""
        return {name: tensor.cpu().contiguous() for name, tensor in self.policy.state().items()}

    def tensors(self) -> dict[str, Tensor]:
        """All else that changes and is made of tensors."""
        kept = {"generator": self.generator.get_state()}
        for name, value in self.updater.adam.state.get(self.policy.flat, {}).items():
            kept[f"adam.{name}"] = value.detach().cpu().clone()
        return kept

    @property
    def keeps_games(self) -> bool:
        """Whether the games can be kept; those that others run cannot."""
        return isinstance(self.batch, Batch)

    def games(self) -> Snapshot | None:
        """The games, if they can be kept."""
        return self.batch.save() if isinstance(self.batch, Batch) else None

    def numbers(self) -> dict[str, Any]:
        """All else that changes and is made of numbers."""
        scale = self.updater.scale
        return {
            "updates": self.updates, "episodes": self.episodes, "steps": self.steps,
            "best": None if self.best == -float("inf") else self.best,
            "since_best": self.since_best, "stopped": self.stopped,
            "scale": [scale.mean, scale.spread, scale.seen],
        }  # fmt: skip

    def restore(
        self, weights: dict[str, Tensor], tensors: dict[str, Tensor], numbers: dict[str, Any],
        games: Snapshot | None,
    ) -> None:  # fmt: skip
        """Go on from what was kept. Games that could not be kept begin anew."""
        self.policy.load(weights)
        self.generator.set_state(tensors["generator"])
        # The count of Adam's steps stays off the graphics card, where Adam wants it.
        state = {
            name.removeprefix("adam."): value.clone().to(self.device if value.dim() else "cpu")
            for name, value in tensors.items()
            if name.startswith("adam.")
        }
        if state:
            self.updater.adam.state[self.policy.flat] = state
        self.updates, self.episodes = numbers["updates"], numbers["episodes"]
        self.steps, self.since_best = numbers["steps"], numbers["since_best"]
        self.best = -float("inf") if numbers["best"] is None else numbers["best"]
        self.stopped = numbers["stopped"]
        scale = self.updater.scale
        scale.mean, scale.spread, scale.seen = numbers["scale"]
        if isinstance(self.batch, VectorGames):  # with draws that it has not seen yet
            self.batch.reset(self.setup.first_seed(self.updates))
        elif games is not None:
            self.batch.load(games)


def _device(name: str) -> torch.device:
    """Where the networks are to be, or an error before any work is done."""
    reason: object = "it is none of these"
    problem: Exception | None = None
    try:
        device = torch.empty(0, device=name).device
        if device.type in ("cpu", "cuda"):
            return device
    except (RuntimeError, AssertionError) as found:  # PyTorch's, of several kinds
        reason, problem = str(found).splitlines()[0], found
    raise ValueError(
        f"device={name!r} cannot be used here: {reason}; it is cpu, or cuda on a machine that has it"
    ) from problem


def _means(ended: Episodes) -> dict[str, float]:
    """Means over episodes; NaN where none has ended."""
    some = len(ended.environment) > 0
    return {
        "environment_reward": float(ended.environment.mean()) if some else float("nan"),
        "alignment_reward": float(ended.alignment.mean()) if some else float("nan"),
        "total_reward": float(ended.total.mean()) if some else float("nan"),
        "compliance": ended.compliance,
        "fixes": float(ended.fixes.mean()) if some else 0.0,
    }
