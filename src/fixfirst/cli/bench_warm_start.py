"""`fixfirst bench warm-start`: whether warm starts are fair to the orders."""

from pathlib import Path
from typing import Annotated

import typer

from fixfirst.cli import console, sheets
from fixfirst.cli.learning import must_have_search
from fixfirst.game.facts import REDS

EXAMPLES = console.examples(
    "fixfirst bench warm-start runs/warm            20 orders, three kinds of warm start",
    "fixfirst bench warm-start runs/warm            the same again: goes on where it was",
    "fixfirst bench warm-start runs/m --red meander --orders 40",
)


def warm_start(
    out: Annotated[Path, typer.Argument(help="The folder of its searches; what is there is kept.")],
    red: Annotated[str, typer.Option(help="Who attacks.", metavar="|".join(REDS))] = "bline",
    orders: Annotated[int, typer.Option(help="How many are tried.", metavar="NUMBER")] = 20,
    episodes: Annotated[
        int, typer.Option(help="Of training, for each order.", metavar="NUMBER")
    ] = 5_000,
    json: sheets.Json = None,
    markdown: sheets.Markdown = None,
) -> None:
    """Try the same orders from scratch and with warm starts, and compare."""
    must_have_search()
    from fixfirst.bench import warm_start as bench  # noqa: PLC0415 - loads PyTorch
    from fixfirst.judge import report  # noqa: PLC0415

    sheets.must_differ(json, markdown)
    with console.progress("Training", orders * len(bench.STARTS)) as more:
        figures = bench.run(out, red, orders, episodes, more)
    shown = bench.sheets(figures)
    sheets.show(shown)
    sheets.write(figures, json, "All figures are")
    sheets.write(report.markdown(shown), markdown, "The table is")
