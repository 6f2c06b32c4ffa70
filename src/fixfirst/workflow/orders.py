"""A workflow: the order in which blue is to fix groups of hosts."""

import itertools
import math
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fixfirst.workflow import distances, permutations
from fixfirst.workflow.groups import DEFAULT_GROUPS, Groups

# Orders of the default groups that go by a name.
WELL_KNOWN = {
    "critical-first": "defender > op_server > enterprise > op_host > user",
    "enterprise-focus": "enterprise > defender > op_server > op_host > user",
    "user-priority": "user > defender > enterprise > op_server > op_host",
    "operational-focus": "op_server > op_host > defender > enterprise > user",
    "balanced": "defender > enterprise > op_server > user > op_host",
    "reverse": "user > op_host > enterprise > op_server > defender",
}


@dataclass(frozen=True, init=False, repr=False, slots=True)
class Workflow:
    """A complete order of the groups, the one to be fixed first standing first.

    It is read from `"op_server > enterprise > defender > op_host > user"`. Commas do as well
    as `>`, spaces and case do not matter. A list of group names and a well-known name such
    as `critical-first` are understood too.

    Workflows are values: they never change, equal ones are equal, and they can be keys.
    """

    groups: Groups
    numbers: tuple[int, ...]  # of the groups, the one to be fixed first standing first

    def __init__(self, order: str | Sequence[str], groups: Groups = DEFAULT_GROUPS) -> None:
        names = _names_in(order, groups)
        shown = order if isinstance(order, str) else " > ".join(names)
        _check_complete(names, groups, shown)
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "numbers", tuple(groups.number(name) for name in names))

    # --- other ways to one

    @classmethod
    def from_index(cls, index: int, groups: Groups = DEFAULT_GROUPS) -> "Workflow":
        """The order with this index among all, counted from 0 in lexicographic order."""
        count = math.factorial(len(groups))
        if isinstance(index, bool | np.bool_):
            raise TypeError(f"index={index!r} is a truth value; it is a whole number")
        number = operator.index(index)
        if not 0 <= number < count:
            raise ValueError(
                f"no order has index {number}; {len(groups)} groups have {count} orders, "
                f"0 to {count - 1}"
            )
        return cls._of(permutations.order_at(number, len(groups)), groups)

    @classmethod
    def from_ranks(cls, ranks: Any, groups: Groups = DEFAULT_GROUPS) -> "Workflow":
        """The order in which group g stands in place `ranks[g]`."""
        (row,) = permutations.checked_ranks(np.asarray(ranks)[None], len(groups))
        return cls._of(permutations.inverse(row.tolist()), groups)

    @classmethod
    def from_one_hot(cls, matrix: Any, groups: Groups = DEFAULT_GROUPS) -> "Workflow":
        """The order of a one-hot matrix [k, k], or of the same as one row [k * k]."""
        k = len(groups)
        given = np.asarray(matrix)
        if given.shape not in ((k, k), (k * k,)):
            raise ValueError(
                f"a one-hot matrix has shape {given.shape}; for {k} groups it is ({k}, {k})"
            )
        (ranks,) = permutations.ranks_of_one_hots(given.reshape(1, k, k))
        return cls.from_ranks(ranks, groups)

    @classmethod
    def random(cls, random: np.random.Generator, groups: Groups = DEFAULT_GROUPS) -> "Workflow":
        """An order drawn uniformly."""
        return cls._of(tuple(random.permutation(len(groups)).tolist()), groups)

    @classmethod
    def sample(
        cls, random: np.random.Generator, count: int, groups: Groups = DEFAULT_GROUPS
    ) -> list["Workflow"]:
        """Different orders drawn uniformly."""
        there = math.factorial(len(groups))
        if not 0 <= count <= there:
            raise ValueError(
                f"{count} different orders cannot be drawn; {len(groups)} groups have {there}"
            )
        drawn = random.choice(there, size=count, replace=False)
        return [cls.from_index(index, groups) for index in drawn.tolist()]

    @classmethod
    def every(cls, groups: Groups = DEFAULT_GROUPS) -> Iterator["Workflow"]:
        """All orders by index, one at a time."""
        return (cls._of(order, groups) for order in itertools.permutations(range(len(groups))))

    @classmethod
    def _of(cls, numbers: tuple[int, ...], groups: Groups) -> "Workflow":
        """The workflow of group numbers that are known to be an order."""
        workflow = object.__new__(cls)
        object.__setattr__(workflow, "groups", groups)
        object.__setattr__(workflow, "numbers", numbers)
        return workflow

    # --- what it is

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the groups, the one to be fixed first standing first."""
        return tuple(self.groups.names[number] for number in self.numbers)

    def __str__(self) -> str:
        return " > ".join(self.names)

    def __repr__(self) -> str:
        others = "" if self.groups == DEFAULT_GROUPS else f", {self.groups!r}"
        return f"Workflow({str(self)!r}{others})"

    @property
    def index(self) -> int:
        """Its index among all orders of its groups."""
        return permutations.index_of(self.numbers)

    @property
    def ranks(self) -> np.ndarray:
        """The place of each group [k], 0 for the one to be fixed first."""
        return np.array(permutations.inverse(self.numbers), dtype=np.int64)

    @property
    def one_hot(self) -> np.ndarray:
        """The matrix [k, k] with a 1 where the row's place holds the column's group."""
        return np.asarray(permutations.one_hots(self.ranks[None])[0])

    @property
    def places(self) -> np.ndarray:
        """The place of each host's group [13]."""
        (row,) = places(self.ranks[None], self.groups)
        return np.asarray(row)

    # --- how it lies among the others

    def kendall(self, other: "Workflow", normalised: bool = True) -> float:
        """The share (or number) of pairs of groups that the other puts the other way round."""
        a, b = ranks_of([self]), ranks_of([other], self.groups)
        return float(distances.kendall(a, b, normalised)[0, 0])

    def footrule(self, other: "Workflow", normalised: bool = True) -> float:
        """Spearman's footrule: the places that groups have moved, as a share of the most or as
        a number.
        """
        a, b = ranks_of([self]), ranks_of([other], self.groups)
        return float(distances.footrule(a, b, normalised)[0, 0])

    def neighbours(self, kind: str = "adjacent") -> list["Workflow"]:
        """The orders one move away.

        The moves are `adjacent` (exchange two groups next to each other), `swaps` (exchange
        any two) or `insertions` (move one group to another place).
        """
        if kind not in permutations.NEIGHBOURHOODS:
            raise ValueError(
                f"neighbours {kind!r} are not known; they are one of "
                f"{', '.join(permutations.NEIGHBOURHOODS)}"
            )
        found = permutations.NEIGHBOURHOODS[kind](self.numbers)
        return [self._of(numbers, self.groups) for numbers in found]


