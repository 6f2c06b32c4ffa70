"""The real CybORG as a Gymnasium env, for every backend, the trainer and the judge.

ChallengeWrapper's 52 bits and 145 actions, blue's reward, and the true state under the names that
the built-in game has for it. Seeded with s, it plays what CybORG plays after `random.seed(s)`.
"""

import functools
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from fixfirst.envs import checks, true_arrays
from fixfirst.envs.cyborg import CyborgError, CyborgGame, find_package
from fixfirst.envs.cyborg_state import CyborgState
from fixfirst.envs.named import Named
from fixfirst.game import facts
from fixfirst.game.state import MAX_HORIZON
from fixfirst.game.tables import ACTIONS, OBSERVATION_BITS

Folder = str | os.PathLike[str] | None


def cyborg_folder(folder: Folder = None) -> Path:
    """The folder of the CybORG to play: the one given, or of the one that can be imported."""
    if folder is not None:
        return find_package(folder)
    found = importlib.util.find_spec("CybORG")
    if found is None or found.origin is None:
        raise CyborgError(
            "no CybORG can be imported, and no folder was given; name the folder of a "
            "cage-challenge-2 checkout"
        )
    return find_package(Path(found.origin).parent)


def cyborg_factory(
    folder: Folder = None, red: str = "bline", rules: str | None = None, horizon: int = 100
) -> Callable[[], "CyborgEnv"]:
    """What makes a `CyborgEnv`, for `make_vec(..., env=...)`; it can be sent to any process.

    A folder without CybORG is refused here. CybORG itself is loaded where the envs are made.
    """
    checks.one_of("red", red, facts.REDS)
    if rules is not None:
        checks.one_of("rules", rules, facts.RULES)
    checks.whole("horizon", horizon, 1, MAX_HORIZON)
    return functools.partial(CyborgEnv, str(cyborg_folder(folder)), red, rules, horizon)


class CyborgEnv(Named, gym.Env[np.ndarray, int]):
    """One game of the real CybORG. Observations are fresh arrays; horizon ends are truncations."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self, folder: Folder = None, red: str = "bline", rules: str | None = None,
        horizon: int = 100,
    ) -> None:  # fmt: skip
        self.horizon = checks.whole("horizon", horizon, 1, MAX_HORIZON)
        self.game = CyborgGame(cyborg_folder(folder), red, rules)
        self.observation_space = gym.spaces.MultiBinary(OBSERVATION_BITS)
        self.action_space = gym.spaces.Discrete(ACTIONS)
        self._red = facts.REDS.index(red)
        self._action, self._reward, self._return = 0, 0.0, 0.0
        self._playing = self._closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; without a seed the draws go on where they are."""
        if options:
            raise ValueError(f"reset option {min(options)!r} is not known; there are none")
        self._check_open()
        # Gymnasium's own generator, which the game does not use, takes no negative seeds.
        super().reset(seed=seed if seed is None else abs(seed))
        self._action, self._reward, self._return = 0, 0.0, 0.0
        bits = self.game.reset(seed)
        self._playing = True
        return bits, {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play one step."""
        if not self._playing:
            self._check_open()
            raise gym.error.ResetNeeded(
                f"the game was never reset, or has reached its horizon of {self.horizon} steps; "
                "call reset()"
            )
        bits, reward = self.game.step(action)
        self._action, self._reward = int(action), reward
        self._return += reward
        truncated = self.game.steps >= self.horizon
        self._playing = not truncated
        return bits, reward, False, truncated, {}

    def close(self) -> None:
        """Closing twice is fine; stepping afterwards is not."""
        self._playing, self._closed = False, True

    @property
    def true_state(self) -> CyborgState:
        """The true state, read from CybORG when it is asked for."""
        return self.game.true_state

    @property
    def true_state_space(self) -> gym.spaces.Dict:
        """What `true_state_arrays` gives: the same as of the built-in game."""
        return true_arrays.true_state_space()

    def true_state_arrays(self) -> dict[str, np.ndarray]:
        """The true state as plain arrays, by the names that the built-in game has for them."""
        truth = self.game.true_state
        arrays = {name: getattr(truth, name) for name in _READ}
        arrays["red"] = self._red
        arrays["scanned"] = arrays["known_ports"].any(axis=1)
        arrays["blue_action"] = self._action
        arrays["reward"] = self._reward
        arrays["episode_return"] = self._return
        return arrays

    def _check_open(self) -> None:
        if self._closed:
            raise gym.error.ClosedEnvironmentError("this environment is closed; make a new one")


# What CybORG is asked for; the rest is known here.
_READ = tuple(name for name in true_arrays.NAMES if hasattr(CyborgState, name))
