"""`fixfirst bench search`: every strategy replayed, the model checked."""

from pathlib import Path
from typing import Annotated

import typer

from fixfirst.cli import console, sheets
from fixfirst.cli.learning import must_have_search

EXAMPLES = console.examples(
    "fixfirst bench search                       every strategy, 50 searches on each landscape",
    "fixfirst bench search --quick               a few searches, in under 40 seconds",
    "fixfirst bench search --json search.json    all figures in a file as well",
    "fixfirst bench search --figures plots       regret against trainings, as PNG and SVG",
)


def search(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer searches, < 40 s.")] = False,
    json: sheets.Json = None,
    markdown: sheets.Markdown = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Write the plots to this folder.", metavar="DIR", show_default=False),
    ] = None,
) -> None:
    """Replay every strategy where the best order is known, and check the model."""
    must_have_search()
    from fixfirst.bench import search as bench  # noqa: PLC0415
    from fixfirst.bench import search_report  # noqa: PLC0415
    from fixfirst.judge import report  # noqa: PLC0415

    sheets.must_differ(json, markdown)
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)  # better an error now than after the work
    with console.progress("Searching", bench.parts(quick)) as more:
        found = bench.run(quick, more)
    shown = search_report.sheets(found)
    sheets.show(shown)
    sheets.write(found, json, "All figures are")
    sheets.write(report.markdown(shown), markdown, "The tables are")
    if figures is not None:
        made = search_report.draw(found, figures)
        console.say(f"{len(made)} plots are in {figures}.")
