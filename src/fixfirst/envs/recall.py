"""What blue remembers, rebuilt from its bits and actions alone.

A batch with `memory=True` computes this beside its games. A policy that plays elsewhere (in a
batch without memory, in the real CybORG) has nothing but bits and its own actions; they are
enough, and the same rules make the same numbers of them.
"""

import numpy as np

from fixfirst.envs import kernel, memory
from fixfirst.game import state
from fixfirst.game.tables import ACTIONS, HOSTS, NONE


class Recall:
    """The memory of N games. `horizon` is what the time left is counted in."""

    def __init__(self, count: int, horizon: int) -> None:
        self.horizon = horizon
        # Records that hold just what blue sees of its games.
        self._seen = state.new_games(count)
        self.memories = memory.new_memories(count)
        self.rows = np.zeros((count, memory.WIDTH), np.float32)
        self.masks = np.zeros((count, ACTIONS), np.bool_)

    def take_in(self, bits: np.ndarray, last_action: np.ndarray, step: np.ndarray) -> None:
        """See the bits [N, 52] that came after `step` steps [N], the last one blue's `last_action`.

        Where `step` is 0 an episode begins. Beyond the horizon no time is left.
        """
        by_host = bits.reshape(len(bits), HOSTS, 4)
        activity = by_host[..., 0] + by_host[..., 1]  # as `facts.ACTIVITIES` counts them
        host = activity.argmax(axis=1)
        seen = activity[np.arange(len(bits)), host]
        games = self._seen
        games.blue_action = last_action
        games.step = np.minimum(step, self.horizon)
        games.activity = seen
        games.event_host = np.where(seen > 0, host, NONE)
        games.belief = by_host[..., 2] + 2 * by_host[..., 3]  # as `facts.BELIEFS` counts them
        kernel.recall(games, self.memories, self.horizon, self.rows, self.masks)

    def begin(self, which: np.ndarray, bits: np.ndarray) -> None:
        """Forget what was in some games, and see the bits [k, 52] with which they begin anew."""
        fresh = Recall(len(which), self.horizon)
        nothing = np.zeros(len(which), np.int64)
        fresh.take_in(bits, nothing, nothing)
        pairs = [
            (self._seen, fresh._seen), (self.memories, fresh.memories),
            (self.rows, fresh.rows), (self.masks, fresh.masks),
        ]  # fmt: skip
        for mine, theirs in pairs:
            mine[which] = theirs
