"""Figures and orders as a report says them."""

import math
from collections.abc import Sequence
from typing import Any

from fixfirst.judge.statistics import NORMAL_95
from fixfirst.workflow.orders import Workflow

MINUS = "\N{MINUS SIGN}"
SPACE = "\N{NO-BREAK SPACE}"  # within a figure
NOTHING = "\N{EN DASH}"  # stands where there is no figure
_LENGTHS = (99, 20, 14, 9)  # of a group's name in a plot, tried in turn
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def known(value: float | None) -> bool:
    """Whether there is such a figure."""
    return value is not None and math.isfinite(value)


def number(value: float | None, decimals: int = 1) -> str:
    """A figure with a true minus, or a dash if there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{abs(value):,.{decimals}f}"
    negative = value < 0 and any(digit in "123456789" for digit in text)
    return MINUS + text if negative else text


def decimals_for(uncertainty: float | None) -> int:
    """How many decimals say something, beside such an uncertainty: two digits of it."""
    if uncertainty is None or not math.isfinite(uncertainty) or uncertainty <= 0:
        return 1
    return min(max(1 - math.floor(math.log10(uncertainty)), 0), 3)


def interval(value: float | None, deviation: float | None) -> str:
    """A figure with half of its 95 % interval, if both are known."""
    if not known(value) or not known(deviation):
        return number(value)
    half = NORMAL_95 * float(deviation or 0.0)
    decimals = decimals_for(half)
    return f"{number(value, decimals)}{SPACE}±{SPACE}{number(half, decimals)}"


def percent(share: float | None) -> str:
    """A share in percent; never 0 or 100 where something is left."""
    if share is None or not math.isfinite(share):
        return NOTHING
    if 0 < share < 0.005:
        return f"<{SPACE}1{SPACE}%"
    if 0.995 <= share < 1:
        return f">{SPACE}99{SPACE}%"
    return f"{100 * share:.0f}{SPACE}%"


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 100:
        return f"{seconds:.1f}{SPACE}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 100:
        return f"{minutes}{SPACE}min {rest}{SPACE}s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,}{SPACE}h {minutes}{SPACE}min"


def count(amount: int, what: str, many: str | None = None) -> str:
    """A number of things."""
    return f"{amount:,} {what if amount == 1 else many or what + 's'}"


def listed(items: Sequence[str], last: str = "and") -> str:
    """Items with commas, the last one with a word."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def cut(text: str, most: int) -> str:
    """A text of at most so many characters; one that is cut shows it."""
    return text if len(text) <= most else text[: most - 1] + ELLIPSIS


def short_order(order: Workflow, most: int) -> str:
    """An order of at most about so many characters: long names are cut, then the last ones go."""
    names = list(order.names)
    for length in _LENGTHS:
        text = " > ".join(cut(name, length) for name in names)
        if len(text) <= most:
            return text
    names = [cut(name, _LENGTHS[-1]) for name in names]
    while len(text) > most and len(names) > 1:
        names.pop()
        text = " > ".join([*names, ELLIPSIS])
    return text


def plain(value: Any) -> str:
    """A setting as a person would write it."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {plain(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain(one) for one in value)
    return str(value)
