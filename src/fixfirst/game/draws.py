"""Every random draw of the game, by name.

Each takes the game and its identities. With identities the draw is CybORG's own, whether
or not anything comes of it; without them (`None`: the fast source) a draw that cannot
change anything observable is not made. Numba prunes the branch that does not apply.
"""

import numpy as np

from fixfirst.game import twister, xoshiro
from fixfirst.game.compile import rule
from fixfirst.game.facts import (
    DEFENDER_SOCKET_ADDRESS,
    DETECTION_CHANCE,
    EPHEMERAL_RANGE,
    HEAVIEST_CHANCE,
    NETWORK_HOSTS,
    NETWORK_SIZE,
    NETWORKS,
)
from fixfirst.game.state import Game, Ids
from fixfirst.game.tables import (
    ADDRESS_ORDER,
    BIT,
    BITS_SET,
    BLUE_SESSIONS,
    FOOTHOLDS,
    HOSTS,
    NONE,
    SUBNET_SIZE,
    SUBNETS,
)


@rule
def addresses(ids: Ids) -> None:
    """Reset: the networks of the subnets and the addresses of their hosts."""
    core = ids
    for s in range(SUBNETS):
        network = twister.below(core, NETWORKS)
        while _drawn_before(core.network, s, network):
            network = twister.below(core, NETWORKS)
        core.network[s] = network
    core.first = NONE
    for s in range(SUBNETS):
        twister.below(core, 1)
        for k in range(NETWORK_HOSTS):
            core.pool[k] = k
        for k in range(SUBNET_SIZE[s]):
            j = twister.below(core, NETWORK_HOSTS - k)
            taken = core.pool[j]
            core.pool[j] = core.pool[NETWORK_HOSTS - k - 1]
            host = ADDRESS_ORDER[s, k]
            core.address[host] = NETWORK_SIZE * core.network[s] + 1 + taken
            if core.address[host] == DEFENDER_SOCKET_ADDRESS:
                core.first = host


@rule
def _drawn_before(networks: Ids, count: int, network: int) -> bool:
    for k in range(count):
        if networks[k] == network:
            return True
    return False


@rule
def ephemeral_port(ids: Ids, host: int) -> None:
    """A port for a new connection. If it is taken, one more is drawn and used unchecked."""
    if ids is None:
        return
    ports = ids.ephemeral
    port = twister.below(ids, EPHEMERAL_RANGE)
    if ports[host, port >> 5] >> (port & 31) & 1:
        port = twister.below(ids, EPHEMERAL_RANGE)
    ports[host, port >> 5] |= BIT[port & 31]


@rule
def blue_session(ids: Ids, host: int) -> None:
    """Which of its sessions on the host blue acts through: of no consequence."""
    if ids is not None:
        twister.below(ids, BLUE_SESSIONS[host])


@rule
def decoy_session(ids: Ids) -> None:
    """The session that owns a decoy: of no consequence."""
    if ids is not None:
        twister.below(ids, 1)


@rule
def foothold(game: Game, ids: Ids) -> int:
    """The user host that B_line goes for."""
    if ids is None:
        return FOOTHOLDS[xoshiro.below(game, len(FOOTHOLDS))]  # type: ignore[no-any-return]
    return FOOTHOLDS[twister.below(ids, len(FOOTHOLDS))]  # type: ignore[no-any-return]


@rule
def other_exploit(game: Game, ids: Ids, others: int) -> int:
    """Which of the exploits besides the heaviest would be taken: each as likely."""
    if ids is None:
        return xoshiro.below(game, others)
    return int(twister.uniform(ids) * others)


@rule
def takes_heaviest(game: Game, ids: Ids) -> bool:
    """Whether red takes the heaviest exploit."""
    if ids is None:
        return xoshiro.chance(game, HEAVIEST_CHANCE)
    return twister.uniform(ids) < HEAVIEST_CHANCE


@rule
def shell_is_seen(game: Game, ids: Ids) -> bool:
    """Whether blue's sensors see a new shell."""
    if ids is None:
        return xoshiro.chance(game, DETECTION_CHANCE)
    return twister.uniform(ids) < DETECTION_CHANCE


@rule
def red_session(game: Game, ids: Ids, sessions: int) -> int:
    """Which of its sessions on a host red uses, by order of creation."""
    if ids is None:
        return xoshiro.below(game, sessions) if sessions > 1 else 0
    return twister.below(ids, sessions)


@rule
def address_order(ids: Ids) -> None:
    """Meander shuffles all addresses."""
    if ids is None:
        return
    order, first = ids.order, ids.first
    k = 0
    if first != NONE:
        order[0] = first
        k = 1
    for host in range(HOSTS):
        if host != first:
            order[k] = host
            k += 1
    twister.shuffle(ids, order)


@rule
def name_order(ids: Ids) -> None:
    """Meander shuffles all names."""
    if ids is None:
        return
    for host in range(HOSTS):
        ids.names[host] = host
    twister.shuffle(ids, ids.names)


@rule
def address_among(game: Game, ids: Ids, mask: int) -> int:
    """The host of the mask that comes first in this turn's order of addresses."""
    if ids is None:
        return xoshiro.pick_bit(game, mask, BITS_SET[mask])
    return _first_of(ids.order, mask)


@rule
def name_among(game: Game, ids: Ids, mask: int) -> int:
    """The host of the mask that comes first in this turn's order of names."""
    if ids is None:
        return xoshiro.pick_bit(game, mask, BITS_SET[mask])
    return _first_of(ids.names, mask)


@rule
def _first_of(order: Ids, mask: int) -> int:
    k = 0
    while not mask & BIT[order[k]]:
        k += 1
    return int(order[k])


@rule
def red_kind(game: Game, mixture: np.ndarray) -> int:
    """Which red plays the next episode, by cumulative probabilities.

    Not a draw of CybORG's: it comes from the fast generator in exact games too, and leaves
    their draws alone.
    """
    value = xoshiro.word(game) / 4294967296.0
    red = 0
    while red < len(mixture) - 1 and value >= mixture[red]:
        red += 1
    return red
