"""Whatever goes wrong in an env, or on the way to it, is an error that names the env."""

import os
from unittest import mock

import numpy as np
import pytest

import fixfirst
from fixfirst.envs.contract import EnvError
from fixfirst.envs.slot import Slot
from fixfirst.envs.synthetic import Awkward, SyntheticEnv
from tests.contracts.conftest import LOCAL_PROCESSES
from tests.contracts.oracle import same


class Blind:
    """Makes envs that cannot tell their true state at one step of their first episode."""

    def __init__(self, step, way="raise", **options):
        self.step, self.way, self.options = step, way, options

    def __call__(self):
        return BlindEnv(self.step, self.way, **self.options)


class BlindEnv(SyntheticEnv):
    def __init__(self, step, way, **options):
        super().__init__(**options)
        self._blind_at, self._way = step, way

    def true_state_arrays(self):
        arrays = super().true_state_arrays()
        if self._steps != self._blind_at or self._episodes > 1:
            return arrays
        if self._way == "raise":
            raise KeyError("lost")
        if self._way == "missing":
            del arrays["place"]
        if self._way == "renamed":
            arrays["plaice"] = arrays.pop("place")
        if self._way == "unknown":
            arrays["more"] = 1
        if self._way == "shape":
            arrays["level"] = np.zeros(5)
        return arrays


WAYS = {
    "raise": "KeyError: 'lost'",
    "missing": r"gave level, met; true_state_space has level, met, place",
    "renamed": "gave level, met, plaice; true_state_space has",
    "unknown": "gave level, place, met, more; true_state_space has",
    "shape": "could not broadcast",
}


def play(env, steps):
    return [env.step([t % 5] * env.num_envs) for t in range(steps)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("step", [0, 3])
def test_a_true_state_that_cannot_be_read_is_a_failure_of_its_env(make, way, step):
    env = make(3, env=[Awkward(), Blind(step, way), Awkward()], true_states="step")
    if step:
        env.reset(seed=40)
        play(env, step - 1)
    with pytest.raises(EnvError, match=WAYS[way]) as caught:
        env.step([0] * 3) if step else env.reset(seed=40)
    error = caught.value
    assert (error.env, error.seed, error.episode, error.step) == (1, 41, 1, step)
    assert "Traceback" in error.trace
    assert env.closed


def test_an_env_without_a_true_state_is_restarted_and_the_run_goes_on(make):
    options = {"autoreset": "next_step", "true_states": "step"}
    env = make(3, env=[Awkward(), Blind(3, "missing"), Awkward()], on_failure="restart", **options)
    twin = make(3, env=Awkward(), **options)
    for one in (env, twin):
        one.reset(seed=40)
        last = play(one, 2)[-1][0]
    read = env.states.frozen()
    observations, rewards, terminated, truncated, infos = env.step([1] * 3)
    theirs = twin.step([1] * 3)
    assert same(observations[[0, 2]], theirs[0][[0, 2]])
    assert same(observations[1], last[1])
    assert (rewards[1], terminated[1], truncated[1]) == (0.0, False, True)
    assert "env 1 (seed 41) failed in step 3 of its episode 1" in infos["failure"][1]
    assert env.states_fresh.tolist() == [True, False, True]
    assert same(env.states.records[1], read.records[1])
    assert env.steps.tolist() == [3, 2, 3]
    env.step([1] * 3)
    assert (env.states.episode[1], env.states.step[1]) == (2, 0)
    assert (env.states_now.episode[1], env.states_now.step[1]) == (2, 0)


def test_an_env_that_never_has_a_true_state_is_given_up(make):
    env = make(1, env=Blind(0), true_states="step", on_failure="restart")
    with pytest.raises(EnvError, match="KeyError: 'lost'"):
        env.reset(seed=1)


class Unloadable:
    """A factory that can be sent and does not arrive."""

    def __call__(self):
        return Awkward()()

    def __reduce__(self):
        return _refuse, ()


def _refuse():
    raise ImportError("cannot be loaded here")


def unspeakable():
    env = Awkward()()
    env.metadata = {"of": lambda: None}
    return env


@pytest.mark.parametrize(
    ("factory", "says"), [(Unloadable(), "cannot be loaded here"), (unspeakable, "ickle")]
)
def test_what_does_not_get_there_or_back_is_an_error_with_its_traceback(backend, factory, says):
    if backend == "serial" or (backend == "ray" and factory is unspeakable):
        pytest.skip("nothing is sent, or Ray can send it")
    with pytest.raises(EnvError, match=r"env \d .*failed when it was made") as caught:
        fixfirst.make_vec(2, backend=backend, env=factory)
    assert says in str(caught.value)
    assert "Traceback" in caught.value.trace


@pytest.mark.parametrize("processes", LOCAL_PROCESSES)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_an_error_that_nobody_foresaw_names_the_env_too(processes):
    with mock.patch.object(Slot, "step", _stumble):
        env = fixfirst.make_vec(2, backend=processes, env=Awkward(), start_method="fork")
        env.reset(seed=40)
        with pytest.raises(EnvError, match="ZeroDivisionError") as caught:
            env.step([0, 0])
    error = caught.value
    assert (error.env, error.seed, error.episode, error.step) == (1, 41, 1, 1)
    assert "in _stumble" in error.trace
    assert env.closed


def _stumble(slot, action):
    return {} if slot.index == 0 else 1 // 0


@pytest.mark.parametrize("processes", LOCAL_PROCESSES)
def test_who_leaves_in_a_step_is_given_no_advice_on_scripts(processes):
    env = fixfirst.make_vec(1, backend=processes, env=Leaver, seed=0)
    env.reset()
    with pytest.raises(EnvError, match="exited with code 1") as caught:
        env.step([0])
    assert "__main__" not in str(caught.value)


class Leaver(SyntheticEnv):
    def step(self, action):
        os._exit(1)
