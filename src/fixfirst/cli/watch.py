"""`fixfirst watch`: an episode of a policy, step by step."""

from typing import Annotated

import typer

from fixfirst.cli import console
from fixfirst.cli.options import Horizon, Red, Rng, Rules, Setting, ShortSeed

EXAMPLES = console.examples(
    "fixfirst watch                                react-restore against bline",
    "fixfirst watch --policy random --delay 0.1    faster",
    "fixfirst watch --red meander --step --seed 7  one game, a step at each Enter",
    "fixfirst watch --steps 20-25 | less           these steps, as plain text",
    "fixfirst watch --policy mine:act              the function act of mine.py",
)


def watch(
    policy: Annotated[
        str,
        typer.Option(
            help="Who defends: sleep, monitor, random, react-remove, react-restore; or "
            "module:function, from observations \\[N, 52] to actions \\[N].",
            metavar="NAME",
        ),
    ] = "react-restore",
    red: Red = "bline",
    rules: Rules = "latest",
    horizon: Horizon = 100,
    seed: ShortSeed = None,
    rng: Rng = "fast",
    delay: Annotated[
        float, typer.Option(help="Seconds between steps, in a terminal.", metavar="SECONDS")
    ] = 0.5,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each step.")] = False,
    steps: Annotated[
        str | None,
        typer.Option(
            help="Show only these steps, such as 20 or 20-25.", metavar="RANGE", show_default=False
        ),
    ] = None,
) -> None:
    """See an episode step by step: what blue sees beside what is so."""
    from fixfirst.cli import episode  # noqa: PLC0415 - loads the compiler

    seed = console.short_seed() if seed is None else seed
    shown = episode.range_of(steps, horizon)
    episode.run(policy, Setting(red, rules, horizon, seed, rng), shown, delay, step)
