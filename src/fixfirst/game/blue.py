"""Blue's actions: one kind, one function."""

from fixfirst.game import draws, processes
from fixfirst.game.compile import rule
from fixfirst.game.state import Game, Ids
from fixfirst.game.tables import (
    ACTION_HOST,
    ACTION_KIND,
    ANALYSE,
    BIT,
    DECOY_CHECKED,
    DECOY_FITS_OS,
    DECOYS_PORTS,
    ENTRY,
    FIRST_DECOY,
    IMAGE_PORTS,
    LEADERBOARD,
    MONITOR,
    OT_HOST,
    REMOVE,
    RESTORE,
    STACKABLE,
    VERSIONED_HOSTS,
)


@rule
def act(game: Game, ids: Ids, action: int) -> None:
    """Play blue's numbered action."""
    game.blue_action = action
    kind, host = ACTION_KIND[action], ACTION_HOST[action]
    if kind <= MONITOR:  # the sensors report after every step; asking for it adds nothing
        return
    draws.blue_session(ids, host)
    if kind == ANALYSE:
        analyse(game, host)
    elif kind == REMOVE:
        remove(game, ids, host)
    elif kind == RESTORE:
        restore(game, ids, host)
    else:
        place_decoy(game, ids, host, kind - FIRST_DECOY)


@rule
def analyse(game: Game, host: int) -> None:
    """Look for files of red's."""
    if game.files & BIT[host]:
        game.found = host


@rule
def remove(game: Game, ids: Ids, host: int) -> None:
    """End the processes that the sensors reported, as far as they run without privilege."""
    if ids is None:
        game.user[host] -= game.marked[host]
        game.marked[host] = 0
    else:
        processes.end_suspects(game, ids, host)


@rule
def restore(game: Game, ids: Ids, host: int) -> None:
    """Put the host back to how it was at the reset. Blue's suspicions and red's memory stay."""
    game.user[host] = 0
    game.marked[host] = 0
    game.root[host] = 1 if host == ENTRY else 0
    game.decoys[host] = 0
    game.stacked[host] = 0
    game.files &= ~BIT[host]
    if host == OT_HOST:
        game.ot_running = 1
        game.ot_active = 1
        game.ot_has_pid = 0  # the backup does not know the pid: nothing stops the service again
    if game.rules == LEADERBOARD:
        game.broken |= BIT[host] & VERSIONED_HOSTS
    if ids is not None:
        processes.end_all_but_first(ids, host)
        ids.ephemeral[host, :] = 0


@rule
def ports_in_use(game: Game, host: int) -> int:
    """The mask of local ports on which the host listens."""
    used = IMAGE_PORTS[host] | DECOYS_PORTS[game.decoys[host]]
    if game.stacked[host] > 0:
        used |= DECOYS_PORTS[BIT[STACKABLE]]
    return used  # type: ignore[no-any-return]


@rule
def place_decoy(game: Game, ids: Ids, host: int, decoy: int) -> None:
    """Start a false service, if the system fits and the port it asks for is free."""
    if not DECOY_FITS_OS[decoy, host] or ports_in_use(game, host) & DECOY_CHECKED[decoy]:
        return
    draws.decoy_session(ids)
    if ids is not None:
        pid = processes.start(game, ids, host, decoy)
        processes.record(ids, host, decoy, pid)
    if decoy == STACKABLE:
        game.stacked[host] += 1
    else:
        game.decoys[host] |= BIT[decoy]
    game.placed = host
