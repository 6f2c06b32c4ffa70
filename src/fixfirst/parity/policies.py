"""Blues that lead a game into its corners, for the comparison with CybORG.

None is meant to defend well. Each draws from a NumPy generator of its own, never from
Python's `random`, and what it does follows from its name, its seed and what it sees.
"""

import zlib
from collections.abc import Sequence

import numpy as np

from fixfirst.envs import seeding
from fixfirst.game import facts, tables
from fixfirst.game.tables import (
    ACTIONS,
    ANALYSE,
    BELIEVED_NO,
    BELIEVED_PRIVILEGED,
    FIRST_DECOY,
    HOST_NAMES,
    HOSTS,
    REMOVE,
    RESTORE,
)

SLEEP, MONITOR = 0, 1
DECOY_KINDS = tuple(range(FIRST_DECOY, RESTORE))
STACKED = FIRST_DECOY + tables.STACKABLE
LINUX_HOSTS = tuple(
    h for h, host in enumerate(facts.HOSTS) if facts.IMAGES[host.image].os == facts.LINUX
)
USER_HOSTS = tuple(h for h, host in enumerate(facts.HOSTS) if host.subnet == "User")
SERVERS = tuple(h for h, host in enumerate(facts.HOSTS) if host.subnet == "Operational")


def aimed(kind: int, host: int) -> int:
    """The number of the action of this kind on this host."""
    return 2 + (kind - ANALYSE) * HOSTS + host


class Policy:
    """A blue that draws each action anew."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.step = 0

    def __call__(self, bits: np.ndarray) -> int:
        """The action to take on seeing these 52 bits."""
        action = self.choose(np.asarray(bits).reshape(HOSTS, 4))
        self.step += 1
        return int(action)

    def choose(self, seen: np.ndarray) -> int:
        """Uniform over all actions. `seen` are the bits by host [13, 4]."""
        return int(self.rng.integers(ACTIONS))

    def one_of(self, values: Sequence[int]) -> int:
        """One of the values, each as likely."""
        return values[int(self.rng.integers(len(values)))]

    def on_any(self, kind: int, hosts: Sequence[int] = range(HOSTS)) -> int:
        """An action of the kind, on one of the hosts."""
        return aimed(kind, self.one_of(hosts))


class Decoys(Policy):
    """Places every decoy everywhere, again and again, and stacks the one that stacks."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.plan: list[int] = []

    def choose(self, seen: np.ndarray) -> int:
        """The next of all decoys in a drawn order, among more of the stackable one."""
        if self.rng.random() < 0.4:
            return self.on_any(STACKED, LINUX_HOSTS)
        if self.rng.random() < 0.05:
            return self.on_any(RESTORE)
        if not self.plan:
            every = [aimed(kind, host) for kind in DECOY_KINDS for host in range(HOSTS)]
            self.plan = [int(action) for action in self.rng.permutation(every)]
        return self.plan.pop()


class React(Policy):
    """Answers what it sees: Remove where it believes in a user, Restore in a privileged one."""

    def choose(self, seen: np.ndarray) -> int:
        """An action on one of the hosts that look bad, or a look round."""
        belief = seen[:, 2] + 2 * seen[:, 3]
        bad = np.flatnonzero(belief != BELIEVED_NO)
        if not len(bad):
            return self.on_any(ANALYSE) if self.rng.random() < 0.5 else SLEEP
        host = self.one_of(bad.tolist())
        if belief[host] == BELIEVED_PRIVILEGED:
            return aimed(RESTORE, host)
        return aimed(self.one_of((REMOVE, REMOVE, REMOVE, ANALYSE, RESTORE)), host)


class RestoreStorm(Policy):
    """Restores User0, Defender, Op_Server0 and the rest most of the time."""

    favourites = tuple(HOST_NAMES.index(h) for h in ("User0", "Defender", "Op_Server0"))

    def choose(self, seen: np.ndarray) -> int:
        """Half of it restores of the three, a quarter of any host, the rest decoys and fixes."""
        draw = self.rng.random()
        if draw < 0.5:
            return self.on_any(RESTORE, self.favourites)
        if draw < 0.75:
            return self.on_any(RESTORE)
        return self.on_any(self.one_of(DECOY_KINDS)) if draw < 0.9 else self.on_any(REMOVE)


class Idle(Policy):
    """Sleeps, and reads the sensors now and then."""

    def choose(self, seen: np.ndarray) -> int:
        """Sleep, or Monitor."""
        return MONITOR if self.rng.random() < 0.05 else SLEEP


