"""More workers of a search on this machine, each a process that ends with its parent.

A worker's standard input is a pipe from its parent. The first line says what to do; a line
`stop` asks it to stop at the next safe point; the end of the pipe means that the parent is dead,
however it died, and ends the worker at once.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from fixfirst.search.folder import SearchFolder

ORDERLY = 10.0  # seconds for a worker to end after its work is done


class Team:
    """The further workers of a search."""

    def __init__(self, folder: SearchFolder, count: int, storage: str | None) -> None:
        self._processes = []
        for number in range(2, count + 2):
            log = folder.path / "workers" / f"worker-{number}.log"
            log.parent.mkdir(exist_ok=True)
            with log.open("ab") as told:
                process = subprocess.Popen(  # noqa: S603 - this very program
                    [sys.executable, "-m", __name__],
                    stdin=subprocess.PIPE,
                    stdout=told,
                    stderr=told,
                )
            self._processes.append((number, log, process))
            _write(process, json.dumps({"run": str(folder.path), "storage": storage}))

    def stop(self) -> None:
        """Ask all to stop at their next safe points."""
        for _, _, process in self._processes:
            _write(process, "stop")

    def wait(self) -> list[str]:
        """Wait until all have ended; what there is to say of those that ended badly."""
        found = []
        for number, log, process in self._processes:
            if process.wait() != 0:
                found.append(f"worker {number} ended with code {process.returncode}; see {log}")
        return found

    def end(self) -> None:
        """End those that are still there."""
        for _, _, process in self._processes:
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()
            process.wait()


@contextlib.contextmanager
def team(folder: SearchFolder, count: int, storage: str | None) -> Iterator[Team]:
    """Further workers that are gone when the work is done."""
    made = Team(folder, count, storage)
    try:
        yield made
    finally:
        made.end()


def _write(process: "subprocess.Popen[bytes]", line: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # it has ended
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()


def _obey(orders: TextIO, stop: Callable[[], Any]) -> None:
    """Do what the parent says, until there is none."""
    for line in orders:
        if line.strip() == "stop":
            stop()
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """A worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and tells
    task = json.loads(sys.stdin.readline())
    stopped = threading.Event()
    threading.Thread(target=_obey, args=(sys.stdin, stopped.set), daemon=True).start()
    from fixfirst.search.run import join  # noqa: PLC0415 - the parent may die meanwhile

    join(Path(task["run"]), storage=task["storage"], stop=stopped.is_set)
    sys.stdout.flush()
    os._exit(0)  # not by way of the reading thread's lock on standard input


if __name__ == "__main__":
    main()
