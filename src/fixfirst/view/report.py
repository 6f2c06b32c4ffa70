"""The report of a search: one page that opens offline, and its plots as files."""

import sys
from pathlib import Path

from fixfirst.files import write_whole
from fixfirst.search.record import SearchRecord


def write_report(record: SearchRecord, target: Path) -> Path:
    """Write the page of a search into a file, whole or not at all."""
    must_have_matplotlib()
    from fixfirst.view.facts import Facts  # noqa: PLC0415 - loads Matplotlib
    from fixfirst.view.page import page  # noqa: PLC0415

    write_whole(target, page(Facts(record)).encode())
    return target


def write_figures(record: SearchRecord, folder: Path) -> list[Path]:
    """Write each plot as SVG and as PNG into a folder, which is made if need be."""
    must_have_matplotlib()
    from fixfirst.view.facts import Facts  # noqa: PLC0415 - loads Matplotlib
    from fixfirst.view.plots import Plot, plots_of  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for plot in plots_of(Facts(record)):
        for name, content in plot.files().items() if isinstance(plot, Plot) else ():
            write_whole(folder / name, content)
            written.append(folder / name)
    return written


def must_have_matplotlib() -> None:
    """Raise an error that says how to get it, if Matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401, PLC0415 - slow to load
    except ModuleNotFoundError:
        raise ValueError(
            f"reports need Matplotlib, which this Python ({sys.executable}) does not have; "
            "install it with: pip install 'fixfirst[search]'"
        ) from None
