"""Numba's threads: how they wait, who may use them, and what a fork does to them."""

import contextlib
import os
import threading
from collections.abc import Iterator

import numba
from numba.np.ufunc import parallel

SPINS = 10_000  # some ten microseconds

# Not every threading layer can be entered twice at once, so one caller at a time has the
# threads; and none survives a fork, so a forked child has none.
_in_use = threading.Lock()
_started = False
_lost = False


def lost_in_fork() -> bool:
    """Whether this process is the child of one that had started its threads."""
    return _lost


@contextlib.contextmanager
def borrowed(count: int) -> Iterator[None]:
    """Have so many threads for a threaded entry."""
    global _started
    with _in_use:
        if not _started:
            _start()
            _started = True
        before = numba.get_num_threads()
        numba.set_num_threads(count)
        try:
            yield
        finally:
            numba.set_num_threads(before)


def _start() -> None:
    """Start the threads so that they wait for a moment and then sleep.

    OpenMP's threads would go on spinning for milliseconds. Where anything else wants the cores
    (a learner's threads, another process) each step then waits for a time slice: a hundred times
    slower was measured. Those that sleep at once take longer to wake than a small batch takes
    to play. OpenMP reads its settings when it is loaded; a user's own are left alone.
    """
    name = "GOMP_SPINCOUNT"
    ours = name not in os.environ and "OMP_WAIT_POLICY" not in os.environ
    if ours:
        os.environ[name] = str(SPINS)
    try:
        parallel._launch_threads()
    finally:
        if ours:
            del os.environ[name]


def _after_fork() -> None:
    global _lost, _in_use
    _lost = _started
    _in_use = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
