"""Red's actions: one kind, one function. Each sets the success flag and leaves its events."""

from fixfirst.game import draws, processes
from fixfirst.game.blue import ports_in_use
from fixfirst.game.compile import rule
from fixfirst.game.facts import BRUTE_FORCE_TRIES
from fixfirst.game.state import Game, Ids
from fixfirst.game.tables import (
    BIT,
    BITS_SET,
    BRUTE_FORCE,
    CATCHING_DECOYS,
    ENTRY,
    ESCALATE,
    EXPLOIT,
    FAILURE,
    GUARDED,
    HOSTS,
    IMAGE_SERVICE,
    IMAGE_SOCKETS,
    IMPACT,
    LEADERBOARD,
    NO_SERVICE,
    NONE,
    OP_GATES,
    OPTION_COUNT,
    OPTIONS,
    OT_HOST,
    ROOT_SERVICE,
    SCAN,
    SHOWS,
    STACKABLE,
    SUBNET_HOSTS,
    SUBNET_OF,
    SUCCESS,
    SWEEP,
    UNGUESSABLE,
    UNKNOWN,
    VERSIONED,
)


@rule
def act(game: Game, ids: Ids) -> None:
    """Play the action that red chose."""
    action, target = game.action, int(game.target)
    if action == SWEEP:
        sweep(game, target)
    elif action == SCAN:
        scan(game, ids, target)
    elif action == EXPLOIT:
        exploit(game, ids, target)
    elif action == ESCALATE:
        escalate(game, ids, target)
    elif action == IMPACT:
        impact(game, ids, target)
    else:
        game.success = UNKNOWN


@rule
def reaches(game: Game, subnet: int) -> bool:
    """The guarded subnet is open only while red holds a session on one of its gates."""
    if not GUARDED[subnet]:
        return True
    for host in range(HOSTS):
        if OP_GATES & BIT[host] and game.user[host] + game.root[host] > 0:
            return True
    return False


@rule
def sweep(game: Game, subnet: int) -> None:
    """Learn the addresses of a subnet."""
    if reaches(game, subnet):
        game.known_address |= SUBNET_HOSTS[subnet]
        game.success = SUCCESS
    else:
        game.success = FAILURE


@rule
def scan(game: Game, ids: Ids, host: int) -> None:
    """Learn on which ports a host listens. Succeeds even where there is no answer."""
    game.success = SUCCESS
    game.scan_empty = not reaches(game, SUBNET_OF[host])
    if game.scan_empty:
        return
    ports = ports_in_use(game, host)
    sockets = IMAGE_SOCKETS[host] + BITS_SET[game.decoys[host]] + game.stacked[host]
    if ids is not None:
        for _ in range(sockets):
            draws.ephemeral_port(ids, host)
    if game.rules == LEADERBOARD:
        game.ports[host] |= ports
    else:
        game.ports[host] = ports
    leave_events(game, host, sockets, BITS_SET[ports])


@rule
def exploit(game: Game, ids: Ids, host: int) -> None:
    """Break in through one of the services that red remembers."""
    game.success = FAILURE
    remembered = int(game.ports[host])
    options = OPTION_COUNT[remembered]
    if options == 0:
        return
    chosen = OPTIONS[remembered, options - 1]
    if options > 1:
        other = draws.other_exploit(game, ids, options - 1)
        if not draws.takes_heaviest(game, ids):
            chosen = OPTIONS[remembered, other]
    if not reaches(game, SUBNET_OF[host]):
        return
    service = IMAGE_SERVICE[host, chosen]
    decoy = service == NO_SERVICE and decoy_catches(game, host, chosen)
    if service == NO_SERVICE and not decoy:
        return
    if BRUTE_FORCE[chosen]:
        guess_login(game, ids, host, decoy)
    elif chosen == VERSIONED and not decoy and game.broken & BIT[host]:
        draws.ephemeral_port(ids, host)
        leave_events(game, host, 1, 1)
    elif decoy:
        draws.ephemeral_port(ids, host)
        leave_events(game, host, 2, 1)
    else:
        open_shell(game, ids, host, service == ROOT_SERVICE)


