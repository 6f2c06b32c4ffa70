"""Any backend runs the games of a training, the real CybORG's too."""

import os
from collections import Counter

import pytest
import torch

from fixfirst.envs.cyborg import rules_of
from fixfirst.judge.evaluate import evaluate
from fixfirst.learn import games
from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import train
from fixfirst.learn.training import Training

SMALL = PPO(steps=10, minibatch=40, hidden=(8,))


def setup(**options):
    given = {"n_envs": 8, "horizon": 10, "episodes": 24, "ppo": SMALL, "stop_at_gate": False}
    return Setup(**(given | options))


@pytest.mark.parametrize("options", [
    {"orders": ("critical-first", "user-priority"), "alignment_lambda": 20.0},
    {"memory": True, "mask": True, "red": ["bline", "meander"] * 4},
])  # fmt: skip
def test_the_same_policy_is_learnt_whoever_runs_the_games(options):
    policies = {}
    for backend in ("native", "serial", "shared"):
        training = Training(setup(backend=backend, **options))
        training.run()
        policies[backend] = torch.cat([one.flatten() for one in training.weights().values()])
        training.close()
    assert torch.equal(policies["native"], policies["serial"])
    assert torch.equal(policies["native"], policies["shared"])


def test_a_run_on_another_backend_goes_on_with_new_episodes(tmp_path):
    told = []
    train(tmp_path, setup(backend="shared"), checkpoint_every=1, stop=lambda: len(told) == 1,
          on_update=told.append)  # fmt: skip
    assert not list(tmp_path.glob("checkpoints/*/games"))
    ended = train(tmp_path, resume=True)
    assert ended.why == "episodes"
    assert [row.episodes for row in ended.rows] == [8, 16, 24]
    assert setup().first_seed() != setup().first_seed(1) != setup().first_seed(2)


def test_a_mixture_of_reds_is_dealt_out_in_proportion():
    hands = games.dealt({"bline": 0.5, "meander": 0.25, "sleep": 0.25}, 8)
    assert Counter(hands) == {"bline": 4, "meander": 2, "sleep": 2}
    assert set(hands[:4]) == {"bline", "meander", "sleep"}  # evenly
    assert games.dealt("sleep", 2) == ["sleep", "sleep"]


def test_places_and_backends_that_do_not_go_together_are_refused(tmp_path):
    with pytest.raises(ValueError, match="on='elsewhere' is not known"):
        setup(on="elsewhere")
    with pytest.raises(ValueError, match="backend='native' is the built-in game, and on="):
        setup(on=f"cyborg:{tmp_path}", backend="native")
    with pytest.raises(ValueError, match="backend='other'"):
        setup(backend="other")
    with pytest.raises(ValueError, match="there is no CybORG in"):
        Training(setup(on=f"cyborg:{tmp_path}"))


@pytest.mark.cyborg
@pytest.mark.skipif(
    "FIXFIRST_CYBORG" not in os.environ, reason="FIXFIRST_CYBORG names no folder of CybORG"
)
def test_a_defender_is_trained_and_judged_on_the_real_cyborg(tmp_path):
    folder = os.environ["FIXFIRST_CYBORG"]
    on, rules = f"cyborg:{folder}", rules_of(folder)
    mixed = {"bline": 0.5, "meander": 0.5}
    ended = train(tmp_path, setup(on=on, orders=("critical-first",), red=mixed, rules=rules))
    assert ended.last.episodes == 24
    assert ended.last.environment_reward < 0
    judged = evaluate(str(tmp_path), "bline", rules=rules, horizon=10, episodes=3, on=on)
    assert len(judged.played.returns) == 3
