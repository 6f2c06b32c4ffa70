"""What a user may ask of an environment, checked at the door."""

import os
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from gymnasium.vector import AutoresetMode

from fixfirst.envs import checks, kernel
from fixfirst.game.facts import REDS, RULES
from fixfirst.game.state import MAX_HORIZON, bytes_per_game
from fixfirst.workflow.alignment import Terms, checked_terms
from fixfirst.workflow.orders import Workflow

# The checks that are not of games alone.
autoreset_mode, one_of, reset_mask, truth, whole = (
    checks.autoreset_mode,
    checks.one_of,
    checks.reset_mask,
    checks.truth,
    checks.whole,
)

RNGS = ("fast", "cpython")
AUTORESETS = {
    AutoresetMode.NEXT_STEP: kernel.NEXT_STEP,
    AutoresetMode.SAME_STEP: kernel.SAME_STEP,
    AutoresetMode.DISABLED: kernel.DISABLED,
}
Red = str | Sequence[str] | Mapping[str, float]
Orders = Workflow | str | Sequence[Workflow | str] | None

# Below this many games the threads' hand-over costs more than they save.
GAMES_WORTH_THREADS = 1_024


@dataclass(frozen=True)
class Options:
    """Checked options of a batch of games."""

    num_envs: int
    reds: np.ndarray  # u1 [N]: the red of each game, unless there is a mixture
    mixture: np.ndarray  # f8 [3] cumulative probabilities of the reds, or empty
    rules: int
    horizon: int
    exact: bool
    threads: int
    autoreset: AutoresetMode
    orders: tuple[Workflow, ...] = ()  # none, one for all games, or one a game
    terms: Terms | None = None
    memory: bool = False


def checked(
    num_envs: int, red: Red, rules: str, horizon: int, rng: str, threads: int | None,
    autoreset: AutoresetMode | str, orders: Orders = None, terms: Terms | None = None,
    memory: bool = False,
) -> Options:  # fmt: skip
    """The options, or an error that names the value and what is allowed."""
    count = whole("num_envs", num_envs, 1, None)
    length = whole("horizon", horizon, 1, MAX_HORIZON)
    one_of("rules", rules, RULES)
    one_of("rng", rng, RNGS)
    exact = rng == "cpython"
    _fits_memory(count, count * bytes_per_game(exact, length))
    reds, mixture = _reds(red, count)
    return Options(
        num_envs=count,
        reds=reds,
        mixture=mixture,
        rules=RULES.index(rules),
        horizon=length,
        exact=exact,
        threads=_threads(threads, count),
        autoreset=autoreset_mode(autoreset),
        orders=_orders(orders, count),
        terms=checked_terms(0.0) if terms is None else terms,
        memory=truth("memory", memory),
    )


def _threads(threads: int | None, count: int) -> int:
    most = int(numba.config.NUMBA_NUM_THREADS)
    if threads is None:
        return most if count >= GAMES_WORTH_THREADS else 1
    return whole("threads", threads, 1, most)


def _fits_memory(count: int, needed: int) -> None:
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise ValueError(
            f"num_envs={count} takes {needed / 2**30:.1f} GiB of memory; this machine has "
            f"{there / 2**30:.1f} GiB. Ask for fewer games or a shorter horizon"
        )


def _reds(red: Red, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The red of each game [N], and the cumulative mixture (empty if none is drawn)."""
    none = np.zeros(0)
    if isinstance(red, str):
        return np.full(count, REDS.index(one_of("red", red, REDS)), dtype=np.uint8), none
    if isinstance(red, Mapping):
        return np.zeros(count, dtype=np.uint8), _mixture(red)
    if isinstance(red, Sequence | np.ndarray):
        if len(red) != count:
            raise ValueError(f"{len(red)} reds were given for {count} games; give one a game")
        indices = [REDS.index(one_of("red", name, REDS)) for name in red]
        return np.array(indices, dtype=np.uint8), none
    raise ValueError(
        f"red={red!r} is not known; it is one of {', '.join(REDS)}, or one of them for each "
        "game, or a mapping from them to probabilities"
    )


def _orders(orders: Any, count: int) -> tuple[Workflow, ...]:
    """The orders as workflows: none, one for all games, or one a game."""
    if orders is None:
        return ()
    if isinstance(orders, Workflow | str):
        return (_order(orders),)
    if not isinstance(orders, Sequence | np.ndarray):
        raise TypeError(
            f"orders={orders!r} is of type {type(orders).__name__}; give one order, or one a game, "
            "as text or as Workflow"
        )
    given = tuple(_order(order) for order in orders)
    if len(given) != count:
        raise ValueError(
            f"{len(given)} orders were given for {count} games; give one, or one a game"
        )
    if len({order.groups for order in given}) > 1:
        raise ValueError("the orders are of different groups; one batch has one set of groups")
    return given


def _order(order: Workflow | str) -> Workflow:
    return order if isinstance(order, Workflow) else Workflow(order)


def _mixture(red: Mapping[str, float]) -> np.ndarray:
    for name in red:
        one_of("red", name, REDS)
    try:
        weights = np.array([float(red.get(name, 0.0)) for name in REDS])
    except (TypeError, ValueError):
        weights = np.full(len(REDS), np.nan)
    if not np.isfinite(weights).all() or (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError(f"red={dict(red)!r} gives no probabilities: each is 0 or more, sum 1")
    cumulative = np.cumsum(weights)
    # What rounding leaves over goes to the last red that is wanted, never to one that is not.
    cumulative[np.flatnonzero(weights)[-1] :] = 1.0
    return cumulative


def checked_actions(actions: Any, into: np.ndarray, count: int) -> None:
    """Write one action a game into a buffer, or raise and leave the games alone."""
    try:
        given = np.asarray(actions)
    except ValueError:  # lists of unequal length
        given = np.empty((), dtype=object)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(
            f"actions {reprlib.repr(actions)} are of dtype {given.dtype}; they are whole numbers "
            f"from 0 to {count - 1}"
        )
    if given.shape != into.shape:
        raise ValueError(
            f"actions have shape {given.shape}; {len(into)} games take shape {into.shape}"
        )
    np.copyto(into, given, casting="unsafe")
    bad = kernel.first_bad(into, count)
    if bad >= 0:
        raise ValueError(
            f"action {given[bad]} of game {bad} does not exist; actions are 0 to {count - 1}"
        )
