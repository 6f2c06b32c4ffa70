"""The colours."""

import pytest

from fixfirst.view.palette import PALETTE, variable_of, variables

WORDS = ("ink", "muted", "measured", "failed", "best", "model", "gate")


def brightness(colour):
    """The relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted((brightness(one), brightness(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("behind", ["ground", "raised"])
def test_words_in_any_colour_can_be_read(name, scheme, behind):
    colour, ground = (getattr(PALETTE[one], scheme) for one in (name, behind))
    assert contrast(colour, ground) >= 4.5


def test_every_colour_of_light_ground_stands_for_one_meaning():
    assert len({shade.light for shade in PALETTE.values()}) == len(PALETTE)
    for name, shade in PALETTE.items():
        assert variable_of(shade.light) == f"var(--{name})"
        assert f"--{name}:{shade.dark};" in variables()
    assert variable_of("#123456") == "#123456"
