"""The facts of Scenario2, each written once, one named row each.

Nothing here is computed: ids, masks and look-up arrays are derived in `tables`.
The row order of every table is the order the game uses (observations, actions, draws).
"""

from typing import NamedTuple

LINUX, WINDOWS = "Linux", "Windows"


class Process(NamedTuple):
    """A process of a host image. `kind` is what an exploit looks for, "-" if none does."""

    pid: int
    kind: str
    privileged: bool
    ports: tuple[int, ...]


class Image(NamedTuple):
    """What a host runs when the game begins."""

    os: str
    processes: tuple[Process, ...]


class Host(NamedTuple):
    """A machine. Values are in tenths of a reward point."""

    name: str
    subnet: str
    image: str
    confidentiality: int
    availability: int
    blue_user: str
    blue_sessions: int
    green: bool
    shows: str  # the further host whose address an escalation here reveals


class Subnet(NamedTuple):
    """A subnet, its hosts in the order in which they are given addresses."""

    name: str
    hosts: tuple[str, ...]
    guarded: bool  # reachable only while red holds a session in the subnet named Enterprise


class Exploit(NamedTuple):
    """A way in. Offered if red remembers `port` (and one of `also`, if any) on the target."""

    name: str
    port: int
    also: tuple[int, ...]
    weight: float
    kind: str  # the kind of process it needs listening on `port`
    brute_force: bool  # goes through a guessed login instead of a shell


class Decoy(NamedTuple):
    """A false service that blue can place where `os` fits and `checked` is a free port."""

    name: str
    os: str  # "" for any
    checked: int
    opened: int
    kind: str
    privileged: bool  # runs as SYSTEM whoever blue is there
    stackable: bool  # checks another port than it opens, so any number fit on a host


_DEFENDER_PIDS = (
    1, 389, 407, 409, 560, 790, 802, 803, 807, 824, 825, 827, 832, 844, 847, 852, 853, 863, 867,
    875, 884, 1370, 1432, 2288,
)  # fmt: skip
IMAGES = {
    "GATE": Image(LINUX, (Process(1091, "ssh", True, (22,)),)),
    "OPSRV": Image(
        LINUX,
        (
            Process(1091, "ssh", True, (22,)),
            Process(1043, "OTService", True, ()),
        ),
    ),
    "INTERNAL": Image(
        WINDOWS,
        (
            Process(3368, "ssh", False, (22,)),
            Process(832, "-", True, (135,)),
            Process(4400, "rdp", True, (3389,)),
            Process(4, "-", True, (445, 139)),  # smss, which the image does not call smb
            Process(3404, "web", False, (80, 443)),
        ),
    ),
    "WIN1": Image(
        WINDOWS,
        (
            Process(3368, "ssh", False, (22,)),
            Process(3344, "femitter", True, (21,)),
        ),
    ),
    "WIN2": Image(
        WINDOWS,
        (
            Process(4, "smb", True, (445, 139)),
            Process(832, "-", True, (135,)),
            Process(4400, "rdp", False, (3389,)),
        ),
    ),
    "LIN1": Image(
        LINUX,
        (
            Process(1100, "web", False, (80,)),
            Process(1101, "mysql", True, (3389,)),
            Process(1100, "web", False, (443,)),
            Process(1102, "smtp", True, (25,)),
        ),
    ),
    "LIN2": Image(
        LINUX,
        (
            Process(1091, "ssh", True, (22,)),
            Process(1100, "web", False, (80,)),
            Process(1101, "mysql", True, (3390,)),
            Process(1100, "web", False, (443,)),
            Process(1102, "smtp", True, (25,)),
        ),
    ),
    "VELO": Image(
        LINUX,
        (
            *(Process(pid, "-", True, ()) for pid in _DEFENDER_PIDS),
            Process(879, "ssh", True, (22,)),
            Process(656, "-", True, (53, 53)),
            Process(634, "-", True, (68,)),
        ),
    ),
}

HOSTS = (
    # name, subnet, image, confidentiality, availability, blue user, blue sessions, green, shows
    Host("Defender", "Enterprise", "VELO", 1, 0, "ubuntu", 2, False, ""),
    Host("Enterprise0", "Enterprise", "GATE", 10, 0, "ubuntu", 1, False, ""),
    Host("Enterprise1", "Enterprise", "INTERNAL", 10, 0, "SYSTEM", 1, False, ""),
    Host("Enterprise2", "Enterprise", "INTERNAL", 10, 0, "SYSTEM", 1, False, "Op_Server0"),
    Host("Op_Host0", "Operational", "GATE", 1, 0, "ubuntu", 1, True, ""),
    Host("Op_Host1", "Operational", "GATE", 1, 0, "ubuntu", 1, True, ""),
    Host("Op_Host2", "Operational", "GATE", 1, 0, "ubuntu", 1, True, ""),
    Host("Op_Server0", "Operational", "OPSRV", 10, 100, "ubuntu", 1, False, ""),
    Host("User0", "User", "WIN1", 0, 0, "ubuntu", 1, True, ""),
    Host("User1", "User", "WIN1", 1, 0, "ubuntu", 1, True, "Enterprise1"),
    Host("User2", "User", "WIN2", 1, 0, "ubuntu", 1, True, "Enterprise1"),
    Host("User3", "User", "LIN1", 1, 0, "ubuntu", 1, True, "Enterprise0"),
    Host("User4", "User", "LIN2", 1, 0, "ubuntu", 1, True, "Enterprise0"),
)

