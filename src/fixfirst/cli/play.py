"""`fixfirst play`: a person defends the network."""

from fixfirst.cli import console
from fixfirst.cli.options import Horizon, Red, Rng, Rules, Setting, ShortSeed

EXAMPLES = console.examples(
    "fixfirst play                            30 steps against bline",
    "fixfirst play --red meander --seed 7     the same game again with the same seed",
    "fixfirst play --rng cpython              with addresses, dice as in CybORG",
    "fixfirst play < actions.txt              plays the lines of a file",
)


def play(
    red: Red = "bline",
    rules: Rules = "latest",
    horizon: Horizon = 30,
    seed: ShortSeed = None,
    rng: Rng = "fast",
) -> None:
    """Defend the network yourself: choose blue's actions by name, step by step.

    Names need not be complete: "rest u1" is Restore User1. The Tab key completes them. The
    word "help" lists what else can be typed. At the end your score is printed, and
    what red did.
    """
    from fixfirst.cli import defence  # noqa: PLC0415 - loads the compiler

    seed = console.short_seed() if seed is None else seed
    defence.run(Setting(red, rules, horizon, seed, rng))
