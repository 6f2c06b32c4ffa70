"""HTML that is safe by construction: text is escaped unless it is known to be HTML."""

import re
from collections.abc import Iterable
from html import escape
from typing import TypeAlias

Attribute: TypeAlias = str | int | float | bool | None

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

# Elements that have no content and no end.
_EMPTY = frozenset({"meta", "input", "br", "col"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: Attribute) -> Html:
    """An element. Children that are not `Html` are escaped.

    An attribute that is `None` or `False` is left out, one that is `True` has no value.
    An underscore at the end of a name is dropped, others become hyphens.
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{joined(children)}</{name}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Parts one after another, escaped where need be."""
    return Html(between.join(safe(part) for part in parts))


def safe(text: str) -> Html:
    """Text as HTML."""
    return text if isinstance(text, Html) else Html(escape(_printable(text)))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{escape(_printable(str(value)))}"'


def _printable(text: str) -> str:
    """Without control characters and halves of characters, which no HTML file may hold."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
