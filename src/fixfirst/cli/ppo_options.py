"""The options of PPO as options of a command. `docs/ppo.md` says why they are what they are."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from fixfirst.learn.options import PPO, SCHEDULES

_DEFAULTS = PPO().as_dict() | {"hidden": "64,64", "steps": "the horizon"}


def _option(name: str, about: str, metavar: str = "NUMBER") -> Any:
    """An option that is left to the file of options, and then to its default."""
    default = f"[dim]\\[default: {_DEFAULTS[name]}][/dim]"
    return typer.Option(
        help=f"{about} {default}", metavar=metavar, show_default=False, rich_help_panel="PPO"
    )


def _switch(name: str, about: str) -> Any:
    """The same for what is done or not."""
    default = f"[dim]\\[default: {'yes' if _DEFAULTS[name] else 'no'}][/dim]"
    return typer.Option(help=f"{about} {default}", show_default=False, rich_help_panel="PPO")


_SCHEDULE = "|".join(SCHEDULES)

File = Annotated[
    Path | None,
    typer.Option(
        help="A TOML file with options of PPO; those given here come before it.", metavar="FILE",
        show_default=False, rich_help_panel="PPO",
    ),
]  # fmt: skip
Hidden = Annotated[
    str | None, _option("hidden", "Widths of the layers of actor and critic each.", "WIDTHS")
]
Steps = Annotated[int | None, _option("steps", "Steps of each game in an update.")]
Minibatch = Annotated[int | None, _option("minibatch", "Samples in a gradient step.")]
Epochs = Annotated[int | None, _option("epochs", "Passes over an update's samples.")]
Gamma = Annotated[float | None, _option("gamma", "Discount of a step.", "0..1")]
GaeLambda = Annotated[float | None, _option("gae_lambda", "Decay of advantages.", "0..1")]
Clip = Annotated[float | None, _option("clip", "How far a ratio may move from 1.")]
ValueCoefficient = Annotated[
    float | None, _option("value_coefficient", "Weight of the critic's loss.")
]
Entropy = Annotated[float | None, _option("entropy", "Weight of the entropy bonus.")]
EntropySchedule = Annotated[
    str | None, _option("entropy_schedule", "How that weight goes to 0, or not.", _SCHEDULE)
]
RewardScale = Annotated[float | None, _option("reward_scale", "What rewards are multiplied by.")]
NormaliseAdvantages = Annotated[
    bool | None, _switch("normalise_advantages", "Mean 0 and spread 1 in each minibatch.")
]
NormaliseValues = Annotated[
    bool | None, _switch("normalise_values", "Returns in units of their running spread.")
]
LearningRate = Annotated[float | None, _option("learning_rate", "Size of Adam's steps.")]
LearningRateSchedule = Annotated[
    str | None, _option("learning_rate_schedule", "How that size goes to 0, or not.", _SCHEDULE)
]
MaxGradientNorm = Annotated[float | None, _option("max_gradient_norm", "Longest gradient.")]
AdamEpsilon = Annotated[float | None, _option("adam_epsilon", "Added to Adam's divisor.")]


def chosen(file: Path | None, options: dict[str, Any]) -> PPO:
    """The options of a file, those given on the command line before them; else the defaults."""
    given = {} if file is None else _read(file)
    for name, value in options.items():
        if name == "hidden" and value is not None:
            given[name] = _widths(value)
        elif value is not None:
            given[name] = value
    return PPO.from_dict(given)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(
            f"{file} is not TOML: {problem}; it has a line like clip = 0.2 for each option"
        ) from None


def _widths(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f"--hidden {text!r} is not understood; it is widths such as 64,64")
    return [int(part) for part in parts]
