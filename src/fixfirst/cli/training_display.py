"""The figures of a training as they come."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.live import Live
from rich.table import Table

from fixfirst.cli import console

if TYPE_CHECKING:
    from fixfirst.learn.training import Row

EVERY = 10  # updates between the plain lines that are printed where there is no terminal


class Display:
    """A table that is redrawn on a terminal, plain lines elsewhere."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._terminal = console.err.is_terminal
        self._live = Live("Starting", console=console.err, transient=True, refresh_per_second=4)
        self._total: int | None = None  # episodes, at most
        self._first: Row | None = None
        self._clock = console.clock()

    def __enter__(self) -> Any:
        if self._terminal:
            self._live.start()
        return self.show

    def __exit__(self, *error: object) -> None:
        if self._terminal:
            self._live.stop()

    def show(self, row: "Row") -> None:
        """Show what an update told."""
        if self._first is None or self._total is None:
            config = json.loads((self._run / "config.json").read_text())
            self._first, self._total, self._clock = row, config["episodes"], console.clock()
        lines = figures(row, self._first, self._clock(), self._total)
        if self._terminal:
            table = Table.grid(padding=(0, 2))
            for name, value in lines:
                table.add_row(name, value)
            self._live.update(table)
        elif row.update % EVERY == 1:
            text = ", ".join(f"{name} {value}" for name, value in lines)
            console.err.print(text, soft_wrap=True)


def figures(row: "Row", first: "Row", seconds: float, total: int) -> list[tuple[str, str]]:
    """What is shown of an update, `seconds` after the first one that was shown."""
    busy = row.play_seconds + row.advantage_seconds + row.update_seconds
    steps, spent = row.steps - first.steps, seconds
    if not steps:  # the first one has nothing but its own time to go by
        steps, spent = row.steps // row.update, busy
    speed = steps / max(spent, 1e-9)
    left = "-"
    if row.episodes:
        rest = max(0, total - row.episodes) * row.steps / row.episodes
        left = f"{_duration(rest / speed)} at most"
    shares = {
        "games": row.game_seconds,
        "networks and draws": row.play_seconds - row.game_seconds,
        "advantages": row.advantage_seconds,
        "update": row.update_seconds,
    }
    return [
        ("episodes", f"{row.episodes:,} of {total:,}"),
        ("environment reward", _figure(row.environment_reward)),
        ("alignment reward", _figure(row.alignment_reward)),
        ("their sum", _figure(row.total_reward)),
        ("compliance", f"{row.compliance:.2f} of {row.fixes:.1f} fixes an episode"),
        ("steps/s", f"{speed:,.0f}"),
        ("time", ", ".join(f"{name} {100 * s / busy:.0f} %" for name, s in shares.items())),
        ("left", left),
    ]


def _figure(mean: float) -> str:
    return "-" if math.isnan(mean) else f"{mean:.2f}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
