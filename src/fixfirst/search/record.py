"""A search as it stands in its run folder: what reports, lists and resumed searches read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fixfirst.search.history import History
from fixfirst.workflow.orders import Workflow


@dataclass(frozen=True)
class Knowledge:
    """What the model knows of every order; of the best ones found, where they cannot be listed.

    All arrays are [orders].
    """

    orders: Sequence[Workflow]
    mean: np.ndarray  # of the environment reward of a policy that keeps to the order
    deviation: np.ndarray  # of that mean: how unsure the model is
    best_chance: np.ndarray  # that no other order is better
    gate_chance: np.ndarray  # that a training for it passes the gate
    length: float = float("nan")  # of the Mallows kernel, in normalised Kendall distance
    spread: float = float("nan")  # the prior's standard deviation
    centre: float = float("nan")  # the prior's mean
    variation: float = 0.0  # the standard deviation from one training of an order to another

    @property
    def whose(self) -> str:
        """Of which orders the best one is the best, in words."""
        there = math.factorial(len(self.orders[0].names))
        listed = len(self.orders)
        return "all orders" if listed == there else f"the {listed:,} orders looked at of {there:,}"

    @property
    def best(self) -> int:
        """The place of the order with the highest mean."""
        return int(np.argmax(self.mean))


@dataclass(frozen=True)
class SearchRecord:
    """Everything that a run folder tells of its search."""

    folder: Path
    settings: Mapping[str, Any]  # as resolved, all defaults written out
    state: str  # "running", "finished", "stopped" (goes on with --resume), or "damaged"
    why: str  # in words: "the episode budget is used up", ...
    history: History
    updates: Mapping[int, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    # the rows of `learn.training.Row` of each trial's training, by the trial's number
    knowledge: Knowledge | None = None  # None as long as no trial has passed
    seconds: float = 0.0  # wall clock in all
    worker_seconds: float = 0.0  # of all its workers, added up
