"""What a blue policy is, and what it may look at."""

from typing import Protocol

import numpy as np

from fixfirst.envs.batch import Batch
from fixfirst.game.tables import NONE
from fixfirst.game.truth import TrueState

# How much of a game a policy looks at. Each level includes those before it.
SEES = ("bits", "sensors", "truth")


class View:
    """N games as a blue sees them before it acts. All arrays have the game as first axis.

    A view gives no more than its policy says that it sees:

    bits      the 52 observation bits, the step, and blue's own last action
    sensors   also the sensors' raw reports, from which the bits are made
    truth     also the true state, which no real defender has
    """

    def __init__(self, batch: Batch, sees: str = "bits") -> None:
        self._batch = batch
        self._set_sees(sees)

    def __len__(self) -> int:
        return len(self._batch.games)

    @property
    def observation(self) -> np.ndarray:
        """The observation bits [N, 52]."""
        return self._batch.observation

    @property
    def step(self) -> np.ndarray:
        """Steps played in the episode so far [N]."""
        return np.asarray(self._batch.games.step)

    @property
    def last_action(self) -> np.ndarray:
        """Blue's action of the last step [N]; 0 (Sleep) before the first."""
        return np.asarray(self._batch.games.blue_action)

    @property
    def shells(self) -> np.ndarray:
        """The host on which the sensors named the process of a new shell in the last step [N];
        255 where they named none.
        """
        self._must_see("sensors")
        games = self._batch.games
        return np.where(games.event_shell > 0, games.event_host, NONE)

    @property
    def truth(self) -> TrueState:
        """The true state."""
        self._must_see("truth")
        return self._batch.true_state

    def _set_sees(self, sees: str) -> None:
        if sees not in SEES:
            raise ValueError(f"sees={sees!r} is not known; it is one of {', '.join(SEES)}")
        self._sees = SEES.index(sees)

    def _must_see(self, level: str) -> None:
        if self._sees < SEES.index(level):
            raise ValueError(
                f"the policy says that it sees {SEES[self._sees]!r}, but this takes {level!r}; "
                f"give it the attribute sees = {level!r}"
            )


class Blue(Protocol):
    """A defender of many games at once."""

    @property
    def sees(self) -> str:
        """How much of the game it looks at: one of `SEES`."""
        ...

    def begin(self, games: np.ndarray) -> None:
        """An episode begins in these games (their indices): forget the last one."""
        ...

    def act(self, view: View) -> np.ndarray:
        """An action [N] for every game."""
        ...
