"""An episode on the screen, step by step."""

import sys
import time
from collections.abc import Iterator

from rich.live import Live

from fixfirst.cli import console, show
from fixfirst.cli.options import Setting
from fixfirst.envs.batch import Batch
from fixfirst.judge.blues import blue
from fixfirst.judge.play import episode

LONGEST_DELAY = 3600.0


def run(policy: str, setting: Setting, shown: range, delay: float, by_hand: bool) -> None:
    """Play an episode and show those of its steps that are wanted."""
    if not 0 <= delay <= LONGEST_DELAY:
        raise ValueError(f"delay={delay} makes no sense here; it is 0 to {LONGEST_DELAY:g} seconds")
    batch = show.new_game(setting)
    steps = episode(blue(policy, setting.seed), batch, policy)
    console.say(f"{policy} against {setting}")
    if by_hand:
        _by_hand(batch, steps, shown)
    elif console.out.is_terminal:
        _by_itself(batch, steps, shown, delay)
    else:
        _as_text(batch, steps, shown)
    state = batch.true_state
    console.say(f"\nScore after {state.step[0]} steps: {state.episode_return[0]:.1f}")


def range_of(text: str | None, horizon: int) -> range:
    """The steps that `20` or `20-25` names; all of them if there is no text."""
    if text is None:
        return range(1, horizon + 1)
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise ValueError(f"steps={text!r} is not a step such as 20 or a range such as 20-25")
    low, high = int(first), int(last or first)
    if not 1 <= low <= high <= horizon:
        raise ValueError(f"steps={text!r} makes no sense here; steps are 1 to {horizon}")
    return range(low, high + 1)


def _by_itself(batch: Batch, steps: Iterator[int], shown: range, delay: float) -> None:
    """A line a step, and below the lines the tables as they change."""
    console.say(show.MOVE_TITLES, style="bold")
    with Live(console=console.out, auto_refresh=False) as live:
        for number in steps:
            if number in shown:
                console.say(show.last_move(batch).line())
                live.update(show.both_tables(batch), refresh=True)
                time.sleep(delay)


def _by_hand(batch: Batch, steps: Iterator[int], shown: range) -> None:
    """One step, then a pause until Enter is pressed."""
    for number in steps:
        if number in shown:
            show.step(batch)
            if number < batch.options.horizon and not _goes_on():
                return


def _goes_on() -> bool:
    """Whether the reader pressed nothing but Enter."""
    console.out.print("Enter: next step, q: stop ", end="", style="dim")
    line = sys.stdin.readline()
    return line != "" and not line.strip()


def _as_text(batch: Batch, steps: Iterator[int], shown: range) -> None:
    """One step below the other."""
    for number in steps:
        if number in shown:
            show.step(batch)
