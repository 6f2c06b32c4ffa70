"""Names for numbers, and numbers for names."""

import difflib
import operator
from collections.abc import Sequence

from fixfirst.game import facts
from fixfirst.game.tables import ACTION_NAMES, ACTIONS, HOST_NAMES

_ABOUT = {
    "Sleep": "do nothing",
    "Monitor": "read the sensors (they report after every step anyway)",
    "Analyse": "look for files that red left on {host}",
    "Remove": "end the unprivileged processes on {host} that the sensors reported",
    "Restore": "put {host} back to how it was at the start, for a cost of 1",
}


def action_index(name: str) -> int:
    """The number of an action, by its name, upper or lower case."""
    return _find(name, ACTION_NAMES, "action")


def host_index(name: str) -> int:
    """The number of a host, by its name, upper or lower case."""
    return _find(name, HOST_NAMES, "host")


def describe(action: int) -> str:
    """A sentence about an action: `describe(132)` is "Restore Defender: put ..."."""
    try:
        number = operator.index(action)
    except TypeError:
        raise TypeError(
            f"action {action!r} is of type {type(action).__name__}; actions are the whole numbers "
            f"from 0 to {ACTIONS - 1}"
        ) from None
    if not 0 <= number < ACTIONS:
        raise ValueError(f"action {action!r} does not exist; actions are 0 to {ACTIONS - 1}")
    name = ACTION_NAMES[number]
    kind, _, host = name.partition(" ")
    if kind in _ABOUT:
        return f"{name}: {_ABOUT[kind].format(host=host)}"
    decoy = next(d for d in facts.DECOYS if d.name == kind)
    where = f" (on {decoy.os} only)" if decoy.os else ""
    return (
        f"{name}: place a false {decoy.kind} service on port {decoy.opened} of {host}"
        f" if port {decoy.checked} is free there{where}"
    )


def _find(name: str, names: Sequence[str], what: str) -> int:
    folded = {known.lower(): index for index, known in enumerate(names)}
    key = " ".join(str(name).lower().split())
    if key not in folded:
        near = difflib.get_close_matches(key, folded, n=3)
        meant = ", ".join(names[folded[one]] for one in near)
        hint = f"did you mean {meant}" if near else f"they are {names[0]}, {names[1]}, ..."
        raise ValueError(f"no {what} is named {name!r}, among {len(names)}; {hint}")
    return folded[key]
