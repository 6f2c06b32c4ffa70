"""What a vector env is to do, said a second time and as plainly as possible, on single envs."""

import numpy as np


class Oracle:
    """N envs in a list. `step` returns, for each env, what the contract says of it."""

    def __init__(self, factories, autoreset, seed):
        self.envs = [factory() for factory in factories]
        self.autoreset = autoreset
        self.over = [False] * len(self.envs)
        self.first = [env.reset(seed=seed + i) for i, env in enumerate(self.envs)]

    def step(self, actions):
        return [self._one(i, action) for i, action in enumerate(actions)]

    def _one(self, i, action):
        env = self.envs[i]
        if self.over[i] and self.autoreset == "next_step":
            self.over[i] = False
            observation, info = env.reset()
            return {"obs": observation, "reward": 0.0, "ends": (False, False), "info": info}
        observation, reward, terminated, truncated, info = env.step(action)
        told = {"obs": observation, "reward": reward, "ends": (terminated, truncated), "info": info}
        self.over[i] = terminated or truncated
        if self.over[i] and self.autoreset == "same_step":
            new, new_info = env.reset()
            told |= {"obs": new, "info": new_info, "final_obs": observation, "final_info": info}
        if self.over[i] and self.autoreset == "disabled":
            env.reset()
            self.over[i] = False
        return told


def row(batch, i):
    """Env i's part of a batch of values."""
    if isinstance(batch, dict):
        return {key: row(part, i) for key, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(row(part, i) for part in batch)
    return batch[i]


def same(one, other):
    """Whether two values are equal through and through."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if one is None or other is None:
        return one is other
    one, other = np.asarray(one), np.asarray(other)
    if object in (one.dtype, other.dtype):
        return one.shape == other.shape and all(map(same, one.tolist(), other.tolist()))
    return one.shape == other.shape and bool((one == other).all())


def info_of(infos, i):
    """The info that env i gave, taken out of the infos of all."""
    told = {}
    for key, value in infos.items():
        if key.startswith("_") or not infos[f"_{key}"][i]:
            continue
        inner = isinstance(value, dict) and key != "final_obs"
        told[key] = info_of(value, i) if inner else row(value, i)
    return told
