"""What is kept of each game to judge its fixes by an order, and how it is read.

`ALIGNMENT` is a record a game, beside the game's own: the order that the game follows and
the counts of the episode. `compliance` holds the compiled rules that bring it up to date.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fixfirst.game.tables import BIT, HOSTS
from fixfirst.workflow.orders import Workflow, places, ranks_of

# A record as the rules see it. Numba gives it its type.
Alignment: TypeAlias = Any

# When a fix is compliant: by what red holds, or (the historical rule, kept for comparison)
# by which groups this episode's fixes have been aimed at.
COMPLIANCE_RULES = ("held", "attempted")
HELD, ATTEMPTED = range(2)

NO_FIX_COMPLIANCE = 0.5  # the compliance of an episode as long as it has no fix
NO_FIX_COST = 0.2  # what an episode without any fix costs at its end, in units of lambda

ALIGNMENT = np.dtype(
    [
        # --- the order
        ("earlier", "u2", HOSTS),  # by host: mask of the hosts whose group comes before its own
        ("peers", "u2", HOSTS),  # by host: mask of the hosts of its group, itself included
        # --- this episode
        ("fixes", "u4"),
        ("compliant", "u4"),  # of the fixes
        ("compliance", "f8"),  # so far
        ("attempted", "u2"),  # mask of the hosts whose group was the target of a fix
        ("reward", "f8"),  # the alignment reward paid so far
    ],
    align=True,
)


class Terms(NamedTuple):
    """What the alignment reward is made of, the same for all games of a batch."""

    rule: int  # index into COMPLIANCE_RULES
    alignment_lambda: float  # the size of the alignment reward
    bonus: float  # for each compliant fix, in units of lambda
    penalty: float  # for each violation, in units of lambda


# The same as a record, as compiled loops take it.
TERMS = np.dtype(
    [("rule", "u1"), ("alignment_lambda", "f8"), ("bonus", "f8"), ("penalty", "f8")], align=True
)


def terms_record(terms: Terms) -> Any:
    """Terms as an array of one record."""
    return np.array([tuple(terms)], dtype=TERMS).view(np.recarray)


def checked_terms(
    alignment_lambda: float, rule: str = "held", bonus: float = 0.0, penalty: float = 0.0
) -> Terms:
    """The terms, or an error that names the value and what is allowed."""
    if rule not in COMPLIANCE_RULES:
        raise ValueError(
            f"compliance rule {rule!r} is not known; it is one of {', '.join(COMPLIANCE_RULES)}"
        )
    return Terms(
        rule=COMPLIANCE_RULES.index(rule),
        alignment_lambda=_amount("alignment_lambda", alignment_lambda),
        bonus=_amount("bonus", bonus),
        penalty=_amount("penalty", penalty),
    )


def new_alignments(count: int) -> np.ndarray:
    """Memory for the alignments of games; each needs an order before its first episode."""
    return np.zeros(count, dtype=ALIGNMENT).view(np.recarray)


def follow(alignments: np.ndarray, workflows: Workflow | Sequence[Workflow]) -> None:
    """Give all games one order, or each its own.

    The counts are left alone, so an order is given before an episode, never within one.
    """
    given = [workflows] if isinstance(workflows, Workflow) else workflows
    if given is workflows and len(given) != len(alignments):
        raise ValueError(
            f"{len(given)} orders were given for {len(alignments)} games; give one, or one a game"
        )
    if len(given):
        place = places(ranks_of(given), given[0].groups)
        alignments["earlier"] = (place[:, None, :] < place[:, :, None]) @ BIT[:HOSTS]
        alignments["peers"] = (place[:, None, :] == place[:, :, None]) @ BIT[:HOSTS]


def first_wrong_field(alignments: np.ndarray) -> str | None:
    """The name of a field whose value no game can have, for state that came from outside."""
    wrong = {
        "earlier": (alignments["earlier"] >= 2**HOSTS).any(),
        "peers": (alignments["peers"] >= 2**HOSTS).any(),
        "compliant": (alignments["compliant"] > alignments["fixes"]).any(),
        "attempted": (alignments["attempted"] >= 2**HOSTS).any(),
        "compliance": not (np.abs(alignments["compliance"] - 0.5) <= 0.5).all(),
        "reward": not np.isfinite(alignments["reward"]).all(),
    }
    return next((name for name, is_wrong in wrong.items() if is_wrong), None)


@dataclass(frozen=True)
class Compliance:
    """How games have kept to their orders in this episode; every array is [N].

    An object of this class is a window on the records, not a copy, like `TrueState`.
    """

    alignments: Any

    def frozen(self) -> "Compliance":
        """The same, unaffected by later steps."""
        return Compliance(self.alignments.copy())

    @property
    def fixes(self) -> np.ndarray:
        """Removes and Restores."""
        return np.asarray(self.alignments["fixes"])

    @property
    def compliant(self) -> np.ndarray:
        """Fixes that kept to the order."""
        return np.asarray(self.alignments["compliant"])

    @property
    def violations(self) -> np.ndarray:
        """Fixes that did not."""
        return np.asarray(self.fixes - self.compliant)

    @property
    def compliance(self) -> np.ndarray:
        """Compliant fixes / fixes; 0.5 where there is no fix."""
        return np.asarray(self.alignments["compliance"])

    @property
    def alignment_reward(self) -> np.ndarray:
        """The sum of the alignment rewards paid."""
        return np.asarray(self.alignments["reward"])


def _amount(what: str, value: Any) -> float:
    """The value as a float, if it is a finite number of 0 or more."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{what}={value!r} is of type {type(value).__name__}; it is a number")
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"{what}={value!r} makes no sense here; it is a number, 0 or more")
    return number
