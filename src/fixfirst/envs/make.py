"""The one way to make many environments."""

import importlib
from typing import Any

from gymnasium.vector import AutoresetMode, VectorEnv

from fixfirst.envs import checks
from fixfirst.envs.contract import (
    BACKENDS,
    NEVER,
    ON_FAILURE,
    TIMEOUT,
    TrueStates,
    checked_timeout,
)
from fixfirst.envs.factories import EnvLike, factories_of, game_factories
from fixfirst.envs.native import NativeVectorEnv
from fixfirst.envs.options import Red
from fixfirst.envs.seeding import Seed

# Where each backend of Python envs is, and which options it has beside those of all.
CLASSES = {
    "serial": ("fixfirst.envs.serial", "SerialVectorEnv", ()),
    "pipe": ("fixfirst.envs.pipe", "PipeVectorEnv", ("start_method",)),
    "queue": ("fixfirst.envs.queue", "QueueVectorEnv", ("start_method",)),
    "shared": ("fixfirst.envs.shared", "SharedVectorEnv", ("workers", "start_method")),
    "async": ("fixfirst.envs.asynchronous", "AsyncVectorEnv", ("workers", "start_method")),
    "ray": ("fixfirst.envs.ray", "RayVectorEnv", ("workers", "address")),
}


def make_vec(
    num_envs: int,
    *,
    backend: str = "native",
    env: EnvLike | None = None,
    red: Red | None = None,
    rules: str | None = None,
    horizon: int | None = None,
    rng: str | None = None,
    seed: Seed = None,
    autoreset: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    copy: bool = False,
    true_states: TrueStates = NEVER,
    on_failure: str = "raise",
    timeout: float = TIMEOUT,
    **options: Any,
) -> Any:
    """Many environments as one Gymnasium vector environment.

    num_envs    how many
    backend     "native": the compiled game; or Python envs, run "serial" (in this process),
                "pipe" or "queue" (a process each), "shared" or "async" (several in each worker
                process), or "ray". What all of them promise: `fixfirst.envs.contract`
    env         makes one Gymnasium env; or one such for each; or a name in Gymnasium's registry.
                Without it the env is CAGE Challenge 2
    seed        s gives env i the seed s + i; a list gives each its own; None draws one
    autoreset   "next_step", "same_step" or "disabled"
    copy        return arrays that are the caller's own (default: valid for two steps)
    true_states when true states are read: "step", every so many steps, "episode" or "never"
    on_failure  "raise", or "restart" an env that fails
    timeout     seconds that one reset or step of an env in another process may take
    workers     of shared, async and ray: how many processes (default: one a core)
    start_method of pipe, queue, shared and async: "forkserver", "spawn" or "fork"
    address     of ray: the cluster to use

    Of CAGE Challenge 2:

    red         "bline", "meander" or "sleep"; or one of them for each game; or a mapping
                such as {"bline": 0.5, "meander": 0.5}, drawn anew at each reset
    rules       "latest" or "leaderboard" (the version the 2022 board was scored on)
    horizon     steps in an episode (100)
    rng         "fast", or "cpython" for CybORG's own draws after `random.seed`

    Of CAGE Challenge 2 on the backend "native":

    threads     how many threads share the games out; results do not depend on it
    episode_stats   report return and length in `info` when an episode ends
    render_mode "ansi" or "human"
    orders      a workflow for all games, or one for each: compliance is then kept, and
                `alignment_lambda`, `compliant_bonus`, `violation_penalty` pay for it
                by `compliance_rule` "held" or "attempted"
    memory      observations [N, 196] that also show what blue can remember, and action_mask
    """
    checks.one_of("backend", backend, BACKENDS)
    checks.one_of("on_failure", on_failure, ON_FAILURE)
    asked = {"red": red, "rules": rules, "horizon": horizon, "rng": rng}
    asked = {name: value for name, value in asked.items() if value is not None}
    game: dict[str, Any] = {"red": "bline", "rules": "latest", "horizon": 100, "rng": "fast"}
    common: dict[str, Any] = {
        "seed": seed, "autoreset": autoreset, "copy": copy, "true_states": true_states,
    }  # fmt: skip
    if backend == "native":
        if env is not None:
            raise ValueError(
                "backend='native' is the compiled game and takes no env=; give another backend, "
                "such as 'shared'"
            )
        checked_timeout(timeout)
        return NativeVectorEnv(num_envs, **{**game, **asked}, **common, **options)
    if env is None:
        factories = game_factories(num_envs, **{**game, **asked})
    elif asked:
        raise ValueError(f"{min(asked)}= is an option of the built-in game; env= makes its own")
    else:
        factories = factories_of(env, num_envs)
    module, name, own = CLASSES[backend]
    for option in options:
        if option not in own:
            raise TypeError(_no_such_option(option, backend, own))
    made = getattr(importlib.import_module(module), name)
    result: VectorEnv[Any, Any, Any] = made(
        factories, **common, on_failure=on_failure, timeout=timeout, **options
    )
    return result


def _no_such_option(option: str, backend: str, own: tuple[str, ...]) -> str:
    has = f"it has {', '.join(own)} beside those of all backends" if own else "it has none"
    return f"backend={backend!r} has no option {option!r}; {has}"
