"""Ray actors as workers: started, watched, heard, replaced and ended, on one machine or on many.

The face is that of `crowd.Crowd`. Ray carries the messages, places the actors and tells that one
has died. What it does not tell is which env an actor was at, and whether that env hangs: each
actor keeps that in a file of sixteen bytes on its machine, which is read when something is wrong.
"""

import contextlib
import mmap
import os
import pickle
import struct
import time
import uuid
from collections.abc import Iterable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import cloudpickle
import numpy as np
import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from fixfirst.envs import worker
from fixfirst.envs.board import Plan
from fixfirst.envs.crowd import GRACE, MAKING, LostWorkerError
from fixfirst.envs.slot import Factory

PULSE = struct.Struct("<dq")  # since when an actor has been at an env, by its clock; which env
STARTING = 120.0  # seconds for an actor's process to begin, which can wait for free cores
PATIENCE = 10.0  # seconds to read a pulse on another machine


class Place:
    """What runs in an actor: some envs, and what we are told to do with them."""

    def make(self, cargo: bytes, name: str, first: int) -> Any:
        """Make the envs, of which one is the first; tells what they are like."""
        path = _folder() / name
        path.write_bytes(PULSE.pack(time.monotonic(), first))
        with path.open("r+b") as file:
            self._pulse = mmap.mmap(file.fileno(), PULSE.size)
        try:
            self._crew = worker.crew_of(cargo, self._begin)
        except Exception as problem:
            _, env = PULSE.unpack(self._pulse[:])
            return "failed", worker.as_made(problem, env)
        return "made", self._crew.kinds

    def do(self, message: tuple[Any, ...]) -> Any:
        """Do what a message asks for; the answer to it."""
        command, *given = message
        if command == "close":
            self._crew.close()
            return "done", None
        return worker._do(self._crew, cast("Connection", None), command, given)

    def _begin(self, i: int) -> None:
        PULSE.pack_into(self._pulse, 0, time.monotonic(), i)


