"""One game: its reset and its step, as named phases in their order."""

import numpy as np

from fixfirst.game import agents, blue, draws, processes, red, table
from fixfirst.game.compile import rule
from fixfirst.game.facts import RESTORE_COST
from fixfirst.game.state import Game, Ids
from fixfirst.game.tables import (
    ACTION_KIND,
    AVAILABILITY,
    BIT,
    CONFIDENTIALITY,
    ENTRY,
    HOSTS,
    NONE,
    OT_HOST,
    QUIET,
    RESTORE,
    SUBNET_OF,
    UNKNOWN,
)


@rule
def step(game: Game, ids: Ids, action: int) -> None:
    """Play one step: blue, then red. The green agent sleeps, which draws and changes nothing."""
    _forget_last_step(game)
    blue.act(game, ids, action)
    agents.choose(game, ids)
    red.act(game, ids)
    game.cost = cost(game)
    game.lost += game.cost
    table.update(game)
    game.step += 1


@rule
def _forget_last_step(game: Game) -> None:
    """Events do not outlive their step."""
    game.placed = NONE
    game.found = NONE
    game.event_host = NONE
    game.events = 0
    game.event_ports = 0
    game.event_shell = 0
    game.activity = QUIET


@rule
def cost(game: Game) -> int:
    """What blue pays for the true state and for its action, in tenths of a reward point."""
    total = 0
    for host in range(HOSTS):
        if game.root[host] > 0:
            total += CONFIDENTIALITY[host]
    if not game.ot_running:
        total += AVAILABILITY[OT_HOST]
    if ACTION_KIND[game.blue_action] == RESTORE:
        total += RESTORE_COST
    return total


@rule
def reward(game: Game) -> float:
    """Blue's reward of the last step. Tenths are exact, so this is CybORG's rounded sum."""
    return -np.int64(game.cost) / 10.0


@rule
def reset(game: Game, ids: Ids) -> None:
    """Begin an episode. The generators, the rules, the red and the episode count are kept."""
    _forget_last_step(game)
    game.step = 0
    game.over = 0
    game.lost = 0
    game.cost = 0
    game.blue_action = 0
    for host in range(HOSTS):
        game.user[host] = 0
        game.root[host] = 0
        game.marked[host] = 0
        game.decoys[host] = 0
        game.stacked[host] = 0
        game.ports[host] = 0
        game.belief[host] = 0
    game.root[ENTRY] = 1
    game.files = 0
    game.broken = 0
    game.ot_running = 1
    game.ot_active = 1
    game.ot_has_pid = 1
    game.known_address = BIT[ENTRY]
    game.known_name = BIT[ENTRY]
    game.known_subnet = BIT[SUBNET_OF[ENTRY]]
    game.knows_ot = 0
    game.scan_empty = 0
    game.action = 0
    game.target = NONE
    game.success = UNKNOWN
    game.position = 0
    game.furthest = 0
    game.foothold = NONE
    game.swept = 0
    game.scanned = 0
    game.exploited = 0
    game.escalated = 0
    game.mapped = 0
    game.last_address = NONE
    game.last_host = NONE
    if ids is not None:
        draws.addresses(ids)
        ids.ephemeral[:, :] = 0
        ids.recorded[:, :] = 0
        processes.start_first_sessions(game, ids)
