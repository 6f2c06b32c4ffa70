"""Games that any backend runs, as the batch that the trainer plays.

The trainer plays a `Batch`: compiled games that keep, beside themselves, how they follow their
orders and what blue remembers. Games that others run (the real CybORG above all) keep no such
thing. Here it is kept for them, from their true states and bits, by the same compiled rules.
"""

from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from fixfirst.envs import memory
from fixfirst.envs.contract import STEP
from fixfirst.envs.kernel import Following, Recalling
from fixfirst.envs.options import Options
from fixfirst.envs.recall import Recall
from fixfirst.game import state
from fixfirst.game.tables import ACTIONS, OBSERVATION_BITS
from fixfirst.workflow import alignment, compliance


class Ends(NamedTuple):
    """What a step brought, as far as a trainer asks."""

    reward: np.ndarray  # f8 [N], without what was paid for keeping to the order
    truncated: np.ndarray  # bool [N]


class FinalState(NamedTuple):
    """What is known of the last episode of each game."""

    episode_return: np.ndarray  # f8 [N]


class VectorGames:
    """A vector env of CAGE Challenge 2 with same-step reset and true states at every step.

    It has the part of a `Batch`'s face that training uses. `options` say which orders the games
    follow and whether blue remembers; who attacks and for how long is the env's own affair.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], options: Options) -> None:
        _check(env, options)
        n = options.num_envs
        self.env, self.options = env, options
        self.observation = np.zeros((n, OBSERVATION_BITS), np.int8)
        self.final_observation = np.zeros((n, OBSERVATION_BITS), np.int8)
        self.results = Ends(np.zeros(n), np.zeros(n, np.bool_))
        self.final_state = FinalState(np.zeros(n))
        self.following: Following | None = _following(options)
        self._judged: Any = state.new_games(n)
        self._recall = Recall(n, options.horizon) if options.memory else None
        self._final_rows = np.zeros((n if options.memory else 0, memory.WIDTH), np.float32)

    @property
    def rewards(self) -> np.ndarray:
        """Rewards of the last step [N], with what was paid for keeping to the order."""
        paid = 0.0 if self.following is None else self.following.paid
        return np.asarray(self.results.reward + paid)

    @property
    def recalling(self) -> Recalling | None:
        """What blue remembers, and the observations that show it, as of the last step."""
        recall = self._recall
        if recall is None:
            return None
        return Recalling(recall.memories, recall.rows, recall.masks, self._final_rows)

    def reset(self, seed: int | None = None) -> np.ndarray:
        """Begin an episode in all games; game i with the seed `seed` + i if one is given."""
        bits, _ = self.env.reset(seed=seed)
        self.observation[:] = bits
        if self.following is not None:
            for record in self.following.alignments:
                compliance.begin(record)
        if self._recall is not None:
            nothing = np.zeros(self.options.num_envs, np.int64)
            self._recall.take_in(self.observation, nothing, nothing)
        return self.observation

    def step(self, actions: np.ndarray) -> None:
        """Play one step of every game."""
        if self.following is not None:
            self._judge(self.following, actions)
        bits, rewards, terminated, truncated, infos = self.env.step(actions)
        if terminated.any():
            raise ValueError(
                f"game {np.flatnonzero(terminated)[0]} has terminated, which games of CAGE "
                "Challenge 2 never do: they are truncated at their horizon"
            )
        if "failure" in infos:
            _refuse_failure(infos)
        self.results = Ends(rewards, truncated)
        self.observation[:] = bits
        if truncated.any():
            self._end(np.flatnonzero(truncated), actions, infos["final_obs"])
        elif self._recall is not None:
            self._recall.take_in(self.observation, actions, self._steps())

    def close(self) -> None:
        """Close the env, and end the processes that run it."""
        self.env.close()

    # --- within

    def _steps(self) -> np.ndarray:
        return np.asarray(self.env.states.step)  # type: ignore[attr-defined]

    def _judge(self, following: Following, actions: np.ndarray) -> None:
        """Judge the fixes among the actions by the true states that they meet."""
        met = self.env.states_now  # type: ignore[attr-defined]
        privileged = met.level == 2
        self._judged.root = np.where(privileged, met.sessions, 0)
        self._judged.user = np.where(privileged, 0, met.sessions)
        terms = following.terms[0]
        for i, action in enumerate(actions.tolist()):
            following.paid[i] = compliance.before_action(
                self._judged[i], following.alignments[i], terms, action
            )

    def _end(self, ended: np.ndarray, actions: np.ndarray, last_bits: np.ndarray) -> None:
        """Some episodes have ended, and others have begun in their place."""
        states = self.env.states  # type: ignore[attr-defined]
        self.final_state.episode_return[ended] = states.episode_return[ended]
        self.final_observation[ended] = last_bits[ended]
        following = self.following
        if following is not None:
            for i in ended:
                record = following.alignments[i]
                following.paid[i] += compliance.at_end(record, following.terms[0])
                following.finals[i] = record
                compliance.begin(record)
        if self._recall is not None:
            seen = self.observation.copy()
            seen[ended] = self.final_observation[ended]
            self._recall.take_in(seen, actions, self._steps())
            self._final_rows[ended] = self._recall.rows[ended]
            self._recall.begin(ended, self.observation[ended])


def _following(options: Options) -> Following | None:
    if not options.orders:
        return None
    assert options.terms is not None
    n = options.num_envs
    records = alignment.new_alignments(n)
    alignment.follow(records, options.orders[0] if len(options.orders) == 1 else options.orders)
    return Following(
        records, np.zeros(n), alignment.new_alignments(n), alignment.terms_record(options.terms)
    )


def _check(env: VectorEnv[Any, Any, Any], options: Options) -> None:
    when = getattr(env, "true_states", None)
    mode = env.metadata.get("autoreset_mode")
    if mode != AutoresetMode.SAME_STEP or when != STEP:
        raise ValueError(
            f"the env has autoreset={mode} and true_states={when!r}; training needs "
            "autoreset='same_step' and true_states='step'"
        )
    if env.num_envs != options.num_envs:
        raise ValueError(f"the env runs {env.num_envs} games, not {options.num_envs}")
    size = (env.single_observation_space.shape, getattr(env.single_action_space, "n", None))
    if size != ((OBSERVATION_BITS,), ACTIONS):
        raise ValueError(
            f"the env has observations of shape {size[0]} and {size[1]} actions; CAGE Challenge 2 "
            f"has {OBSERVATION_BITS} bits and {ACTIONS} actions"
        )


def _refuse_failure(infos: dict[str, Any]) -> None:
    (i, *_) = np.flatnonzero(infos["_failure"])
    raise ValueError(f"training needs whole episodes, and one was lost: {infos['failure'][i]}")