class Hoarder(Policy):
    """Lets red gather sessions: decoys make its break-ins on the servers fail, so that it breaks
    into the hosts before them again and again. Never restores."""  # noqa: D209

    def choose(self, seen: np.ndarray) -> int:
        """Decoys on the servers at first, then mostly sleep."""
        draw = self.rng.random()
        if self.step < 30 or draw < 0.03:
            return self.on_any(self.one_of(DECOY_KINDS), SERVERS)
        if draw < 0.06:
            return self.on_any(ANALYSE)
        return self.on_any(REMOVE) if draw < 0.08 else SLEEP


class Analyst(Policy):
    """Looks for files everywhere, most of all where something just happened."""

    def choose(self, seen: np.ndarray) -> int:
        """Analyse; sometimes Remove or Monitor."""
        active = np.flatnonzero(seen[:, 0])
        draw = self.rng.random()
        if len(active) and draw < 0.6:
            return self.on_any(ANALYSE, active.tolist())
        if draw < 0.85:
            return self.on_any(ANALYSE)
        return self.on_any(REMOVE) if draw < 0.97 else MONITOR


class Late(Policy):
    """Sleeps until red is deep in the network, cleans up in a hurry, and sleeps again."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.asleep = int(rng.integers(15, 90))
        self.plan: list[int] = []

    def choose(self, seen: np.ndarray) -> int:
        """Sleep, or the next act of the clean-up: Analyse, Remove or Restore, host by host."""
        if self.asleep:
            self.asleep -= 1
            return SLEEP
        if not self.plan:
            hosts = self.rng.permutation(HOSTS)[: self.rng.integers(3, HOSTS + 1)]
            kinds = (ANALYSE, REMOVE, RESTORE, RESTORE)
            self.plan = [aimed(self.one_of(kinds), int(host)) for host in hosts]
        action = self.plan.pop()
        if not self.plan:
            self.asleep = int(self.rng.integers(5, 60))
        return action


class Churn(Policy):
    """Places and ends processes on one user host for a while, then on another.

    So a decoy may be given the process id of a shell that is gone, which blue still suspects.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.host, self.left = USER_HOSTS[0], 0

    def choose(self, seen: np.ndarray) -> int:
        """Restore when the host is new, then decoys and Remove; at times let red get at it."""
        if not self.left:
            self.host, self.left = self.one_of(USER_HOSTS), int(self.rng.integers(5, 30))
            return aimed(RESTORE, self.host)
        self.left -= 1
        draw = self.rng.random()
        if draw < 0.25:
            return aimed(STACKED, self.host)
        if draw < 0.5:
            return aimed(self.one_of(DECOY_KINDS), self.host)
        return aimed(REMOVE, self.host) if draw < 0.75 else SLEEP


class Stacker(Policy):
    """Stacks decoys at every step, so that the hosts hold as many processes as they can."""

    def choose(self, seen: np.ndarray) -> int:
        """One more of the stackable decoy on a Linux host, most often on one of red's way."""
        alarmed = [host for host in LINUX_HOSTS if seen[host].any()]
        return self.on_any(STACKED, alarmed if alarmed and self.rng.random() < 0.5 else LINUX_HOSTS)


class Mixed(Policy):
    """Is one of the others for a few steps, then another."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        others = (
            Policy, Decoys, React, RestoreStorm, Idle, Hoarder, Analyst, Late, Churn, Stacker,
        )  # fmt: skip
        self.others = [other(rng) for other in others]
        self.current, self.left = self.others[0], 0

    def choose(self, seen: np.ndarray) -> int:
        """What the one in charge chooses."""
        if not self.left:
            self.current = self.others[self.rng.integers(len(self.others))]
            self.left = int(self.rng.integers(1, 40))
        self.left -= 1
        return self.current(seen)


POLICIES: dict[str, type[Policy]] = {
    "random": Policy,
    "decoy": Decoys,
    "react": React,
    "restore-storm": RestoreStorm,
    "idle": Idle,
    "hoarder": Hoarder,
    "analyst": Analyst,
    "late": Late,
    "churn": Churn,
    "stacker": Stacker,
    "mixed": Mixed,
}


def make_policy(name: str, seed: int) -> Policy:
    """The policy of this name for one episode: the same name and seed, the same policy."""
    words = zlib.crc32(name.encode()), int(seeding.words_of([seed])[0])
    return POLICIES[name](np.random.default_rng(words))
