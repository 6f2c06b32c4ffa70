"""Some envs of a vector env that live in one place: a worker process, or an actor elsewhere."""

import gc
from collections.abc import Callable, Sequence
from typing import Any

from fixfirst.envs.board import Board, Kind, Parcel, Plan
from fixfirst.envs.contract import EnvError
from fixfirst.envs.slot import Factory, Info, Slot

Told = list[tuple[int, Info]]  # what envs had to tell, by their index
Begin = Callable[[int], object]  # told which env is about to be worked on
# Objects made before the garbage collector looks for cycles among the newest, and how many such
# looks come before one at older ones: rarer than Python's own (700, 10, 10).
COLLECT_AFTER = (50_000, 20, 100)


def calm_the_collector() -> None:
    """Have this process, which holds envs and nothing else, look for cyclic garbage rarely.

    Envs of the size of CybORG hold hundreds of thousands of objects, and to visit them again and
    again costs time: this gave CybORG with 50 envs in a process 7 % more steps.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


class Crew:
    """The envs `indices` of a vector env, and the board that they write to.

    Before each env is made, reset or stepped, `begin` is called with its index.
    """

    def __init__(
        self, indices: Sequence[int], factories: Sequence[Factory], plan: Plan,
        begin: Begin = lambda _: None,
    ) -> None:  # fmt: skip
        self.plan, self.begin = plan, begin
        self.shares = False  # a board with others
        self._at = indices[0]  # the env that is worked on
        self.slots: dict[int, Slot] = {}
        for i, factory in zip(indices, factories, strict=True):
            begin(i)
            self.slots[i] = Slot(i, factory, plan)

    @property
    def kinds(self) -> list[Kind]:
        """What each env is like."""
        return [slot.kind for slot in self.slots.values()]

    def share(self, board: Board) -> None:
        """Write to a board of all envs."""
        self.board, self.shares = board, True
        for i, slot in self.slots.items():
            slot.take_place(board, i)

    def settle(self, kind: Kind, where: Parcel | None = None) -> None:
        """Write to a board of one's own; `where` tells where lost envs had been, as packed."""
        self.board = Board(kind, len(self.slots), self.plan)
        for row, slot in enumerate(self.slots.values()):
            slot.take_place(self.board, row)
        if where is not None:
            self.board.unpack(range(len(self.slots)), where)

    def come_after(self, losses: Sequence[tuple[int | None, int | None, str]]) -> None:
        """Take the places of envs that were lost: for each, what `Slot.come_after` takes."""
        for slot, loss in zip(self.slots.values(), losses, strict=True):
            slot.come_after(*loss)

    def reset(
        self, which: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any] | None
    ) -> Told:
        """Begin an episode in some envs."""
        told = []
        for i, seed in zip(which, seeds, strict=True):
            self.begin(i)
            self._at = i
            info = self.slots[i].reset(seed, options)
            if info:
                told.append((i, info))
        return told

    def step(self) -> Told:
        """Play a step of all envs, with the actions on the board."""
        told, read, begin = [], self.board.actions.read, self.begin
        for i, slot in self.slots.items():
            begin(i)
            self._at = i
            info = slot.step(read(slot.row))
            if info:
                told.append((i, info))
        return told

    def step_one(self, i: int) -> Info:
        """Play a step of one env."""
        self.begin(i)
        self._at = i
        return self.slots[i].step(self.board.actions.read(self.slots[i].row))

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Call a method of each env, or read an attribute."""
        answers = []
        for i, slot in self.slots.items():
            self.begin(i)
            answers.append(slot.call(name, args, kwargs))
        return answers

    def assign(self, name: str, values: Sequence[Any]) -> None:
        """Set an attribute of each env."""
        for slot, value in zip(self.slots.values(), values, strict=True):
            slot.assign(name, value)

    def error(self, problem: Exception) -> EnvError:
        """The error that tells of an exception by the env at which it came up."""
        return problem if isinstance(problem, EnvError) else self.slots[self._at].error(problem)

    def close(self) -> None:
        """Close the envs: all of them, even if one cannot be."""
        problems = []
        for slot in self.slots.values():
            try:
                slot.close()
            except Exception as problem:
                problems.append(problem)
        if problems:
            raise problems[0]
