"""Trained policies are judged as they were trained: by bits, memory and order."""

import os

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")

import fixfirst
from fixfirst.envs.cyborg import find_package, rules_of
from fixfirst.envs.recall import Recall
from fixfirst.game import facts
from fixfirst.judge.blues import find_blue
from fixfirst.judge.evaluate import evaluate
from fixfirst.judge.play import play
from fixfirst.judge.protocol import official
from fixfirst.learn.options import PPO
from fixfirst.learn.policy import Policy
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import train
from tests.judge import record_official

SMALL = PPO(steps=20, minibatch=640, hidden=(16,))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three policies: plain, with memory and masks, and one for two orders."""
    folder = tmp_path_factory.mktemp("runs")
    kinds = {
        "plain": {},
        "memory": {"memory": True, "mask": True},
        "orders": {"orders": ("balanced", "reverse"), "stop_at_gate": False},
    }
    for name, options in kinds.items():
        train(folder / name, Setup(n_envs=64, horizon=20, episodes=64 * 3, ppo=SMALL, **options))
    return folder


@pytest.mark.parametrize("rng", ["fast", "cpython"])
@pytest.mark.parametrize("red", facts.REDS)
def test_what_blue_remembers_is_rebuilt_from_its_bits_and_actions(red, rng):
    games, horizon = 8, 30
    env = fixfirst.make_vec(
        games, memory=True, red=red, rng=rng, seed=2, horizon=horizon, autoreset="same_step"
    )
    env.reset()
    recall = Recall(games, horizon)
    draw = np.random.default_rng(0)
    actions = np.zeros(games, np.int64)
    for step in range(2 * horizon + 3):
        bits = env.batch.observation
        recall.take_in(bits, actions, np.full(games, step % horizon))
        assert np.array_equal(recall.rows, env.observation)
        assert np.array_equal(recall.masks, env.action_mask)
        actions = draw.integers(0, 145, games)
        env.step(actions)


def test_beyond_its_horizon_no_time_is_left():
    recall = Recall(1, 10)
    left = []
    for step in (0, 5, 10, 99):
        recall.take_in(np.zeros((1, 52), np.int8), np.zeros(1, np.int64), np.array([step]))
        left.append(round(float(recall.rows[0, -1]), 3))
    assert left == [1.0, 0.5, 0.0, 0.0]


def test_a_policy_with_memory_scores_what_it_scores_in_a_batch_with_memory(runs):
    policy = Policy(runs / "memory")
    env = fixfirst.make_vec(30, memory=True, horizon=20, seed=5, autoreset="disabled")
    seen, _ = env.reset()
    returns = np.zeros(30)
    for _ in range(20):
        seen, reward, *_ = env.step(policy.act(seen, env.action_mask))
        returns += reward
    played = play(str(runs / "memory"), "bline", horizon=20, episodes=30, seed=5)
    assert np.allclose(played.returns, returns)
    assert played.sees == "bits"


def test_an_order_is_followed_and_judged(runs):
    done = evaluate(f"{runs / 'orders'}@reverse", "bline", horizon=20, episodes=20)
    assert str(done.kept.order) == str(fixfirst.Workflow("reverse"))
    with pytest.raises(ValueError, match="several orders"):
        find_blue(str(runs / "orders"))
    with pytest.raises(ValueError, match="without an order"):
        find_blue(f"{runs / 'plain'}@reverse")
    assert evaluate(str(runs / "plain"), "bline", horizon=20, episodes=20).kept is None


def test_drawn_actions_depend_on_the_seed_and_the_episode_alone(runs):
    name = f"drawn:{runs / 'plain'}"
    one = play(name, "bline", horizon=20, episodes=30, seed=1)
    again = play(name, "bline", horizon=20, episodes=30, seed=1)
    fewer = play(name, "bline", horizon=20, episodes=10, seed=1)
    assert np.array_equal(one.returns, again.returns)
    assert np.array_equal(one.returns[:10], fewer.returns)
    likeliest = play(str(runs / "plain"), "bline", horizon=20, episodes=30, seed=1)
    assert not np.array_equal(one.returns, likeliest.returns)


def test_folders_without_a_policy_are_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no checkpoint"):
        find_blue(str(tmp_path))
    with pytest.raises(ValueError, match="no folder 'nowhere'"):
        find_blue("drawn:nowhere")


class OnScript:
    """A trained policy as an agent of CybORG's evaluation script: told the bits, no more."""

    def __init__(self, run):
        self._blue = find_blue(str(run))
        self.end_episode()

    def get_action(self, observation, action_space):
        self.observation = np.asarray(observation, np.int8)[None]
        self.last_action[0] = self._blue.act(self)[0]
        self.step[0] += 1
        return int(self.last_action[0])

    def end_episode(self):
        self.step, self.last_action = np.zeros(1, int), np.zeros(1, int)

    def __len__(self):
        return 1


@pytest.mark.cyborg
@pytest.mark.skipif(not os.environ.get("FIXFIRST_CYBORG"), reason="FIXFIRST_CYBORG is not set")
@pytest.mark.parametrize("name", ["plain", "memory"])
def test_a_trained_policy_earns_on_cyborgs_script_what_official_says(runs, name, monkeypatch):
    folder = os.environ["FIXFIRST_CYBORG"]
    monkeypatch.syspath_prepend(find_package(folder).parent)
    theirs = record_official.run(
        find_package(folder).parent, name, lambda: OnScript(runs / name), episodes=2
    )
    scored = official(str(runs / name), rules=rules_of(folder), episodes=2)
    mine = np.rint(10 * np.array([cell.returns for cell in scored.cells]))
    assert np.array_equal(mine, theirs)
