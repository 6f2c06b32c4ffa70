"""The queue backend: a process an env, and one queue for the results of all.

The slow classic. It is here to be measured against.
"""

from collections.abc import Iterable

from fixfirst.envs.crew import Told
from fixfirst.envs.crowd import LostWorkerError
from fixfirst.envs.processes import ProcessVectorEnv
from fixfirst.envs.result_queue import ResultQueue


class QueueVectorEnv(ProcessVectorEnv):
    """N envs in N processes; actions are messages to each, results come on one queue."""

    style = "queue"

    def _queue(self) -> ResultQueue:
        return ResultQueue()

    def _play(self, numbers: Iterable[int], told: Told) -> list[LostWorkerError]:
        return self._play_by_messages(numbers, told)
