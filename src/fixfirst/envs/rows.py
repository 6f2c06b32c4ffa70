"""The values of a Gymnasium space for many envs, one row each, written and read one at a time.

Gymnasium's own `create_empty_array` lays the arrays out, in whatever memory it is given. Its
`write_to_shared_memory` looks every array up anew at every write; here that is done once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

Allocate = Callable[..., np.ndarray]  # as `numpy.zeros`
_FLAT = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def has_fixed_size(space: gym.Space[Any]) -> bool:
    """Whether every value of the space fits arrays of one shape."""
    if isinstance(space, spaces.Dict):
        return all(has_fixed_size(one) for one in space.spaces.values())
    if isinstance(space, spaces.Tuple):
        return all(has_fixed_size(one) for one in space.spaces)
    return isinstance(space, _FLAT)


class Column:
    """An array, or a list of objects, whose rows can be taken and put."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def take(self, rows: Sequence[int]) -> Any:
        """Copies of some rows."""
        values = self._values
        if isinstance(values, np.ndarray):
            return values[np.asarray(rows)]
        return [values[i] for i in rows]

    def put(self, rows: Sequence[int], given: Any) -> None:
        """Write some rows."""
        if isinstance(self._values, np.ndarray):
            self._values[np.asarray(rows)] = given
            return
        for i, one in zip(rows, given, strict=True):
            self._values[i] = one


class Rows:
    """One value of a space for each of `count` envs.

    Values of fixed size are rows of arrays; others are kept as the objects they are.
    """

    def __init__(self, space: gym.Space[Any], count: int, allocate: Allocate = np.zeros) -> None:
        self.space, self.count = space, count
        self.fixed = has_fixed_size(space)
        self._objects: list[Any] = [None] * count
        self._batch = create_empty_array(space, count, fn=allocate) if self.fixed else None
        self._leaves = list(_leaves(space, self._batch, ())) if self.fixed else []
        # The usual case, a single array, is worth a short way.
        self._only = (
            self._leaves[0][1] if len(self._leaves) == 1 and not self._leaves[0][0] else None
        )
        self._shape = () if self._only is None else self._only.shape[1:]

    @property
    def batch(self) -> Any:
        """The values of all envs, as Gymnasium batches them; arrays are the rows themselves."""
        if self.fixed:
            return self._batch
        empty = create_empty_array(self.space, self.count)
        return concatenate(self.space, self._objects, empty)

    def write(self, i: int, value: Any) -> None:
        """Set the value of env i; one of another shape is refused."""
        if self._only is not None:
            if np.shape(value) != self._shape:
                raise _misfit(value, self._shape)
            self._only[i] = value
        elif self.fixed:
            for path, array in self._leaves:
                part = value
                for key in path:
                    part = part[key]
                if np.shape(part) != array.shape[1:]:
                    raise _misfit(part, array.shape[1:], path)
                array[i] = part
        else:
            self._objects[i] = value

    def read(self, i: int) -> Any:
        """The value of env i, the reader's own."""
        if self._only is not None:
            return self._only[i].copy() if self._shape else self._only[i]
        if self.fixed:
            return _row(self.space, self._batch, i)
        return self._objects[i]

    def take(self, which: Sequence[int] | np.ndarray) -> Any:
        """The values of some envs, batched, the caller's own."""
        which = np.asarray(which)
        if self._only is not None:
            return self._only[which]
        if self.fixed:
            return _map(lambda array: array[which], self._batch)
        chosen = [self._objects[i] for i in which]
        return concatenate(self.space, chosen, create_empty_array(self.space, len(chosen)))

    def columns(self) -> list[Column]:
        """What it is made of."""
        if self.fixed:
            return [Column(array) for _, array in self._leaves]
        return [Column(self._objects)]

    def copy_row(self, i: int, source: "Rows") -> None:
        """Set the value of env i to what it is in other rows of the same space."""
        for (_, mine), (_, theirs) in zip(self._leaves, source._leaves, strict=True):
            mine[i] = theirs[i]
        self._objects[i] = source._objects[i]

    def copy_all(self, source: "Rows") -> None:
        """Set all values to what they are in other rows of the same space."""
        for (_, mine), (_, theirs) in zip(self._leaves, source._leaves, strict=True):
            mine[:] = theirs
        self._objects[:] = source._objects