class RayCrowd:
    """The actors of a vector env. `shares` are the envs of each."""

    def __init__(
        self, shares: Sequence[Sequence[int]], factories: Sequence[Factory], plan: Plan,
        timeout: float,
    ) -> None:  # fmt: skip
        self.shares = [list(share) for share in shares]
        self._factories, self._plan, self._timeout = factories, plan, timeout
        count = len(self.shares)
        self.pulse = {"env": np.zeros(count, np.int64)}  # filled in when an actor is lost
        self._actors: list[Any] = [None] * count
        self._answers: dict[int, Any] = {}  # what will hold the answer of each that was asked
        self._names = [""] * count  # of their pulses
        self._began = np.zeros(count)
        self._process = os.getpid()
        # Actors share the cores that are free, or have none of their own: while others hold them
        # (a second vector env of this program, for one) Ray would wait for cores for ever.
        self._cores = min(1.0, int(1e4 * free_cores() / count) / 1e4)
        for number in range(count):
            self.start(number)

    # --- beginning and end

    def start(self, number: int) -> None:
        """Start an actor. It makes its envs and tells what they are like."""
        share = self.shares[number]
        cargo = _packed((share, [self._factories[i] for i in share], self._plan))
        self._names[number] = f"fixfirst-{uuid.uuid4().hex}"
        self.pulse["env"][number] = share[0]
        actor: Any = ray.remote(num_cpus=self._cores, scheduling_strategy="SPREAD", max_restarts=0)(
            Place
        )
        self._actors[number] = actor.remote()
        self.set_out([number])
        self._answers[number] = self._actors[number].make.remote(
            cargo, self._names[number], share[0]
        )

    def bury(self, number: int) -> str:
        """Kill an actor if it still lives; how it ended."""
        actor, self._actors[number] = self._actors[number], None
        self._answers.pop(number, None)
        if actor is None:
            return "was not there"
        self._look(number, last=True)
        with contextlib.suppress(RayError, ValueError):
            ray.kill(actor)
        return "was killed by us"

    def shut(self, at_once: bool) -> None:
        """End all actors: after they have closed their envs, unless it is to be at once."""
        if os.getpid() != self._process or not ray.is_initialized():
            return  # a fork of the process whose actors they are, or Ray itself has gone
        if not at_once:
            closing = [a.do.remote(("close",)) for a in self._actors if a is not None]
            if closing:
                ray.wait(closing, num_returns=len(closing), timeout=GRACE)
        for number in range(len(self._actors)):
            self.bury(number)

    # --- talking

    def tell(self, number: int, message: Any) -> None:
        """Send an actor something to do."""
        actor = self._actors[number]
        if actor is None or os.getpid() != self._process:
            raise RuntimeError("these envs belong to the process that made them; this is a fork")
        self.set_out([number])
        self._answers[number] = actor.do.remote(message)

    def hear(self, number: int) -> Any:
        """The answer of an actor that is ready."""
        try:
            return ray.get(self._answers.pop(number))
        except RayTaskError as problem:  # the answer could not be sent
            return "refused", (False, str(problem.cause), str(problem))
        except RayError as problem:
            raise self._lost(number, problem) from None

    def set_out(self, numbers: Iterable[int]) -> None:
        """Some actors are about to begin: their time counts from now."""
        now = time.monotonic()
        self._deadline = now + self._timeout
        for number in numbers:
            self._began[number] = now

    def ready(self, pending: Iterable[int], starting: bool = False) -> list[int]:
        """Wait for actors that have something to say.

        An error if one of those `pending` has been at one env for too long.
        """
        asked = {self._answers[number]: number for number in pending}
        most = max(self._timeout, MAKING) if starting else self._timeout
        while True:
            wait = max(0.0, self._deadline - time.monotonic())
            found, _ = ray.wait(list(asked), num_returns=1, timeout=wait)
            if found:  # and whoever else is there by now
                found, _ = ray.wait(list(asked), num_returns=len(asked), timeout=0)
                return [asked[one] for one in found]
            self._look_after(asked.values(), most)

    # --- when something is wrong

    def _look_after(self, pending: Iterable[int], limit: float) -> None:
        """See who has been at one env for too long, and when to look again."""
        left = []
        for number in pending:
            at, most = self._look(number), limit
            if at is None:  # its process has not begun, which is no matter of its envs
                at, most = time.monotonic() - self._began[number], max(most, STARTING)
                what = f"its Ray actor has not begun in {most:g} seconds; are there free cores?"
            else:
                what = f"no answer in {most:g} seconds (timeout=); its Ray actor was killed"
            if at >= most:
                raise LostWorkerError(number, what)
            left.append(most - at)
        self._deadline = time.monotonic() + min(left, default=self._timeout)

    def _look(self, number: int, last: bool = False) -> float | None:
        """For how many seconds an actor has been at its env; None if that cannot be known.

        Since it was last told something, if it has not begun on that yet.
        """
        found = _read(_folder() / self._names[number], last)
        if found is None and self._is_elsewhere():
            found = self._look_elsewhere(number, last)
        if found is None:
            return None
        seconds, self.pulse["env"][number] = found
        return min(seconds, time.monotonic() - float(self._began[number]))

    def _is_elsewhere(self) -> bool:
        return len(_machines()) > 1

    def _look_elsewhere(self, number: int, last: bool) -> tuple[float, int] | None:
        """The same, by a task on each other machine: the name of a pulse is on one of them."""
        task_of: Any = ray.remote(_read_there)
        tasks = [
            task_of.options(
                num_cpus=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
            ).remote(self._names[number], last)
            for node in _machines()
        ]
        for task in tasks:
            with contextlib.suppress(RayError, GetTimeoutError):
                found: tuple[float, int] | None = ray.get(task, timeout=PATIENCE)
                if found is not None:
                    return found
        return None

    def _lost(self, number: int, problem: RayError) -> LostWorkerError:
        self.bury(number)
        why = " ".join(str(problem).split())
        return LostWorkerError(number, f"its Ray actor died: {why}")


def _folder() -> Path:
    """Where pulses are: with the files of this machine's Ray, which takes them away."""
    node: Any = ray._private.worker._global_node
    return Path(node.get_session_dir_path())


def cores_of_cluster() -> float:
    """How many cores Ray has to give, here and elsewhere."""
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return resources.get("CPU", 1.0)


def free_cores() -> float:
    """How many of them nobody has reserved."""
    resources: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
    return resources.get("CPU", 0.0)


def _machines() -> list[str]:
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return [node["NodeID"] for node in nodes if node["Alive"]]


def _read(path: Path, last: bool) -> tuple[float, int] | None:
    try:
        since, env = PULSE.unpack(path.read_bytes())
    except OSError:
        return None
    if last:
        path.unlink(missing_ok=True)
    return time.monotonic() - since, env


def _read_there(name: str, last: bool) -> tuple[float, int] | None:
    return _read(_folder() / name, last)


def _packed(cargo: Any) -> bytes:
    try:
        return cloudpickle.dumps(cargo)  # type: ignore[no-any-return]
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        raise ValueError(
            f"env= cannot be sent to Ray actors: {problem}; give a function or class that holds "
            "nothing bound to this process"
        ) from problem
