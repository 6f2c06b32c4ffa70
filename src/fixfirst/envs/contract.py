"""The contract of every backend of `fixfirst.make_vec`. One suite, tests/contracts, checks them all.

The face. A backend is a Gymnasium 1.x `VectorEnv`: `reset`, `step`, `close`, spaces, `num_envs`,
`metadata["autoreset_mode"]`. All that follows is the same whichever backend runs the envs.

Seeding. A seed s gives env i the seed s + i; a list gives each its own; `None` lets the generators
go on where they are. The seed given to `make_vec` counts for the first reset that brings none. For
the same seeds and actions every backend gives the same trajectories, infos and true states, however
many workers or threads share the envs out.

Autoreset, as in Gymnasium. "next_step": the step after an end resets, ignores its action and pays 0.
"same_step": the step of the end returns the new episode's observation; the last one is
`info["final_obs"]` (rows of envs that did not end are old; `info["_final_obs"]` says which ended)
and the last info `info["final_info"]`. "disabled": a step after an end is refused until
`reset(options={"reset_mask": ...})` with the envs that ended.

Arrays. Observations have the dtype and shape of `observation_space`, rewards are float64,
terminations and truncations bool. Where a space has no fixed size (Text, Sequence, Graph, OneOf),
observations are tuples of objects, as Gymnasium's are. What `step` and `reset` return belongs to
the vector env and is written again by the next call but one of either; `copy=True` makes it the
caller's own.

Infos. Keys of the envs' infos become arrays [N] with a mask `_key`, as in Gymnasium. An empty dict
where no env had anything to say.

True states. `true_states="step" | k | "episode" | "never"` says when they are read; reading is done
there and nowhere else, so "never" costs nothing. `states` holds those read last: with "step" those
after the last action, with a number k those of steps k, 2k, ... of the episode, with "episode" those
in which the last episodes ended; ends are read before any reset. With "step" there is `states_now`
too: those that the next actions will meet, to be read before `step`. It differs from `states` where
a same-step reset has begun a new episode. Each state carries the `step` and the `episode` that it
belongs to, 0 and 0 where none was read yet; `states_fresh` [N] tells which of `states` the last call
has read; `steps` and `episodes` [N] tell where the envs are. States are windows, to be read before
the next call; `frozen()` keeps them. An env takes part by having `true_state_space`, a
`gymnasium.spaces.Dict`, and `true_state_arrays()`, a mapping with the same keys; other keys, or an
error in it, are a failure of the env in that step or reset.

Errors. Bad input is refused before any env has moved, and all is as before. An env that raises, or
a worker that dies or is killed, is an `EnvError` at once; one that takes longer than `timeout`
seconds for one reset or step is one then, as is one that takes a minute to be made (`serial` and
`native` have nobody beside them to watch). It names the env, its seed, episode and step, and holds
the traceback. It closes the vector env.

Restarts. With `on_failure="restart"` the env is made anew instead. Its episode ends as truncated
with reward 0 and the last observation it showed; `info["failure"]` tells why. Where a worker
process was lost, this happens to all envs that lived in it. The next episode is seeded from the
env's seed and the number of its restarts. An env that fails `FAILURES_IN_A_ROW` times without a
step in between is given up with an `EnvError`.

Closing. `close()` closes the envs and ends the workers; again is fine; a step afterwards is a
`ClosedEnvironmentError`. After `close`, an `EnvError`, Ctrl-C or the death of this process by any
signal no worker is left and no shared memory: it never has a name that could outlive its users.
"""

import traceback
from typing import Any

from fixfirst.envs.checks import one_of, whole

BACKENDS = ("native", "serial", "pipe", "queue", "shared", "async", "ray")
ON_FAILURE = ("raise", "restart")
START_METHODS = ("forkserver", "spawn", "fork")
TIMEOUT = 60.0  # seconds for one reset or step of one env, unless the user says otherwise
FAILURES_IN_A_ROW = 3

TrueStates = int | str  # as users give them
STEP, EPISODE, NEVER = "step", "episode", "never"

NOBODY_ASKED = (
    "nobody asked for true states; make the env with true_states='step', a number of steps, "
    "or 'episode'"
)


class EnvError(RuntimeError):
    """An env failed. What is not known is None."""

    def __init__(
        self, what: str, env: int, seed: int | None, episode: int, step: int, trace: str = ""
    ) -> None:
        self.what, self.trace = what, trace
        self.env, self.seed, self.episode, self.step = env, seed, episode, step
        where = f"in step {step} of its episode {episode}"
        if step == 0:
            where = (
                f"in the reset that begins its episode {episode}" if episode else "when it was made"
            )
        told = f"env {env} (seed {seed}) failed {where}: {what}"
        super().__init__(f"{told}\n\nWhere it happened:\n{trace}" if trace else told)

    @classmethod
    def of(
        cls, problem: Exception, env: int, seed: int | None, episode: int, step: int
    ) -> "EnvError":
        """The error that tells of an exception, with its traceback."""
        what = "".join(traceback.format_exception_only(problem)).strip()
        trace = "".join(traceback.format_exception(problem)).strip()
        return cls(what, env, seed, episode, step, trace)

    def __reduce__(self) -> Any:
        return EnvError, (self.what, self.env, self.seed, self.episode, self.step, self.trace)


def checked_true_states(value: TrueStates) -> TrueStates:
    """When true states are read, if it is a word or a number that the contract knows."""
    if isinstance(value, str):
        return one_of("true_states", value, (STEP, EPISODE, NEVER))
    return whole("true_states", value, 1, None)


def needs_every_step(when: TrueStates) -> str:
    """Why there is no `states_now`."""
    return f"states_now is kept with true_states='step'; here it is {when!r}"


def checked_timeout(value: Any) -> float:
    """So many seconds, if they are a positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ValueError(f"timeout={value!r} makes no sense here; it is a positive number")
    return float(value)
