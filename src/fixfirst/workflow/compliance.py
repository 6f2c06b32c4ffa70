"""The rules by which fixes are judged, compiled into the batch loop.

A game's part of the loop calls `begin` at its reset, `before_action` with the state that
blue's action will meet, and `at_end` after the last step of an episode. What the two
return is the alignment reward of the step, to be added up by the caller.
"""

import numpy as np

from fixfirst.game.compile import rule
from fixfirst.game.state import Game
from fixfirst.game.tables import ACTION_HOST, ACTION_KIND, BIT, ENTRY, HOSTS, REMOVE, RESTORE
from fixfirst.workflow.alignment import (
    ATTEMPTED,
    NO_FIX_COMPLIANCE,
    NO_FIX_COST,
    Alignment,
    Terms,
)


@rule
def begin(alignment: Alignment) -> None:
    """Begin an episode. The order is kept."""
    alignment.fixes = 0
    alignment.compliant = 0
    alignment.compliance = NO_FIX_COMPLIANCE
    alignment.attempted = 0
    alignment.reward = 0.0


@rule
def before_action(game: Game, alignment: Alignment, terms: Terms, action: int) -> float:
    """Judge blue's action by the true state before it. Returns the alignment reward."""
    kind = ACTION_KIND[action]
    if kind not in (REMOVE, RESTORE):
        return 0.0
    target = ACTION_HOST[action]
    if terms.rule == ATTEMPTED:
        compliant = keeps_to_attempted(alignment, target)
    else:
        compliant = keeps_to_held(game, alignment, target)
    before = alignment.compliance
    alignment.fixes += 1
    alignment.compliant += compliant
    alignment.compliance = alignment.compliant / alignment.fixes
    extra = terms.bonus if compliant else -terms.penalty
    paid = terms.alignment_lambda * (alignment.compliance - before + extra)
    alignment.reward += paid
    return paid  # type: ignore[no-any-return]


@rule
def at_end(alignment: Alignment, terms: Terms) -> float:
    """The episode is over. Returns what it costs to have fixed nothing."""
    if alignment.fixes > 0:
        return 0.0
    paid = -NO_FIX_COST * terms.alignment_lambda
    alignment.reward += paid
    return paid


@rule
def keeps_to_held(game: Game, alignment: Alignment, target: int) -> bool:
    """Whether the target is in the first group of the order that red holds, if it holds any."""
    held = held_hosts(game)
    none_earlier = held & alignment.earlier[target] == 0
    some_here = held & alignment.peers[target] != 0
    # `&` and `|` and not `and` and `or`: this is a coin toss that no processor can foresee.
    return none_earlier & (some_here | (held == 0))  # type: ignore[no-any-return]


@rule
def held_hosts(game: Game) -> int:
    """The mask of hosts that red holds.

    Red's first session, on User0, is never lost and does not count. A second one there does.
    """
    held = 0
    for host in range(HOSTS):
        if game.user[host] | game.root[host]:
            held |= BIT[host]
    if np.int64(game.user[ENTRY]) + game.root[ENTRY] < 2:
        held &= ~BIT[ENTRY]
    return held


@rule
def keeps_to_attempted(alignment: Alignment, target: int) -> bool:
    """Whether a fix was aimed at every group before the target's; that one is one of them now."""
    missing = alignment.earlier[target] & ~alignment.attempted
    alignment.attempted |= alignment.peers[target]
    return missing == 0  # type: ignore[no-any-return]
