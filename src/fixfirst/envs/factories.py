"""The envs that a user wants, as one factory for each."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from fixfirst.envs import checks, options
from fixfirst.envs.single import Cage2Env
from fixfirst.envs.slot import Factory

# What `make_vec` takes as env: a factory, one for each env, or a name in Gymnasium's registry.
EnvLike = Callable[[], gym.Env[Any, Any]] | Sequence[Callable[[], gym.Env[Any, Any]]] | str


def factories_of(env: EnvLike, count: int) -> list[Factory]:
    """A factory for each of `count` envs."""
    checks.whole("num_envs", count, 1, None)
    if isinstance(env, str):
        gym.spec(env)  # an unknown name fails here and not in a worker
        return [functools.partial(gym.make, env)] * count
    if isinstance(env, gym.Env):
        raise TypeError(
            f"env={env} is an env, and there are to be several; give what makes one, such as "
            f"{type(env).__name__} or lambda: {type(env).__name__}(...)"
        )
    if callable(env):
        return [env] * count
    given: Any = env
    if isinstance(given, Sequence) and all(callable(one) for one in given):
        if len(given) != count:
            raise ValueError(f"{len(given)} factories were given for {count} envs; give one each")
        return list(given)
    raise TypeError(
        f"env={env!r} makes no envs; it is a function or class that makes one, a list of them, "
        "or a name that gymnasium.make knows"
    )


def game_factories(
    count: int, red: options.Red, rules: str, horizon: int, rng: str
) -> list[Factory]:
    """The built-in game, as single envs."""
    # Refused here, and not by a worker.
    options.checked(count, red, rules, horizon, rng, 1, "next_step")
    reds: Sequence[Any]
    if isinstance(red, str | Mapping):
        reds = [red] * count
    else:
        reds = list(red)
    return [functools.partial(Cage2Env, one, rules, horizon, rng) for one in reds]
