"""`fixfirst compare`: two defenders in the same games."""

from typing import Annotated

import typer

from fixfirst.cli import console, sheets
from fixfirst.cli.options import RNGS, Horizon, Red
from fixfirst.game.facts import RULES
from fixfirst.version import VERSION

EXAMPLES = console.examples(
    "fixfirst compare react-restore react-remove   against bline, 100 steps",
    "fixfirst compare runs/first react-restore     a trained policy and a script",
    "fixfirst compare mine:old mine:new            two functions of mine.py",
    "fixfirst compare sleep random --json it.json  all figures in a file as well",
)

Defender = Annotated[
    str,
    typer.Argument(
        help="A script, greedy:ORDER, the folder of a training (RUN, RUN@ORDER or drawn:RUN), or "
        "module:function.",
        metavar="WHAT",
        show_default=False,
    ),
]


def compare(
    first: Defender,
    second: Defender,
    red: Red = "bline",
    horizon: Horizon = 100,
    episodes: Annotated[int, typer.Option(help="Episodes of each.", metavar="NUMBER")] = 1000,
    rules: Annotated[
        str | None,
        typer.Option(
            help="Which version of the game. [dim]\\[default: latest; on CybORG its own][/dim]",
            metavar="|".join(RULES),
            show_default=False,
        ),
    ] = None,
    rng: Annotated[
        str | None,
        typer.Option(
            help="Where the dice come from. [dim]\\[default: fast; cpython are CybORG's][/dim]",
            metavar="|".join(RNGS),
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of the first episode; the next has the next.", metavar="NUMBER")
    ] = 0,
    on: sheets.On = "fixfirst",
    json: sheets.Json = None,
    markdown: sheets.Markdown = None,
) -> None:
    """Play two defenders with the same seeds, and print whether one is better."""
    from fixfirst.judge import compare as judge  # noqa: PLC0415 - loads the compiler
    from fixfirst.judge import report  # noqa: PLC0415
    from fixfirst.judge.blues import find_blue  # noqa: PLC0415

    find_blue(second)  # better an error now than after the first has played
    sheets.must_differ(json, markdown)
    with console.progress("Playing", 2 * episodes * horizon) as more:
        compared = judge.compare(
            first, second, red, rules=rules, horizon=horizon, episodes=episodes, seed=seed,
            rng=rng, on=on, on_step=more,
        )  # fmt: skip
    with console.spinner("Testing the difference"):
        shown = [report.comparison(compared)]
    sheets.show(shown)
    sheets.write({"fixfirst": VERSION, **compared.summary()}, json, "All figures are")
    sheets.write(report.markdown(shown), markdown, "The tables are")
