"""The ray backend: Ray actors with several envs each, on this machine or on a cluster.

It is right when one machine is not enough. On one machine `shared` does the same without Ray.
Ray is the optional extra `ray`: pip install 'fixfirst[ray]'.
"""

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any, cast

from fixfirst.envs import checks, ray_start
from fixfirst.envs.board import Kind
from fixfirst.envs.crew import Told
from fixfirst.envs.crowd import Crowd, LostWorkerError
from fixfirst.envs.processes import ProcessVectorEnv
from fixfirst.envs.ray_crowd import RayCrowd, cores_of_cluster
from fixfirst.envs.slot import Factory
from fixfirst.envs.vector import same_kind


class RayVectorEnv(ProcessVectorEnv):
    """N envs in `workers` actors, one for each core of the cluster unless the user says otherwise."""

    _uses_ray = False

    def __init__(
        self, factories: Sequence[Factory], *, workers: int | None = None,
        address: str | None = None, **common: Any,
    ) -> None:  # fmt: skip
        count = max(1, len(factories))
        self._wanted = None if workers is None else checks.whole("workers", workers, 1, count)
        self._address = address
        super().__init__(factories, **common)

    def _shares(self) -> list[list[int]]:
        cores = math.floor(cores_of_cluster())
        self.workers = self._wanted or max(1, min(cores, self.num_envs))
        ends = [self.num_envs * k // self.workers for k in range(self.workers + 1)]
        return [list(range(ends[k], ends[k + 1])) for k in range(self.workers)]

    def _open(self) -> Kind:
        ray_start.start(self._address)
        self._uses_ray = True
        self._process = os.getpid()
        shares = self._shares()
        crowd = RayCrowd(shares, self._factories, self.plan, self.timeout)
        self.crowd = cast("Crowd", crowd)  # of which it has the face
        kinds: dict[int, Kind] = {}

        def take(number: int) -> None:
            kinds.update(zip(shares[number], self._answer(number), strict=True))

        self._all_must_answer(range(len(shares)), take)
        return same_kind(kinds[i] for i in range(self.num_envs))

    @property
    def worker_pids(self) -> list[int]:
        """Actors may be on other machines, where these numbers mean nothing."""
        raise AttributeError("actors of Ray have no process ids here; see `ray list actors`")

    def _play(self, numbers: Iterable[int], told: Told) -> list[LostWorkerError]:
        return self._play_by_messages(numbers, told)

    def _shut(self, at_once: bool) -> None:
        if self._uses_ray and os.getpid() != self._process:
            return  # a fork of the process whose Ray it is
        super()._shut(at_once)
        if self._uses_ray:
            self._uses_ray = False
            ray_start.stop()
