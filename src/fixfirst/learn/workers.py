"""Work on rows in several threads at once, each thread with the whole of a core to itself.

PyTorch would share every single operation out among its threads and wait for all of them after
each. Here a thread takes its part of the rows through all operations.
"""

import contextlib
import functools
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

T = TypeVar("T")
P = TypeVar("P")


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        threads, "fixfirst-learn", initializer=torch.set_num_threads, initargs=(1,)
    )


# A forked child has none of its parent's threads.
os.register_at_fork(after_in_child=_pool.cache_clear)


class Workers:
    """So many threads, the calling one included."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def parts(self, rows: int) -> list[slice]:
        """Split rows into a part for each thread, about equal; none is empty."""
        count = min(self.threads, rows)
        ends = [rows * k // count for k in range(count + 1)]
        return [slice(a, b) for a, b in itertools.pairwise(ends)]

    def map(self, function: Callable[[P], T], parts: Sequence[P]) -> list[T]:
        """What the function gives for each part, in order; the parts are worked on at once."""
        if len(parts) == 1:
            return [function(parts[0])]
        waiting = [_pool(self.threads - 1).submit(function, part) for part in parts[1:]]
        try:
            first = function(parts[0])
        finally:
            rest = [one.result() for one in waiting]
        return [first, *rest]

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """PyTorch itself works in one thread meanwhile."""
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)
