"""`fixfirst demo`: a small search for the best order, from beginning to end."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from fixfirst.cli import console
from fixfirst.cli.learning import must_have_search
from fixfirst.cli.options import Red

EXAMPLES = console.examples(
    "fixfirst demo                      against B_line, in runs/demo-DATE",
    "fixfirst demo --red meander        against Meander",
    "fixfirst demo runs/mine --seed 4   in a folder of your own, with other dice",
)

# Small enough for three minutes on two cores.
N_WORKFLOWS = 12
MAX_EPISODES = 2_000
N_ENVS = 100


def demo(
    run: Annotated[
        Path | None,
        typer.Argument(help="A new folder; without one, runs/demo-DATE.", metavar="RUN"),
    ] = None,
    red: Red = "bline",
    n_workflows: Annotated[
        int, typer.Option(help="How many orders to try.", metavar="NUMBER")
    ] = N_WORKFLOWS,
    max_episodes: Annotated[
        int, typer.Option(help="Training episodes for each.", metavar="NUMBER")
    ] = MAX_EPISODES,
    seed: Annotated[
        int, typer.Option(help="The same seed, the same search.", metavar="NUMBER")
    ] = 0,
) -> None:
    """Search for the best order of repair: a small search, in under three minutes."""
    must_have_search()
    from fixfirst.cli.search import report  # noqa: PLC0415 - all four load much
    from fixfirst.cli.searching import Display  # noqa: PLC0415
    from fixfirst.search.run import search  # noqa: PLC0415
    from fixfirst.search.settings import Settings  # noqa: PLC0415

    settings = Settings(
        red_agent=red, n_envs=N_ENVS, n_workflows=n_workflows, max_episodes=max_episodes,
        total_episodes=n_workflows * max_episodes, seed=seed,
    )  # fmt: skip
    folder = run or Path("runs") / f"demo-{datetime.now():%Y%m%d-%H%M%S}"
    console.say(
        f"There are 120 orders in which to fix the five groups of machines. {n_workflows} of them "
        f"are tried against {red}: for each a defender is trained to keep to it, and judged; a "
        f"model of all orders says which to try next. Everything goes to {folder}."
    )
    with Display() as show:
        found = search(folder, settings, spectator=show)
    report(found)
    if found.record.state == "stopped":
        raise typer.Exit(130)
    page = _page(folder)
    console.say(f"Report: {page}")
    console.out.print(
        "\n[bold]Try next[/bold]\n"
        "  fixfirst search --help    all settings of a search\n"
        "  fixfirst baselines        what scripted defenders score\n"
        "  fixfirst play             defend the network yourself"
    )


def _page(folder: Path) -> Path:
    """The search as one page that opens offline."""
    from fixfirst.search.reading import read_run  # noqa: PLC0415
    from fixfirst.view.report import write_report  # noqa: PLC0415

    with console.spinner("Drawing the report"):
        return write_report(read_run(folder), folder / "report.html")
