"""`fixfirst bench backends`: ways to run many environments, against each other and rivals."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixfirst.cli import console, sheets
from fixfirst.files import write_whole

if TYPE_CHECKING:
    from fixfirst.bench.contest import Bout

EXAMPLES = console.examples(
    "fixfirst bench backends out                     the built-in game and a synthetic env",
    "fixfirst bench backends out --cyborg FOLDER     with the real CybORG",
    "fixfirst bench backends out                     the same again: only what is missing",
    "fixfirst bench backends some --only native,pipe just these",
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
    only: Annotated[
        str | None,
        typer.Option(
            help="Just the bouts whose titles begin so, with commas.",
            metavar="TITLE",
            show_default=False,
        ),
    ] = None,
    json: sheets.Json = None,
    markdown: sheets.Markdown = None,
) -> None:
    """Measure the backends: speed, creation, memory, where the time goes, and rivals."""
    from fixfirst.bench import backends as bench  # noqa: PLC0415 - loads the compiler
    from fixfirst.bench import backends_plot, backends_report  # noqa: PLC0415
    from fixfirst.judge import report  # noqa: PLC0415

    sheets.must_differ(json, markdown)
    if cyborg is not None:
        from fixfirst.envs.cyborg import load  # noqa: PLC0415

        load(cyborg)  # better an error now than after the work
    wanted = _wanted(bench.bouts(quick, None if cyborg is None else str(cyborg.resolve())), only)
    with console.progress("Measuring", len(wanted)) as more:
        figures = bench.run(out, wanted, lambda _: more(1))
    rows = bench.rows(figures["bouts"])
    made = backends_report.sheets(figures)
    sheets.show(made)
    for one in figures["bouts"]:
        if "failed" in one:
            console.say(f"Not measured: {one['bout']['title']}: {one['failed']}", style="yellow")
    written = [out / "backends.json", out / "backends.csv", *backends_plot.draw(rows, out)]
    if json is not None:
        console.write_json(json, figures)
        written.append(json)
    if markdown is not None:
        write_whole(markdown, report.markdown(made).encode())
        written.append(markdown)
    console.say(f"Written: {', '.join(map(str, written))}")


def _wanted(bouts: "list[Bout]", only: str | None) -> "list[Bout]":
    if only is None:
        return bouts
    begin = tuple(one.strip() for one in only.split(","))
    found = [bout for bout in bouts if bout.title.startswith(begin)]
    for one in begin:
        if not any(bout.title.startswith(one) for bout in found):
            titles = dict.fromkeys(bout.title.split(",")[0] for bout in bouts)
            raise ValueError(f"no bout begins with {one!r}; they begin with {', '.join(titles)}")
    return found
