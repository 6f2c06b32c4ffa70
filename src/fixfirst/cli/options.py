"""The options that several commands have in common."""

from dataclasses import dataclass
from typing import Annotated

import typer

from fixfirst.game.facts import REDS, RULES

# As `fixfirst.envs.options.RNGS`, which would bring the compiler with it.
RNGS = ("fast", "cpython")

Red = Annotated[
    str,
    typer.Option(help="Who attacks.", metavar="|".join(REDS), autocompletion=lambda: list(REDS)),
]
Rules = Annotated[
    str,
    typer.Option(
        help="Which version of the game.",
        metavar="|".join(RULES),
        autocompletion=lambda: list(RULES),
    ),
]
Horizon = Annotated[int, typer.Option(help="Steps in an episode.", metavar="STEPS")]
Rng = Annotated[
    str,
    typer.Option(
        help="Where the dice come from; cpython gives CybORG's own, with addresses.",
        metavar="|".join(RNGS),
        autocompletion=lambda: list(RNGS),
    ),
]
ShortSeed = Annotated[
    int | None,
    typer.Option(
        help="Play the game of this seed. Without one it is drawn, and printed.",
        metavar="NUMBER",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Setting:
    """Which game is played."""

    red: str
    rules: str
    horizon: int
    seed: int
    rng: str

    def __str__(self) -> str:
        return f"{self.red}, rules {self.rules}, {self.horizon} steps, seed {self.seed}"
