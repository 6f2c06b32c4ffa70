"""Where envs leave the results of their steps: arrays with a row an env.

The arrays may be this process's own, or lie in memory that worker processes share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from fixfirst.envs.contract import NEVER, TrueStates
from fixfirst.envs.rows import Actions, Allocate, Column, Rows
from fixfirst.envs.truths import LABELS, record_of, space_of

Parcel = list[Any]  # what rows of a board show, column by column


@dataclass(frozen=True)
class Plan:
    """What a user asked of a vector env, as far as each of its envs has to know."""

    autoreset: AutoresetMode
    true_states: TrueStates
    restart: bool  # whether an env that fails is made anew


@dataclass(frozen=True)
class Kind:
    """What all envs of a vector env have in common."""

    observation: gym.Space[Any]
    action: gym.Space[Any]
    truth: spaces.Dict | None
    metadata: dict[str, Any]
    render_mode: str | None

    @classmethod
    def of(cls, env: gym.Env[Any, Any], plan: Plan) -> "Kind":
        """The kind of an env; an error if it has not what the plan needs."""
        for name in ("observation_space", "action_space"):
            if not isinstance(getattr(env, name, None), gym.Space):
                raise TypeError(f"{env!r} has no {name}; the factory must make a Gymnasium env")
        truth = None if plan.true_states == NEVER else space_of(env)
        metadata = {str(key): value for key, value in env.metadata.items()}
        return cls(env.observation_space, env.action_space, truth, metadata, env.render_mode)

    def difference(self, other: "Kind") -> str | None:
        """What differs so that the envs cannot be in one vector env, if anything does."""
        for what in ("observation", "action", "truth"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                name = "true_state_space" if what == "truth" else f"{what}_space"
                return f"its {name} is {theirs}, that of env 0 is {mine}"
        return None


class Results:
    """What one step of N envs brought."""

    def __init__(self, kind: Kind, count: int, allocate: Allocate) -> None:
        self.observations = Rows(kind.observation, count, allocate)
        self.rewards = allocate((count,), dtype=np.float64)
        self.terminated = allocate((count,), dtype=np.bool_)
        self.truncated = allocate((count,), dtype=np.bool_)

    def columns(self) -> list["Column"]:
        """All of it."""
        arrays = (self.rewards, self.terminated, self.truncated)
        return self.observations.columns() + [Column(array) for array in arrays]


class Truths:
    """The true states of N envs: those they are in, and those that the last steps have read."""

    def __init__(
        self, space: spaces.Dict, count: int, when: TrueStates, allocate: Allocate
    ) -> None:
        self.when = when
        record = record_of(space)
        self.now = allocate((count,), dtype=record)
        self.after = allocate((count,), dtype=record)
        self.fresh = allocate((count,), dtype=np.bool_)
        # The same records as bytes: to copy one is then a single move.
        self._now, self._after = _as_bytes(self.now), _as_bytes(self.after)
        self._step, self._episode = (self.now[name] for name in LABELS)
        self._parts = [(name, self.now[name]) for name in space.spaces]

    def read(self, i: int, arrays: Mapping[str, Any], step: int, episode: int) -> None:
        """Take in the true state of env i, which the next action is to meet."""
        try:
            if len(arrays) != len(self._parts):
                raise self._misfit(arrays)
            for name, part in self._parts:
                part[i] = arrays[name]
        except Exception as problem:
            self._now[i] = 0  # half a state is none
            if isinstance(problem, KeyError):
                raise self._misfit(arrays) from problem
            raise
        self._step[i], self._episode[i] = step, episode

    def show(self, i: int) -> None:
        """Let what was read of env i be seen as its state after the last action."""
        self._after[i] = self._now[i]
        self.fresh[i] = True

    def _misfit(self, arrays: Mapping[str, Any]) -> ValueError:
        wanted = ", ".join(name for name, _ in self._parts)
        return ValueError(
            f"true_state_arrays() gave {', '.join(map(str, arrays)) or 'nothing'}; "
            f"true_state_space has {wanted}"
        )


class Board:
    """All that N envs show. Two sets of results in turn: what one step returned lasts until the
    next but one.
    """

    def __init__(self, kind: Kind, count: int, plan: Plan, allocate: Allocate = np.zeros) -> None:
        self.count = count
        self.turn = allocate((2,), dtype=np.int64)  # which set is of this step, which of the last
        self.sets = tuple(Results(kind, count, allocate) for _ in range(2))
        kept = count if plan.autoreset == AutoresetMode.SAME_STEP else 0
        self.finals = Rows(kind.observation, kept, allocate)
        self.actions = Actions(kind.action, count, allocate)
        # Where the envs are.
        self.steps = allocate((count,), dtype=np.int64)
        self.episodes = allocate((count,), dtype=np.int64)
        self.over = allocate((count,), dtype=np.bool_)  # the episode has ended
        self.restarts = allocate((count,), dtype=np.int64)
        self.truths = (
            None if kind.truth is None else Truths(kind.truth, count, plan.true_states, allocate)
        )
        places = [self.steps, self.episodes, self.over, self.restarts]
        if self.truths is not None:
            places += [self.truths.now, self.truths.after, self.truths.fresh]
        self._sendable = [one.columns() + [Column(array) for array in places] for one in self.sets]
        self._sendable_finals = self.finals.columns()

    # --- rows as values that can be sent

    def pack(self, rows: Sequence[int], with_finals: bool = False) -> "Parcel":
        """All that some rows show."""
        return [one.take(rows) for one in self._columns(with_finals)]

    def unpack(self, rows: Sequence[int], parcel: "Parcel") -> None:
        """Have some rows show what others did, perhaps in another process."""
        with_finals = len(parcel) > len(self._columns(False))
        for column, part in zip(self._columns(with_finals), parcel, strict=True):
            column.put(rows, part)

    def _columns(self, with_finals: bool) -> list["Column"]:
        return self._sendable[self.turn[0]] + (self._sendable_finals if with_finals else [])

    @property
    def results(self) -> Results:
        """Those of this step."""
        return self.sets[int(self.turn[0])]

    @property
    def last(self) -> Results:
        """Those of the step before."""
        return self.sets[int(self.turn[1])]

    def begin_reset(self, seeded: Sequence[int]) -> None:
        """Some envs are about to begin an episode; those with a new seed count from 1 again. The
        others show what they did, in the other set: what the last step returned is not touched.
        """
        self._turn_over()
        self.results.observations.copy_all(self.last.observations)
        self.episodes[seeded] = self.restarts[seeded] = 0
        if self.truths is not None:
            self.truths.fresh[:] = False

    def begin_step(self) -> None:
        """All envs are about to move."""
        self._turn_over()
        if self.truths is not None:
            self.truths.fresh[:] = False

    def begin_some(self, which: np.ndarray) -> None:
        """Some envs are about to move; their rows are written where they are."""
        self.turn[1] = self.turn[0]
        if self.truths is not None:
            self.truths.fresh[which] = False

    def _turn_over(self) -> None:
        self.turn[1] = self.turn[0]
        self.turn[0] ^= 1


def _as_bytes(records: np.ndarray) -> np.ndarray:
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)
