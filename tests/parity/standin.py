"""A second game of fixfirst in CybORG's place, to see what a comparison makes of differences."""

from types import SimpleNamespace

import numpy as np

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.parity import identities
from fixfirst.parity.live import READINGS


class StandIn:
    """Has the face of `CyborgGame`. `tamper(game)` may change it after each step."""

    tamper = None

    def __init__(self, folder="a-folder", red="bline", rules=None):
        self.folder, self.red, self.rules = folder, red, rules or "latest"
        self.batch = Batch(options.checked(1, red, self.rules, 1000, "cpython", 1, "disabled"))
        self.steps = 0
        self.readings = {}  # what to show instead of what is so

    def reset(self, seed=None):
        self.batch.seed([seed])
        self.steps = 0
        return self.batch.reset()[0].copy()

    def step(self, action):
        self.batch.step([action])
        self.steps += 1
        if type(self).tamper is not None:
            type(self).tamper(self)
        bits = self.batch._look(np.array([0]))[0].copy()
        return bits, float(self.batch.true_state.reward[0])

    @property
    def true_state(self):
        state, game, ids = self.batch.true_state, self.batch.games[0], self.batch.ids[0]
        shown = {name: getattr(state, name)[0] for name in READINGS}
        shown |= {
            "addresses": np.array(ids.address),
            "pids": identities.pids(game, ids),
            "suspects": identities.suspects(ids),
            "ephemeral_ports": identities.ephemeral_ports(ids),
        }
        return SimpleNamespace(**(shown | self.readings))

    @property
    def random_state(self):
        return 3, tuple(identities.generator(self.batch.ids[0])), None
