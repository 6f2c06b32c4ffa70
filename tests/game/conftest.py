"""Single games to try rules on."""

import numpy as np
import pytest

from fixfirst.game import facts, state, step, twister, xoshiro
from fixfirst.game.names import host_index


class Play:
    """One game and its identities, with names for hosts."""

    def __init__(self, exact, red="sleep", rules="latest", seed=0):
        self.games = state.new_games(1)
        self.all_ids = state.new_identities(1, 200) if exact else None
        self.game = self.games[0]
        self.ids = self.all_ids[0] if exact else None
        self.game.red = facts.REDS.index(red)
        self.game.rules = facts.RULES.index(rules)
        self.games.random[:] = xoshiro.states(np.array([seed]))
        if exact:
            twister.seed(self.ids, np.array([seed], dtype=np.uint32), 1)
        step.reset(self.game, self.ids)

    def __getattr__(self, name):
        return getattr(self.game, name)

    def __setattr__(self, name, value):
        if name in ("games", "all_ids", "game", "ids"):
            super().__setattr__(name, value)
        else:
            setattr(self.game, name, value)


def host(name):
    return host_index(name)


@pytest.fixture(params=["fast", "cpython"])
def exact(request):
    return request.param == "cpython"


@pytest.fixture
def play(exact):
    return Play(exact)
