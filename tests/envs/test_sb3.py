"""Stable-Baselines3's face of the native backend: the same games, told as SB3 wants them told."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="the extra `sb3` is not installed")

import gymnasium as gym
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor, VecNormalize

import fixfirst
from fixfirst.envs.sb3 import NativeVecEnv
from fixfirst.learn.rollout import input_width, order_features
from fixfirst.workflow.orders import Workflow

ORDERS = ("critical-first", "reverse")


def actions(steps, games, seed=0):
    return np.random.default_rng(seed).integers(0, 145, (steps, games))


def played(env, plan):
    """Every result of a plan, copied."""
    rows = [(env.reset().copy(), None, None, [{}] * env.num_envs)]
    for row in plan:
        rows.append(env.step(row))
    return rows


# --- the same games as make_vec's


@pytest.mark.parametrize("memory", [False, True])
def test_it_plays_the_games_of_make_vec_and_shows_their_orders(memory):
    options = {
        "horizon": 7,
        "seed": 5,
        "orders": ORDERS,
        "alignment_lambda": 30.0,
        "memory": memory,
        "red": ("bline", "meander"),
    }
    plan = actions(30, 2)
    ours = NativeVecEnv(2, **options)
    theirs = fixfirst.make_vec(2, autoreset="same_step", copy=True, **options)
    one_hots = np.stack([Workflow(order).one_hot.reshape(-1) for order in ORDERS])
    rows = played(ours, plan)
    observation, _ = theirs.reset()
    np.testing.assert_array_equal(rows[0][0], np.hstack([observation, one_hots]))
    for row, (seen, reward, done, infos) in zip(plan, rows[1:], strict=True):
        observation, expected, _, truncated, info = theirs.step(row)
        np.testing.assert_array_equal(seen, np.hstack([observation, one_hots]))
        assert seen.dtype == ours.observation_space.dtype
        assert reward.dtype == np.float32
        np.testing.assert_array_equal(reward, expected.astype(np.float32))
        np.testing.assert_array_equal(done, truncated)
        for game in range(2):
            if not done[game]:
                assert infos[game] == {}
                continue
            assert infos[game]["TimeLimit.truncated"] is True
            last = np.concatenate([info["final_obs"][game], one_hots[game]])
            np.testing.assert_array_equal(infos[game]["terminal_observation"], last)


def test_without_orders_the_observations_are_the_plain_bits():
    env = NativeVecEnv(3, seed=1)
    assert env.observation_space == gym.spaces.MultiBinary(52)
    np.testing.assert_array_equal(env.reset(), fixfirst.make_vec(3, seed=1).reset()[0])


def test_the_policy_sees_what_the_policies_of_our_own_trainer_see():
    orders = [Workflow(order) for order in ORDERS]
    env = NativeVecEnv(2, orders=orders)
    assert env.observation_space.shape == (input_width(orders, memory=False),)
    np.testing.assert_array_equal(env.reset()[:, 52:], order_features(orders, 2))
    one = NativeVecEnv(3, orders=ORDERS[1])
    np.testing.assert_array_equal(one.reset()[:, 52:], order_features(orders[1:], 3))


def test_what_was_returned_is_not_written_again():
    env = NativeVecEnv(4, horizon=3, seed=0)
    rows = played(env, actions(20, 4))
    kept = [tuple(np.array(x) for x in row[:3]) for row in rows[1:]]
    again = played(NativeVecEnv(4, horizon=3, seed=0), actions(20, 4))
    for one, other in zip(kept, again[1:], strict=True):
        for a, b in zip(one, other[:3], strict=True):
            np.testing.assert_array_equal(a, b)
    assert not any(np.shares_memory(rows[i][0], rows[i + 1][0]) for i in range(20))


# --- what SB3 is told


def test_an_episode_that_ends_is_reported_with_its_sum_of_rewards_and_its_length():
    env = NativeVecEnv(3, horizon=5, seed=2, orders="balanced", alignment_lambda=10.0)
    sums = np.zeros(3)
    for k, (_, reward, done, infos) in enumerate(played(env, actions(20, 3))[1:], 1):
        sums += reward
        assert list(done) == [k % 5 == 0] * 3
        for game in np.flatnonzero(done):
            told = infos[game]["episode"]
            assert told["r"] == pytest.approx(sums[game], abs=1e-4)
            assert told["l"] == 5
            assert told["r"] == pytest.approx(
                told["environment_reward"] + told["alignment_reward"], abs=1e-9
            )
            assert told["compliant"] <= told["fixes"]
            assert told["t"] >= 0
            sums[game] = 0


def test_a_seed_begins_the_same_games_once():
    env = NativeVecEnv(3, horizon=10)
    assert list(env.seed(11)) == [11, 12, 13]
    plan = actions(25, 3)
    first = played(env, plan)
    env.seed(11)
    second = played(env, plan)
    third = played(env, plan)  # a seed counts for one reset
    for one, other in zip(first[1:], second[1:], strict=True):
        np.testing.assert_array_equal(one[1], other[1])
    assert any((a[1] != b[1]).any() for a, b in zip(second[1:], third[1:], strict=True))


def test_vec_monitor_counts_the_same_episodes():
    plan = actions(12, 2)
    bare = played(NativeVecEnv(2, horizon=4, seed=3), plan)
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        monitored = VecMonitor(NativeVecEnv(2, horizon=4, seed=3))
    for ours, theirs in zip(bare[1:], played(monitored, plan)[1:], strict=True):
        for one, other in zip(ours[3], theirs[3], strict=True):
            assert ("episode" in one) == ("episode" in other)
            if "episode" in one:
                assert one["episode"]["r"] == pytest.approx(float(other["episode"]["r"]), abs=1e-4)
                assert one["episode"]["l"] == other["episode"]["l"]


def test_games_can_be_asked_one_by_one():
    env = NativeVecEnv(3, orders=[*ORDERS, "balanced"], memory=True, horizon=9, render_mode="ansi")
    env.reset()
    assert env.get_attr("horizon") == [9, 9, 9]
    assert env.get_attr("workflow", [0, 2]) == [Workflow(ORDERS[0]), Workflow("balanced")]
    assert env.get_attr("render_mode", -1) == ["ansi"]
    assert env.env_method("action_index", "Sleep", indices=1) == [0]
    assert env.has_attr("action_masks")
    assert not env.has_attr("nothing_of_the_kind")
    masks = np.stack(env.env_method("action_masks"))
    np.testing.assert_array_equal(masks, env.native.action_mask)
    (text,) = env.env_method("render", indices=2)
    assert "Op_Server0" in text
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gym.wrappers.TimeLimit, [1]) == [False]


def test_a_saved_game_plays_on_as_it_would_have():
    env = NativeVecEnv(2, seed=0)
    env.reset()
    plan = actions(10, 2)
    (kept,) = env.env_method("save", indices=1)
    rewards = [env.step(row)[1][1] for row in plan]
    env.env_method("load", kept, indices=1)
    assert [env.step(row)[1][1] for row in plan] == rewards


def test_values_can_be_pinned_to_games_but_not_over_what_they_are_made_of():
    env = NativeVecEnv(3)
    env.set_attr("level_of_curriculum", 4, indices=[0, 2])
    assert env.get_attr("level_of_curriculum", [0, 2]) == [4, 4]
    with pytest.raises(AttributeError, match="level_of_curriculum"):
        env.get_attr("level_of_curriculum")
    with pytest.raises(AttributeError, match="'horizon' was chosen when the games were made"):
        env.set_attr("horizon", 50)


# --- refusals


@pytest.mark.parametrize("name", ["autoreset", "copy", "episode_stats"])
def test_what_sb3_lays_down_cannot_be_chosen(name):
    with pytest.raises(TypeError, match=f"{name}=True cannot be chosen here"):
        NativeVecEnv(2, **{name: True})


def test_misuse_is_refused_in_words():
    env = NativeVecEnv(2)
    with pytest.raises(IndexError, match="there is no game 2; they are 0 to 1"):
        env.get_attr("horizon", 2)
    with pytest.raises(gym.error.NoAsyncCallError, match="call step_async"):
        env.step_wait()
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        env.step(np.zeros(2, np.int64))
    env.reset()
    with pytest.raises(ValueError, match="shape"):
        env.step(np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="action 145 of game 1"):
        env.step(np.array([0, 145]))
    env.set_options({"level": 3})
    with pytest.raises(ValueError, match="reset option 'level' is not known"):
        env.reset()
    with pytest.raises(ValueError, match="render"):
        env.env_method("render")
    env.close()
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        env.step(np.zeros(2, np.int64))


# --- the real library


def test_ppo_learns_from_it():
    env = NativeVecEnv(16, horizon=20, seed=0, orders="critical-first", alignment_lambda=30.0)
    model = PPO("MlpPolicy", env, n_steps=40, batch_size=160, n_epochs=2, seed=0, device="cpu")
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(3 * 40 * 16)
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) == 3 * 2 * 16 > 0
    assert {"r", "l", "t", "compliance"} <= set(model.ep_info_buffer[0])
    mean, _ = evaluate_policy(model, NativeVecEnv(4, horizon=20, seed=9, orders=ORDERS[0]), 4)
    assert -500 < mean <= 0


def test_off_policy_learners_and_wrappers_take_it():
    checked = VecCheckNan(NativeVecEnv(4, horizon=10, seed=0, memory=True), raise_exception=True)
    env = VecNormalize(checked, norm_obs=False)
    model = DQN("MlpPolicy", env, learning_starts=16, train_freq=4, buffer_size=500, device="cpu")
    model.learn(128)
    assert model.num_timesteps == 128
    assert model.replay_buffer.full is False
    assert len(model.ep_info_buffer) == 4 * 3


def test_the_single_game_passes_sb3s_own_check():
    check_env(fixfirst.Cage2Env(horizon=5))