class Actions(Rows):
    """The actions of all envs, checked when they are set."""

    def __init__(self, space: gym.Space[Any], count: int, allocate: Allocate = np.zeros) -> None:
        super().__init__(space, count, allocate)
        self._discrete = space if isinstance(space, spaces.Discrete) else None

    def set(self, actions: Any, which: np.ndarray | None = None) -> None:
        """Take one action for each env, or for the chosen ones; or raise and change nothing."""
        count = self.count if which is None else len(which)
        if not self.fixed:
            given = list(iterate(batch_space(self.space, count), actions))
            if len(given) != count:
                raise ValueError(f"{len(given)} actions were given for {count} envs")
            for i, action in zip(range(count) if which is None else which, given, strict=True):
                self._objects[i] = action
            return
        parts = [self._checked(actions, path, array, count) for path, array in self._leaves]
        rows = slice(None) if which is None else which
        for (_, array), part in zip(self._leaves, parts, strict=True):
            array[rows] = part

    def _checked(
        self, actions: Any, path: tuple[Any, ...], array: np.ndarray, count: int
    ) -> np.ndarray:
        part = actions
        for key in path:
            try:
                part = part[key]
            except (KeyError, IndexError, TypeError):
                raise ValueError(f"actions have no part {key!r}; they are {self.space}") from None
        given = np.asarray(part)
        where = f" of part {'.'.join(map(str, path))}" if path else ""
        if not np.can_cast(given.dtype, array.dtype, "same_kind") and not (
            given.dtype.kind in "iu" and array.dtype.kind in "iu"
        ):
            raise TypeError(
                f"actions{where} are of dtype {given.dtype}; they are of dtype {array.dtype}"
            )
        shape = (count, *array.shape[1:])
        if given.shape != shape:
            raise ValueError(
                f"actions{where} have shape {given.shape}; {count} envs take shape {shape}"
            )
        if self._discrete is not None:
            self._check_range(given)
        return given

    def _check_range(self, given: np.ndarray) -> None:
        assert self._discrete is not None
        first = int(self._discrete.start)
        last = first + int(self._discrete.n) - 1
        if len(given) and (given.min() < first or given.max() > last):
            (bad, *_) = np.flatnonzero((given < first) | (given > last))
            raise ValueError(
                f"action {given[bad]} of env {bad} does not exist; actions are {first} to {last}"
            )


def copied(batch: Any) -> Any:
    """A batch of values that shares no memory with the given one."""
    return _map(np.copy, batch)


def _map(function: Callable[[np.ndarray], Any], batch: Any) -> Any:
    if isinstance(batch, np.ndarray):
        return function(batch)
    if isinstance(batch, dict):
        return {key: _map(function, part) for key, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(_map(function, part) for part in batch)
    return batch


def _leaves(
    space: gym.Space[Any], batch: Any, path: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], np.ndarray]]:
    """The arrays of a batch, each with the keys that lead to it."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        keys: Sequence[Any] = (
            list(space.spaces) if isinstance(space, spaces.Dict) else range(len(space.spaces))
        )
        for key in keys:
            yield from _leaves(space.spaces[key], batch[key], (*path, key))
    else:
        yield path, batch


def _row(space: gym.Space[Any], batch: Any, i: int) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _row(one, batch[key], i) for key, one in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_row(one, batch[k], i) for k, one in enumerate(space.spaces))
    value = batch[i]
    return value.copy() if np.ndim(value) else value


def _misfit(value: Any, shape: tuple[int, ...], path: tuple[Any, ...] = ()) -> ValueError:
    where = f" in {'.'.join(map(str, path))}" if path else ""
    return ValueError(
        f"an observation{where} has shape {np.shape(value)}; its space has shape {shape}"
    )