# --- many at once ----------------------------------------------------------------------


def ranks_of(workflows: Iterable[Workflow], groups: Groups | None = None) -> np.ndarray:
    """The ranks [n, k] of workflows that all order the same groups (those given, if any)."""
    rows = []
    for workflow in workflows:
        groups = workflow.groups if groups is None else groups
        if workflow.groups != groups:
            raise ValueError(
                f"{workflow!r} orders other groups than the rest: {', '.join(groups.names)}"
            )
        rows.append(permutations.inverse(workflow.numbers))
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(groups) if groups else 0)


def places(ranks: Any, groups: Groups) -> np.ndarray:
    """The place of each host's group [n, 13] under orders given by their ranks [n, k]."""
    rows = permutations.checked_ranks(ranks, len(groups))
    return rows[:, groups.group_of_host].astype(np.uint8)


def well_known(name: str) -> Workflow:
    """The order of the default groups that goes by this name."""
    key = _folded(name)
    if key not in WELL_KNOWN:
        raise ValueError(
            f"no well-known order is named {name!r}; the names are {', '.join(WELL_KNOWN)}"
        )
    return Workflow(WELL_KNOWN[key])


# --- reading ---------------------------------------------------------------------------


def _folded(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _names_in(order: object, groups: Groups) -> list[str]:
    """The group names that the order consists of, as far as it can be read."""
    if not isinstance(order, str):
        if not isinstance(order, Sequence) or not all(isinstance(name, str) for name in order):
            raise TypeError(f"order {order!r} cannot be read; give a text or a list of group names")
        return [name.strip().lower() for name in order]
    names = [name.strip().lower() for name in re.split("[>,]", order)]
    if len(names) == 1 and names[0] not in groups.names and _folded(order) in WELL_KNOWN:
        if groups != DEFAULT_GROUPS:
            raise ValueError(
                f"{order!r} is an order of the default groups; the groups here are "
                f"{', '.join(groups.names)}"
            )
        return _names_in(WELL_KNOWN[_folded(order)], groups)
    return names


def _check_complete(names: list[str], groups: Groups, shown: str) -> None:
    """Every group must be named exactly once, and nothing else."""
    allowed = f"the groups are {', '.join(groups.names)}"
    if names == [""]:
        raise ValueError(f"the order {shown!r} is empty; {allowed}, each to be named once")
    for name in names:
        if not name:
            raise ValueError(f"the order {shown!r} has an empty place; {allowed}")
        if name not in groups.names:
            more = ""
            if len(names) == 1 and groups == DEFAULT_GROUPS:
                more = f"; orders with a name are {', '.join(WELL_KNOWN)}"
            raise ValueError(
                f"the order {shown!r} names {name!r}, which is no group; {allowed}{more}"
            )
        if names.count(name) > 1:
            raise ValueError(f"the order {shown!r} names {name!r} twice; each group stands once")
    missing = [name for name in groups.names if name not in names]
    if missing:
        raise ValueError(
            f"the order {shown!r} leaves out {', '.join(missing)}; an order names every group"
        )
