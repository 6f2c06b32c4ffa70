"""Observations with the order beside them, for learners that take nothing but observations.

A policy that is to follow different orders must see which one it follows: the order's one-hot
matrix, row by row, behind what the game shows. fixfirst's own trainer writes the same columns.
"""

import gymnasium as gym
import numpy as np

from fixfirst.envs.options import Options


def order_columns(options: Options) -> np.ndarray:
    """The one-hot matrix of each game's order as a row [N, k * k]; [N, 0] without orders."""
    rows = [order.one_hot.reshape(-1) for order in options.orders]
    if not rows:
        return np.zeros((options.num_envs, 0), np.int8)
    one_for_all = len(rows) == 1
    return np.array(rows * options.num_envs if one_for_all else rows, dtype=np.int8)


def widened(space: gym.Space[np.ndarray], more: int) -> gym.Space[np.ndarray]:
    """The space of one game's observation with so many columns of zeros and ones behind it."""
    assert space.shape is not None
    width = space.shape[0] + more
    if isinstance(space, gym.spaces.MultiBinary):
        return gym.spaces.MultiBinary(width)
    return gym.spaces.Box(0.0, 1.0, (width,), np.float32)


def beside(observation: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """A fresh array of the observations [..., n] with the columns [..., k * k] behind them."""
    return np.concatenate([observation, columns], axis=-1, dtype=observation.dtype)
