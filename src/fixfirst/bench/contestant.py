"""One contestant of the benchmark of backends, in a process of its own.

`python -m fixfirst.bench.contestant` reads a line of JSON that says what to make, then commands:
"play SECONDS", "memory", "end". It answers each with a line of JSON. Contestants that are to be
compared live at the same time and play in turns, so that a busy moment of the machine hits all.
"""

import contextlib
import ctypes
import functools
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

import fixfirst
from fixfirst.bench.paced import paced, where_time_goes
from fixfirst.envs.crew import calm_the_collector

PLANS = 1_000  # different action arrays, drawn before the clock starts: even one env plays all
HORIZON = 100
Played = tuple[int, int, float]  # transitions, episodes, seconds


# --- the envs


def factories(spec: dict[str, Any]) -> list[Callable[[], gym.Env[Any, Any]]]:
    """A factory for each env; their first episodes end one after another."""
    n, make = spec["envs"], _maker(spec["env"], spec["options"])
    return [
        functools.partial(paced, make, 1 + HORIZON * i // n, HORIZON, spec["explain"])
        for i in range(n)
    ]


def _maker(kind: str, options: dict[str, Any]) -> Callable[[], gym.Env[Any, Any]]:
    """What makes an env of the benchmark, with a horizon that is out of the way of `paced`."""
    horizon = 2 * HORIZON
    if kind == "game":
        return functools.partial(fixfirst.Cage2Env, horizon=horizon)
    if kind == "synthetic":
        from fixfirst.envs.synthetic import Awkward  # noqa: PLC0415 - only where it is asked for

        return Awkward(length=horizon, **options)
    from fixfirst.envs.cyborg_env import CyborgEnv  # noqa: PLC0415 - only where it is asked for

    return functools.partial(CyborgEnv, options["folder"], horizon=horizon)


# --- the players: what is stepped, and how


class Ours:
    """A backend of `make_vec`."""

    def __init__(self, spec: dict[str, Any]) -> None:
        backend = spec["backend"]
        options: dict[str, Any] = {"autoreset": "same_step", "true_states": spec["true_states"]}
        if backend != "native":
            options["env"] = factories(spec)
            # Envs that burn a core in long steps are slow to make, too.
            options["timeout"] = 300.0
        if spec["workers"]:
            options["workers"] = spec["workers"]
        self.env = fixfirst.make_vec(spec["envs"], backend=backend, seed=0, **options)
        self.reads = spec["true_states"] == "step"
        self.look = spec["options"].get("look")  # at this in particular
        self.workers = getattr(self.env, "workers", 1)
        self.env.reset()
        if backend == "native":  # what `Staggered` does for the others
            self.env.batch.games.step = np.arange(spec["envs"]) * HORIZON // spec["envs"]

    def step(self, actions: np.ndarray) -> int:
        """Play a step of all envs; how many episodes ended."""
        if self.reads:
            now = self.env.states_now
            if self.look:
                getattr(now, self.look)
        _, _, terminated, truncated, _ = self.env.step(actions)
        if self.reads:
            after = self.env.states
            if self.look:
                getattr(after, self.look)
        return int((terminated | truncated).sum())

    def clocks(self) -> list[np.ndarray]:
        """What `Clocked` kept in each env."""
        return list(self.env.call("clock"))

    def close(self) -> None:
        """Close the envs."""
        self.env.close()


class OursWithoutBarrier(Ours):
    """The async backend as it is meant to be used: whoever is ready is sent on."""

    def play(self, plans: np.ndarray, seconds: float) -> Played:
        """Play for so many seconds."""
        n, env = self.env.num_envs, self.env
        wanted, done, ended = max(1, n // 8), 0, 0
        env.send(plans[0])
        began = time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            got = env.recv(wanted)
            done += len(got.ids)
            ended += int((got.terminated | got.truncated).sum())
            env.send(plans[done // n % PLANS][got.ids], got.ids)
        left = n
        while left:  # nobody stays under way; not counted
            left -= len(env.recv(left).ids)
        return done, ended, spent


class Gymnasium:
    """gymnasium.vector.AsyncVectorEnv, with its shared memory."""

    workers = 0

    def __init__(self, spec: dict[str, Any]) -> None:
        self.env = gym.vector.AsyncVectorEnv(
            factories(spec), context=spec["start_method"], autoreset_mode=AutoresetMode.SAME_STEP
        )
        self.reads = spec["true_states"] == "step"
        self.env.reset(seed=0)

    def step(self, actions: np.ndarray) -> int:
        """Play a step of all envs; how many episodes ended."""
        if self.reads:
            self.env.call("true_state_arrays")
        _, _, terminated, truncated, _ = self.env.step(actions)
        if self.reads:
            self.env.call("true_state_arrays")
        return int((terminated | truncated).sum())

    def close(self) -> None:
        """Close the envs."""
        self.env.close()


class StableBaselines3:
    """SB3's SubprocVecEnv."""

    workers = 0

    def __init__(self, spec: dict[str, Any]) -> None:
        from stable_baselines3.common.vec_env import SubprocVecEnv  # noqa: PLC0415 - an extra

        self.env = SubprocVecEnv(factories(spec), start_method=spec["start_method"])
        self.reads = spec["true_states"] == "step"
        self.env.seed(0)
        self.env.reset()

    def step(self, actions: np.ndarray) -> int:
        """Play a step of all envs; how many episodes ended."""
        if self.reads:
            self.env.env_method("true_state_arrays")
        _, _, done, _ = self.env.step(actions)
        if self.reads:
            self.env.env_method("true_state_arrays")
        return int(done.sum())

    def close(self) -> None:
        """Close the envs."""
        self.env.close()


class Bare:
    """Two processes that have half of the envs each, and step them by themselves: what a backend can reach."""

    workers = PROCESSES = 2

    def __init__(self, spec: dict[str, Any]) -> None:
        context = multiprocessing.get_context("fork")
        self._links = []
        makers = factories(spec)
        for k in range(self.PROCESSES):
            ours, theirs = context.Pipe()
            given = (range(k, spec["envs"], self.PROCESSES), makers, theirs)
            context.Process(target=_alone, args=given, daemon=True).start()
            theirs.close()
            self._links.append(ours)
        for link in self._links:
            link.recv()

    def play(self, plans: np.ndarray, seconds: float) -> Played:
        """Play for so many seconds, all at the same time."""
        for link in self._links:
            link.send((plans, seconds))
        found = [link.recv() for link in self._links]
        spent = max(one[2] for one in found)
        return sum(one[0] for one in found), sum(one[1] for one in found), spent

    def close(self) -> None:
        """End the processes."""
        for link in self._links:
            link.close()


def _alone(which: range, makers: list[Callable[[], gym.Env[Any, Any]]], link: Any) -> None:
    envs = [makers[i]() for i in which]
    for i, env in zip(which, envs, strict=True):
        env.reset(seed=i)
    calm_the_collector()  # as our workers do: what differs is the backend
    link.send("ready")
    while True:
        try:
            plans, seconds = link.recv()
        except EOFError:
            return
        mine = plans[:, list(which)].tolist()
        calls = ended = 0
        began = time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            for env, action in zip(envs, mine[calls % len(mine)], strict=True):
                _, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    ended += 1
                    env.reset()
            calls += 1
        link.send((calls * len(envs), ended, spent))


PLAYERS: dict[str, Any] = {
    "async": OursWithoutBarrier,
    "gymnasium": Gymnasium,
    "sb3": StableBaselines3,
    "bare": Bare,
}


# --- the process


def play(player: Any, plans: np.ndarray, seconds: float) -> Played:
    """Transitions, episodes and seconds of about so many seconds."""
    if hasattr(player, "play"):
        return player.play(plans, seconds)  # type: ignore[no-any-return]
    calls = ended = 0
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds:
        ended += player.step(plans[calls % PLANS])
        calls += 1
    return calls * plans.shape[1], ended, spent


def family_memory(pid: int) -> int:
    """Bytes of memory of a process and all below it; what several share is shared out."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        parents.setdefault(int(fields[1]), []).append(int(entry.name))
    total, waiting = 0, [pid]
    while waiting:
        one = waiting.pop()
        waiting += parents.get(one, [])
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(
            1024 * int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")
        )
    return total


def _load(spec: dict[str, Any]) -> None:
    """Have what the env needs loaded and compiled, before the clock starts: workers that are
    forked then have it too, and the others find the code stored.
    """
    if spec["backend"] == "native":
        return
    env = factories(spec)[0]()
    env.reset(seed=0)
    env.step(0)
    env.close()  # type: ignore[no-untyped-call]


def _end_with_parent() -> None:
    """Have Linux end this process when the one that started it is gone, however that went."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def main() -> None:
    """Do what the lines on standard input say."""
    _end_with_parent()
    os.register_at_fork(after_in_child=_end_with_parent)  # rivals' workers outlive theirs
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever an env prints is no answer

    def answer(**given: Any) -> None:
        answers.write(json.dumps(given) + "\n")
        answers.flush()

    spec = json.loads(sys.stdin.readline())
    _load(spec)
    began = time.perf_counter()
    player = PLAYERS.get(spec["backend"], Ours)(spec)
    created = time.perf_counter() - began
    actions = 145 if spec["env"] != "synthetic" else 5
    plans = np.random.default_rng(0).integers(0, actions, (PLANS, spec["envs"]))
    play(player, plans, spec["warm_up"])
    answer(created=created)
    for line in sys.stdin:
        command, *given = line.split()
        if command == "end":
            break
        if command == "memory":
            answer(bytes=family_memory(os.getpid()))
            continue
        if spec["explain"]:
            player.clocks()
        transitions, episodes, seconds = play(player, plans, float(given[0]))
        told: dict[str, Any] = {
            "transitions": transitions,
            "episodes": episodes,
            "seconds": seconds,
        }
        if spec["explain"]:
            calls = transitions // spec["envs"]
            told["shares"] = where_time_goes(player.clocks(), player.workers, seconds, calls)
        answer(**told)
    player.close()


if __name__ == "__main__":
    main()
