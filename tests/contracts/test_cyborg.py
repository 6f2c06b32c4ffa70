"""The real CybORG behind every backend. Needs one: FIXFIRST_CYBORG names its folder."""

import os
import pickle
import sys

import numpy as np
import pytest

import fixfirst
from fixfirst.envs.cyborg import CyborgError
from fixfirst.envs.cyborg_env import CyborgEnv, cyborg_factory
from tests.contracts.oracle import same


@pytest.fixture(scope="session")
def folder():
    """The folder of the real CybORG."""
    named = os.environ.get("FIXFIRST_CYBORG")
    if not named:
        pytest.skip("FIXFIRST_CYBORG does not name the folder of a CybORG")
    return named


@pytest.mark.cyborg
@pytest.mark.parametrize("red", ["bline", "meander"])
def test_on_every_backend_it_is_the_built_in_game(make, folder, red):
    options = {"autoreset": "same_step", "true_states": "step", "seed": 11}
    factory = cyborg_factory(folder, red, horizon=25)
    rules = CyborgEnv(folder).game.rules
    env = make(3, env=factory, **options)
    twin = fixfirst.make_vec(3, red=red, rules=rules, horizon=25, rng="cpython", **options)
    assert env.single_observation_space == twin.single_observation_space
    assert env.single_action_space == twin.single_action_space
    assert same(env.reset(), twin.reset())
    for actions in np.random.default_rng(5).integers(0, 145, (60, 3)):
        assert same_states(env.states_now, twin.states_now)
        assert same(env.step(actions)[:4], twin.step(actions)[:4])
        assert same_states(env.states, twin.states)
        assert (env.steps == twin.steps).all()
        assert (env.episodes == twin.episodes).all()


def same_states(mine, theirs):
    assert len(mine.names) == 25
    return all(
        np.allclose(getattr(mine, name), getattr(theirs, name), atol=1e-9)
        for name in ("step", "episode", *mine.names)
    )


@pytest.mark.cyborg
def test_a_single_env_keeps_gymnasiums_contract(folder):
    env = CyborgEnv(folder, horizon=2)
    with pytest.raises(Exception, match="never reset"):
        env.step(0)
    first, _ = env.reset(seed=4)
    assert env.observation_space.contains(first)
    with pytest.raises(ValueError, match="action=145"):
        env.step(145)
    assert [env.step(0)[3], env.step(0)[3]] == [False, True]
    with pytest.raises(Exception, match="horizon of 2 steps"):
        env.step(0)
    assert same(env.reset(seed=4)[0], first)
    with pytest.raises(ValueError, match="reset option 'x'"):
        env.reset(options={"x": 1})
    env.close()
    env.close()
    with pytest.raises(Exception, match="closed"):
        env.reset()


@pytest.mark.cyborg
def test_a_factory_can_be_sent_anywhere_and_does_not_load_cyborg(folder):
    factory = pickle.loads(pickle.dumps(cyborg_factory(folder, "sleep", horizon=7)))
    assert factory().horizon == 7


def test_a_folder_without_cyborg_is_refused_before_any_env_is_made(tmp_path, monkeypatch):
    with pytest.raises(CyborgError, match="there is no CybORG in"):
        cyborg_factory(tmp_path)
    with pytest.raises(CyborgError, match="does not exist"):
        cyborg_factory(tmp_path / "nowhere")
    monkeypatch.setitem(sys.modules, "CybORG", None)
    with pytest.raises((CyborgError, ValueError)):
        cyborg_factory()
    with pytest.raises(ValueError, match="red='green'"):
        cyborg_factory(tmp_path, "green")
    with pytest.raises(ValueError, match="horizon=0"):
        cyborg_factory(tmp_path, horizon=0)