@rule
def decoy_catches(game: Game, host: int, chosen: int) -> bool:
    """Whether a decoy answers this exploit. An image's own service always answers first."""
    if CATCHING_DECOYS[chosen] & game.decoys[host]:
        return True
    return bool(CATCHING_DECOYS[chosen] & BIT[STACKABLE]) and bool(game.stacked[host] > 0)


@rule
def guess_login(game: Game, ids: Ids, host: int, decoy: bool) -> None:
    """Ten tries at a login, from ports of red's first host; then a session without a shell."""
    if ids is not None:
        for _ in range(BRUTE_FORCE_TRIES):
            draws.ephemeral_port(ids, ENTRY)
    if decoy or host == UNGUESSABLE:
        leave_events(game, host, BRUTE_FORCE_TRIES, 1)
        return
    open_session(game, ids, host, False)
    draws.ephemeral_port(ids, host)
    leave_events(game, host, BRUTE_FORCE_TRIES + 1, 1)
    game.success = SUCCESS
    game.known_name |= BIT[host]


@rule
def open_shell(game: Game, ids: Ids, host: int, privileged: bool) -> None:
    """A file, a process and a session, with the rights of the service that was broken."""
    draws.ephemeral_port(ids, host)  # of the request
    draws.ephemeral_port(ids, host)  # of the shell
    game.files |= BIT[host]
    open_session(game, ids, host, privileged)
    if draws.shell_is_seen(game, ids):
        if ids is not None:
            processes.suspect_newest(ids)
        elif not privileged:
            game.marked[host] += 1
        leave_events(game, host, 2, 2)
        game.event_shell = 1
    else:
        leave_events(game, host, 1, 1)
    game.success = SUCCESS
    game.known_name |= BIT[host]


@rule
def open_session(game: Game, ids: Ids, host: int, privileged: bool) -> None:
    """Red gains a session, which has a process of its own."""
    if privileged:
        game.root[host] += 1
    else:
        game.user[host] += 1
    if ids is not None:
        processes.start(game, ids, host, processes.RED_ROOT if privileged else processes.RED_USER)


@rule
def escalate(game: Game, ids: Ids, host: int) -> None:
    """Make a session privileged, unless one is, and look round the host."""
    if game.user[host] + game.root[host] == 0:
        game.success = FAILURE
        return
    if game.root[host] == 0:
        raise_session(game, ids, host)
    game.success = SUCCESS
    game.known_subnet |= BIT[SUBNET_OF[host]]
    game.known_address |= BIT[host]
    if SHOWS[host] != NONE:
        game.known_address |= BIT[SHOWS[host]]
    if host == OT_HOST:
        game.knows_ot = 1


@rule
def raise_session(game: Game, ids: Ids, host: int) -> None:
    """One session of the host, and its process, become privileged; a file is left."""
    which = draws.red_session(game, ids, int(game.user[host]))
    if ids is not None:
        processes.raise_session(ids, host, which)
    elif which < game.marked[host]:
        game.marked[host] -= 1
    game.user[host] -= 1
    game.root[host] += 1
    game.files |= BIT[host]


@rule
def impact(game: Game, ids: Ids, host: int) -> None:
    """Stop the OT service. Counts as a success even where there is nothing left to stop."""
    if game.user[host] + game.root[host] == 0:
        game.success = FAILURE
        return
    if game.root[host] == 0:
        draws.red_session(game, ids, int(game.user[host]))
    if not game.knows_ot:
        game.success = FAILURE
        return
    if game.ot_active and game.ot_has_pid:
        game.ot_running = 0
    game.ot_active = 0
    game.success = SUCCESS


@rule
def leave_events(game: Game, host: int, events: int, ports: int) -> None:
    """What blue's sensors will report of this step."""
    game.event_host = host
    game.events = events
    game.event_ports = ports
