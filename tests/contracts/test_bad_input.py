"""What makes no sense is refused with an error that says what does, and nothing has moved."""

import gymnasium as gym
import numpy as np
import pytest

import fixfirst
from fixfirst.envs.contract import EnvError
from fixfirst.envs.synthetic import Awkward, SyntheticEnv
from tests.contracts.oracle import same


@pytest.mark.parametrize(
    ("actions", "error", "says"),
    [
        ([0, 0, 0], ValueError, r"actions have shape \(3,\); 2 envs take shape \(2,\)"),
        ([[0], [0]], ValueError, r"shape \(2, 1\)"),
        (0, ValueError, r"shape \(\)"),
        ([0.5, 1.0], TypeError, "dtype float64; they are of dtype int64"),
        (["a", "b"], TypeError, "dtype <U1"),
        ([0, 5], ValueError, "action 5 of env 1 does not exist; actions are 0 to 4"),
        ([-1, 0], ValueError, "action -1 of env 0 does not exist"),
    ],
)
def test_actions_that_do_not_fit_are_refused_and_nothing_has_moved(make, actions, error, says):
    env = make(2, env=Awkward())
    twin = fixfirst.make_vec(2, backend="serial", env=Awkward())
    env.reset(seed=0)
    twin.reset(seed=0)
    with pytest.raises(error, match=says):
        env.step(actions)
    assert same(env.step([1, 2])[0], twin.step([1, 2])[0])


def test_steps_before_the_first_reset_and_after_an_end_are_refused(make):
    env = make(2, env=Awkward(length=1), autoreset="disabled")
    with pytest.raises(gym.error.ResetNeeded, match="env 0 was never reset"):
        env.step([0, 0])
    env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(gym.error.ResetNeeded, match="env 1 was never reset"):
        env.step([0, 0])
    env.reset()
    env.step([0, 0])
    with pytest.raises(gym.error.ResetNeeded, match="env 0 has ended and autoreset is off"):
        env.step([0, 0])


def test_after_close_nothing_goes_and_closing_again_is_fine(make):
    env = make(2, env=Awkward())
    env.reset(seed=0)
    env.close()
    env.close()
    for use in (
        lambda: env.step([0, 0]), env.reset, lambda: env.call("render"), env.render,
        lambda: env.set_attr("x", 1),
    ):  # fmt: skip
        with pytest.raises(gym.error.ClosedEnvironmentError, match="make a new one"):
            use()


def test_envs_of_different_kinds_are_refused(backend):
    with pytest.raises(ValueError, match="env 1 cannot be in one vector env with the others: its"):
        fixfirst.make_vec(2, backend=backend, env=[Awkward(), Awkward(nested=True)])


def test_what_makes_no_env_is_refused(backend):
    def make(env, count=2):
        return fixfirst.make_vec(count, backend=backend, env=env)

    with pytest.raises(ValueError, match="1 factories were given for 2 envs"):
        make([Awkward()])
    with pytest.raises(TypeError, match="is an env, and there are to be several"):
        make(SyntheticEnv())
    with pytest.raises(TypeError, match="env=3 makes no envs"):
        make(3)
    with pytest.raises(
        EnvError, match=r"env \d .* failed when it was made: .*no observation_space"
    ):
        make(object)
    with pytest.raises(EnvError, match="failure='sulk' is not known"):
        make(Awkward(failure="sulk"))
    with pytest.raises(ValueError, match="num_envs=0"):
        make(Awkward(), 0)


def test_an_observation_of_another_shape_is_an_error_of_the_env(make):
    env = make(2, env=Awkward())
    env.reset(seed=0)
    env.set_attr("observation_space", None)  # the space that was declared stays as it was
    env.set_attr("options", Awkward(nested=True))
    with pytest.raises(EnvError, match=r"env \d .* an observation has shape \(\)"):
        env.step([0, 0])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"on_failure": "ignore"}, "on_failure='ignore'"),
        ({"timeout": 0}, "timeout=0"),
        ({"autoreset": "sometimes"}, "autoreset='sometimes'"),
        ({"seed": [1]}, "1 seeds"),
        ({"seed": "a"}, "seed 'a'"),
        ({"sped": 1}, "no option 'sped'"),
        ({"threads": 2}, "no option 'threads'"),
        ({"red": "green", "env": None}, "red='green'"),
        ({"rules": "latest"}, "rules= is an option of the built-in game"),
    ],
)
def test_options_that_make_no_sense_are_refused(backend, options, says):
    with pytest.raises((ValueError, TypeError), match=says):
        fixfirst.make_vec(2, **{"backend": backend, "env": Awkward(), **options})


def test_backends_are_told_apart():
    with pytest.raises(ValueError, match="backend='quick' is not known; it is one of native"):
        fixfirst.make_vec(2, backend="quick")
    with pytest.raises(ValueError, match="backend='native' is the compiled game"):
        fixfirst.make_vec(2, env=Awkward())
    with pytest.raises(TypeError, match="workers"):
        fixfirst.make_vec(2, workers=2)
