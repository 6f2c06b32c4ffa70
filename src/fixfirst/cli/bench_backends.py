"""`fixfirst bench backends`: ways to run many environments, against each other and rivals."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fixfirst.cli import console

EXAMPLES = console.examples(
    "fixfirst bench backends out                     the built-in game and a synthetic env",
    "fixfirst bench backends out --cyborg FOLDER     with the real CybORG",
    "fixfirst bench backends out                     the same again: only what is missing",
    "fixfirst bench backends quick --quick           the main figures in under 40 seconds",
)


def backends(
    out: Annotated[
        Path,
        typer.Argument(help="The folder of the results; what is there is kept.", metavar="OUT"),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer and shorter measurements, < 40 s.")
    ] = False,
    cyborg: Annotated[
        Path | None,
        typer.Option(help="A checkout of cage-challenge-2 to measure too.", metavar="FOLDER"),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write all figures to this file, too.", metavar="FILE")
    ] = None,
) -> None:
    """Measure the backends: speed, creation, memory, where the time goes, and rivals."""
    from fixfirst.bench import backends as bench  # noqa: PLC0415 - loads the compiler
    from fixfirst.bench import backends_plot  # noqa: PLC0415

    console.must_be_writable(json)
    if cyborg is not None:
        from fixfirst.envs.cyborg import load  # noqa: PLC0415

        load(cyborg)  # better an error now than after the work
    wanted = bench.bouts(quick, None if cyborg is None else str(cyborg.resolve()))
    with console.progress("Measuring", len(wanted)) as more:
        figures = bench.run(out, wanted, lambda _: more(1))
    rows = bench.rows(figures["bouts"])
    _print(figures, rows)
    written = [out / "backends.json", out / "backends.csv", *backends_plot.draw(rows, out)]
    if json is not None:
        console.write_json(json, figures)
        written.append(json)
    console.say(f"Written: {', '.join(map(str, written))}")


def _print(figures: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    machine = figures["machine"]
    console.say(
        f"{machine['processor']}, {figures['usable_cores']} cores; Python {machine['python']}, "
        f"Gymnasium {machine['gymnasium']}; medians of rounds in which the entries of a bout "
        "take turns"
    )
    console.out.print(_speeds(rows))
    shares = [row for row in rows if "shares" in row]
    if shares:
        console.out.print(_shares(shares))
    for one in figures["bouts"]:
        if "failed" in one:
            console.say(f"Not measured: {one['bout']['title']}: {one['failed']}", style="yellow")
    console.out.print(_bars(figures["bars"]))


def _speeds(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Each bout", title_justify="left")
    for title in ("bout", "entry", "transitions/s", "episodes/s", "created, s", "memory, MiB"):
        table.add_column(title, justify="left" if title in ("bout", "entry") else "right")
    for before, row in zip([{"title": ""}, *rows], rows, strict=False):
        states = "" if row["true_states"] == "never" else f", states {row['true_states']}"
        new = row["title"] != before["title"]
        if new:
            table.add_section()
        table.add_row(
            row["title"] if new else "", f"{row['backend']}{states}",
            f"{row['transitions_per_second']:,.0f}", f"{row['episodes_per_second']:,.1f}",
            f"{row['creation_seconds']:.1f}", f"{row['memory_bytes'] / 2**20:,.0f}",
        )  # fmt: skip
    return table


def _shares(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Where the time goes, % of the wall clock", title_justify="left")
    names = list(rows[0]["shares"])
    for title in ("bout", "entry", *names):
        table.add_column(title, justify="left" if title in ("bout", "entry") else "right")
    for row in rows:
        table.add_row(
            row["title"], f"{row['backend']}, states {row['true_states']}",
            *(f"{100 * row['shares'][name]:.1f}" for name in names),
        )  # fmt: skip
    return table


def _bars(bars: list[dict[str, Any]]) -> Table:
    table = Table(title="The bars", title_justify="left")
    for title in ("", "target", "figure", "", "the lowest of all was with"):
        table.add_column(title, justify="right" if title in ("target", "figure") else "left")
    for bar in bars:
        verdict = "[green]met[/green]" if bar["met"] else "[red]not met[/red]"
        table.add_row(
            bar["what"], f"{bar['target']:.2f}", f"{bar['figure']:.2f}", verdict, bar["where"]
        )
    return table
