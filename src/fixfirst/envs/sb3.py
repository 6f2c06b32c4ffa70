"""Stable-Baselines3's face of the native backend: a `VecEnv` over the compiled batch.

    from stable_baselines3 import PPO
    from fixfirst.envs.sb3 import NativeVecEnv

    PPO("MlpPolicy", NativeVecEnv(64, red="meander")).learn(1_000_000)

Stable-Baselines3 is the optional extra `sb3`: pip install 'fixfirst[sb3]'.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from fixfirst.envs import render
from fixfirst.envs.named import Named
from fixfirst.envs.native import NativeVectorEnv
from fixfirst.envs.ordered import beside, order_columns, widened
from fixfirst.envs.snapshot import Snapshot
from fixfirst.workflow.orders import Workflow

# What SB3 lays down, so that nobody can choose it.
FIXED = {
    "autoreset": "SB3 wants games reset in the step in which they end",
    "copy": "SB3 gets arrays of its own",
    "episode_stats": "SB3 is told of every episode that ends",
}
Indices = int | Iterable[int] | None


class NativeVecEnv(VecEnv):
    """N games of CAGE Challenge 2 for Stable-Baselines3; takes the options of `make_vec`.

    Games that follow orders show them: the order's one-hot matrix stands behind each
    observation. Where an episode ends, `info` holds the last observation, `TimeLimit.truncated`
    and the figures that SB3's Monitor would keep, with compliance beside them.
    """

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        for name, why in FIXED.items():
            if name in options:
                raise TypeError(f"{name}={options[name]!r} cannot be chosen here: {why}")
        self.native = NativeVectorEnv(
            num_envs, autoreset="same_step", episode_stats=True, **options
        )
        self.columns = order_columns(self.native.batch.options)
        self._games: dict[int, Game] = {}
        self._actions: np.ndarray | None = None
        self._born = time.monotonic()
        super().__init__(
            self.native.num_envs,
            widened(self.native.single_observation_space, self.columns.shape[1]),
            self.native.single_action_space,
        )

    # --- playing

    def reset(self) -> np.ndarray:
        """Begin an episode in all games, with the seeds that `seed` has set, if it was called."""
        unknown = [name for options in self._options for name in options or ()]
        if unknown:
            raise ValueError(f"reset option {unknown[0]!r} is not known; there are none")
        observation, _ = self.native.reset(seed=self._seeds)
        self._reset_seeds()
        self._reset_options()
        self._actions = None
        return beside(observation, self.columns)

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions; `step_wait` plays them."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play one step of every game."""
        if self._actions is None:
            raise gym.error.NoAsyncCallError(
                "there are no actions to play; call step_async(actions) first", "step"
            )
        actions, self._actions = self._actions, None
        observation, reward, _, truncated, info = self.native.step(actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if info:
            self._tell_of_ends(np.flatnonzero(truncated), info, infos)
        return (
            beside(observation, self.columns),
            reward.astype(np.float32),
            truncated.copy(),
            infos,
        )

    def _tell_of_ends(
        self, ended: np.ndarray, info: dict[str, Any], infos: list[dict[str, Any]]
    ) -> None:
        last = beside(info["final_obs"][ended], self.columns[ended])
        figures = {name: values[ended].tolist() for name, values in info["episode"].items()}
        age = round(time.monotonic() - self._born, 6)
        for k, game in enumerate(ended.tolist()):
            infos[game] = {
                "terminal_observation": last[k],
                "TimeLimit.truncated": True,
                "episode": {name: values[k] for name, values in figures.items()} | {"t": age},
            }

    def close(self) -> None:
        """Closing twice is fine; stepping afterwards is not."""
        self.native.close()

    # --- single games, as SB3 asks about them

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of each of the games."""
        return [getattr(game, attr_name) for game in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Pin a value of the caller's own to games. What the games are made of stays as it is."""
        if hasattr(Game, attr_name):
            raise AttributeError(
                f"{attr_name!r} was chosen when the games were made and cannot be set; make a "
                "new NativeVecEnv"
            )
        for game in self._chosen(indices):
            setattr(game, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of each of the games."""
        return [
            getattr(game, method_name)(*method_args, **method_kwargs)
            for game in self._chosen(indices)
        ]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Indices = None
    ) -> list[bool]:
        """No wrapper is about the games, yet what Monitor tells of episodes is told."""
        return [wrapper_class is Monitor for _ in self._chosen(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """None: the games are shown as text."""
        return [None] * self.num_envs

    def _chosen(self, indices: Indices) -> list["Game"]:
        chosen = [int(index) for index in self._get_indices(indices)]
        for index in chosen:
            if not -self.num_envs <= index < self.num_envs:
                raise IndexError(f"there is no game {index}; they are 0 to {self.num_envs - 1}")
        return [
            self._games.setdefault(index, Game(self, index))
            for index in (index % self.num_envs for index in chosen)
        ]


class Game(Named):
    """One game of the batch: what `get_attr` and `env_method` reach."""

    def __init__(self, games: NativeVecEnv, index: int) -> None:
        self._of, self._index = games, index

    @property
    def render_mode(self) -> str | None:
        """How games are shown."""
        return self._of.native.render_mode

    @property
    def horizon(self) -> int:
        """Steps in an episode."""
        return self._of.native.horizon

    @property
    def observation_space(self) -> gym.Space[Any]:
        """What the game shows, its order included."""
        return self._of.observation_space

    @property
    def action_space(self) -> gym.Space[Any]:
        """The 145 actions."""
        return self._of.action_space

    @property
    def workflow(self) -> Workflow | None:
        """The order that the game follows."""
        orders = self._of.native.batch.options.orders
        return orders[self._index % len(orders)] if orders else None

    def action_masks(self) -> np.ndarray:
        """The actions [145] that may have an effect, under the name that sb3-contrib looks for."""
        masks = self._of.native.action_mask
        return np.array(masks[self._index])

    def render(self) -> str | None:
        """Blue's table and the true table of the game; printed in mode "human"."""
        if self.render_mode is None:
            raise ValueError("render() needs render_mode='ansi' or 'human' when the env is made")
        text = render.tables_text(self._of.native.batch, self._index)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def save(self) -> Snapshot:
        """Keep the game as it is now."""
        return self._of.native.save(self._index)

    def load(self, snapshot: Snapshot) -> None:
        """Put the game back to how it was saved; the next step shows it."""
        self._of.native.load(snapshot, self._index)
