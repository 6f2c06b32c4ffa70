"""Games in memory: seeding, resetting, stepping, looking, copying. No Gymnasium here."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fixfirst.envs import kernel, memory, seeding, threads
from fixfirst.envs.options import AUTORESETS, Options, checked_actions
from fixfirst.envs.snapshot import Snapshot
from fixfirst.game import state, xoshiro
from fixfirst.game.tables import ACTIONS, HOSTS, OBSERVATION_BITS
from fixfirst.game.truth import TrueState
from fixfirst.workflow import alignment


class GeneratorState(NamedTuple):
    """Python's generators of N games, as they stand."""

    twister: np.ndarray  # u4 [N, 624]
    position: np.ndarray  # u2 [N]


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
        self.following = _following(options, kept)
        self._recallings = _recallings(options, kept)
        base = seeding.fresh_seed()
        self.seed([base + i if one is None else one for i, one in enumerate(seeds)])

    # --- what the last step or reset left

    @property
    def results(self) -> kernel.Results:
        """Rewards and ends of the last step."""
        return self._sets[self._turn]

    @property
    def recalling(self) -> kernel.Recalling | None:
        """What blue remembers, and the observations that show it, as of the last step."""
        return self._recallings[self._turn] if self._recallings else None

    @property
    def rewards(self) -> np.ndarray:
        """Rewards of the last step [N], with what was paid for keeping to the order."""
        environment: np.ndarray = self.results.reward
        return environment if self.following is None else environment + self.following.paid

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
        out = np.zeros(len(self.games))
        kernel.next_random(self._exact_ids(), out)
        return out

    def generator_state(self) -> GeneratorState:
        """The state of Python's generator in each game; `set_generator_state` takes it."""
        ids = self._exact_ids()
        return GeneratorState(ids["twister"].copy(), ids["position"].copy())

    # --- what changes the games

    def set_generator_state(self, state: GeneratorState) -> None:
        """Go on drawing where the games of another batch stopped, whatever its horizon."""
        ids = self._exact_ids()
        if len(state.position) != len(ids):
            raise ValueError(f"the generators are of {len(state.position)} games, not {len(ids)}")
        ids["twister"], ids["position"] = state

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
        self._turn_over(chosen is not None)
        kernel.reset(
            self.games, self.ids, self.following, self.recalling, which, self.options.mixture
        )
        return self._look(which)

    def step(self, actions: Any) -> None:
        """Play one step of every game."""
        checked_actions(actions, self.actions, ACTIONS)
        self._turn ^= 1
        arguments = (
            self.games, self.ids, self.following, self.recalling, self.actions,
            self.options.horizon,
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
        source, target = self._which(source), self._targets(target)
        if source.shape != target.shape:
            raise ValueError(f"{len(source)} games cannot be copied onto {len(target)}")
        self.games[target] = self.games[source]
        for rows in self._beside():
            rows[target] = rows[source]
        return self._look(target)

    def save(self, which: Any = None) -> Snapshot:
        """Keep all games, or the chosen ones, as they are now."""
        where = self._which(which)
        ids, alignments, memories = (
            None if rows is None else rows[where]
            for rows in (self.ids, self._alignments, self._memories)
        )
        return Snapshot(self.games[where], self.options.horizon, ids, alignments, memories)

    def load(self, snapshot: Snapshot, which: Any = None) -> np.ndarray:
        """Put games back to how they were when the snapshot was taken."""
        if not isinstance(snapshot, Snapshot):
            raise TypeError(
                f"{type(snapshot).__name__} is no snapshot; save() gives one, and "
                "Snapshot.read(path) or Snapshot.from_bytes(data) bring one back"
            )
        where = self._targets(which)
        snapshot.check_for(len(where), self.options)
        self.games[where] = snapshot.games
        kept = (snapshot.ids, snapshot.alignments, snapshot.memories)
        for rows, saved in zip((self.ids, self._alignments, self._memories), kept, strict=True):
            if rows is not None:
                rows[where] = saved
        return self._look(where)

    def _exact_ids(self) -> Any:
        if self.ids is None:
            raise ValueError("rng='fast' does not draw from Python's generator; use rng='cpython'")
        return self.ids

    @property
    def _alignments(self) -> Any:
        return None if self.following is None else self.following.alignments

    @property
    def _memories(self) -> Any:
        return None if self.recalling is None else self.recalling.memories

    def _beside(self) -> list[Any]:
        """The records that games have beside the one of the rules."""
        rows = (self.ids, self._alignments, self._memories)
        return [one for one in rows if one is not None]

    def _which(self, which: Any) -> np.ndarray:
        n = len(self.games)
        if which is None:
            return np.arange(n)
        where = np.atleast_1d(np.asarray(which))
        if not where.size:
            raise ValueError(f"games {which!r} name no game; games are 0 to {n - 1}")
        if where.dtype.kind not in "iu" or where.ndim != 1:
            raise TypeError(f"games {which!r} are not whole numbers; games are 0 to {n - 1}")
        if len(where) and not (where.min() >= 0 and where.max() < n):
            raise ValueError(f"games {which!r} are not all here; games are 0 to {n - 1}")
        return where

    def _targets(self, which: Any) -> np.ndarray:
        """The games to be written over, each named once."""
        where = self._which(which)
        if which is None:
            return where
        named, times = np.unique(where, return_counts=True)
        if len(named) < len(where):
            raise ValueError(
                f"game {named[times > 1][0]} is named twice among those to be written over"
            )
        return where

    def _turn_over(self, whole: bool) -> None:
        """Go on in the other set, so that what the last step returned is not touched; with the
        `whole` of what that shows, or its rewards and ends alone.
        """
        before, remembered = self.results, self.recalling
        self._turn ^= 1
        self.results.reward[:] = before.reward
        self.results.truncated[:] = before.truncated
        if not whole:
            return
        self.results.words[:] = before.words
        if remembered is not None and self.recalling is not None:
            self.recalling.rows[:] = remembered.rows
            self.recalling.masks[:] = remembered.masks

    def _look(self, where: np.ndarray) -> np.ndarray:
        horizon = self.options.horizon
        kernel.look(self.games, self.recalling, horizon, where, self.results.words)
        return self.observation


def _following(options: Options, kept: int) -> kernel.Following | None:
    if not options.orders:
        return None
    assert options.terms is not None
    alignments = alignment.new_alignments(options.num_envs)
    one_for_all = len(options.orders) == 1
    alignment.follow(alignments, options.orders[0] if one_for_all else options.orders)
    return kernel.Following(
        alignments,
        np.zeros(options.num_envs),
        alignment.new_alignments(kept),
        alignment.terms_record(options.terms),
    )


def _recallings(options: Options, kept: int) -> tuple[kernel.Recalling, ...]:
    """Two sets of observations in turn, of the same memories."""
    if not options.memory:
        return ()
    n = options.num_envs
    memories, finals = memory.new_memories(n), np.zeros((kept, memory.WIDTH), np.float32)
    return tuple(
        kernel.Recalling(
            memories,
            np.zeros((n, memory.WIDTH), np.float32),
            np.zeros((n, ACTIONS), np.bool_),
            finals,
        )
        for _ in range(2)
    )


def _as_bits(words: np.ndarray) -> np.ndarray:
    return words.view(np.int8).reshape(len(words), OBSERVATION_BITS)
