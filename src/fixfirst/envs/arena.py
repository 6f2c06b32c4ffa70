"""Memory that processes share. It has no name, so nothing is left of it once they are gone."""

import mmap
import os
import tempfile
from typing import Any

import numpy as np

_LINE = 64  # bytes of a cache line; each array begins one


class Arena:
    """Arrays laid out one after another in memory that other processes can open.

    Whoever asks for the same arrays in the same order gets the same memory. `fd` is its file
    descriptor; without one the arena only measures how much is needed.
    """

    def __init__(self, fd: int | None = None) -> None:
        self.size = 0
        self.fd = fd
        self._memory: mmap.mmap | None = None
        if fd is not None:
            self._memory = mmap.mmap(fd, os.fstat(fd).st_size)

    def allocate(self, shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
        """The next array, of zeros when the memory is new. Called as `numpy.zeros` is."""
        kind = np.dtype(dtype)
        start = -(-self.size // _LINE) * _LINE
        count = int(np.prod(shape))
        self.size = start + count * kind.itemsize
        if self._memory is None or count == 0:
            return np.zeros(shape, kind)
        return np.frombuffer(self._memory, kind, count, start).reshape(shape)


def new_memory(size: int) -> int:
    """The file descriptor of so many bytes of new memory."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("fixfirst", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, max(1, size))
    return fd
