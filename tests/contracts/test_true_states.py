"""True states come when they were asked for, and say what they belong to."""

import numpy as np
import pytest

import fixfirst
from fixfirst.envs.synthetic import Awkward
from tests.contracts.oracle import same

MODES = ["next_step", "same_step"]
FACTORY = Awkward(length=6, ends=0.1)


def by_hand(env, autoreset, steps):
    """The true state of a single env after each step, before any reset; what the action met; and
    where it was.
    """
    rows, episode, step, over = [], 1, 0, False
    for action in np.arange(steps) % 5:
        met = env.unwrapped.true_state_arrays()
        if over and autoreset == "next_step":
            env.reset()
            episode, step, over = episode + 1, 0, False
        else:
            *_, terminated, truncated, _ = env.step(action)
            step, over = step + 1, terminated or truncated
        rows.append((met, env.unwrapped.true_state_arrays(), episode, step, over))
        if over and autoreset == "same_step":
            env.reset()
            episode, step, over = episode + 1, 0, False
    return rows


def histories(autoreset, steps=30):
    envs = [FACTORY() for _ in range(4)]
    for i, env in enumerate(envs):
        env.reset(seed=i)
    return [by_hand(env, autoreset, steps) for env in envs]


@pytest.mark.parametrize("autoreset", MODES)
def test_at_every_step_there_is_the_state_before_and_the_state_after(make, autoreset):
    env = make(4, env=FACTORY, autoreset=autoreset, true_states="step")
    env.reset(seed=0)
    assert (env.states.step == 0).all()
    assert (env.states.episode == 1).all()
    expected = histories(autoreset)
    for t in range(30):
        before = env.states_now.frozen()
        env.step([t % 5] * 4)
        for i, history in enumerate(expected):
            met, after, episode, step, _ = history[t]
            assert all(same(getattr(before, name)[i], met[name]) for name in before.names)
            assert all(same(getattr(env.states, name)[i], after[name]) for name in met)
            assert (env.states.episode[i], env.states.step[i]) == (episode, step)
        assert env.states_fresh.all()


@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize("when", [1, 2, 3, 6, "episode"])
def test_states_are_read_when_due_and_keep_their_labels_until_the_next(make, autoreset, when):
    env = make(4, env=FACTORY, autoreset=autoreset, true_states=when)
    env.reset(seed=0)
    expected = histories(autoreset)
    latest = [None] * 4
    assert (env.states.episode == 0).all()
    for t in range(30):
        env.step([t % 5] * 4)
        for i, history in enumerate(expected):
            _, after, episode, step, over = history[t]
            due = over if when == "episode" else step > 0 and step % when == 0
            assert env.states_fresh[i] == due
            latest[i] = (after, episode, step) if due else latest[i]
            if latest[i] is None:
                assert env.states.episode[i] == 0
                continue
            after, episode, step = latest[i]
            assert all(same(getattr(env.states, name)[i], after[name]) for name in after)
            assert (env.states.episode[i], env.states.step[i]) == (episode, step)
    assert all(latest)


def test_nobody_asked_nobody_pays(make, monkeypatch):
    calls = []
    env = make(2, env=Awkward())
    env.reset(seed=0)
    env.set_attr("true_state_arrays", calls.append)  # one that would fail if it were called
    env.step([0, 0])
    with pytest.raises(ValueError, match="nobody asked for true states"):
        _ = env.states
    with pytest.raises(ValueError, match="nobody asked for true states"):
        _ = env.states_fresh
    with pytest.raises(ValueError, match="nobody asked for true states"):
        _ = env.states_now


def test_states_that_the_actions_meet_are_kept_at_every_step_only(make):
    env = make(2, env=Awkward(), true_states=2)
    with pytest.raises(ValueError, match="true_states='step'; here it is 2"):
        _ = env.states_now


def test_an_unknown_name_of_a_state_tells_the_known_ones(make):
    env = make(2, env=Awkward(), true_states="step")
    with pytest.raises(AttributeError, match="no 'levels'; they have level, met, place"):
        _ = env.states.levels


@pytest.mark.parametrize("when", ["always", 0, -1, 1.5, True, None])
def test_times_of_reading_that_make_no_sense_are_refused(backend, when):
    with pytest.raises((ValueError, TypeError), match="true_states="):
        fixfirst.make_vec(2, backend=backend, true_states=when)


def test_an_env_without_true_states_is_refused_when_they_are_asked_for(backend):
    with pytest.raises(Exception, match="has no true states to read"):
        fixfirst.make_vec(2, backend=backend, env="CartPole-v1", true_states="episode")


@pytest.mark.parametrize("autoreset", [*MODES, "disabled"])
@pytest.mark.parametrize("when", ["step", 4, 5, "episode"])
def test_after_a_reset_of_some_or_all_the_native_game_reads_as_the_others_do(autoreset, when):
    options = {"horizon": 5, "seed": 2, "autoreset": autoreset, "true_states": when}
    pair = fixfirst.make_vec(3, **options), fixfirst.make_vec(3, backend="serial", **options)

    def reset(*mask):
        for env in pair:
            env.reset(options={"reset_mask": np.array(mask)} if mask else None)
        assert_same_reading(*pair)

    def play(steps):
        for actions in np.random.default_rng(steps).integers(0, 145, (steps, 3)):
            for env in pair:
                env.step(actions)
            assert_same_reading(*pair)

    reset(True, False, False)
    reset(False, True, True)
    play(3)
    reset(False, True, False)
    play(2)  # an end of the others
    reset(True, False, False)
    reset(False, False, True)
    play(3)  # an end of the second
    reset()
    play(5)  # an end of all
    reset()
    play(5)
    reset(True, False, True)
    reset(False, True, False)
    play(1)


def assert_same_reading(native, serial):
    assert (native.states_fresh == serial.states_fresh).all()
    assert (native.steps == serial.steps).all()
    assert (native.episodes == serial.episodes).all()
    windows = [(native.states, serial.states)]
    if native.true_states == "step":
        windows.append((native.states_now, serial.states_now))
    for mine, theirs in windows:
        read = theirs.episode > 0
        assert (read == (mine.episode > 0)).all()
        for name in ("step", "episode", *theirs.names):
            assert same(getattr(mine, name)[read], getattr(theirs, name)[read])


@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize("when", [4, 5, "episode"])
def test_the_native_game_reads_as_the_others_do(autoreset, when):
    options = {"horizon": 10, "seed": 2, "autoreset": autoreset, "true_states": when}
    native = fixfirst.make_vec(3, **options)
    serial = fixfirst.make_vec(3, backend="serial", **options)
    native.reset()
    serial.reset()
    for actions in np.random.default_rng(0).integers(0, 145, (35, 3)):
        native.step(actions)
        serial.step(actions)
        assert (native.states_fresh == serial.states_fresh).all()
        read = serial.states.episode > 0
        assert (read == (native.states.episode > 0)).all()
        for name in ("step", "episode", *serial.states.names):
            assert same(getattr(native.states, name)[read], getattr(serial.states, name)[read])
    assert read.all()
