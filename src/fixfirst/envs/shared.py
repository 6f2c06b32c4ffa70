"""The shared backend: worker processes with several envs each, and results in shared memory.

A step costs a worker two words of four bytes: one that says "all", one that says "done". What is
sent beside them is the infos that are not empty, and the values of spaces without a fixed size.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fixfirst.envs import checks, worker
from fixfirst.envs.arena import Arena, new_memory
from fixfirst.envs.board import Board, Kind
from fixfirst.envs.crew import Told
from fixfirst.envs.crowd import LostWorkerError
from fixfirst.envs.processes import ProcessVectorEnv
from fixfirst.envs.rows import has_fixed_size
from fixfirst.envs.slot import Factory

_ALL = worker.WORD.pack(worker.ALL)


class SharedVectorEnv(ProcessVectorEnv):
    """N envs in `workers` processes, one for each core unless the user says otherwise."""

    style = "words"
    _memory_fd = -1

    def __init__(
        self, factories: Sequence[Factory], *, workers: int | None = None, **common: Any
    ) -> None:
        count = max(1, len(factories))
        if workers is None:
            workers = min(cores(), count)
        self.workers = checks.whole("workers", workers, 1, count)
        super().__init__(factories, **common)

    def _shares(self) -> list[list[int]]:
        ends = [self.num_envs * k // self.workers for k in range(self.workers + 1)]
        return [list(range(ends[k], ends[k + 1])) for k in range(self.workers)]

    def _new_board(self, kind: Kind) -> Board:
        self._in_memory = has_fixed_size(kind.observation) and has_fixed_size(kind.action)
        if not self._in_memory:
            return super()._new_board(kind)
        measure = Arena()
        Board(kind, self.num_envs, self.plan, measure.allocate)
        self._memory_fd = new_memory(measure.size)
        memory = Arena(self._memory_fd)
        return Board(kind, self.num_envs, self.plan, memory.allocate)

    def _settle(self, number: int, kind: Kind, where: Any) -> None:
        if not self._in_memory:
            super()._settle(number, kind, where)
            return
        self._workers.tell(number, ("share", kind, self.num_envs))
        self._workers.pass_memory(number, self._memory_fd)

    def _play(self, numbers: Iterable[int], told: Told) -> list[LostWorkerError]:
        if not self._in_memory:
            return self._play_by_messages(numbers, told)
        asked, lost = self._write(dict.fromkeys(numbers, _ALL))
        return lost + self._hear(asked, lambda number: self._take_word(number, told))

    def _write(self, words: Mapping[int, bytes]) -> tuple[list[int], list[LostWorkerError]]:
        """Send words to workers: those that got them, and those that were lost."""
        crowd = self._workers
        asked: list[int] = []
        lost: list[LostWorkerError] = []
        crowd.set_out(words)
        for number, word in words.items():
            try:
                crowd.write(number, word)
                asked.append(number)
            except LostWorkerError as one:
                lost.append(one)
        return asked, lost

    def _take_word(self, number: int, told: Told) -> int:
        """Take in the word of a worker that is ready; the env it is about."""
        word = self._workers.read_word(number)
        tail = word & 3
        if tail == worker.FAILED:
            raise self._workers.hear(number)
        if tail == worker.TOLD:
            told += self._answer(number)
        return word >> 2

    def _shut(self, at_once: bool) -> None:
        super()._shut(at_once)
        if self._memory_fd >= 0:
            os.close(self._memory_fd)
            self._memory_fd = -1


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
