"""Worker processes: started, watched, heard, replaced and ended.

Python's own `multiprocessing` makes the processes and carries messages between them and us.
What it leaves to its users is here: to notice at once that a worker died, to tell one that hangs
from one that works, and to see to it that no worker outlives us.
"""

import contextlib
import multiprocessing
import os
import pickle
import select
import signal
import time
import weakref
from collections.abc import Iterable, Sequence
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle

from fixfirst.envs import fork_server, worker
from fixfirst.envs.arena import Arena, new_memory
from fixfirst.envs.board import Plan
from fixfirst.envs.result_queue import ResultQueue
from fixfirst.envs.slot import Factory

MAKING = 60.0  # seconds that a process may take to start, and an env to be made, at least
GRACE = 5.0  # seconds that envs have to close before their worker is killed

_crowds: "weakref.WeakSet[Crowd]" = weakref.WeakSet()


class LostWorkerError(Exception):
    """A worker is dead, or as good as."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(what)
        self.number, self.what = number, what


class Worker:
    """One worker process, as we see it."""

    def __init__(self, process: Any, link: Connection) -> None:
        self.process, self.link = process, link
        self.fd = link.fileno()
        self.heard = False  # anything from it


class Crowd:
    """The worker processes of a vector env. `shares` are the envs of each."""

    def __init__(
        self, shares: Sequence[Sequence[int]], factories: Sequence[Factory], plan: Plan,
        start_method: str, timeout: float, style: str, queue: ResultQueue | None = None,
    ) -> None:  # fmt: skip
        self.shares = [list(share) for share in shares]
        self._factories, self._plan, self._style = factories, plan, style
        self._method, self._timeout = start_method, timeout
        self._look_at = 0.0  # when to look for workers that hang; never later than one can be late
        self._context = multiprocessing.get_context(start_method)
        if start_method == "forkserver":
            fork_server.preload(factories)
        self._poll = select.poll()
        self._numbers: dict[int, int] = {}  # of workers, by the file descriptor of their link
        self._queue = queue
        self._mail: dict[int, Any] = {}  # what came on the queue and was not yet heard
        if queue is not None:
            self._poll.register(queue.fileno(), select.POLLIN)
        self.workers: list[Worker | None] = [None] * len(self.shares)
        self._pulse_fd = new_memory(len(self.shares) * worker.PULSE.itemsize)
        self.pulse = Arena(self._pulse_fd).allocate((len(self.shares),), worker.PULSE)
        # Its other end is never written to: that it closes tells workers that we are gone.
        self._life, self._life_of_workers = os.pipe()[::-1]
        _crowds.add(self)

    # --- beginning and end

    def start_all(self) -> None:
        """Start all workers."""
        for number in range(len(self.shares)):
            self.start(number)

    def start(self, number: int) -> None:
        """Start a worker. It makes its envs and tells what they are like."""
        ours, theirs = self._context.Pipe()
        share = self.shares[number]
        cargo: Any = (share, [self._factories[i] for i in share], self._plan)
        if self._method != "fork":
            cargo = _packed(cargo)
        process: Any = self._context.Process(  # type: ignore[attr-defined]
            target=worker.main,
            args=(
                theirs, _Handed(self._life_of_workers), _Handed(self._pulse_fd), number,
                self._style, cargo, None if self._queue is None else self._queue.sender(number),
            ),
            name=f"fixfirst-{self._style}-{number}",
            daemon=True,
        )  # fmt: skip
        self.set_out([number])
        self.pulse["env"][number] = share[0]
        self.workers[number] = Worker(process, ours)
        try:
            process.start()
        except BaseException:
            self.workers[number] = None
            ours.close()
            raise
        finally:
            theirs.close()
        self._numbers[ours.fileno()] = number
        self._poll.register(ours.fileno(), select.POLLIN)

    def bury(self, number: int) -> str:
        """Kill a worker if it still lives; how it ended."""
        lost = self.workers[number]
        if lost is None:
            return "was not there"
        self.workers[number] = None
        self._mail.pop(number, None)
        if self._queue is not None:
            self._queue.forget(number)
        self._poll.unregister(lost.fd)
        del self._numbers[lost.fd]
        lost.link.close()
        lost.process.join(0.5)  # one that died by itself is on its way out
        code = lost.process.exitcode
        lost.process.kill()
        lost.process.join()
        lost.process.close()
        if code is None:
            return "was killed by us"
        if code < 0:
            return f"was killed by signal {-code} ({signal.Signals(-code).name})"
        hint = (
            "; a script that makes worker processes does it under if __name__ == '__main__':"
            if code == 1 and not lost.heard
            else ""
        )
        return f"exited with code {code}{hint}"

    def shut(self, at_once: bool) -> None:
        """End all workers: after they have closed their envs, unless it is to be at once."""
        here = [one for one in self.workers if one is not None]
        if not at_once:
            for one in here:
                with contextlib.suppress(OSError):
                    self.send(one, ("close",))
            until = time.monotonic() + GRACE
            for one in here:
                one.process.join(max(0.0, until - time.monotonic()))
        for one in here:
            one.process.kill()
        for number in range(len(self.workers)):
            self.bury(number)
        for fd in (self._life, self._life_of_workers, self._pulse_fd):
            if fd >= 0:
                os.close(fd)
        self._life = self._life_of_workers = self._pulse_fd = -1
        if self._queue is not None:
            self._queue.close()

    def abandon(self) -> None:
        """In a fork of the process that made them: they are not our workers."""
        for one in self.workers:
            if one is not None:
                one.link.close()
        self.workers = [None] * len(self.workers)
        if self._life >= 0:
            os.close(self._life)
            self._life = -1

    # --- talking

    def here(self, number: int) -> Worker:
        """A worker, if it is there."""
        found = self.workers[number]
        if found is None:
            raise RuntimeError("these envs belong to the process that made them; this is a fork")
        return found

    def tell(self, number: int, message: Any) -> None:
        """Send a worker something to do."""
        self.set_out([number])
        try:
            self.send(self.here(number), message)
        except OSError:
            raise self.lost(number) from None

    def send(self, one: Worker, message: Any) -> None:
        """Send a message; a worker of style "words" is told that one comes."""
        if self._style == "words":
            os.write(one.fd, worker.WORD.pack(worker.MESSAGE))
        one.link.send(message)

    def write(self, number: int, words: bytes) -> None:
        """Send a worker words."""
        try:
            os.write(self.here(number).fd, words)
        except OSError:
            raise self.lost(number) from None

    def read_word(self, number: int) -> int:
        """The next word of a worker that is ready."""
        try:
            data = os.read(self.here(number).fd, worker.WORD.size)
        except OSError:
            data = b""
        if len(data) < worker.WORD.size:
            raise self.lost(number)
        (word,) = worker.WORD.unpack(data)
        return int(word)

    def hear(self, number: int) -> Any:
        """The next message of a worker that is ready."""
        if number in self._mail:
            return self._mail.pop(number)
        one = self.here(number)
        try:
            message = one.link.recv()
        except (EOFError, OSError):
            raise self.lost(number) from None
        one.heard = True
        return message

    def set_out(self, numbers: Iterable[int]) -> None:
        """Some workers are about to begin: their time counts from now."""
        now = time.monotonic()
        if not now < self._look_at <= now + self._timeout:  # a start may have put it off
            self._look_at = now + self._timeout
        for number in numbers:
            self.pulse["began"][number] = now

    # --- waiting

    def ready(self, pending: Iterable[int], starting: bool = False) -> list[int]:
        """Wait for workers that have something to say.

        An error if one of those `pending` is lost or has been at one env for too long. While some
        are `starting` nobody else is looked at: others may be busy, and are heard when it is time.
        """
        most = max(self._timeout, MAKING) if starting else self._timeout
        poll = self._poll_of(pending) if starting else self._poll
        while True:
            wait = self._look_at - time.monotonic()
            ready = self._poll_once(poll, wait)
            if wait <= 0:  # it may be us who were away: what has come is not late
                self._look_after(pending, most, ready)
            if ready:
                return ready

    def _poll_of(self, numbers: Iterable[int]) -> select.poll:
        poll = select.poll()
        for number in numbers:
            poll.register(self.here(number).fd, select.POLLIN)
        if self._queue is not None:
            poll.register(self._queue.fileno(), select.POLLIN)
        return poll

    def _poll_once(self, poll: select.poll, wait: float) -> list[int]:
        """Who has something to say now or within so many seconds."""
        if self._mail:
            return list(self._mail)
        events = poll.poll(wait * 1000 + 1 if wait > 0 else 0)
        if self._queue is None:
            return [self._numbers[fd] for fd, _ in events]
        ready = [self._numbers[fd] if fd in self._numbers else self._post() for fd, _ in events]
        return [number for number in ready if number >= 0]

    def _post(self) -> int:
        """Take a message off the queue; whose it is, or -1 if it is not whole or too late."""
        assert self._queue is not None
        number, message = self._queue.receive()
        if number >= 0:
            self._mail[number] = message
        return number

    def _look_after(self, pending: Iterable[int], most: float, ready: Sequence[int]) -> None:
        """See who has been at one env for too long and is not `ready`, and when to look again."""
        now = time.monotonic()
        began = {number: float(self.pulse["began"][number]) for number in pending}
        for number, since in began.items():
            if now - since >= most and number not in ready:
                if not self.here(number).process.is_alive():
                    raise self.lost(number)
                raise LostWorkerError(
                    number,
                    f"no answer in {most:g} seconds (timeout=); its worker process was killed",
                )
        self._look_at = max(now + 0.001, min(began.values(), default=now) + most)

    def lost(self, number: int) -> LostWorkerError:
        """The error for a worker that is dead."""
        return LostWorkerError(number, f"its worker process {self.bury(number)}")

    def pass_memory(self, number: int, fd: int) -> None:
        """Give a worker memory that it shares with us."""
        one = self.here(number)
        try:
            reduction.send_handle(one.link, fd, one.process.pid)
        except OSError:
            raise self.lost(number) from None


class _Handed:
    """A file descriptor that goes along to a new process."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __reduce__(self) -> Any:
        return _taken, (reduction.DupFd(self.fd),)


def _taken(handed: Any) -> "_Handed":
    return _Handed(handed.detach())


def _packed(cargo: Any) -> bytes:
    try:
        return bytes(cloudpickle.dumps(cargo))
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        raise ValueError(
            f"env= cannot be sent to worker processes: {problem}; give a function or class that "
            "holds nothing bound to this process, or use start_method='fork'"
        ) from problem


def _after_fork() -> None:
    for crowd in list(_crowds):
        crowd.abandon()


os.register_at_fork(after_in_child=_after_fork)
