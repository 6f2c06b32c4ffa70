"""`fixfirst report`: the page of a search."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from fixfirst.cli import console
from fixfirst.cli.learning import must_have_search

EXAMPLES = console.examples(
    "fixfirst report runs/bline                    writes runs/bline/report.html",
    "fixfirst report runs/bline --open             and shows it",
    "fixfirst report runs/bline --figures paper    each plot as SVG and PNG as well",
    "fixfirst report runs/bline --out bline.html   somewhere else",
)
NAME = "report.html"


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a search.", metavar="RUN")],
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Write each plot as SVG and PNG into this folder, too.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"Where to write the page. [dim]\\[default: {NAME} in RUN][/dim]",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write what a search has found as one page that opens offline, with its plots and tables.

    The search may still be running.
    """
    from fixfirst.search.reading import read_run  # noqa: PLC0415 - loads the compiler
    from fixfirst.view.report import (  # noqa: PLC0415
        must_have_matplotlib,
        write_figures,
        write_report,
    )

    must_have_matplotlib()
    must_have_search()  # the model
    with console.spinner("Reading the search"):
        record = read_run(run)
    target = run / NAME if out is None else out
    console.must_be_writable(target)
    with console.spinner("Drawing"):
        write_report(record, target)
        drawn = [] if figures is None else write_figures(record, figures)
    console.say(f"The report is in {target}.")
    if figures is not None:
        console.say(f"{len(drawn)} files of plots are in {figures}.")
    if show and not webbrowser.open(target.resolve().as_uri()):
        console.say("No browser could be started here; open the file in one.")
