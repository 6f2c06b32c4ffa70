"""The React blues are CybORG's: recorded games of its own agents, played again.

`record_react.py` made the recording. It holds actions and rewards of both agents against
all reds on both versions.
"""

from pathlib import Path

import numpy as np
import pytest

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.game.facts import REDS, RULES
from fixfirst.judge.blues import blue
from fixfirst.judge.play import episode

STEPS = 100


@pytest.fixture(scope="module")
def recorded():
    with np.load(Path(__file__).with_name("react_games.npz")) as arrays:
        return dict(arrays)


def test_the_recording_holds_all_pairs_and_many_fixes(recorded):
    pairs = set(zip(recorded["rules"], recorded["blue"], recorded["red"], strict=True))
    assert len(pairs) == 2 * 2 * 3
    assert (recorded["action"] != 1).sum() > 1000


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("policy", ["react-remove", "react-restore"])
def test_react_chooses_and_earns_what_cyborgs_agent_did(recorded, rules, policy):
    these = np.flatnonzero((recorded["rules"] == rules) & (recorded["blue"] == policy))
    reds, seeds = recorded["red"][these].tolist(), recorded["seed"][these].tolist()
    assert set(reds) == set(REDS)
    chosen = options.checked(len(these), reds, rules, STEPS, "cpython", 1, "disabled")
    batch = Batch(chosen, seeds)
    actions, tenths = [], []
    for _ in episode(blue(policy), batch, policy):
        actions.append(batch.true_state.blue_action.copy())
        tenths.append(np.rint(10 * batch.results.reward))
    np.testing.assert_array_equal(np.transpose(actions), recorded["action"][these])
    np.testing.assert_array_equal(np.transpose(tenths), recorded["tenths"][these])
