"""The true state of a game of the real CybORG, read from its objects when asked for."""

import functools
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

import numpy as np

from fixfirst.game import facts, tables
from fixfirst.game.tables import HOST_NAMES, HOSTS, NONE

# The process that stands for each decoy, and the kind of process as CybORG spells it.
DECOY_PROCESSES = {
    "apache2": "DecoyApache",
    "femitter": "DecoyFemitter",
    "haraka": "DecoyHarakaSMPT",
    "Smss.exe": "DecoySmss",
    "Sshd.exe": "DecoySSHD",
    "Svchost.exe": "DecoySvchost",
    "Tomcat.exe": "DecoyTomcat",
    "vsftpd": "DecoyVsftpd",
}
PROCESS_KINDS = {"WEBSERVER": "web"}  # the others are the same word in lower case

_DECOY_INDEX = {
    process: [decoy.name for decoy in facts.DECOYS].index(name)
    for process, name in DECOY_PROCESSES.items()
}
_HOST_INDEX = {name: index for index, name in enumerate(HOST_NAMES)}
_PRIVILEGED = ("root", "SYSTEM")
_FIRST_ADDRESS = int(IPv4Address("10.0.0.0"))
_REAL, _FALSE = 1, 2  # what answers an exploit, beside 0 for nothing


