"""Games in memory: seeding, resetting, stepping, looking, copying. No Gymnasium here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fixfirst.envs import kernel, seeding, threads
from fixfirst.envs.options import AUTORESETS, Options, checked_actions
from fixfirst.envs.snapshot import Snapshot
from fixfirst.game import state, xoshiro
from fixfirst.game.tables import ACTIONS, HOSTS, OBSERVATION_BITS
from fixfirst.game.truth import TrueState


class Batch:
    """N games and the arrays in which their steps leave results."""

    def __init__(self, options: Options, seed: seeding.Seed = None) -> None:
        self.options = options
        n = options.num_envs
        seeds = seeding.seeds_of(seed, n)
        self.games = state.new_games(n)
        self.ids = state.new_identities(n, options.horizon) if options.exact else None
        self.games.rules = options.rules
        self.games.red = options.reds
        self.actions = np.zeros(n, dtype=np.int64)
        # Two sets of results in turn: what one step returned lasts until the next but one.
        self._sets = tuple(
            kernel.Results(
                np.zeros((n, HOSTS), np.uint32), np.zeros(n), np.zeros(n, dtype=np.bool_)
            )
            for _ in range(2)
        )
        self._observations = tuple(_as_bits(results.words) for results in self._sets)
        self._turn = 0
        same_step = AUTORESETS[options.autoreset] == kernel.SAME_STEP
        kept = n if same_step else 0
        self.finals = kernel.Finals(state.new_games(kept), np.zeros((kept, HOSTS), np.uint32))
        base = seeding.fresh_seed()
        self.seed([base + i if one is None else one for i, one in enumerate(seeds)])

    # --- what the last step or reset left

    @property
    def results(self) -> kernel.Results:
        """Rewards and ends of the last step."""
        return self._sets[self._turn]

    @property
    def observation(self) -> np.ndarray:
        """The observation bits [N, 52] as of the last step or reset."""
        return self._observations[self._turn]

    @property
    def true_state(self) -> TrueState:
        """The true state of all games."""
        return TrueState(self.games)

    @property
    def final_state(self) -> TrueState:
        """The true state at the end of the last episode of each game, under same-step reset."""
        return TrueState(self.finals.games)

    @property
    def final_observation(self) -> np.ndarray:
        """The last observation of each game's last episode, under same-step reset."""
        return _as_bits(self.finals.words)

    def next_random(self) -> np.ndarray:
        """What `random.random()` would return next in each game; nothing is drawn."""
        if self.ids is None:
            raise ValueError("rng='fast' does not draw from Python's generator; use rng='cpython'")
        out = np.zeros(len(self.games))
        kernel.next_random(self.ids, out)
        return out

    # --- what changes the games

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Seed the generators; `None` leaves a game's as it is."""
        chosen = [i for i, one in enumerate(seeds) if one is not None]
        if not chosen:
            return
        given = [one for one in seeds if one is not None]
        where = np.array(chosen)
        self.games.random[where] = xoshiro.states(seeding.words_of(given))
        self.games.episode[where] = 0
        if self.ids is not None:
            kernel.seed_exact(self.ids, where, *seeding.limbs_of(given))

    def reset(self, chosen: np.ndarray | None = None) -> np.ndarray:
        """Begin an episode in all games or in the chosen ones, and return all observations."""
        which = np.arange(len(self.games)) if chosen is None else chosen
        kernel.reset(self.games, self.ids, which, self.options.mixture, self.results.words)
        return self.observation

    def step(self, actions: Any) -> None:
        """Play one step of every game."""
        checked_actions(actions, self.actions, ACTIONS)
        self._turn ^= 1
        arguments = (
            self.games, self.ids, self.actions, self.options.horizon,
            AUTORESETS[self.options.autoreset], self.options.mixture, self.results, self.finals,
        )  # fmt: skip
        if self.options.threads == 1 or threads.lost_in_fork():
            kernel.play(*arguments)
        else:
            with threads.borrowed(self.options.threads):
                kernel.play_threaded(*arguments)

    # --- copies of single games

    def copy(self, source: Any, target: Any) -> np.ndarray:
        """Make the target games copies of the source games: state, generator and all."""
        source, target = self._which(source), self._which(target)
        if source.shape != target.shape:
            raise ValueError(f"{len(source)} games cannot be copied onto {len(target)}")
        self.games[target] = self.games[source]
        if self.ids is not None:
            self.ids[target] = self.ids[source]
        return self._look(target)

    def save(self, which: Any = None) -> Snapshot:
        """Keep all games, or the chosen ones, as they are now."""
        where = self._which(which)
        ids = None if self.ids is None else self.ids[where]
        return Snapshot(self.games[where], ids, self.options.horizon)

    def load(self, snapshot: Snapshot, which: Any = None) -> np.ndarray:
        """Put games back to how they were when the snapshot was taken."""
        where = self._which(which)
        snapshot.check_for(len(where), self.options)
        self.games[where] = snapshot.games
        if self.ids is not None:
            self.ids[where] = snapshot.ids
        return self._look(where)

    def _which(self, which: Any) -> np.ndarray:
        n = len(self.games)
        if which is None:
            return np.arange(n)
        where = np.atleast_1d(np.asarray(which))
        if where.dtype.kind not in "iu" or where.ndim != 1:
            raise TypeError(f"games {which!r} are not whole numbers; games are 0 to {n - 1}")
        if len(where) and not (where.min() >= 0 and where.max() < n):
            raise ValueError(f"games {which!r} are not all here; games are 0 to {n - 1}")
        return where

    def _look(self, where: np.ndarray) -> np.ndarray:
        kernel.look(self.games, where, self.results.words)
        return self.observation


def _as_bits(words: np.ndarray) -> np.ndarray:
    return words.view(np.int8).reshape(len(words), OBSERVATION_BITS)
