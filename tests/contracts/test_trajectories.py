"""Whatever runs the envs, they do the same."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import fixfirst
from fixfirst.envs.synthetic import Awkward
from tests.contracts.oracle import Oracle, info_of, row, same

MODES = ["next_step", "same_step", "disabled"]
AWKWARD = Awkward(length=7, ends=0.1, nested=True, talkative=True)


def actions_for(count, steps, actions=5):
    return np.random.default_rng(1).integers(0, actions, (steps, count))


def reset_ended(env, autoreset, ended):
    """What a user does in mode "disabled"."""
    if autoreset == "disabled" and ended.any():
        env.reset(options={"reset_mask": ended})


@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize("nested", [False, True])
def test_every_env_does_what_it_would_do_alone(make, autoreset, nested):
    factory = Awkward(length=7, ends=0.1, nested=nested, talkative=True)
    env = make(5, env=factory, autoreset=autoreset)
    oracle = Oracle([factory] * 5, autoreset, seed=3)
    observations, infos = env.reset(seed=3)
    assert env.observation_space.contains(observations)
    for i, (observation, info) in enumerate(oracle.first):
        assert same(row(observations, i), observation)
        assert info_of(infos, i) == info
    for actions in actions_for(5, 40):
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert env.observation_space.contains(observations)
        assert rewards.dtype == np.float64
        assert terminated.dtype == truncated.dtype == np.bool_
        for i, told in enumerate(oracle.step(actions)):
            assert same(row(observations, i), told["obs"])
            assert rewards[i] == told["reward"]
            assert (terminated[i], truncated[i]) == told["ends"]
            heard = info_of(infos, i)
            assert same(heard.pop("final_obs", None), told.get("final_obs"))
            assert heard.pop("final_info", None) == told.get("final_info")
            assert heard == told["info"]
        reset_ended(env, autoreset, terminated | truncated)


@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize("rng", ["fast", "cpython"])
def test_the_built_in_game_is_the_native_one(make, autoreset, rng):
    options = {
        "red": ["bline", "meander", "sleep", "bline"], "rules": "leaderboard", "horizon": 11,
        "rng": rng, "seed": 5, "autoreset": autoreset, "true_states": "step",
    }  # fmt: skip
    env, native = make(4, **options), fixfirst.make_vec(4, **options)
    assert env.single_observation_space == native.single_observation_space
    assert env.single_action_space == native.single_action_space
    assert env.metadata["autoreset_mode"] == native.metadata["autoreset_mode"]
    assert same(env.reset(), native.reset())
    for actions in actions_for(4, 40, 145):
        assert same_states(env.states_now, native.states_now)
        *mine, infos = env.step(actions)
        *theirs, native_infos = native.step(actions)
        assert same(mine, theirs)
        assert infos.keys() == native_infos.keys()
        assert same_states(env.states, native.states)
        assert (env.states_fresh == native.states_fresh).all()
        assert (env.steps == native.steps).all()
        assert (env.episodes == native.episodes).all()
        if "final_obs" in infos:
            assert same(infos["final_obs"], native_infos["final_obs"])
        reset_ended(env, autoreset, mine[3])
        reset_ended(native, autoreset, theirs[3])


def same_states(mine, theirs):
    labels = [(mine.step, theirs.step), (mine.episode, theirs.episode)]
    parts = [(getattr(mine, name), getattr(theirs, name)) for name in mine.names]
    assert len(parts) > 20
    return all(same(*pair) for pair in labels + parts)


def test_seeds_are_given_one_by_one_or_in_a_row_and_last_where_none_is_given(make):
    env = make(3, env=AWKWARD, seed=10)
    first = env.reset(seed=None)[0]["flat"].copy()
    again = env.reset()[0]["flat"].copy()
    assert not same(first, again), "without a seed the generators go on"
    assert same(env.reset(seed=10)[0]["flat"], first)
    assert same(env.reset(seed=[10, 11, 12])[0]["flat"], first)
    assert same(env.reset(seed=[10, None, 12])[0]["flat"][[0, 2]], first[[0, 2]])
    assert not same(env.reset(seed=[11, 10, 12])[0]["flat"], first)


def test_reset_by_mask_leaves_the_other_envs_alone(make):
    env, twin = make(4, env=AWKWARD, autoreset="disabled"), make(4, env=AWKWARD)
    env.reset(seed=0)
    twin.reset(seed=0)
    env.step([1] * 4)
    twin.step([1] * 4)
    mask = np.array([True, False, True, False])
    observations, _ = env.reset(seed=50, options={"reset_mask": mask, "place": 7})
    assert env.steps.tolist() == [0, 1, 0, 1]
    assert np.allclose(observations["flat"][[0, 2], 3], 3.5)
    mine, theirs = env.step([2] * 4)[0], twin.step([2] * 4)[0]
    assert same(row(mine, 1), row(theirs, 1))
    assert same(row(mine, 3), row(theirs, 3))


def test_what_a_step_returns_lasts_for_two_steps_and_a_copy_for_ever(make):
    env, copying = make(3, env=AWKWARD), make(3, env=AWKWARD, copy=True)
    env.reset(seed=1)
    copying.reset(seed=1)
    kept, expected = [], []
    for t, actions in enumerate(actions_for(3, 12)):
        last = env.step(actions)[:4]
        mine = copying.step(actions)[:4]
        assert same(last, mine)
        kept.append(last)
        expected.append(mine)
        if t:
            assert same(kept[t - 1], expected[t - 1])
    oracle = make(3, env=AWKWARD)
    oracle.reset(seed=1)
    for actions, mine in zip(actions_for(3, 12), expected, strict=True):
        assert same(oracle.step(actions)[:4], mine), "a copy has been written again"


@pytest.mark.parametrize("mask", [None, [False, True, False]])
def test_a_reset_leaves_what_the_last_step_returned_alone(make, mask):
    options = None if mask is None else {"reset_mask": np.array(mask)}
    env, copying = make(3, env=AWKWARD), make(3, env=AWKWARD, copy=True)
    for one in (env, copying):
        one.reset(seed=1)
        one.step([1] * 3)
    pairs = [(env.step([2] * 3)[:4], copying.step([2] * 3)[:4])]
    pairs.append((env.reset(options=options)[0], copying.reset(options=options)[0]))
    assert all(same(*pair) for pair in pairs)
    pairs.append((env.step([3] * 3)[:4], copying.step([3] * 3)[:4]))
    assert all(same(*pair) for pair in pairs[1:])


def test_envs_can_be_asked_and_told(make):
    env = make(3, env=AWKWARD)
    env.reset(seed=0)
    assert env.get_attr("action_space") == (env.single_action_space,) * 3
    assert all(text.endswith("after 0 steps") for text in env.call("render"))
    assert env.render() == env.call("render")
    env.set_attr("_place", [1.0, 2.0, 3.0])
    assert env.get_attr("_place") == (1.0, 2.0, 3.0)
    env.set_attr("_place", 0.0)
    assert env.get_attr("_place") == (0.0, 0.0, 0.0)
    with pytest.raises(AttributeError, match="nonsense"):
        env.get_attr("nonsense")
    env.step([0, 1, 2])


def test_the_mode_of_autoreset_is_declared(make):
    env = make(2, env=AWKWARD, autoreset="same_step")
    assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert env.num_envs == 2
