"""One env in its place: stepped, reset, made anew if it fails, its results on the board.

Every backend of Python envs runs its envs in slots, be it in this process or in another. So
all of them do the same.
"""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
from gymnasium.vector import AutoresetMode

from fixfirst.envs import seeding
from fixfirst.envs.board import Board, Kind, Plan
from fixfirst.envs.contract import FAILURES_IN_A_ROW, STEP, EnvError
from fixfirst.envs.truths import is_due

Factory = Callable[[], gym.Env[Any, Any]]
Info = dict[str, Any]


class Slot:
    """Env `index` of a vector env, in row `row` of a board."""

    def __init__(self, index: int, factory: Factory, plan: Plan) -> None:
        self.index, self.row = index, index
        self._factory, self._plan = factory, plan
        self._seed: int | None = None  # the last that the user gave
        self._failures = 0  # in a row
        self._loss: str | None = None  # of the env that was here before, not yet told of
        self._board: Any = None  # until `take_place`
        self._truth: Any = None
        self._wanted: int | None = None  # the seed of the next reset, if it is due to us
        try:
            self._make()
        except Exception as problem:
            raise self._error(problem, 0, 0) from problem

    def take_place(self, board: Board, row: int) -> None:
        """Have a row on the board."""
        self._board, self.row = board, row

    def come_after(self, seed: int | None, wanted: int | None, loss: str) -> None:
        """Take the place of an env that was lost with its worker: the seed it was given, that of
        the next reset, and what happened. The next step tells of it, and plays nothing.
        """
        self._seed, self._wanted, self._loss = seed, wanted, loss

    def _make(self) -> None:
        self._wanted = None
        self._env: Any = self._factory()
        self.kind = Kind.of(self._env, self._plan)
        if self._plan.true_states != "never":
            self._truth = self._env.get_wrapper_attr("true_state_arrays")

    # --- what a vector env asks for

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> Info:
        """Begin an episode. Returns what there is to tell."""
        if seed is not None:
            self._seed = self._wanted = seed
            self._board.restarts[self.row] = self._board.episodes[self.row] = 0
        loss, self._loss = self._loss, None
        info = self._begin(options)
        return info if loss is None else {**info, "failure": loss}

    def step(self, action: Any) -> Info:
        """Play a step, and what its end calls for. Returns what there is to tell."""
        board, i = self._board, self.row
        truths, results = board.truths, board.results
        if board.over[i] and self._plan.autoreset == AutoresetMode.NEXT_STEP:
            results.rewards[i] = 0.0
            results.terminated[i] = results.truncated[i] = False
            return self.reset(None, None)
        if self._loss is not None:
            return self._lose_episode(self._loss)
        steps = board.steps[i] + 1
        try:
            observation, reward, terminated, truncated, info = self._env.step(action)
            ended = bool(terminated or truncated)
            due = truths is not None and is_due(truths.when, steps, ended)
            if due:
                truths.read(i, self._truth(), steps, board.episodes[i])
            results.rewards[i] = reward
            results.terminated[i], results.truncated[i] = terminated, truncated
            results.observations.write(i, observation)  # last: if all went well, it is shown
        except Exception as problem:
            where = int(board.episodes[i]), int(steps)
            return self._lose_episode(self._replace(problem, *where))
        self._failures = 0
        board.steps[i] = steps
        if due:
            truths.show(i)
        return self._end(info) if ended else info

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of the env, or read an attribute."""
        found = self._env.get_wrapper_attr(name)
        return found(*args, **kwargs) if callable(found) else found

    def assign(self, name: str, value: Any) -> None:
        """Set an attribute of the env."""
        self._env.set_wrapper_attr(name, value)

    def close(self) -> None:
        """Close the env."""
        self._env.close()

    # --- episodes

    def _begin(self, options: dict[str, Any] | None, show: bool = True) -> Info:
        """Begin an episode, with another env if this one cannot."""
        board, i = self._board, self.row
        truths, episode = board.truths, int(board.episodes[i]) + 1
        told: Info = {}
        while True:
            seed, self._wanted = self._wanted, None
            try:
                observation, info = self._env.reset(seed=seed, options=options)
                board.results.observations.write(i, observation)
                if truths is not None and truths.when == STEP:
                    truths.read(i, self._truth(), 0, episode)
            except Exception as problem:
                told = {"failure": self._replace(problem, episode, 0)}
                continue
            break
        if show and truths is not None and truths.when == STEP:
            truths.show(i)
        board.steps[i], board.over[i] = 0, False
        board.episodes[i] = episode
        return {**info, **told} if told else info

    def _end(self, info: Info) -> Info:
        """The episode is over, by itself or because its env failed."""
        board, i = self._board, self.row
        board.over[i] = True
        if self._plan.autoreset != AutoresetMode.SAME_STEP:
            return info
        board.finals.copy_row(i, board.results.observations)
        loud = {"failure": info["failure"]} if "failure" in info else {}
        return {"final_info": info, **loud, **self._begin(None, show=False)}

    def _lose_episode(self, text: str) -> Info:
        """The env that played the episode is no more: it ends here, as truncated."""
        self._loss = None
        board, i = self._board, self.row
        results = board.results
        results.observations.copy_row(i, board.last.observations)
        results.rewards[i] = 0.0
        results.terminated[i], results.truncated[i] = False, True
        return self._end({"failure": text})

    # --- failures

    def error(self, problem: Exception) -> EnvError:
        """The error that tells of an exception that nobody has met, by where this env is."""
        board, i = self._board, self.row
        if board is None:
            return self._error(problem, 0, 0)
        return self._error(problem, int(board.episodes[i]), int(board.steps[i]) + 1)

    def _replace(self, problem: Exception, episode: int, step: int) -> str:
        """Make another env in the place of this one, if that is wanted. Returns what happened."""
        error = self._error(problem, episode, step)
        self._failures += 1
        if not self._plan.restart or self._failures >= FAILURES_IN_A_ROW:
            raise error from problem
        self._board.restarts[self.row] += 1
        try:
            self._make()
        except Exception as worse:
            raise self._error(worse, error.episode, error.step) from worse
        self._wanted = self._after_restart()
        return str(error)

    def _after_restart(self) -> int | None:
        return seeding.after_restart(self._seed, int(self._board.restarts[self.row]))

    def _error(self, problem: Exception, episode: int, step: int) -> EnvError:
        return EnvError.of(problem, self.index, self._seed, episode, step)
