"""Any Gymnasium space can be observed and acted in."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import fixfirst
from tests.contracts.oracle import row, same


class Wordy(gym.Env):
    """Observations and actions of no fixed size."""

    observation_space = spaces.Dict(
        {"word": spaces.Text(12), "list": spaces.Sequence(spaces.Discrete(9))}
    )
    action_space = spaces.Text(5)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.words = ["a"]
        return self.see(), {}

    def step(self, action):
        self.words.append(action)
        return self.see(), float(len(action)), len(self.words) > 4, False, {}

    def see(self):
        return {"word": "".join(self.words)[-12:], "list": tuple(map(len, self.words))}


class Nested(gym.Env):
    """Actions made of parts, seen again as they were given."""

    action_space = spaces.Dict(
        {
            "move": spaces.Box(-1, 1, (2,), np.float32),
            "which": spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2))),
        }
    )
    observation_space = action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.nothing(), {}

    def step(self, action):
        return action, 1.0, False, False, {}

    def nothing(self):
        return {"move": np.zeros(2, np.float32), "which": (0, np.zeros(2, np.int8))}


def test_observations_and_actions_of_no_fixed_size(make, backend):
    if backend == "async":
        with pytest.raises(ValueError, match="fixed size"):
            make(3, env=Wordy)
        return
    env = make(3, env=Wordy, autoreset="same_step")
    observations, _ = env.reset(seed=0)
    assert observations["word"] == ("a", "a", "a")
    for step in range(6):
        observations, rewards, terminated, _, infos = env.step(("b", "cc", "ddd"))
        assert rewards.tolist() == [1.0, 2.0, 3.0]
        assert terminated.all() == (step == 3)
        if step == 3:
            assert infos["final_obs"]["word"] == ("abbbb", "acccccccc", "adddddddddddd"[-12:])
            assert observations["word"] == ("a", "a", "a")
    assert observations["word"] == ("abb", "acccc", "adddddd")
    with pytest.raises(ValueError, match="2 actions were given for 3 envs"):
        env.step(("b", "b"))


def test_actions_made_of_parts_arrive_as_they_were_given(make):
    env = make(3, env=Nested)
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(3):
        actions = env.action_space.sample()
        observations, *_ = env.step(actions)
        assert all(same(row(observations, i), row(actions, i)) for i in range(3))
    with pytest.raises(ValueError, match="no part 'which'"):
        env.step({"move": np.zeros((3, 2), np.float32)})
    with pytest.raises(ValueError, match=r"actions of part which.0 have shape \(2,\)"):
        env.step({"move": np.zeros((3, 2), np.float32), "which": ([0, 1], np.zeros((3, 2), int))})


def test_names_of_the_registry_make_envs(make):
    env = make(2, env="CartPole-v1")
    assert env.reset(seed=0)[0].shape == (2, 4)
    with pytest.raises(gym.error.Error):
        make(2, env="NoSuchEnv-v0")
    assert fixfirst.make_vec(2, backend="serial", env="CartPole-v1").single_action_space.n == 2
