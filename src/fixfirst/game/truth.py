"""The true state of games as arrays, read from their records when asked for, never before."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fixfirst.game import facts, tables
from fixfirst.game.tables import BIT, HOSTS


@dataclass(frozen=True)
class TrueState:
    """What is so, whatever blue believes. The first axis of every array is the game.

    An object of this class is a window on the games, not a copy: read what you need before
    the next step. `frozen()` gives one that keeps.
    """

    games: Any

    def frozen(self) -> "TrueState":
        """The same, unaffected by later steps."""
        return TrueState(self.games.copy())

    # --- the episode

    @property
    def step(self) -> np.ndarray:
        """Steps played in the episode [N]: the step that everything here belongs to."""
        return np.asarray(self.games.step)

    @property
    def episode(self) -> np.ndarray:
        """The episode that everything here belongs to [N], counted from 1; 0 before the first."""
        return np.asarray(self.games.episode)

    @property
    def red(self) -> np.ndarray:
        """Which red plays [N], index into `facts.REDS`."""
        return np.asarray(self.games.red)

    # --- what red holds

    @property
    def level(self) -> np.ndarray:
        """Red's highest access [N, 13]: 0 none, 1 user, 2 root or SYSTEM."""
        return np.where(self.games.root > 0, 2, self.games.user > 0).astype(np.uint8)

    @property
    def sessions(self) -> np.ndarray:
        """Number of red sessions [N, 13]."""
        return np.asarray(self.games.user + self.games.root)

    @property
    def files(self) -> np.ndarray:
        """Hosts with a file of red's [N, 13], which is what Analyse finds."""
        return _spread(self.games.files)

    # --- what red did

    @property
    def red_action(self) -> np.ndarray:
        """Red's last action [N], index into `facts.RED_ACTIONS`."""
        return np.asarray(self.games.action)

    @property
    def red_target(self) -> np.ndarray:
        """The host it aimed at [N]; 255 if at none (a sweep aims at a subnet)."""
        sweep = self.games.action == tables.SWEEP
        return np.where(sweep, tables.NONE, self.games.target).astype(np.uint8)

    @property
    def red_subnet(self) -> np.ndarray:
        """The subnet that it swept [N]; 255 if its action was no sweep."""
        sweep = self.games.action == tables.SWEEP
        return np.where(sweep, self.games.target, tables.NONE).astype(np.uint8)

    @property
    def red_success(self) -> np.ndarray:
        """Whether it succeeded [N]: 0 no, 1 yes, 2 unknown."""
        return np.asarray(self.games.success)

    # --- what red knows

    @property
    def known_addresses(self) -> np.ndarray:
        """Hosts whose address red knows [N, 13]."""
        return _spread(self.games.known_address)

    @property
    def known_names(self) -> np.ndarray:
        """Hosts whose name red knows, for it has broken in [N, 13]."""
        return _spread(self.games.known_name)

    @property
    def known_subnets(self) -> np.ndarray:
        """Subnets that red knows [N, 3]."""
        return _spread(self.games.known_subnet, tables.SUBNETS)

    @property
    def known_ports(self) -> np.ndarray:
        """Ports that red remembers [N, 13, ports], in the order of `tables.PORTS`."""
        return _spread(self.games.ports, len(tables.PORTS))

    @property
    def scanned(self) -> np.ndarray:
        """Hosts that answered a scan of red's [N, 13]."""
        return np.asarray(self.games.ports > 0)

    @property
    def knows_ot(self) -> np.ndarray:
        """Whether red has found the OT service [N]."""
        return np.asarray(self.games.knows_ot > 0)

    # --- the network

    @property
    def decoys(self) -> np.ndarray:
        """Number of decoys that stand [N, 13, 8], in the order of `facts.DECOYS`."""
        counts = _spread(self.games.decoys, tables.DECOYS).astype(np.uint16)
        counts[..., tables.STACKABLE] = self.games.stacked
        return counts

    @property
    def ot_service(self) -> np.ndarray:
        """Whether the OT service runs [N]."""
        return np.asarray(self.games.ot_running > 0)

    @property
    def services(self) -> np.ndarray:
        """What answers each exploit [N, 13, 8]: 0 nothing, 1 a real service, 2 a decoy.

        The exploits are in the order of `facts.EXPLOITS`.
        """
        decoys = self.decoys > 0
        caught = np.zeros((len(self.games), HOSTS, tables.EXPLOITS), dtype=np.uint8)
        for exploit, kinds in enumerate(tables.CATCHING_DECOYS):
            catching = [k for k in range(tables.DECOYS) if kinds >> k & 1]
            caught[..., exploit] = 2 * decoys[..., catching].any(axis=-1)
        real = np.array(tables.IMAGE_SERVICE > 0)
        return np.where(real, 1, caught).astype(np.uint8)

    # --- blue

    @property
    def blue_action(self) -> np.ndarray:
        """Blue's last action [N]."""
        return np.asarray(self.games.blue_action)

    @property
    def belief(self) -> np.ndarray:
        """What blue believes of each host [N, 13], index into `facts.BELIEFS`."""
        return np.asarray(self.games.belief)

    @property
    def activity(self) -> np.ndarray:
        """What blue saw on each host in the last step [N, 13], index into `facts.ACTIVITIES`."""
        host = np.asarray(self.games.event_host)
        seen = np.arange(HOSTS) == host[:, None]
        return np.where(seen, self.games.activity[:, None], 0).astype(np.uint8)

    # --- the reward of the last step, taken apart

    @property
    def confidentiality(self) -> np.ndarray:
        """What each host's privileged red session cost [N, 13], zero or negative."""
        played = (self.games.step > 0)[:, None]
        return np.where(played & (self.games.root > 0), -tables.CONFIDENTIALITY / 10, 0.0)

    @property
    def availability(self) -> np.ndarray:
        """What each host's stopped service cost [N, 13], zero or negative."""
        stopped = ~self.ot_service[:, None] & (self.games.step > 0)[:, None]
        return np.where(stopped, -tables.AVAILABILITY / 10, 0.0)

    @property
    def action_cost(self) -> np.ndarray:
        """What blue's own action cost [N], zero or negative."""
        restored = tables.ACTION_KIND[self.games.blue_action] == tables.RESTORE
        return np.where(restored, -facts.RESTORE_COST / 10, 0.0)

    @property
    def reward(self) -> np.ndarray:
        """The reward [N]: the sum of the three, as the step returned it."""
        return np.asarray(-self.games.cost.astype(np.int64) / 10.0)

    @property
    def episode_return(self) -> np.ndarray:
        """The sum of the episode's rewards so far [N]."""
        return np.asarray(-self.games.lost.astype(np.int64) / 10.0)


def _spread(masks: np.ndarray, width: int = HOSTS) -> np.ndarray:
    """Masks [...] as booleans [..., width]."""
    return np.asarray((masks[..., None] & BIT[:width]) > 0)
