"""The one way to make many environments."""

from typing import Any

from gymnasium.vector import AutoresetMode

from fixfirst.envs.native import NativeVectorEnv
from fixfirst.envs.options import Red
from fixfirst.envs.seeding import Seed


def make_vec(
    num_envs: int,
    *,
    red: Red = "bline",
    rules: str = "latest",
    horizon: int = 100,
    rng: str = "fast",
    seed: Seed = None,
    threads: int | None = None,
    autoreset: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    **options: Any,
) -> NativeVectorEnv:
    """Many games of CAGE Challenge 2 as one Gymnasium vector environment.

    num_envs    how many games
    red         "bline", "meander" or "sleep"; or one of them for each game; or a mapping
                such as {"bline": 0.5, "meander": 0.5}, drawn anew at each reset
    rules       "latest" or "leaderboard" (the version the 2022 board was scored on)
    horizon     steps in an episode
    rng         "fast", or "cpython" for CybORG's own draws after `random.seed`
    seed        s gives game i the seed s + i; a list gives each its own; None draws one
    threads     how many threads share the games out; results do not depend on it
    autoreset   "next_step", "same_step" or "disabled"
    copy        return arrays that are the caller's own (default: valid for two steps)
    episode_stats   report return and length in `info` when an episode ends
    render_mode "ansi" or "human"
    orders      a workflow for all games, or one for each: compliance is then kept, and
                `alignment_lambda`, `compliant_bonus`, `violation_penalty` pay for it
                by `compliance_rule` "held" or "attempted"
    memory      observations [N, 196] that also show what blue can remember, and action_mask
    """
    return NativeVectorEnv(
        num_envs, red=red, rules=rules, horizon=horizon, rng=rng, seed=seed,
        threads=threads, autoreset=autoreset, **options,
    )  # fmt: skip
