"""What all commands share: where they print, their progress bars, their examples."""

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from fixfirst.files import write_whole

if TYPE_CHECKING:
    from fixfirst.judge.play import Played

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

# The seeds that commands draw where none was given: short enough to type again.
SHORT_SEEDS = 1_000_000


def say(text: str, style: str = "") -> None:
    """Print a line of plain words, which are not searched for markup, nor cut to a width."""
    out.print(text, style=style, markup=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print what went wrong: one red line on standard error."""
    line = " ".join(text.split())
    err.print(f"fixfirst: {line}", style="bold red", markup=False, soft_wrap=True)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while work is done; the work tells how much more it has done.
    Where standard error is no terminal nothing is shown.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda more: bar.advance(task, more)


@contextmanager
def spinner_of(what: str) -> Iterator[Callable[[str], None]]:
    """A sign of life that says what is being done as it changes; nothing without a terminal."""
    if not err.is_terminal:
        yield lambda text: None
        return
    with err.status(what) as status:
        yield status.update


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """A sign of life on standard error while work of unknown length is done."""
    if not err.is_terminal:
        yield
        return
    with err.status(what):
        yield


def examples(*lines: str) -> str:
    """The examples below a command's help: each line is a command, two spaces, what it does."""
    return "\n".join(["[bold]Examples[/bold]", *(f"  {line}" for line in lines)])


def score(played: "Played") -> str:
    """A mean with half of its 95 % interval, which a single episode does not have."""
    if played.episodes == 1:
        return f"{played.mean:.1f}"
    return f"{played.mean:.1f} ± {played.half_width:.1f}"


def short_seed() -> int:
    """A seed that nobody chose."""
    return random.SystemRandom().randrange(SHORT_SEEDS)


def must_be_writable(path: Path | None) -> None:
    """Raise if no file can be written there: better before the work than after it."""
    if path is None:
        return
    existed = path.exists()
    with path.open("a"):
        pass
    if not existed:
        path.unlink()


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write figures to a file."""
    write_whole(path, (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())


def clock() -> Callable[[], float]:
    """A stopwatch: call it for the seconds since it was made."""
    started = time.perf_counter()
    return lambda: time.perf_counter() - started
