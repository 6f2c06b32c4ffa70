"""The games that a training plays: the compiled ones, or any others, run by any backend."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fixfirst.envs.options as game_options
from fixfirst.envs import checks
from fixfirst.envs.batch import Batch
from fixfirst.envs.contract import BACKENDS, STEP
from fixfirst.envs.cyborg_env import cyborg_factory
from fixfirst.envs.make import make_vec
from fixfirst.envs.vector_games import VectorGames
from fixfirst.envs.where import BUILT_IN, ON_CYBORG, cyborg_folder_in

NATIVE = "native"
FOR_CYBORG = "shared"  # the fastest, see docs/backends.md

# They have the same face, as far as training uses it.
Games = Batch | VectorGames


def checked_place(on: str) -> str:
    """Where games are played, the folder in full, so that a run can go on from anywhere."""
    folder = cyborg_folder_in(on)
    return on if folder is None else f"{ON_CYBORG}{Path(folder).expanduser().resolve()}"


def checked_backend(backend: str | None, on: str) -> str:
    """What runs the games, or an error if it cannot."""
    built_in = on == BUILT_IN
    if backend is None:
        return NATIVE if built_in else FOR_CYBORG
    checks.one_of("backend", backend, BACKENDS)
    if backend == NATIVE and not built_in:
        others = ", ".join(name for name in BACKENDS if name != NATIVE)
        raise ValueError(
            f"backend={backend!r} is the built-in game, and on={on!r} is another; choose {others}"
        )
    return backend


def make(
    options: game_options.Options, red: game_options.Red, rules: str, on: str, backend: str,
    seed: int,
) -> Games:  # fmt: skip
    """The games; game i has the seed `seed` + i."""
    if backend == NATIVE:
        return Batch(options, seed)
    folder, horizon = cyborg_folder_in(on), options.horizon
    which: dict[str, Any] = {"red": red, "rules": rules, "horizon": horizon}
    if folder is not None:
        reds = dealt(red, options.num_envs)
        which = {"env": [cyborg_factory(folder, one, rules, horizon) for one in reds]}
    env = make_vec(
        options.num_envs, backend=backend, seed=seed, autoreset="same_step", true_states=STEP,
        **which,
    )  # fmt: skip
    try:
        return VectorGames(env, options)
    except BaseException:
        env.close()
        raise


def dealt(red: game_options.Red, games: int) -> list[str]:
    """A red for each game. CybORG's games keep theirs, so a mixture is dealt out in proportion."""
    if isinstance(red, str):
        return [red] * games
    if not isinstance(red, Mapping):
        return list(red)
    due = dict.fromkeys(red, 0.0)
    hands = []
    for _ in range(games):
        for name, chance in red.items():
            due[name] += chance
        name = max(due, key=lambda one: due[one])
        due[name] -= sum(red.values())
        hands.append(name)
    return hands
