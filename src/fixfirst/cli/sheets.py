"""Sheets of results on the screen and in files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from fixfirst.cli import console
from fixfirst.files import write_whole

if TYPE_CHECKING:
    from fixfirst.judge.report import Sheet

MOST_COLUMNS = 8  # in a table with lines around its cells

On = Annotated[
    str,
    typer.Option(
        help="Where to play; cyborg:DIR is the real CybORG.", metavar="fixfirst|cyborg:DIR"
    ),
]
Json = Annotated[
    Path | None,
    typer.Option(help="Write all figures to this file, too.", metavar="FILE", show_default=False),
]
Csv = Annotated[
    Path | None,
    typer.Option(help="Write a line for each episode.", metavar="FILE", show_default=False),
]
Markdown = Annotated[
    Path | None,
    typer.Option(help="Write the tables as Markdown.", metavar="FILE", show_default=False),
]


def show(sheets: "Sequence[Sheet]") -> None:
    """Print sheets: tables, and below them their words."""
    for sheet in sheets:
        if len(sheet.columns) > MOST_COLUMNS:
            _show_wide(sheet)
        else:
            console.out.print(_table(sheet))
        for note in sheet.notes:
            console.say(note)


def _table(sheet: "Sheet") -> Table:
    table = Table(title=sheet.title, title_justify="left")
    for number, column in enumerate(sheet.columns):
        table.add_column(column, justify="right" if number else "left")
    new = len(sheet.rows) - sheet.own
    for number, row in enumerate(sheet.rows):
        style = "bold" if number >= new else ""
        table.add_row(*row, style=style, end_section=number == new - 1)
    return table


def _show_wide(sheet: "Sheet") -> None:
    """Print a sheet of many columns as plain lines. Where a terminal has no room for the words
    beside the figures they get a line of their own.
    """
    rows = [sheet.columns, *sheet.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    beside = not console.out.is_terminal or sum(widths) + len(widths) <= console.out.width
    console.say(sheet.title)
    for number, row in enumerate(rows):
        cells = zip(row[1:], widths[1:], strict=True)
        figures = " ".join(text.rjust(width) for text, width in cells)
        words = row[0].ljust(widths[0]) if beside else f"{row[0]}\n "
        new = number >= len(rows) - sheet.own
        console.say(f"{words} {figures}", style="bold" if new or not number else "")


def must_differ(*paths: Path | None) -> None:
    """Raise unless all files can be written, and are different ones."""
    given = [path.absolute() for path in paths if path is not None]
    for path in given:
        if given.count(path) > 1:
            raise ValueError(f"{path} cannot hold two results; name different files")
        console.must_be_writable(path)


def write(content: dict[str, Any] | str, path: Path | None, what: str) -> None:
    """Write a result to a file, if there is one, and say so."""
    if path is None:
        return
    if isinstance(content, str):
        write_whole(path, content.encode())
    else:
        console.write_json(path, content)
    console.say(f"{what} in {path}.")
