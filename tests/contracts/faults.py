"""Programs that make workers and come to grief, and what is left of them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = """
import os, sys, time
import fixfirst
from fixfirst.envs.synthetic import Awkward

if __name__ == "__main__":
    backend, how = sys.argv[1:]
    asleep = Awkward(mean=1e6) if how == "asleep" else Awkward(mean=0.01)
    env = fixfirst.make_vec(3, backend=backend, env=asleep)
    env.reset(seed=0)
    ray = backend == "ray"  # whose actors may be on other machines
    print("workers", *([] if ray else env.worker_pids), flush=True)
    if how == "raise":
        raise RuntimeError("of the caller's own")
    while True:
        env.step([0, 0, 0])
"""


class Program:
    """A program that runs with workers of its own."""

    def __init__(self, folder, backend, how):
        path = folder / "program.py"
        path.write_text(PROGRAM)
        self.process = subprocess.Popen(
            [sys.executable, str(path), backend, how],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        begun, *workers = self.process.stdout.readline().split() or [None]
        assert begun, self.process.stderr.read()
        self.workers = [int(word) for word in workers]

    def interrupt(self):
        """Ctrl-C: the terminal tells the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self):
        self.process.kill()

    def end(self, seconds=60):
        """What it wrote to stderr before it ended."""
        try:
            return self.process.communicate(timeout=seconds)[1]
        finally:
            self.process.kill()


def alive(pid):
    """Whether a process is there and has not just left its shell behind."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def gone(pids, seconds=30):
    """Whether all these processes are gone within so many seconds."""
    until = time.monotonic() + seconds
    while any(map(alive, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def open_files():
    """What this process has open, but for what the reading of it opens."""
    kinds = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            kinds.append(str(entry.readlink()).split(":")[0])
        except FileNotFoundError:
            continue
    return sorted(kinds)


def shared_memory():
    """The names in the place where shared memory has names. Semaphores are there, too, and come
    and go with the process pools of tests that run beside; no env uses one.
    """
    names = {entry.name for entry in Path("/dev/shm").iterdir()}
    return {name for name in names if not name.startswith("sem.mp-")}
