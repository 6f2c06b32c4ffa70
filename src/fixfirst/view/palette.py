"""The colours of plots and pages, by what they mean, on light and on dark ground.

The hues are those of Okabe and Ito, which people who see colours differently can tell apart,
a little darker on light ground and lighter on dark ground, so that words in them can be read. Marks differ in shape as well.
"""

from typing import NamedTuple


class Shade(NamedTuple):
    """A colour on light ground and on dark ground."""

    light: str
    dark: str


PALETTE = {
    "ink": Shade("#1b1f24", "#e8eaed"),  # words
    "muted": Shade("#57606b", "#a3abb5"),  # words beside the point, axes
    "rule": Shade("#dde1e6", "#363c44"),  # lines of grids and tables
    "ground": Shade("#ffffff", "#15181c"),
    "raised": Shade("#f5f7f9", "#1e2227"),  # boxes, heads of tables
    "measured": Shade("#0072b2", "#62b8f0"),  # trials that passed the gate
    "failed": Shade("#b85100", "#f58f45"),  # trials that did not
    "best": Shade("#00805d", "#35c79b"),  # the best order
    "model": Shade("#8c5a86", "#d79fcf"),  # what the model believes
    "gate": Shade("#9a6700", "#e8b339"),  # the gate
    "faint": Shade("#9fb3c3", "#53677a"),  # one of many
}

LIGHT = {name: shade.light for name, shade in PALETTE.items()}


def variables() -> str:
    """The colours as variables of CSS, for either ground; paper is light."""
    light = _declared({name: shade.light for name, shade in PALETTE.items()})
    dark = _declared({name: shade.dark for name, shade in PALETTE.items()})
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )


def variable_of(colour: str) -> str:
    """The variable that stands for a colour of light ground; any other colour as it is."""
    for name, shade in PALETTE.items():
        if colour == shade.light:
            return f"var(--{name})"
    return colour


def _declared(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())
