"""Blue's table: what its sensors make of a step, and what blue goes on believing."""

import numpy as np

from fixfirst.game.compile import rule
from fixfirst.game.state import Game
from fixfirst.game.tables import (
    ACTION_HOST,
    ACTION_KIND,
    BELIEVED_NO,
    BELIEVED_PRIVILEGED,
    BELIEVED_UNKNOWN,
    BELIEVED_USER,
    EXPLOITED,
    HOST_WORD,
    HOSTS,
    NONE,
    QUIET,
    REMOVE,
    RESTORE,
    SCANNED,
)


@rule
def update(game: Game) -> None:
    """Blue's own action first, then red's events, then what an analysis found."""
    _believe_own_action(game)
    if game.event_host != NONE:
        game.activity = interpret(game)
        if game.activity == EXPLOITED:
            game.belief[game.event_host] = BELIEVED_USER
    if game.found != NONE:
        game.belief[game.found] = BELIEVED_PRIVILEGED


@rule
def _believe_own_action(game: Game) -> None:
    kind, host = ACTION_KIND[game.blue_action], ACTION_HOST[game.blue_action]
    if kind == RESTORE:
        game.belief[host] = BELIEVED_NO
    elif kind == REMOVE and game.belief[host] != BELIEVED_NO:
        game.belief[host] = BELIEVED_UNKNOWN


@rule
def interpret(game: Game) -> int:
    """What the items reported of a host look like.

    A decoy placed there in this very step is one of them: it comes first and has no port.
    """
    decoy_first = game.placed == game.event_host
    items = game.events + 1 if decoy_first else int(game.events)
    if items >= 3 and game.event_ports >= 3:
        return SCANNED
    if game.event_shell:
        return EXPLOITED
    if items >= 3 and game.event_ports == 1:
        return EXPLOITED
    return QUIET if decoy_first else SCANNED


@rule
def observe(game: Game, words: np.ndarray) -> None:
    """Write the 52 observation bits, one byte each, as 13 words of four."""
    for host in range(HOSTS):
        words[host] = HOST_WORD[QUIET, game.belief[host]]
    if game.event_host != NONE:
        host = int(game.event_host)
        words[host] = HOST_WORD[game.activity, game.belief[host]]
