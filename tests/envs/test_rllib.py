"""RLlib's face of the native backend: the same games, and the real library learning from them."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="the extra `ray` is not installed")

import gymnasium as gym
from ray.rllib.algorithms.ppo import PPOConfig

import fixfirst
from fixfirst.envs import ray_start, rllib
from fixfirst.workflow.orders import Workflow

ORDERS = ("critical-first", "reverse")


@pytest.fixture(scope="module")
def running():
    ray_start.start(cpus=2)
    yield
    ray_start.stop()


@pytest.mark.parametrize("memory", [False, True])
def test_it_plays_the_games_of_make_vec_and_shows_their_orders(memory):
    options = {"horizon": 6, "orders": ORDERS, "alignment_lambda": 30.0, "memory": memory}
    ours = rllib.NativeRLlibEnv(2, **options)
    theirs = fixfirst.make_vec(2, copy=True, **options)
    one_hots = np.stack([Workflow(order).one_hot.reshape(-1) for order in ORDERS])
    seen, _ = ours.reset(seed=5)
    expected, _ = theirs.reset(seed=rllib.first_seed(5))
    plan = np.random.default_rng(0).integers(0, 145, (20, 2))
    ends = 0
    for row in plan:
        np.testing.assert_array_equal(seen, np.hstack([expected, one_hots]))
        assert ours.observation_space.contains(seen)
        seen, reward, terminated, truncated, info = ours.step(row)
        expected, wanted, _, over, _ = theirs.step(row)
        np.testing.assert_array_equal(reward, wanted.astype(np.float32))
        np.testing.assert_array_equal(truncated, over)
        assert not terminated.any()
        assert ("episode" in info) == truncated.any()
        ends += int(truncated.sum())
    assert ends == 6  # an episode is 6 steps and the reset


def test_what_was_returned_is_not_written_again():
    env = rllib.NativeRLlibEnv(3, horizon=4)
    env.reset(seed=0)
    plan = np.random.default_rng(0).integers(0, 145, (12, 3))
    rows = [env.step(row)[:4] for row in plan]
    kept = [[array.copy() for array in row] for row in rows]
    for _ in range(5):
        env.step(plan[0])
    for row, before in zip(rows, kept, strict=True):
        for array, old in zip(row, before, strict=True):
            np.testing.assert_array_equal(array, old)


def test_runners_whose_seeds_follow_each_other_play_different_games():
    first, second = (rllib.NativeRLlibEnv(8, red="meander") for _ in range(2))
    first.reset(seed=7)
    second.reset(seed=8)
    streams = [set(map(bytes, env.native.batch.games.random)) for env in (first, second)]
    assert len(streams[0]) == len(streams[1]) == 8
    assert not streams[0] & streams[1]


@pytest.mark.parametrize("name", sorted(rllib.FIXED))
def test_what_rllib_lays_down_cannot_be_chosen(name):
    with pytest.raises(TypeError, match=f"{name}=True cannot be chosen here"):
        rllib.NativeRLlibEnv(2, **{name: True})


def test_single_environments_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match="gym_env_vectorize_mode='vector_entry_point'"):
        rllib.make_env({"red": "bline"})


def test_closed_games_are_not_played():
    env = rllib.NativeRLlibEnv(2)
    env.reset()
    env.close()
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        env.step(np.zeros(2, np.int64))


@pytest.mark.usefixtures("running")
def test_ppo_learns_from_it_and_reports_the_orders_kept():
    config = rllib.configure(
        PPOConfig(), num_envs=16, horizon=20, orders="critical-first", alignment_lambda=30.0
    )
    config.env_runners(num_env_runners=0)
    config.debugging(seed=3)
    config.training(train_batch_size=640, minibatch_size=160, num_epochs=2)
    algorithm = config.build_algo()
    try:
        before = algorithm.get_module().get_state()
        results = [algorithm.train()["env_runners"] for _ in range(3)]
        after = algorithm.get_module().get_state()
    finally:
        algorithm.stop()
    assert any((before[name] != after[name]).any() for name in before)
    for result in results:
        assert result["episode_len_mean"] == 20
        assert 0 <= result["compliance"] <= 1
        total = result["environment_reward"] + result["alignment_reward"]
        assert result["episode_return_mean"] == pytest.approx(total, abs=1e-2)
