"""The single environment: one game behind Gymnasium's ordinary interface."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from fixfirst.envs import options, render, true_arrays
from fixfirst.envs.batch import Batch
from fixfirst.envs.named import Named
from fixfirst.envs.native import RENDER_MODES
from fixfirst.envs.seeding import seeds_of
from fixfirst.envs.snapshot import Snapshot
from fixfirst.game.tables import ACTIONS, OBSERVATION_BITS
from fixfirst.game.truth import TrueState


class Cage2Env(Named, gym.Env[np.ndarray, int]):
    """One game of CAGE Challenge 2. Observations are fresh arrays."""

    metadata = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        red: str | Mapping[str, float] = "bline",
        rules: str = "latest",
        horizon: int = 100,
        rng: str = "fast",
        seed: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            options.one_of("render_mode", render_mode, RENDER_MODES)
        chosen = options.checked(1, red, rules, horizon, rng, 1, AutoresetMode.DISABLED)
        self.render_mode = render_mode
        self.observation_space = gym.spaces.MultiBinary(OBSERVATION_BITS)
        self.action_space = gym.spaces.Discrete(ACTIONS)
        self.horizon = chosen.horizon
        self.batch = Batch(chosen, seeds_of(None if seed is None else [seed], 1))
        self._action = np.zeros(1, dtype=np.int64)
        self._playing = False
        self._closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; without a seed the generator goes on where it is."""
        if options:
            raise ValueError(f"options={options!r} are not known; there are none")
        self._check_open()
        (checked,) = seeds_of([seed], 1)
        self.batch.seed([checked])
        # Gymnasium's own generator, which the game does not use, takes no negative seeds.
        super().reset(seed=checked if checked is None else abs(checked))
        observation = self.batch.reset()
        self._playing = True
        return observation[0].copy(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play one step."""
        if not self._playing:
            self._refuse_step()
        batch = self.batch
        batch.step(_one(action))
        results = batch.results
        truncated = bool(results.truncated[0])
        self._playing = not truncated
        if self.render_mode == "human":
            self.render()
        return batch.observation[0].copy(), float(results.reward[0]), False, truncated, {}

    def render(self) -> str | None:  # type: ignore[override]
        """Blue's table and the true table; printed in mode "human"."""
        if self.render_mode is None:
            gym.logger.warn("render() needs render_mode='ansi' or 'human' when the env is made")
            return None
        text = render.tables_text(self.batch, 0)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def close(self) -> None:
        """Closing twice is fine; stepping afterwards is not."""
        self._playing = False
        self._closed = True

    @property
    def true_state(self) -> TrueState:
        """The true state, as arrays whose first axis has length 1."""
        return self.batch.true_state

    @property
    def true_state_space(self) -> gym.spaces.Dict:
        """What `true_state_arrays` gives."""
        return true_arrays.true_state_space()

    def true_state_arrays(self) -> dict[str, np.ndarray]:
        """The true state as plain arrays, by the names that `TrueState` has for them."""
        return true_arrays.arrays_of(self.batch.true_state)

    def save(self) -> Snapshot:
        """Keep the game as it is now."""
        self._check_open()
        return self.batch.save()

    def load(self, snapshot: Snapshot) -> np.ndarray:
        """Put the game back to how it was saved; returns its observation."""
        self._check_open()
        observation: np.ndarray = self.batch.load(snapshot)[0].copy()
        games = self.batch.games
        self._playing = bool(games.episode[0] > 0 and not games.over[0])
        return observation

    def _check_open(self) -> None:
        if self._closed:
            raise gym.error.ClosedEnvironmentError("this environment is closed; make a new one")

    def _refuse_step(self) -> None:
        self._check_open()
        if self.batch.games.episode[0] == 0:
            raise gym.error.ResetNeeded("the game was never reset; call reset() first")
        raise gym.error.ResetNeeded(
            f"the game has reached its horizon of {self.horizon} steps; call reset()"
        )


def _one(action: Any) -> np.ndarray:
    given = np.asarray(action)
    if given.shape != ():
        raise ValueError(f"action {action!r} has shape {given.shape}; it is a single number")
    if given.dtype.kind not in "iu":
        raise TypeError(
            f"action {action!r} is of type {type(action).__name__}; it is a whole number from 0 to "
            f"{ACTIONS - 1}"
        )
    return given.reshape(1)
