"""How to run a search again: its settings as a file that the search reads."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

# Where a run was kept, not what it did.
_PLACES = ("storage", "checkpoint_dir")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SECRETS = re.compile(r"://.*@")


def shown_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as a report may show them: without names and passwords of databases."""
    return {
        str(name): _SECRETS.sub("://\N{HORIZONTAL ELLIPSIS}@", value)
        if isinstance(value, str)
        else value
        for name, value in settings.items()
    }


def as_toml(settings: Mapping[str, Any]) -> str:
    """The settings as the text of a TOML file. What is open is left out, and so is where the run
    was kept.
    """
    given = {
        name: value for name, value in settings.items() if name not in _PLACES and value is not None
    }
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in given.items())


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        inside = (f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None)
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    return _text(str(value))


def _text(text: str) -> str:
    """A string of TOML: that of JSON, with one more character that has to be written as a code."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
