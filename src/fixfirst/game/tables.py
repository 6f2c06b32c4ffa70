"""Ids, masks and look-up arrays, all derived from `facts`.

Compiled functions see the arrays as constants. They are 64-bit on purpose: the same
arithmetic must not overflow when the source runs interpreted on NumPy scalars.
"""

from collections.abc import Iterable

import numpy as np

from fixfirst.game import facts

NONE = 255  # "no host", "no action" in a byte

HOST_NAMES = tuple(host.name for host in facts.HOSTS)
SUBNET_NAMES = tuple(subnet.name for subnet in facts.SUBNETS)
HOSTS = len(HOST_NAMES)
SUBNETS = len(SUBNET_NAMES)
EXPLOITS = len(facts.EXPLOITS)
DECOYS = len(facts.DECOYS)


def _numbers(values: Iterable[int]) -> np.ndarray:
    return np.array(list(values), dtype=np.int64)


def _mask(hosts: Iterable[str]) -> int:
    return sum(1 << HOST_NAMES.index(host) for host in hosts)


# --- hosts and subnets ---------------------------------------------------------------

BIT = _numbers(1 << k for k in range(32))  # BIT[h] is host h in a mask of hosts
ENTRY = HOST_NAMES.index(facts.RED_ENTRY)
OT_HOST = HOST_NAMES.index(facts.OT_HOST)
UNGUESSABLE = HOST_NAMES.index(facts.UNGUESSABLE)
OP_GATES = _mask(facts.OP_GATES)
OP_HOSTS = _mask(next(subnet.hosts for subnet in facts.SUBNETS if subnet.guarded))

SUBNET_OF = _numbers(SUBNET_NAMES.index(host.subnet) for host in facts.HOSTS)
SUBNET_HOSTS = _numbers(_mask(subnet.hosts) for subnet in facts.SUBNETS)
GUARDED = _numbers(subnet.guarded for subnet in facts.SUBNETS)
SUBNET_SIZE = _numbers(len(subnet.hosts) for subnet in facts.SUBNETS)
ADDRESS_ORDER = np.array(  # the hosts of a subnet in the order in which they get addresses
    [
        [HOST_NAMES.index(name) for name in subnet.hosts] + [NONE] * (HOSTS - len(subnet.hosts))
        for subnet in facts.SUBNETS
    ],
    dtype=np.int64,
)
SHOWS = _numbers(HOST_NAMES.index(host.shows) if host.shows else NONE for host in facts.HOSTS)
CONFIDENTIALITY = _numbers(host.confidentiality for host in facts.HOSTS)
AVAILABILITY = _numbers(host.availability for host in facts.HOSTS)
BLUE_SESSIONS = _numbers(host.blue_sessions for host in facts.HOSTS)

# --- blue's actions ------------------------------------------------------------------

# Kinds of blue action; 3 + k places decoy k.
SLEEP, MONITOR, ANALYSE, REMOVE, FIRST_DECOY = range(5)
RESTORE = FIRST_DECOY + DECOYS
BLUE_KINDS = (
    "Sleep",
    "Monitor",
    "Analyse",
    "Remove",
    *(decoy.name for decoy in facts.DECOYS),
    "Restore",
)
_AIMED = range(ANALYSE, RESTORE + 1)
ACTION_KIND = _numbers([SLEEP, MONITOR] + [kind for kind in _AIMED for _ in range(HOSTS)])
ACTION_HOST = _numbers([NONE, NONE] + [host for _ in _AIMED for host in range(HOSTS)])
ACTIONS = len(ACTION_KIND)
ACTION_NAMES = tuple(
    BLUE_KINDS[kind] if host == NONE else f"{BLUE_KINDS[kind]} {HOST_NAMES[host]}"
    for kind, host in zip(ACTION_KIND, ACTION_HOST, strict=True)
)

# --- services and ports --------------------------------------------------------------


def _processes(host: facts.Host) -> tuple[facts.Process, ...]:
    return facts.IMAGES[host.image].processes


PORTS = tuple(
    sorted(
        {p for image in facts.IMAGES.values() for proc in image.processes for p in proc.ports}
        | {decoy.opened for decoy in facts.DECOYS}
        | {decoy.checked for decoy in facts.DECOYS}
    )
)


def _ports(ports: Iterable[int]) -> int:
    return sum(1 << PORTS.index(port) for port in set(ports))


IMAGE_PORTS = _numbers(_ports(p for proc in _processes(h) for p in proc.ports) for h in facts.HOSTS)
IMAGE_SOCKETS = _numbers(sum(len(proc.ports) for proc in _processes(h)) for h in facts.HOSTS)

DECOY_CHECKED = _numbers(_ports([decoy.checked]) for decoy in facts.DECOYS)
DECOY_OPENED = _numbers(_ports([decoy.opened]) for decoy in facts.DECOYS)
(STACKABLE,) = (k for k, decoy in enumerate(facts.DECOYS) if decoy.stackable)
DECOY_FITS_OS = np.array(
    [
        [decoy.os in ("", facts.IMAGES[host.image].os) for host in facts.HOSTS]
        for decoy in facts.DECOYS
    ]
)
# Remove ends only processes whose user is neither root nor SYSTEM.
DECOY_REMOVABLE = np.array(
    [
        [not decoy.privileged and host.blue_user not in ("root", "SYSTEM") for host in facts.HOSTS]
        for decoy in facts.DECOYS
    ]
)

