"""The scripted reds: small state machines that choose red's next action."""

from fixfirst.game import draws
from fixfirst.game.compile import rule
from fixfirst.game.state import Game, Ids
from fixfirst.game.tables import (
    BIT,
    BLINE,
    ESCALATE,
    EXPLOIT,
    FAILURE,
    FOOTHOLD,
    GATE,
    IMPACT,
    MEANDER,
    NONE,
    OP_GATES,
    OP_HOSTS,
    OT_HOST,
    PLAN_ACTION,
    PLAN_CHOOSES_FOOTHOLD,
    PLAN_END,
    PLAN_NEEDS_SCAN,
    PLAN_ON_FAILURE,
    PLAN_TARGET,
    RED_SLEEP,
    SCAN,
    SHOWS,
    SUBNETS,
    SUCCESS,
    SWEEP,
)


@rule
def choose(game: Game, ids: Ids) -> None:
    """Let the game's red choose its next action and target."""
    if game.red == BLINE:
        bline(game, ids)
    elif game.red == MEANDER:
        meander(game, ids)
    else:
        intend(game, RED_SLEEP, NONE)


@rule
def intend(game: Game, action: int, target: int) -> None:
    """Note what red is about to do."""
    game.action = action
    game.target = target


@rule
def bline(game: Game, ids: Ids) -> None:
    """Follow the plan: one entry on after a success, back to an earlier one after a failure.

    Entries are fixed when first reached. If the scan before the last break-in brought no
    answer and that entry was never reached, the plan goes on from its second entry.
    """
    if game.success == SUCCESS:
        position = min(int(game.position) + 1, PLAN_END)
    else:
        position = int(PLAN_ON_FAILURE[game.position])
    if position == PLAN_NEEDS_SCAN and game.furthest < PLAN_NEEDS_SCAN and game.scan_empty:
        position = 1
    if position > game.furthest:
        game.furthest = position
        if position == PLAN_CHOOSES_FOOTHOLD:
            game.foothold = draws.foothold(game, ids)
    game.position = position
    target = PLAN_TARGET[position]
    if target == FOOTHOLD:
        target = int(game.foothold)
    elif target == GATE:
        target = SHOWS[game.foothold]
    intend(game, PLAN_ACTION[position], target)


@rule
def meander(game: Game, ids: Ids) -> None:
    """Sweep, scan, escalate, break in: the first of these that is possible, anywhere known."""
    _learn_from_exploit(game)
    _learn_from_escalation(game)
    if game.escalated & BIT[OT_HOST]:
        game.last_host = OT_HOST
        intend(game, IMPACT, OT_HOST)
        return
    for subnet in range(SUBNETS):
        if game.known_subnet & ~game.swept & BIT[subnet]:
            game.swept |= BIT[subnet]
            intend(game, SWEEP, subnet)
            return
    draws.address_order(ids)
    unscanned = game.known_address & ~game.scanned
    if unscanned:
        host = draws.address_among(game, ids, unscanned)
        game.scanned |= BIT[host]
        intend(game, SCAN, host)
        return
    draws.name_order(ids)
    lost = game.mapped & ~game.exploited
    waiting = game.known_name & ~game.escalated & ~lost
    if waiting:
        host = draws.name_among(game, ids, waiting)
        game.escalated |= BIT[host]
        game.last_host = host
        intend(game, ESCALATE, host)
        return
    host = draws.address_among(game, ids, game.known_address & ~game.exploited)
    game.exploited |= BIT[host]
    game.last_address = host
    intend(game, EXPLOIT, host)


@rule
def _learn_from_exploit(game: Game) -> None:
    """After a failed break-in Meander doubts what it holds.

    That is the guarded subnet, or, if it holds nothing there, the enterprise hosts.
    """
    host = int(game.last_address)
    if host == NONE:
        return
    game.last_address = NONE
    if game.success == SUCCESS:
        game.mapped |= BIT[host]
        return
    game.exploited &= ~BIT[host]
    doubted = game.escalated & OP_HOSTS
    if not doubted:
        doubted = game.escalated & OP_GATES
    game.exploited &= ~doubted
    game.escalated &= ~doubted


@rule
def _learn_from_escalation(game: Game) -> None:
    """A host that could not be escalated, or impacted, is open again."""
    host = int(game.last_host)
    if host == NONE:
        return
    game.last_host = NONE
    if game.success == FAILURE:
        game.escalated &= ~BIT[host]
        if game.mapped & BIT[host]:
            game.exploited &= ~BIT[host]