@dataclass(frozen=True)
class CyborgState:
    """What is so, whatever blue believes, under the names that `TrueState` has for it.

    The arrays are those of `TrueState` without the axis of games. An object of this class is
    a window on the game: read what you need before the next step.
    """

    controller: Any  # CybORG's EnvironmentController
    table: Any  # its BlueTableWrapper
    step: int  # steps played in the episode

    # --- what red holds

    @property
    def level(self) -> np.ndarray:
        """Red's highest access [13]: 0 none, 1 user, 2 root or SYSTEM."""
        level = np.zeros(HOSTS, dtype=np.uint8)
        for session in self._network.sessions["Red"].values():
            host = _HOST_INDEX[session.host]
            level[host] = max(level[host], 2 if session.username in _PRIVILEGED else 1)
        return level

    @property
    def sessions(self) -> np.ndarray:
        """Number of red sessions [13]."""
        hosts = [_HOST_INDEX[s.host] for s in self._network.sessions["Red"].values()]
        return np.bincount(hosts, minlength=HOSTS)

    @property
    def files(self) -> np.ndarray:
        """Hosts with a file of red's [13]."""
        return np.array([bool(self._network.hosts[name].files) for name in HOST_NAMES])

    # --- what red did

    @property
    def red_action(self) -> int:
        """Red's last action, index into `facts.RED_ACTIONS`."""
        return facts.RED_ACTIONS.index(type(self._red_move).__name__) if self.step else 0

    @property
    def red_target(self) -> int:
        """The host it aimed at; 255 if at none."""
        move = self._red_move
        if hasattr(move, "hostname"):
            return _HOST_INDEX[move.hostname]
        if hasattr(move, "ip_address"):
            return _HOST_INDEX[self._network.ip_addresses[move.ip_address]]
        return NONE

    @property
    def red_subnet(self) -> int:
        """The subnet that it swept; 255 if its action was no sweep."""
        move = self._red_move
        return self._subnets.index(move.subnet) if hasattr(move, "subnet") else NONE

    @property
    def red_success(self) -> int:
        """Whether it succeeded: 0 no, 1 yes, 2 unknown."""
        success = self.controller.observation["Red"].data["success"].name if self.step else ""
        return {"FALSE": tables.FAILURE, "TRUE": tables.SUCCESS}.get(success, tables.UNKNOWN)

    @property
    def _red_move(self) -> Any:
        # CybORG still holds the last action of the episode before.
        return self.controller.action["Red"] if self.step else None

    # --- what red knows

    @property
    def known_addresses(self) -> np.ndarray:
        """Hosts whose address red knows [13]."""
        known, addresses = self._red_space.ip_address, self.controller.hostname_ip_map
        return np.array([known[addresses[name]] for name in HOST_NAMES])

    @property
    def known_names(self) -> np.ndarray:
        """Hosts whose name red knows [13]."""
        return np.array([self._red_space.hostname[name] for name in HOST_NAMES])

    @property
    def known_subnets(self) -> np.ndarray:
        """Subnets that red knows [3]."""
        return np.array([self._red_space.subnet[subnet] for subnet in self._subnets])

    @property
    def known_ports(self) -> np.ndarray:
        """Ports that red remembers [13, ports], in the order of `tables.PORTS`."""
        remembered = np.zeros((HOSTS, len(tables.PORTS)), dtype=np.bool_)
        for address, ports in self._first_session.ports.items():
            host = _HOST_INDEX[self._network.ip_addresses[address]]
            remembered[host, [tables.PORTS.index(port) for port in ports]] = True
        return remembered

    @property
    def knows_ot(self) -> bool:
        """Whether red has found the OT service."""
        return self._first_session.ot_service is not None

    @property
    def _red_space(self) -> Any:
        return self.controller.agent_interfaces["Red"].action_space

    @property
    def _first_session(self) -> Any:
        return self._network.sessions["Red"][0]

    # --- the network

    @property
    def decoys(self) -> np.ndarray:
        """Number of decoys that stand [13, 8], in the order of `facts.DECOYS`."""
        counts = np.zeros((HOSTS, tables.DECOYS), dtype=np.uint16)
        for host, name in enumerate(HOST_NAMES):
            for process in self._network.hosts[name].processes:
                if process.decoy_type:
                    counts[host, _DECOY_INDEX[process.name]] += 1
        return counts

    @property
    def ot_service(self) -> bool:
        """Whether the OT service runs."""
        processes = self._network.hosts[facts.OT_HOST].processes
        return any(process.name == facts.OT_SERVICE for process in processes)

    @property
    def services(self) -> np.ndarray:
        """What answers each exploit [13, 8]: 0 nothing, 1 a real service, 2 a decoy."""
        answers = np.zeros((HOSTS, tables.EXPLOITS), dtype=np.uint8)
        for host, name in enumerate(HOST_NAMES):
            for process in reversed(self._network.hosts[name].processes):  # the first one answers
                kind = process.process_type.name if process.process_type else ""
                answer = _FALSE if process.decoy_type else _REAL
                for connection in process.connections:
                    exploit = _exploit_of(kind, connection["local_port"])
                    if exploit is not None:
                        answers[host, exploit] = answer
        return answers

    @property
    def addresses(self) -> np.ndarray:
        """The address of each host [13], counted from 10.0.0.0."""
        addresses = self.controller.hostname_ip_map
        return np.array([int(addresses[name]) - _FIRST_ADDRESS for name in HOST_NAMES])

    @property
    def _subnets(self) -> list[Any]:
        return [self._network.subnet_name_to_cidr[name] for name in tables.SUBNET_NAMES]

    # --- process ids and ports, which are there for the draws' sake

    @property
    def pids(self) -> list[list[int]]:
        """The process ids alive on each host, sorted [13][...]."""
        hosts = self._network.hosts
        return [sorted({p.pid for p in hosts[name].processes}) for name in HOST_NAMES]

    @property
    def suspects(self) -> list[list[int]]:
        """The process ids that blue suspects on each host, in the order they were seen."""
        suspects = self._network.sessions["Blue"][0].sus_pids
        return [list(suspects.get(name, ())) for name in HOST_NAMES]

    @property
    def ephemeral_ports(self) -> list[list[int]]:
        """The ephemeral ports that each host has given out, sorted [13][...]."""
        hosts = self._network.hosts
        return [sorted(set(hosts[name].ephemeral_ports)) for name in HOST_NAMES]

    # --- blue

    @property
    def belief(self) -> np.ndarray:
        """What blue believes of each host [13], index into `facts.BELIEFS`."""
        info = self.table.blue_info
        return np.array([facts.BELIEFS.index(info[name][-1]) for name in HOST_NAMES])

    @property
    def activity(self) -> np.ndarray:
        """What blue saw on each host in the last step [13], index into `facts.ACTIVITIES`."""
        info = self.table.info
        return np.array([facts.ACTIVITIES.index(info[name][-2]) for name in HOST_NAMES])

    # --- the reward of the last step, taken apart

    @property
    def confidentiality(self) -> np.ndarray:
        """What each host's privileged red session cost [13], zero or negative."""
        return self._breakdown("confidentiality")

    @property
    def availability(self) -> np.ndarray:
        """What each host's stopped service cost [13], zero or negative."""
        return self._breakdown("availability")

    @property
    def action_cost(self) -> float:
        """What blue's own action cost, zero or negative."""
        return float(self.controller.action["Blue"].cost) if self.step else 0.0

    def _breakdown(self, part: str) -> np.ndarray:
        if not self.step:  # CybORG still shows the last step of the episode before
            return np.zeros(HOSTS)
        scores = self.controller.get_reward_breakdown("Blue")
        return np.array([float(getattr(scores[name], part)) for name in HOST_NAMES])

    # --- where CybORG keeps it

    @property
    def _network(self) -> Any:
        return self.controller.state


@functools.cache
def _exploit_of(kind: str, port: int) -> int | None:
    """The exploit that goes for this kind of process on this port."""
    wanted = PROCESS_KINDS.get(kind, kind.lower()), port
    for index, exploit in enumerate(facts.EXPLOITS):
        if (exploit.kind, exploit.port) == wanted:
            return index
    return None
