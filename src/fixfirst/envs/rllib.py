"""RLlib's face of the native backend, for its current API stack.

    from ray.rllib.algorithms.ppo import PPOConfig
    from fixfirst.envs import rllib

    algorithm = rllib.configure(PPOConfig(), num_envs=64, red="meander").build_algo()

Each env runner then steps one compiled batch of `num_envs` games, not so many environments.
RLlib is in the optional extra `ray`: pip install 'fixfirst[ray]'.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.tune.registry import register_env

from fixfirst.envs.native import NativeVectorEnv
from fixfirst.envs.ordered import beside, order_columns, widened
from fixfirst.envs.seeding import Seed

ENV_NAME = "fixfirst-cage2"  # not a name that Gymnasium could take for one of its own
MODE = "vector_entry_point"
# What an episode with an order is reported with, beside RLlib's own figures.
REPORTED = ("compliance", "fixes", "environment_reward", "alignment_reward")
# What RLlib lays down, so that nobody can choose it.
FIXED = {
    "autoreset": "RLlib wants games reset in the step after their end",
    "copy": "RLlib gets arrays of its own",
    "episode_stats": "RLlib is told of every episode that ends",
}
Config = TypeVar("Config", bound=AlgorithmConfig)


class NativeRLlibEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games for an env runner; takes the options of `make_vec`.

    Observations are floats, as RLlib's networks want them. Games that follow orders show them:
    the order's one-hot matrix stands behind each observation.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        self.closed = True  # until there is something to close
        for name, why in FIXED.items():
            if name in options:
                raise TypeError(f"{name}={options[name]!r} cannot be chosen here: {why}")
        self.native = NativeVectorEnv(num_envs, episode_stats=True, **options)
        self.closed = False
        self.num_envs = self.native.num_envs
        self.metadata = self.native.metadata
        self.render_mode = self.native.render_mode
        self.columns = order_columns(self.native.batch.options).astype(np.float32)
        bits = widened(self.native.single_observation_space, self.columns.shape[1])
        assert bits.shape is not None
        self.single_observation_space = gym.spaces.Box(0.0, 1.0, bits.shape, np.float32)
        self.single_action_space = self.native.single_action_space
        self.observation_space = gym.spaces.Box(0.0, 1.0, (self.num_envs, *bits.shape), np.float32)
        self.action_space = self.native.action_space

    def reset(
        self, *, seed: Seed = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in all games.

        RLlib gives its runners seeds that follow each other. Games s, s + 1, ... of each would be
        nearly the same games in all runners, so the first seed is drawn from the one given.
        """
        given = first_seed(seed) if isinstance(seed, int) else seed
        observation, info = self.native.reset(seed=given, options=options)
        return self._shown(observation), info

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one step of every game."""
        observation, reward, terminated, truncated, info = self.native.step(actions)
        return (
            self._shown(observation),
            reward.astype(np.float32),
            terminated.copy(),
            truncated.copy(),
            info,
        )

    def render(self) -> tuple[Any, ...] | None:
        """Blue's table and the true table of each game."""
        return self.native.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Close the games."""
        self.native.close(**kwargs)

    def _shown(self, observation: np.ndarray) -> np.ndarray:
        return beside(observation.astype(np.float32, copy=False), self.columns)


class OrdersKept(RLlibCallback):
    """Puts what episodes with an order came to into RLlib's results."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any = None, **_: Any) -> None:
        """Log the compliance of an episode that has ended."""
        told = episode.get_infos(-1).get("episode", {})
        for name in REPORTED:
            if name in told:
                metrics_logger.log_value(name, float(told[name]), window=100)


def first_seed(seed: int) -> int:
    """The seed of a runner's first game: runners whose seeds differ share no game's seed."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def make_env(config: Mapping[str, Any]) -> NativeRLlibEnv:
    """What RLlib calls to have the environments of one runner."""
    options = dict(config)
    if "num_envs" not in options:
        raise ValueError(
            "RLlib asked for a single environment; fixfirst gives it batches. Ask for them with "
            f"config.env_runners(gym_env_vectorize_mode={MODE!r}), or use fixfirst.envs.rllib."
            "configure"
        )
    return NativeRLlibEnv(options.pop("num_envs"), **options)


def configure(config: Config, num_envs: int = 64, **options: Any) -> Config:
    """Have an algorithm play CAGE Challenge 2: `num_envs` games in each of its env runners.

    The options are those of `make_vec`. Figures of orders kept are added to the results.
    """
    register_env(ENV_NAME, make_env)  # again: what RLlib was told it forgets when its Ray stops
    config.environment(ENV_NAME, env_config=options)
    config.env_runners(gym_env_vectorize_mode=MODE, num_envs_per_env_runner=num_envs)
    config.callbacks(OrdersKept)
    return config


register_env(ENV_NAME, make_env)