SUBNETS = (
    Subnet("Enterprise", ("Enterprise0", "Enterprise1", "Enterprise2", "Defender"), False),
    Subnet("Operational", ("Op_Server0", "Op_Host0", "Op_Host1", "Op_Host2"), True),
    Subnet("User", ("User0", "User1", "User2", "User3", "User4"), False),
)

EXPLOITS = (
    # name, port, also one of, weight, kind, brute force
    Exploit("EternalBlue", 139, (), 2.0, "smb", False),
    Exploit("BlueKeep", 3389, (), 1.0, "rdp", False),
    Exploit("HTTPRFI", 80, (), 3.0, "web", False),
    Exploit("HTTPSRFI", 443, (), 4.0, "web", False),
    Exploit("SSHBruteForce", 22, (), 0.1, "ssh", True),
    Exploit("SQLInjection", 3390, (80, 443), 5.0, "mysql", False),
    Exploit("HarakaRCE", 25, (), 6.0, "smtp", False),
    Exploit("FTPDirTraversal", 21, (), 7.0, "femitter", False),
)

DECOYS = (
    # name, os, checked, opened, kind, privileged, stackable
    Decoy("DecoyApache", "", 80, 80, "web", False, False),
    Decoy("DecoyFemitter", WINDOWS, 21, 21, "femitter", True, False),
    Decoy("DecoyHarakaSMPT", LINUX, 25, 25, "smtp", False, False),
    Decoy("DecoySmss", WINDOWS, 139, 139, "smb", False, False),
    Decoy("DecoySSHD", "", 22, 22, "ssh", False, False),
    Decoy("DecoySvchost", WINDOWS, 3389, 3389, "rdp", False, False),
    Decoy("DecoyTomcat", "", 443, 443, "web", False, False),
    Decoy("DecoyVsftpd", LINUX, 21, 80, "web", False, True),
)

RED_ENTRY = "User0"  # where red's first session is; nothing evicts it
OT_HOST, OT_SERVICE = "Op_Server0", "OTService"
UNGUESSABLE = "Defender"  # the one host without an account that brute force can guess
OP_GATES = (
    "Enterprise0",
    "Enterprise1",
    "Enterprise2",
)  # a session on one opens the guarded subnet

RESTORE_COST = 10  # tenths of a reward point
HEAVIEST_CHANCE = 0.75  # how often red takes the heaviest of several exploits
DETECTION_CHANCE = 0.95  # how often blue's sensors see a new shell
BRUTE_FORCE_TRIES = 10
SHELL_PORT = 4444  # the remote port that gives a shell away

REDS = ("bline", "meander", "sleep")
RULES = ("latest", "leaderboard")

# The red actions, in the numbering of recorded games.
RED_ACTIONS = (
    "Sleep",
    "DiscoverRemoteSystems",
    "DiscoverNetworkServices",
    "ExploitRemoteService",
    "PrivilegeEscalate",
    "Impact",
    "InvalidAction",
)

# What blue's table can say of a host.
ACTIVITIES = ("None", "Scan", "Exploit")
BELIEFS = ("No", "Unknown", "User", "Privileged")
LEVELS = ("None", "User", "Privileged")

# The bits by which ChallengeWrapper writes them down.
ACTIVITY_BITS = {"None": (0, 0), "Scan": (1, 0), "Exploit": (1, 1)}
BELIEF_BITS = {"No": (0, 0), "Unknown": (1, 0), "User": (0, 1), "Privileged": (1, 1)}

# B_line's plan, in order; `choose` names the host that is drawn or derived in the game.
BLINE_PLAN = (
    ("DiscoverRemoteSystems", "User"),
    ("DiscoverNetworkServices", "foothold"),
    ("ExploitRemoteService", "foothold"),
    ("PrivilegeEscalate", "foothold"),
    ("DiscoverNetworkServices", "gate"),
    ("ExploitRemoteService", "gate"),
    ("PrivilegeEscalate", "gate"),
    ("DiscoverRemoteSystems", "Enterprise"),
    ("DiscoverNetworkServices", "Enterprise2"),
    ("ExploitRemoteService", "Enterprise2"),
    ("PrivilegeEscalate", "Enterprise2"),
    ("DiscoverNetworkServices", "Op_Server0"),
    ("ExploitRemoteService", "Op_Server0"),
    ("PrivilegeEscalate", "Op_Server0"),
    ("Impact", "Op_Server0"),
)
BLINE_ON_FAILURE = (0, 1, 2, 2, 2, 2, 5, 5, 5, 5, 9, 9, 9, 12, 13)
BLINE_FOOTHOLDS = ("User1", "User2", "User3", "User4")

# The addresses of one reset: networks of 16 addresses below 10.0.0.0/16, 14 usable in each.
NETWORKS, NETWORK_SIZE, NETWORK_HOSTS = 4096, 16, 14
PID_RANGE = 32768
EPHEMERAL_FIRST, EPHEMERAL_RANGE = 49152, 10848
# The Defender image has a socket bound to 10.0.11.88. A host that is given this
# address comes first in the list of addresses that Meander shuffles.
DEFENDER_SOCKET_ADDRESS = 11 * 256 + 88

_USERS = ("User0", "User1", "User2", "User3", "User4")
_OP_HOSTS = ("Op_Host0", "Op_Host1", "Op_Host2")
# The sessions that exist from the start, in the order in which their processes are made.
FIRST_SESSIONS = (
    # blue's server, blue's clients
    ("Defender",),
    (*_USERS, *OP_GATES, "Defender", "Op_Server0", *_OP_HOSTS),
    # green's
    (*_USERS, *_OP_HOSTS),
    # red's
    ("User0",),
)