# A mask of decoy kinds -> the ports they open, and how many sockets that is.
DECOYS_PORTS = _numbers(
    _ports(decoy.opened for k, decoy in enumerate(facts.DECOYS) if kinds >> k & 1)
    for kinds in range(1 << DECOYS)
)
BITS_SET = _numbers(bin(mask).count("1") for mask in range(1 << max(HOSTS, len(PORTS))))

# --- exploits ------------------------------------------------------------------------

NO_SERVICE, USER_SERVICE, ROOT_SERVICE = range(3)


def _service(host: facts.Host, exploit: facts.Exploit) -> int:
    for process in _processes(host):
        if process.kind == exploit.kind and exploit.port in process.ports:
            return ROOT_SERVICE if process.privileged else USER_SERVICE
    return NO_SERVICE


# What the host's image offers to each exploit, and the decoys that catch it.
IMAGE_SERVICE = np.array(
    [[_service(host, exploit) for exploit in facts.EXPLOITS] for host in facts.HOSTS],
    dtype=np.int64,
)
CATCHING_DECOYS = _numbers(
    sum(
        1 << k
        for k, decoy in enumerate(facts.DECOYS)
        if decoy.kind == exploit.kind and decoy.opened == exploit.port
    )
    for exploit in facts.EXPLOITS
)
BRUTE_FORCE = np.array([exploit.brute_force for exploit in facts.EXPLOITS])
VERSIONED = facts.EXPLOITS.index(next(e for e in facts.EXPLOITS if e.name == "HarakaRCE"))
# Hosts whose image runs the versioned service: what `leaderboard` breaks on Restore.
VERSIONED_HOSTS = sum(1 << h for h in range(HOSTS) if IMAGE_SERVICE[h, VERSIONED] != NO_SERVICE)


def _offered(ports: int) -> list[int]:
    def remembers(port: int) -> bool:
        return bool(ports & _ports([port]))

    return [
        e
        for e, exploit in enumerate(facts.EXPLOITS)
        if remembers(exploit.port)
        and (not exploit.also or any(remembers(port) for port in exploit.also))
    ]


def _others(offered: list[int]) -> list[int]:
    heaviest = max(offered, key=lambda e: facts.EXPLOITS[e].weight, default=None)
    return [e for e in offered if e != heaviest] + ([heaviest] if heaviest is not None else [])


# A mask of remembered ports -> how many exploits red can choose from, and which:
# the heaviest one stands last, the others before it in the order of `facts.EXPLOITS`.
OPTION_COUNT = _numbers(len(_offered(ports)) for ports in range(1 << len(PORTS)))
OPTIONS = np.full((1 << len(PORTS), EXPLOITS), NONE, dtype=np.uint8)
for _remembered in range(1 << len(PORTS)):
    _row = _others(_offered(_remembered))
    OPTIONS[_remembered, : len(_row)] = _row

# --- red's plan ----------------------------------------------------------------------

RED_SLEEP, SWEEP, SCAN, EXPLOIT, ESCALATE, IMPACT = range(6)
FAILURE, SUCCESS, UNKNOWN = range(3)
BLINE, MEANDER, SLEEPER = range(len(facts.REDS))
LATEST, LEADERBOARD = range(len(facts.RULES))

FOOTHOLD, GATE = 100, 101  # placeholders for a target that the game decides


def _plan_target(name: str) -> int:
    if name in SUBNET_NAMES:
        return SUBNET_NAMES.index(name)
    return {"foothold": FOOTHOLD, "gate": GATE}.get(name) or HOST_NAMES.index(name)


PLAN_ACTION = _numbers(facts.RED_ACTIONS.index(action) for action, _ in facts.BLINE_PLAN)
PLAN_TARGET = _numbers(_plan_target(target) for _, target in facts.BLINE_PLAN)
PLAN_END = len(facts.BLINE_PLAN) - 1
PLAN_ON_FAILURE = _numbers(facts.BLINE_ON_FAILURE)
PLAN_CHOOSES_FOOTHOLD = 1  # the entry that draws the foothold
PLAN_NEEDS_SCAN = facts.BLINE_PLAN.index(("ExploitRemoteService", "Op_Server0"))
FOOTHOLDS = _numbers(HOST_NAMES.index(name) for name in facts.BLINE_FOOTHOLDS)

# --- blue's table --------------------------------------------------------------------

QUIET, SCANNED, EXPLOITED = range(len(facts.ACTIVITIES))
BELIEVED_NO, BELIEVED_UNKNOWN, BELIEVED_USER, BELIEVED_PRIVILEGED = range(len(facts.BELIEFS))

OBSERVATION_BITS = 4 * HOSTS


def _word(activity: str, belief: str) -> np.uint32:
    bits = np.array(facts.ACTIVITY_BITS[activity] + facts.BELIEF_BITS[belief], dtype=np.uint8)
    return np.uint32(bits.view(np.uint32)[0])


# The four observation bytes of a host as one 32-bit word: [activity, belief].
HOST_WORD = np.array([[_word(a, b) for b in facts.BELIEFS] for a in facts.ACTIVITIES])

# --- process ids (exact draws only) --------------------------------------------------

_MOST = max(len(image.processes) for image in facts.IMAGES.values())
IMAGE_PIDS = np.array(  # padded with 0, which is nobody's pid
    [
        [proc.pid for proc in _processes(host)] + [0] * (_MOST - len(_processes(host)))
        for host in facts.HOSTS
    ],
    dtype=np.int64,
)
OT_PID = next(p.pid for p in facts.IMAGES["OPSRV"].processes if p.kind == facts.OT_SERVICE)
FIRST_SESSIONS = _numbers(HOST_NAMES.index(h) for who in facts.FIRST_SESSIONS for h in who)
