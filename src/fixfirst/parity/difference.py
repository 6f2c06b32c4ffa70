"""Where two games differ: which field, which part of it, and what each of them says."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fixfirst.game import facts, tables
from fixfirst.game.tables import HOST_NAMES, NONE, SUBNET_NAMES

_BIT_NAMES = tuple(
    f"bit {4 * host + k} ({name}: {what})"
    for host, name in enumerate(HOST_NAMES)
    for k, what in enumerate(("activity", "activity", "compromised", "compromised"))
)
_DECOY_NAMES = tuple(decoy.name for decoy in facts.DECOYS)
_EXPLOIT_NAMES = tuple(exploit.name for exploit in facts.EXPLOITS)
_PORT_NAMES = tuple(f"port {port}" for port in tables.PORTS)

# What the places along the axes of a field are called.
_AXES = {
    "bits": (_BIT_NAMES,),
    "bits beyond the observation": (tuple(f"bit {k}" for k in range(52, 56)),),
    "decoys": (HOST_NAMES, _DECOY_NAMES),
    "services": (HOST_NAMES, _EXPLOIT_NAMES),
    "known_ports": (HOST_NAMES, _PORT_NAMES),
    "known_subnets": (SUBNET_NAMES,),
    "generator": ((*(f"word {k}" for k in range(624)), "the place of the next word"),),
}

# What the values of a field are called.
_VALUES = {
    "level": facts.LEVELS,
    "red_action": facts.RED_ACTIONS,
    "red_target": HOST_NAMES,
    "red_subnet": SUBNET_NAMES,
    "red_success": ("failure", "success", "unknown"),
    "belief": facts.BELIEFS,
    "activity": facts.ACTIVITIES,
    "services": ("nothing", "a real service", "a decoy"),
}


@dataclass(frozen=True)
class Difference:
    """The first thing in which a step differs. Step 0 is the reset."""

    step: int
    field: str
    place: str  # the host, bit or the like within the field; "" for a single value
    cyborg: str
    ours: str

    def __str__(self) -> str:
        where = f"{self.field} of {self.place}" if self.place else self.field
        when = f"step {self.step}" if self.step else "the reset"
        return f"{when}: {where} is {self.cyborg} in CybORG, {self.ours} in fixfirst"


def compare(step: int, field: str, cyborg: Any, ours: Any) -> Difference | None:
    """The first place where the values of a field differ, or nothing."""
    theirs, own = np.asarray(cyborg), np.asarray(ours)
    if theirs.shape != own.shape:
        return Difference(step, field, "", f"of shape {theirs.shape}", f"of shape {own.shape}")
    wrong = theirs != own
    if not wrong.any():
        return None
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    return Difference(
        step, field, _place(field, at), _value(field, theirs[at]), _value(field, own[at])
    )


def compare_lists(step: int, field: str, cyborg: Any, ours: Any) -> Difference | None:
    """The first host whose lists differ [13][...], or nothing."""
    for name, theirs, own in zip(HOST_NAMES, cyborg, ours, strict=True):
        if theirs != own:
            return Difference(step, field, name, str(theirs), str(own))
    return None


def _place(field: str, at: tuple[int, ...]) -> str:
    axes = _AXES.get(field, (HOST_NAMES,))
    return " ".join(names[k] for names, k in zip(axes, at, strict=True)) if at else ""


def _value(field: str, value: Any) -> str:
    plain = value.item()
    names = _VALUES.get(field)
    if names is None:
        return repr(plain)
    if plain == NONE:
        return f"{plain} (none)"
    if not 0 <= plain < len(names):
        return f"{plain} (none of {', '.join(names)})"
    return f"{plain} ({names[plain]})"
