"""`fixfirst bench`: the measurements behind every figure in the README."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fixfirst.cli import console
from fixfirst.game.facts import REDS

app = typer.Typer(no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure this project on this machine: the commands behind every figure in the README."""


Json = Annotated[
    Path | None, typer.Option(help="Write all figures to this file, too.", metavar="FILE")
]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer and shorter measurements, < 40 s.")]

GAME_EXAMPLES = console.examples(
    "fixfirst bench game                    everything, some two minutes",
    "fixfirst bench game --quick            the main figures in under 40 seconds",
    "fixfirst bench game --cyborg FOLDER    with the real CybORG, and the ratios to it",
    "fixfirst bench game --json game.json   all figures in a file as well",
)


@app.command(epilog=GAME_EXAMPLES)
def game(
    quick: Quick = False,
    cyborg: Annotated[
        Path | None,
        typer.Option(help="A checkout of cage-challenge-2 to measure too.", metavar="FOLDER"),
    ] = None,
    json: Json = None,
) -> None:
    """Measure the game: steps a second, memory, start-up, and CybORG beside them."""
    from fixfirst.bench import game as bench  # noqa: PLC0415 - loads the compiler

    console.must_be_writable(json)
    if cyborg is not None:
        from fixfirst.envs.cyborg import load  # noqa: PLC0415

        load(cyborg)  # better an error now than after the work
    total = bench.parts(quick, cyborg is not None)
    with console.progress("Measuring", total) as more:
        figures = bench.run(quick, None if cyborg is None else str(cyborg), lambda _: more(1))
    _print(figures)
    if json is not None:
        console.write_json(json, figures)
        console.say(f"All figures are in {json}.")


def _print(figures: dict[str, Any]) -> None:
    machine = figures["machine"]
    console.say(
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB; "
        f"Python {machine['python']}, Numba {machine['numba']}; "
        f"episodes of {figures['horizon']} steps, resets included"
    )
    for rng, blue in dict.fromkeys((row["rng"], row["blue"]) for row in figures["batch"]):
        console.out.print(_speeds(figures, rng, blue))
    console.out.print(_ratios(figures) if "cyborg" in figures else "")
    plain = next(iter(figures["extras"].values()))
    costs = Table(title="4,096 games, B_line, 1 thread, with", title_justify="left")
    for title in ("", "million steps/s", "of the plain game"):
        costs.add_column(title, justify="right" if title else "left")
    for name, speed in figures["extras"].items():
        costs.add_row(name, f"{speed / 1e6:.2f}", f"{100 * speed / plain:.0f} %")
    console.out.print(costs)
    single = figures["single_step_microseconds"]
    console.say("One step of one game: " + _listed(single, "{:.1f} µs"))
    console.say("Memory of one game: " + _listed(figures["bytes_per_game"], "{:,} bytes"))
    table = Table("from an empty process to the first step", title="Start-up, seconds")
    for title in ("import fixfirst", "first ever, compiled", "later, from the cache"):
        table.add_column(title, justify="right")
    for name, seconds in figures["start_up_seconds"].items():
        table.add_row(name, *(f"{seconds[key]:.2f}" for key in ("import", "cold", "warm")))
    console.out.print(table)
    for row in figures["skipped_for_memory"]:
        console.say(f"Not measured, for want of free memory: {row}")


def _speeds(figures: dict[str, Any], rng: str, blue: str) -> Table:
    """A row for each number of games, a column for each red and number of threads."""
    rows = [row for row in figures["batch"] if (row["rng"], row["blue"]) == (rng, blue)]
    table = Table(title=f"Million steps/s, draws {rng}, blue {blue}", title_justify="left")
    table.add_column("games", justify="right")
    columns = list(dict.fromkeys((row["red"], row["threads"]) for row in rows))
    for red, threads in columns:
        table.add_column(f"{red}\n{threads} thread{'s' if threads > 1 else ''}", justify="right")
    found = {(row["games"], row["red"], row["threads"]): row["steps_per_second"] for row in rows}
    for games in sorted({row["games"] for row in rows}):
        speeds = (found.get((games, *column)) for column in columns)
        table.add_row(f"{games:,}", *(f"{s / 1e6:.2f}" if s else "-" for s in speeds))
    return table


def _ratios(figures: dict[str, Any]) -> Table:
    """CybORG, and how many times faster the best batch is, blue random."""
    table = Table(title="Beside the real CybORG, blue random", title_justify="left")
    for title in ("red", "CybORG, steps/s", "cpython draws", "fast draws"):
        table.add_column(title, justify="left" if title == "red" else "right")
    for red in REDS:
        base = figures["cyborg"][red]
        best = {
            rng: max(
                row["steps_per_second"]
                for row in figures["batch"]
                if (row["rng"], row["red"], row["blue"]) == (rng, red, "random")
            )
            for rng in ("cpython", "fast")
        }
        ratios = (f"{best[rng] / base:,.0f} times" for rng in ("cpython", "fast"))
        table.add_row(red, f"{base:,.0f}", *ratios)
    return table


def _listed(values: dict[str, Any], form: str) -> str:
    return "; ".join(f"{name} {form.format(value)}" for name, value in values.items())
