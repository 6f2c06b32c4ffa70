"""Ends what Ray leaves when the process that started it is killed. Run beside it by `ray_start`.

Ray's raylet dies with its starter, and actors within seconds. Two agents of Ray's take a minute
to notice, and nobody takes the folder away. Standard input is a pipe from the starter: the word
`done` means that it has ended Ray itself, the end of the pipe without it that it was killed.

Started as a file, with nothing but Python's own modules, so that it costs little.
"""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

PATIENCE = 20.0  # seconds for processes to be gone, and their folder


def began(pid: int) -> str | None:
    """When a process began, by the kernel's clock: nobody else has its number and this."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def below(pid: int) -> list[int]:
    """The processes that a process has started, and those below them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
        if parent == pid:
            found += [int(entry.name), *below(int(entry.name))]
    return found


def main() -> None:
    """Wait for the starter's word, or its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder, *told = sys.argv[1:]
    processes = [(int(pid), since) for pid, _, since in (one.partition(":") for one in told)]
    if sys.stdin.readline().strip() == "done":
        return
    for pid, since in processes:
        if began(pid) == since:
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and any(began(pid) == since for pid, since in processes):
        time.sleep(0.05)
    while time.monotonic() < end and Path(folder).exists():  # actors may still be writing
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.05)


if __name__ == "__main__":
    main()
