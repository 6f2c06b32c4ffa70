"""A queue that many processes put messages on and one takes them off.

Python's own `multiprocessing.Queue` guards its pipe with a lock. A worker that is killed while it
holds the lock takes it along, and all others wait for ever. Here the kernel keeps the parts of a
message whole, each with a line on whose it is, and nothing is locked.
"""

import itertools
import pickle
import socket
import struct
from multiprocessing import reduction
from typing import Any

_PART = 60_000  # bytes; a part has to fit the buffer of a socket
_LINE = struct.Struct("<iiii")  # worker, how often that was replaced, parts to come, bytes


class Sender:
    """A worker's end."""

    def __init__(self, end: socket.socket, number: int, life: int) -> None:
        self._end, self._number, self._life = end, number, life

    def send(self, message: Any) -> None:
        """Put a message on the queue."""
        data = bytes(reduction.ForkingPickler.dumps(message))
        parts = [data[start : start + _PART] for start in range(0, len(data), _PART)]
        for left, part in zip(itertools.count(len(parts) - 1, -1), parts, strict=False):
            self._end.send(_LINE.pack(self._number, self._life, left, len(part)) + part)


class ResultQueue:
    """The end of the one that takes messages off."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._parts: dict[int, list[bytes]] = {}
        self._lives: dict[int, int] = {}  # how often each worker was replaced

    def fileno(self) -> int:
        """What can be waited for."""
        return self._ours.fileno()

    def sender(self, number: int) -> Sender:
        """The end of a worker."""
        return Sender(self._theirs, number, self._lives.get(number, 0))

    def forget(self, number: int) -> None:
        """A worker is gone: what is still under way from it is not wanted."""
        self._lives[number] = self._lives.get(number, 0) + 1
        self._parts.pop(number, None)

    def receive(self) -> tuple[int, Any]:
        """The next part; a worker and its message if that is whole now, else -1."""
        data = self._ours.recv(_LINE.size + _PART)
        number, life, left, size = _LINE.unpack_from(data)
        if life != self._lives.get(number, 0):
            return -1, None
        parts = self._parts.setdefault(number, [])
        parts.append(data[_LINE.size : _LINE.size + size])
        if left:
            return -1, None
        del self._parts[number]
        return number, pickle.loads(b"".join(parts))  # noqa: S301 - from our own worker

    def close(self) -> None:
        """No more of it."""
        self._ours.close()
        self._theirs.close()
