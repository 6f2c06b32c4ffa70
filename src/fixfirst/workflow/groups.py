"""Groups of hosts: which hosts are fixed together, as far as an order is concerned.

A partition puts every host into exactly one group. The order in which its groups are
written is kept: it numbers the groups, and so gives orders their index and their one-hot
matrix their columns.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np

from fixfirst.game.names import host_index
from fixfirst.game.tables import BIT, HOST_NAMES, HOSTS

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_NAME_RULE = "a name is a letter, then letters, digits, _ or -"
_FILE_RULE = (
    'a groups file has one table [groups] with a line like servers = ["Op_Server0"] a group'
)


@dataclass(frozen=True, init=False, repr=False)
class Groups:
    """A partition of the hosts into named groups.

    Two are equal if names, hosts and the order of the groups are; the order of the hosts
    within a group does not matter.
    """

    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]  # host numbers of each group, ascending

    def __init__(self, hosts_of: Mapping[str, Sequence[str]]) -> None:
        """Make groups from a mapping of group names to host names, or say what is wrong."""
        if not isinstance(hosts_of, Mapping):
            raise TypeError(
                f"groups are given as {type(hosts_of).__name__}; give a mapping from group names "
                "to lists of host names"
            )
        names = [_checked_name(name) for name in hosts_of]
        members = [_host_numbers(name, hosts_of[name]) for name in hosts_of]
        _check_partition(names, members)
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "members", tuple(tuple(sorted(hosts)) for hosts in members))

    @classmethod
    def from_toml(cls, path: str | Path) -> "Groups":
        """The groups that a TOML file describes in its table `[groups]`."""
        try:
            text = Path(path).read_text(encoding="utf-8")
            content = tomllib.loads(text)
        except OSError as problem:
            raise ValueError(f"groups file {path} cannot be read: {problem.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise ValueError(f"groups file {path} is not TOML: {problem}; {_FILE_RULE}") from None
        others = sorted(set(content) - {"groups"})
        if others:
            raise ValueError(f"groups file {path} also holds {', '.join(others)}; {_FILE_RULE}")
        if not isinstance(content.get("groups"), dict):
            raise ValueError(f"groups file {path} has no table [groups]; {_FILE_RULE}")
        try:
            return cls(content["groups"])
        except (ValueError, TypeError) as problem:
            raise ValueError(f"groups file {path}: {problem}") from None

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Groups({self.as_mapping()!r})"

    def __str__(self) -> str:
        return ", ".join(
            f"{name} ({', '.join(hosts)})" for name, hosts in self.as_mapping().items()
        )

    def as_mapping(self) -> dict[str, list[str]]:
        """Names and host names, from which the same groups can be made again."""
        return {
            name: [HOST_NAMES[host] for host in hosts]
            for name, hosts in zip(self.names, self.members, strict=True)
        }

    def number(self, name: str) -> int:
        """The number of a group, by its name, upper or lower case."""
        key = name.strip().lower()
        if key not in self.names:
            raise ValueError(f"no group is named {name!r}; the groups are {', '.join(self.names)}")
        return self.names.index(key)

    @cached_property
    def group_of_host(self) -> np.ndarray:
        """The number of each host's group [13], read-only."""
        groups = np.empty(HOSTS, dtype=np.int64)
        for number, hosts in enumerate(self.members):
            groups[list(hosts)] = number
        groups.flags.writeable = False
        return groups

    @cached_property
    def masks(self) -> np.ndarray:
        """The mask of hosts of each group [k], read-only; bit h is host h."""
        masks = np.array([BIT[list(hosts)].sum() for hosts in self.members], dtype=np.int64)
        masks.flags.writeable = False
        return masks

    @cached_property
    def digest(self) -> str:
        """A short text that is equal exactly for equal groups, to be kept with results."""
        lines = [f"{name}:{','.join(hosts)}" for name, hosts in self.as_mapping().items()]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


# --- checks ----------------------------------------------------------------------------


def _checked_name(name: object) -> str:
    """The name in lower case, if a group may have it."""
    if not isinstance(name, str) or not _NAME.fullmatch(name.lower()):
        raise ValueError(f"a group cannot be named {name!r}; {_NAME_RULE}")
    return name.lower()


def _host_numbers(name: str, hosts: object) -> list[int]:
    """The numbers of a group's hosts."""
    if isinstance(hosts, str) or not isinstance(hosts, Sequence):
        raise TypeError(f"group {name!r} has hosts {hosts!r}; give a list of host names")
    if not hosts:
        raise ValueError(f"group {name!r} is empty; put a host into it or leave it out")
    numbers = []
    for host in hosts:
        if not isinstance(host, str):
            raise TypeError(f"group {name!r} holds {host!r}; hosts are given by name")
        try:
            numbers.append(host_index(host))
        except ValueError as problem:
            raise ValueError(f"group {name!r}: {problem}") from None
    return numbers


def _check_partition(names: list[str], members: list[list[int]]) -> None:
    """Every group name and every host must stand exactly once."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two groups are named {name!r}; upper and lower case are the same")
    where: dict[int, str] = {}
    for name, hosts in zip(names, members, strict=True):
        for host in hosts:
            if host in where:
                both = f"{where[host]!r} and {name!r}" if where[host] != name else f"{name!r} twice"
                raise ValueError(f"host {HOST_NAMES[host]} is in {both}; a host is in one group")
            where[host] = name
    missing = [host for number, host in enumerate(HOST_NAMES) if number not in where]
    if missing:
        raise ValueError(f"no group holds {', '.join(missing)}; every host is in one group")


# --- the partitions that have a name ----------------------------------------------------

DEFAULT_GROUPS = Groups(
    {
        "defender": ("Defender",),
        "enterprise": ("Enterprise0", "Enterprise1", "Enterprise2"),
        "op_server": ("Op_Server0",),
        "op_host": ("Op_Host0", "Op_Host1", "Op_Host2"),
        "user": ("User0", "User1", "User2", "User3", "User4"),
    }
)
HOST_GROUPS = Groups({name: (name,) for name in HOST_NAMES})
NAMED_GROUPS = {"default": DEFAULT_GROUPS, "hosts": HOST_GROUPS}

# What a user may hand over where groups are wanted.
GroupsLike: TypeAlias = Groups | Mapping[str, Sequence[str]] | str | Path | None


def groups_from(choice: GroupsLike) -> Groups:
    """The groups that are meant.

    They are `default` (also for `None`), `hosts` (one group a host), the path of a TOML file,
    a mapping, or groups themselves.
    """
    if choice is None:
        return DEFAULT_GROUPS
    if isinstance(choice, Groups):
        return choice
    if isinstance(choice, Path):
        return Groups.from_toml(choice)
    if not isinstance(choice, str):
        return Groups(choice)
    if choice.lower() in NAMED_GROUPS:
        return NAMED_GROUPS[choice.lower()]
    if choice.lower().endswith(".toml"):
        return Groups.from_toml(choice)
    raise ValueError(
        f"groups={choice!r} is not known; it is one of {', '.join(NAMED_GROUPS)}, or the path of "
        "a TOML file (ending in .toml)"
    )
