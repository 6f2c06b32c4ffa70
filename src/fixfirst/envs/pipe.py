"""The pipe backend: a process an env, with a pipe to each. The classical way."""

from collections.abc import Iterable

from fixfirst.envs.crew import Told
from fixfirst.envs.crowd import LostWorkerError
from fixfirst.envs.processes import ProcessVectorEnv


class PipeVectorEnv(ProcessVectorEnv):
    """N envs in N processes; actions and results are messages."""

    def _play(self, numbers: Iterable[int], told: Told) -> list[LostWorkerError]:
        return self._play_by_messages(numbers, told)
