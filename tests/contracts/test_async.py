"""The async backend without its barrier."""

import time

import gymnasium as gym
import numpy as np
import pytest

import fixfirst
from fixfirst.envs.contract import EnvError
from fixfirst.envs.synthetic import Awkward
from tests.contracts.oracle import row, same


@pytest.fixture
def make():
    made = []

    def make(count, **options):
        made.append(fixfirst.make_vec(count, backend="async", **options))
        return made[-1]

    yield make
    for env in made:
        env.close()


def test_what_is_sent_comes_back_whatever_the_order(make):
    factory = Awkward(length=6, ends=0.1, nested=True, talkative=True)
    env = make(5, env=factory, workers=2, autoreset="same_step", true_states="step")
    lanes = [
        fixfirst.make_vec(
            1, backend="serial", env=factory, autoreset="same_step", true_states="step", seed=7 + i
        )
        for i in range(5)
    ]
    env.reset(seed=7)
    for lane in lanes:
        lane.reset()
    chance = np.random.default_rng(3)
    env.send([0, 1, 2, 3, 4])
    sent, seen = {i: i for i in range(5)}, np.zeros(5, int)
    while seen.sum() < 150:
        got = env.recv(int(chance.integers(1, len(sent) + 1)))
        assert len(set(got.ids.tolist())) == len(got.ids)
        for k, i in enumerate(got.ids.tolist()):
            observation, reward, terminated, truncated, infos = lanes[i].step([sent.pop(i)])
            assert same(row(got.observations, k), row(observation, 0))
            assert got.rewards[k] == reward[0]
            assert (got.terminated[k], got.truncated[k]) == (terminated[0], truncated[0])
            assert same(env.states.level[i], lanes[i].states.level[0])
            assert env.states.step[i] == lanes[i].states.step[0]
            for key in infos:
                assert same(row(got.infos[key], k), row(infos[key], 0)), key
            seen[i] += 1
        actions = chance.integers(0, 5, len(got.ids))
        env.send(actions, got.ids)
        sent |= dict(zip(got.ids.tolist(), actions.tolist(), strict=True))
    env.recv()
    env.step([0] * 5)


def test_fast_envs_overtake_slow_ones(make):
    env = make(4, env=[Awkward(mean=0.4), Awkward(), Awkward(), Awkward()], workers=4)
    env.reset(seed=0)
    env.send([1] * 4)
    for _ in range(5):
        got = env.recv(2)
        assert 0 not in got.ids
        env.send([1] * 2, got.ids)
    assert 0 in env.recv().ids


def test_mistakes_of_sending_and_receiving_are_told(make):
    env = make(3, env=Awkward(), workers=1)
    with pytest.raises(Exception, match="env 0 was never reset"):
        env.send([0, 0, 0])
    env.reset(seed=0)
    with pytest.raises(ValueError, match="nothing to receive"):
        env.recv()
    with pytest.raises(ValueError, match="actions have shape"):
        env.send([0, 0], [1])
    with pytest.raises(ValueError, match="name an env twice"):
        env.send([0, 0], [1, 1])
    with pytest.raises(ValueError, match="envs are 0 to 2"):
        env.send([0], [3])
    with pytest.raises(TypeError, match="not numbers of envs"):
        env.send([0], [1.5])
    env.send([0, 0], [0, 2])
    with pytest.raises(ValueError, match="env 2 was sent and not yet received"):
        env.send([0], [2])
    with pytest.raises(ValueError, match="sent and not yet received"):
        env.step([0, 0, 0])
    with pytest.raises(ValueError, match="sent and not yet received"):
        env.reset()
    with pytest.raises(ValueError, match="count=3"):
        env.recv(3)
    assert sorted(env.recv().ids) == [0, 2]
    env.step([0, 0, 0])


@pytest.mark.parametrize(
    "ask",
    [
        lambda env: env.call("render"), lambda env: env.get_attr("_place"),
        lambda env: env.set_attr("_place", 0.0), lambda env: env.render(),
    ],
)  # fmt: skip
def test_envs_that_are_under_way_are_asked_nothing_else(make, ask):
    env = make(3, env=Awkward(mean=0.05), workers=2)
    env.reset(seed=0)
    env.send([0, 0, 0])
    with pytest.raises(ValueError, match="sent and not yet received"):
        ask(env)
    env.recv(1)
    with pytest.raises(ValueError, match="sent and not yet received"):
        ask(env)
    env.recv()
    ask(env)
    assert env.steps.tolist() == [1, 1, 1]
    env.send([0, 0, 0])
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        ask(env)


@pytest.mark.parametrize("takes", [0.0, 0.003, 0.2])
def test_while_a_worker_is_replaced_the_others_finish_their_steps(make, takes):
    """With a step of 0.2 seconds the other surely tells of it while the new worker starts."""
    env = make(2, env=[dies_once_made_slowly, Awkward(mean=takes)], workers=2, on_failure="restart")
    env.reset(seed=0)
    _, healthy = env.worker_pids
    for step in range(1, 4):
        env.send([0, 0])
        got = env.recv()
        order = got.ids.argsort()
        assert got.truncated[order].tolist() == [step == 3, False]
    assert got.infos["_failure"][order].tolist() == [True, False]
    assert env.worker_pids[1] == healthy
    assert env.steps[1] == 3


def dies_once_made_slowly():
    time.sleep(0.4)
    return Awkward(length=5, fail_at=3, fail_episode=1, failure="die")()


def test_a_learner_may_pause_for_longer_than_the_timeout(make):
    env = make(3, env=Awkward(), workers=2, timeout=0.3)
    env.reset(seed=0)
    for _ in range(2):
        env.send([0, 0, 0])
        time.sleep(0.5)
        assert sorted(env.recv().ids) == [0, 1, 2]


@pytest.mark.parametrize("workers", [1, 2])
def test_after_a_pause_it_is_the_env_that_hangs_that_is_late(make, workers):
    hangs = Awkward(fail_at=3, failure="hang")
    env = make(2, env=[Awkward(), hangs], workers=workers, timeout=0.5)
    env.reset(seed=4)
    for _ in range(2):
        env.step([0, 0])
    env.send([0, 0])
    time.sleep(0.8)
    with pytest.raises(EnvError, match=r"no answer in 0.5 seconds") as caught:
        env.recv()
    assert (caught.value.env, caught.value.seed) == (1, 5)
    assert (caught.value.episode, caught.value.step) == (1, 3)


def test_who_hangs_is_noticed_though_others_always_have_something_to_say(make):
    env = make(2, env=[Awkward(fail_at=1, failure="hang"), Awkward()], workers=2, timeout=0.5)
    env.reset(seed=0)
    env.send([0, 0])
    until = time.monotonic() + 10

    def learn():
        while time.monotonic() < until:
            env.send([0], env.recv(1).ids)
            time.sleep(0.01)

    with pytest.raises(EnvError, match=r"env 0 .* no answer"):
        learn()


def test_spaces_without_a_fixed_size_are_refused():
    with pytest.raises(ValueError, match=r"fixed size.*use backend='shared'"):
        fixfirst.make_vec(2, backend="async", env=wordy)


def wordy():
    from tests.contracts.test_spaces import Wordy

    return Wordy()
