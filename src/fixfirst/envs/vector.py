"""What the backends of Python envs have in common: the face that the contract promises.

A backend says how its envs are made, reset, stepped, called and closed; all else is here.
"""

import copy as copying
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from fixfirst.envs import checks
from fixfirst.envs.board import Board, Kind, Plan
from fixfirst.envs.contract import (
    NEVER,
    NOBODY_ASKED,
    ON_FAILURE,
    STEP,
    TIMEOUT,
    TrueStates,
    checked_timeout,
    checked_true_states,
    needs_every_step,
)
from fixfirst.envs.crew import Told
from fixfirst.envs.rows import copied
from fixfirst.envs.seeding import Seed, seeds_of
from fixfirst.envs.slot import Factory
from fixfirst.envs.truths import States


class PythonVectorEnv(VectorEnv[Any, Any, Any]):
    """N Gymnasium envs, each made by its factory, as one vector env. The contract is in
    `fixfirst.envs.contract`.
    """

    def __init__(
        self,
        factories: Sequence[Factory],
        *,
        seed: Seed = None,
        autoreset: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = False,
        true_states: TrueStates = NEVER,
        on_failure: str = "raise",
        timeout: float = TIMEOUT,
    ) -> None:
        self.num_envs = checks.whole("num_envs", len(factories), 1, None)
        self.autoreset = checks.autoreset_mode(autoreset)
        restart = checks.one_of("on_failure", on_failure, ON_FAILURE) == "restart"
        self.plan = Plan(self.autoreset, checked_true_states(true_states), restart)
        self.true_states = self.plan.true_states
        self.timeout = checked_timeout(timeout)
        self._first_seeds = seeds_of(seed, self.num_envs)  # for the first reset of each env
        self._seeds: list[int | None] = [None] * self.num_envs  # that each was last given
        self._copy = copy
        self._factories = list(factories)
        with self._closing_if_it_fails():
            kind = self._open()
            self.kind = kind
            self.board = self._lay_out(kind)
        self.single_observation_space = kind.observation
        self.single_action_space = kind.action
        self.observation_space = batch_space(kind.observation, self.num_envs)
        self.action_space = batch_space(kind.action, self.num_envs)
        self.metadata = {**kind.metadata, "autoreset_mode": self.autoreset}
        self.render_mode = kind.render_mode
        self._to_reset = self.num_envs  # envs that were never reset

    # --- what a backend is

    @abstractmethod
    def _open(self) -> Kind:
        """Make the envs; their kind, or an error if they differ."""

    def _lay_out(self, kind: Kind) -> Board:
        """The board that the envs are to write to."""
        return Board(kind, self.num_envs, self.plan)

    @abstractmethod
    def _reset(
        self, which: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any] | None
    ) -> Told:
        """Begin an episode in some envs; a seed for each of them."""

    @abstractmethod
    def _step(self) -> Told:
        """Play a step of all envs, with the actions on the board."""

    @abstractmethod
    def _call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Call a method of each env, or read an attribute."""

    @abstractmethod
    def _assign(self, name: str, values: Sequence[Any]) -> None:
        """Set an attribute of each env."""

    @abstractmethod
    def _shut(self, at_once: bool) -> None:
        """Close the envs and end what runs them; at once if something has failed."""

    # --- Gymnasium's part

    def reset(
        self, *, seed: Seed = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in all envs, or in those of `options["reset_mask"]`. What else is in
        `options` goes to the envs.
        """
        self._check_open()
        which, rest = self._chosen(options)
        seeds = self._seeds_for_reset(seed, which)
        self.board.begin_reset([i for i, one in zip(which, seeds, strict=True) if one is not None])
        with self._closing_if_it_fails():
            told = self._reset(which, seeds, rest)
        self._to_reset = int((self.board.episodes == 0).sum())
        return self._out(self.board.results.observations.batch), self._infos(told, finals=False)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one step of every env."""
        self._check_ready()
        board = self.board
        board.actions.set(actions)
        board.begin_step()
        with self._closing_if_it_fails():
            told = self._step()
        results = board.results
        infos = self._infos(told, finals=True) if told else {}
        if self._copy:
            return (
                copied(results.observations.batch), results.rewards.copy(),
                results.terminated.copy(), results.truncated.copy(), infos,
            )  # fmt: skip
        return (
            results.observations.batch, results.rewards, results.terminated, results.truncated,
            infos,
        )  # fmt: skip

    def render(self) -> tuple[Any, ...] | None:
        """What each env renders."""
        return self.call("render")

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each env, or read an attribute."""
        self._check_open()
        if name in ("reset", "step", "close"):
            raise ValueError(
                f"call({name!r}) would go behind the back of the vector env; use {name}()"
            )
        return tuple(self._call(name, args, kwargs))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each env."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of each env: a list or tuple gives each its own."""
        self._check_open()
        given = values if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(given) != self.num_envs:
            raise ValueError(f"{len(given)} values were given for {self.num_envs} envs")
        self._assign(name, given)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the envs and end what runs them."""
        self._shut(at_once=bool(kwargs.get("terminate")))

    # --- more than Gymnasium asks for

    @property
    def steps(self) -> np.ndarray:
        """Steps played in the episode of each env [N]."""
        return self.board.steps

    @property
    def episodes(self) -> np.ndarray:
        """Episodes that each env has begun [N]."""
        return self.board.episodes

    @property
    def states(self) -> States:
        """The true states read last; each tells the step and the episode that it belongs to."""
        return States(self._truths().after)

    @property
    def states_now(self) -> States:
        """With true_states="step": the true states that the next actions will meet."""
        truths = self._truths()
        if truths.when != STEP:
            raise ValueError(needs_every_step(truths.when))
        return States(truths.now)

    @property
    def states_fresh(self) -> np.ndarray:
        """Which of `states` were read by the last call [N]."""
        return np.asarray(self._truths().fresh)

    # --- within

    def _truths(self) -> Any:
        if self.board.truths is None:
            raise ValueError(NOBODY_ASKED)
        return self.board.truths

    def _seeds_for_reset(self, seed: Seed, which: Sequence[int]) -> list[int | None]:
        """A seed for each of these envs."""
        given, seeds = seeds_of(seed, self.num_envs), []
        for i in which:
            chosen = self._first_seeds[i] if given[i] is None else given[i]
            self._first_seeds[i] = None
            self._seeds[i] = self._seeds[i] if chosen is None else chosen
            seeds.append(chosen)
        return seeds

    def _chosen(self, options: dict[str, Any] | None) -> tuple[list[int], dict[str, Any] | None]:
        """Which envs to reset, and the options that are for them."""
        rest = dict(options or {})
        mask = rest.pop("reset_mask", None)
        if mask is None:
            return list(range(self.num_envs)), rest or None
        return np.flatnonzero(checks.reset_mask(mask, self.num_envs)).tolist(), rest or None

    def _infos(self, told: Told, finals: bool) -> dict[str, Any]:
        """The infos of the envs as one, and the last observations of episodes that ended."""
        infos: dict[str, Any] = {}
        for i, info in sorted(told, key=lambda one: one[0]):
            infos = self._add_info(infos, info, i)
        if finals and "final_info" in infos:
            infos["final_obs"] = self._out(self.board.finals.batch)
            infos["_final_obs"] = infos["_final_info"]
        return infos

    def _out(self, batch: Any) -> Any:
        return copied(batch) if self._copy else batch

    def _check_open(self) -> None:
        if self.closed:
            raise gym.error.ClosedEnvironmentError("this environment is closed; make a new one")

    def _check_ready(self, which: np.ndarray | None = None) -> None:
        """All envs, or the chosen ones, can take a step, or an error."""
        self._check_open()
        if self._to_reset:
            (first, *_) = np.flatnonzero(self.board.episodes == 0)
            raise gym.error.ResetNeeded(f"env {first} was never reset; call reset() first")
        over = self.board.over
        if (
            self.autoreset == AutoresetMode.DISABLED
            and (over if which is None else over[which]).any()
        ):
            (first, *_) = np.flatnonzero(over) if which is None else which[over[which]]
            raise gym.error.ResetNeeded(
                f"the episode of env {first} has ended and autoreset is off; "
                "call reset(options={'reset_mask': ...}) with the envs that ended"
            )

    def _closing_if_it_fails(self) -> "_Closing":
        return _Closing(self)


class _Closing:
    """Whatever goes wrong within, an error or Ctrl-C, closes the vector env at once."""

    def __init__(self, env: PythonVectorEnv) -> None:
        self._env = env

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        if kind is not None:
            self._env.close(terminate=True)


def same_kind(kinds: Iterable[Kind]) -> Kind:
    """The kind that all envs have, or an error that names the first one that differs."""
    given = list(kinds)
    for i, kind in enumerate(given):
        difference = given[0].difference(kind)
        if difference is not None:
            raise ValueError(f"env {i} cannot be in one vector env with the others: {difference}")
    return copying.copy(given[0])
