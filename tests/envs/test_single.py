"""The single environment, and both through Gymnasium's registry."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

import fixfirst
from fixfirst.envs.registration import ENV_ID


@pytest.mark.parametrize("rng", ["fast", "cpython"])
def test_gymnasiums_checker_is_content(rng):
    check_env(gym.make(ENV_ID, rng=rng, render_mode="ansi").unwrapped, skip_render_check=False)


def test_make_gives_the_single_environment():
    env = gym.make(ENV_ID, red="meander", horizon=30)
    assert isinstance(env.unwrapped, fixfirst.Cage2Env)
    env.reset(seed=1)
    for step in range(1, 31):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert isinstance(reward, float)
        assert (terminated, truncated) == (False, step == 30)
        assert info == {}


def test_make_vec_gives_the_native_batch():
    env = gym.make_vec(ENV_ID, num_envs=5, vectorization_mode="vector_entry_point", red="sleep")
    assert isinstance(env.unwrapped, fixfirst.NativeVectorEnv)
    assert env.reset(seed=0)[0].shape == (5, 52)


@pytest.mark.parametrize("rng", ["fast", "cpython"])
def test_the_single_environment_plays_the_batchs_game(rng):
    """Gymnasium's own vectoriser over single games is the reference for the batch."""
    options = {"red": "meander", "horizon": 25, "rng": rng}
    reference = SyncVectorEnv([lambda: fixfirst.Cage2Env(**options)] * 3)
    batch = fixfirst.make_vec(3, **options)
    assert (reference.reset(seed=8)[0] == batch.reset(seed=8)[0]).all()
    for actions in np.random.default_rng(1).integers(0, 145, (90, 3)):
        expected, got = reference.step(actions), batch.step(actions)
        for theirs, mine in zip(expected[:4], got[:4], strict=True):
            assert (theirs == mine).all()


def test_observations_are_fresh_arrays():
    env = fixfirst.Cage2Env(red="meander")
    seen = [env.reset(seed=0)[0]]
    seen += [env.step(0)[0] for _ in range(40)]
    assert len({id(o) for o in seen}) == len(seen)
    assert any(o.any() for o in seen)
    assert not seen[0].any()


def test_a_step_outside_an_episode_is_refused():
    env = fixfirst.Cage2Env(horizon=2)
    with pytest.raises(gym.error.ResetNeeded, match="never reset"):
        env.step(0)
    env.reset()
    env.step(0)
    env.step(0)
    with pytest.raises(gym.error.ResetNeeded, match="horizon of 2 steps"):
        env.step(0)
    env.close()
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        env.reset()


def test_rendering_without_a_mode_warns():
    env = fixfirst.Cage2Env()
    env.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_a_saved_game_goes_on_as_the_original_did():
    env = fixfirst.Cage2Env(red="bline", rng="cpython")
    env.reset(seed=2)
    plan = np.random.default_rng(0).integers(0, 145, 60)
    for action in plan[:20]:
        env.step(action)
    kept = env.save()
    first = [env.step(a)[1] for a in plan[20:]]
    env.load(kept)
    assert [env.step(a)[1] for a in plan[20:]] == first


def test_loading_into_a_new_environment_makes_it_ready():
    env, other = fixfirst.Cage2Env(), fixfirst.Cage2Env()
    env.reset(seed=0)
    env.step(0)
    other.load(env.save())
    other.step(0)
    assert other.true_state.step[0] == 2


def test_the_wrong_kind_of_seed_or_option_is_refused():
    with pytest.raises(TypeError, match=r"seed \[5\] is of type list"):
        fixfirst.Cage2Env(seed=[5])
    with pytest.raises(ValueError, match=r"options=\{'reset_mask': 1\} are not known"):
        fixfirst.Cage2Env().reset(options={"reset_mask": 1})


def test_any_integer_seeds_the_game():
    env = fixfirst.Cage2Env(rng="cpython")
    for seed in (0, 2**70, np.int64(5)):
        env.reset(seed=seed)
    with pytest.raises(TypeError, match="seed 'x' is of type str"):
        env.reset(seed="x")
