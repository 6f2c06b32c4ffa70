"""`fixfirst runs`: the searches in a folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from fixfirst.cli import console

if TYPE_CHECKING:
    from fixfirst.search.record import SearchRecord

EXAMPLES = console.examples(
    "fixfirst runs                                 all searches in the folder runs",
    "fixfirst runs elsewhere                       in another folder",
    "fixfirst runs show runs/a                     everything about one of them",
    "fixfirst runs show runs/a --csv orders.csv    its trials as a table",
)


def runs(
    where: Annotated[
        list[str] | None,
        typer.Argument(help="A folder of runs; or `show` and a run.", metavar="[DIR | show RUN]"),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(help="With show: write its trials to this file, by order.", metavar="FILE"),
    ] = None,
) -> None:
    """List the searches in DIR (runs, unless another is named) with their state and best order."""
    from fixfirst.cli.learning import must_have_search  # noqa: PLC0415

    must_have_search()
    words = where or ["runs"]
    if words[0] == "show" and len(words) == 2:
        _show(Path(words[1]), csv)
        return
    if len(words) > 1 or words[0] == "show":
        raise ValueError(f"{' '.join(words)!r} is not understood; give DIR, or show RUN")
    if csv is not None:
        raise ValueError("--csv is for one run: fixfirst runs show RUN --csv FILE")
    _list(Path(words[0]))


def _list(path: Path) -> None:
    from fixfirst.search.reading import read_run, runs_below  # noqa: PLC0415 - both load NumPy

    found = runs_below(path)
    if not found:
        console.say(f"No searches in {path}.")
        return
    table = Table(title=f"Searches in {path}", title_justify="left")
    for name in ("run", "red", "strategy", "state"):
        table.add_column(name)
    for name in ("trials", "episodes", "best reward"):
        table.add_column(name, justify="right")
    table.add_column("best order", overflow="fold")
    for run in found:
        try:
            table.add_row(*_row(read_run(run, knowledge=False)))
        except ValueError as problem:  # one that cannot be read hides no others
            table.add_row(run.name, "", "", "damaged", "", "", "", str(problem))
    console.out.print(table)


def _row(record: "SearchRecord") -> list[str]:
    settings, history = record.settings, record.history
    passed = [trial for trial in history.passed if trial.reward is not None]
    best = max(passed, key=lambda trial: trial.reward or 0.0, default=None)
    red = settings["red_agent"]
    return [
        record.folder.name,
        red if isinstance(red, str) else ", ".join(red),
        settings["strategy"],
        record.state,
        f"{len(history.over)} of {settings['n_workflows']}",
        f"{history.episodes:,}",
        "" if best is None else f"{best.reward:.2f}",
        "" if best is None else str(best.order),
    ]


def _show(run: Path, csv: Path | None) -> None:
    from fixfirst.files import write_whole  # noqa: PLC0415
    from fixfirst.search.reading import read_run  # noqa: PLC0415
    from fixfirst.search.summary import summary_of  # noqa: PLC0415
    from fixfirst.search.tables import as_csv, exported  # noqa: PLC0415

    console.must_be_writable(csv)
    record = read_run(run)
    if csv is not None:
        write_whole(csv, as_csv(exported(record.history.trials)).encode())
        console.say(f"{len(record.history.over)} trials are in {csv}.")
        return
    console.say(summary_of(record).rstrip())
