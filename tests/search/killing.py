"""Kills searches: a program of its own, which `test_kill` runs.

    python tests/search/killing.py random FOLDER LIVES SEED
    python tests/search/killing.py writes FOLDER EVERY

Each search runs in a child that is forked when all slow imports are done. `random` kills it after
random times; `writes` at every so many-th moment at which something is about to be put on the
disk or has just been. The search is resumed until it is over. The last line tells, as JSON, how
often it was killed and what the search was doing then.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from small import small

from fixfirst.search import gp_ucb, posterior  # noqa: F401 - loaded once, before all forks
from fixfirst.search.run import search

SETTINGS = small(
    strategy="gp-ucb", n_envs=8, max_episodes=200, total_episodes=1_100, n_workflows=7,
    warm_start="nearest", score="evaluation", evaluation_episodes=16,
)  # fmt: skip
PATIENCE = 300  # lives after which something must be wrong


def live(run, before=lambda: None):
    """Search in a child. Its process."""
    child = os.fork()
    if child:
        return child
    try:
        before()
        if (run / "config.json").exists():
            search(run, resume=True)
        else:
            search(run, SETTINGS)
    except BaseException as problem:  # it must be seen, and the child must end
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
        os._exit(3)
    os._exit(0)


def moment(run):
    """What the search was at when it was killed."""
    trials = sorted((run / "trials").glob("0*"))
    if not trials:
        return "beginning"
    last = trials[-1]
    if not (last / "train/checkpoints/00000000").exists():
        return "a training begins"
    if any((last / "train/checkpoints").glob(".0*")):
        return "a checkpoint is written"
    if json.loads((last / "trial.json").read_text())["state"] != "running":
        return "between trials"
    if (run / "study.db-journal").exists():
        return "a database commit"
    return "training or judging"


def at_random(run, lives, seed):
    """Kill after random times."""
    draw, seen = random.Random(seed), Counter()
    longest, before = 0.5, progress(run)
    for _ in range(PATIENCE):
        child = live(run)
        until = time.monotonic() + draw.random() * longest
        while time.monotonic() < until or sum(seen.values()) >= lives:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return finish(seen, status)
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        seen[moment(run)] += 1
        # Lives are so long that about one in two gets somewhere, however busy the machine is.
        after = progress(run)
        longest *= 1.25 if after == before else 0.7
        before = after
    raise SystemExit("it never ended")


def progress(run):
    """What there is of the search."""
    return sorted(str(path) for path in run.glob("trials/*/train/checkpoints/*"))


def at_writes(run, every):
    """Kill before or after a write: life n at the (n * every)-th."""
    seen = Counter()
    for number in range(1, PATIENCE):
        child = live(run, lambda at=number * every: die_at(at))
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return finish(seen, status)
        seen[moment(run)] += 1
    raise SystemExit("it never ended")


def die_at(moments):
    """Die at the given moment of those around writes."""
    left = moments

    def count():
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(function):
        def wrapped(*arguments, **options):
            count()
            done = function(*arguments, **options)
            count()
            return done

        return wrapped

    os.fsync, Path.replace = around(os.fsync), around(Path.replace)
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    event.listen(Engine, "before_cursor_execute", lambda *_: count())
    event.listen(Engine, "commit", lambda _: count())


def finish(seen, status):
    """Tell how it went."""
    print(json.dumps({"kills": sum(seen.values()), "moments": seen}))
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    how, folder, *numbers = sys.argv[1:]
    kill = {"random": at_random, "writes": at_writes}[how]
    sys.exit(kill(Path(folder), *map(int, numbers)))
