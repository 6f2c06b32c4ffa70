"""The async backend: the workers of `shared`, without waiting for the slowest env.

`send` gives some envs their actions, `recv` returns those that are ready first. A worker steps its
envs in the order they were sent, and tells of each as soon as it is done.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fixfirst.envs import checks, worker
from fixfirst.envs.board import Board, Kind
from fixfirst.envs.crew import Told
from fixfirst.envs.crowd import LostWorkerError
from fixfirst.envs.rows import has_fixed_size
from fixfirst.envs.shared import SharedVectorEnv
from fixfirst.envs.slot import Info


class Received(NamedTuple):
    """The results of some envs, in the order in which they were ready. All arrays are copies."""

    ids: np.ndarray  # which envs [k]
    observations: Any
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    infos: dict[str, Any]  # arrays are [k]


class AsyncVectorEnv(SharedVectorEnv):
    """N envs in worker processes, each going its own pace; or in step, with `step`.

    Between `send` and `recv` the states and places of the envs under way are in flux: read those
    of envs that were received. Nothing else can be asked of the envs until all are.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        self._under_way: set[int] = set()
        self._ready: deque[int] = deque()
        self._heard: dict[int, Info] = {}
        super().__init__(*given, **options)
        self._worker_of = {i: n for n, share in enumerate(self._shares()) for i in share}

    def send(self, actions: Any, ids: Any = None) -> None:
        """Have some envs play a step: one action each. Without ids, all."""
        self._check_open()
        which = self._chosen_ids(ids)
        self._check_ready(which)
        self.board.actions.set(actions, which)
        self.board.begin_some(which)
        self._under_way.update(which.tolist())
        with self._closing_if_it_fails():
            self._send(which.tolist())

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """As the other backends do; not while envs are under way."""
        self._check_nothing_out()
        return super().reset(**given)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """As the other backends do; not while envs are under way."""
        self._check_nothing_out()
        return super().call(name, *args, **kwargs)

    def set_attr(self, name: str, values: Any) -> None:
        """As the other backends do; not while envs are under way."""
        self._check_nothing_out()
        super().set_attr(name, values)

    def recv(self, count: int | None = None) -> Received:
        """The first `count` envs that are ready of those that were sent; without count, all."""
        self._check_open()
        most = len(self._under_way) + len(self._ready)
        if not most:
            raise ValueError("there is nothing to receive: send() comes first")
        wanted = most if count is None else checks.whole("count", count, 1, most)
        with self._closing_if_it_fails():
            while len(self._ready) < wanted:
                self._listen()
        ids = np.array([self._ready.popleft() for _ in range(wanted)])
        told = [(i, self._heard.pop(i)) for i in ids.tolist() if i in self._heard]
        results = self.board.results
        infos = _rows(self._infos(told, finals=True), ids) if told else {}
        return Received(
            ids, results.observations.take(ids), results.rewards[ids], results.terminated[ids],
            results.truncated[ids], infos,
        )  # fmt: skip

    # --- within

    def _new_board(self, kind: Kind) -> Board:
        if not (has_fixed_size(kind.observation) and has_fixed_size(kind.action)):
            raise ValueError(
                "backend='async' needs spaces of fixed size: observations are "
                f"{kind.observation}, actions {kind.action}; use backend='shared'"
            )
        return super()._new_board(kind)

    def _chosen_ids(self, ids: Any) -> np.ndarray:
        """Which envs are meant: each once, and none that is under way."""
        if ids is None:
            which = np.arange(self.num_envs)
        else:
            which = np.atleast_1d(np.asarray(ids))
            if which.dtype.kind not in "iu" or which.ndim != 1 or not len(which):
                raise TypeError(f"ids={ids!r} are not numbers of envs, 0 to {self.num_envs - 1}")
            if which.min() < 0 or which.max() >= self.num_envs:
                raise ValueError(f"ids={ids!r} are not all here; envs are 0 to {self.num_envs - 1}")
            if len(set(which.tolist())) < len(which):
                raise ValueError(f"ids={ids!r} name an env twice")
        out = self._under_way.union(self._ready).intersection(which.tolist())
        if out:
            raise ValueError(f"env {min(out)} was sent and not yet received; recv() comes first")
        return which

    def _check_ready(self, which: np.ndarray | None = None) -> None:
        if which is None:
            self._check_nothing_out()
        super()._check_ready(which)

    def _check_nothing_out(self) -> None:
        self._check_open()
        if self._under_way or self._ready:
            raise ValueError("some envs were sent and not yet received; recv() comes first")

    def _send(self, ids: Sequence[int]) -> None:
        """Have workers step some envs, and others if workers were lost."""
        while ids:
            words: dict[int, bytes] = {}
            for i in ids:
                number = self._worker_of[i]
                words[number] = words.get(number, b"") + worker.WORD.pack(i)
            _, lost = self._write(words)
            ids = [i for one in lost for i in self._replace(one) if i in self._under_way]

    def _listen(self) -> None:
        """Wait for workers, and take in the envs that they have done."""
        crowd = self._workers
        busy = {self._worker_of[i] for i in self._under_way}
        try:
            for number in crowd.ready(busy):
                if number not in busy:  # nobody asked it: it is dead
                    raise crowd.lost(number)
                told: Told = []
                env = self._take_word(number, told)
                self._forget_losses(told, [env])
                self._heard.update(told)
                self._under_way.discard(env)
                self._ready.append(env)
        except LostWorkerError as one:
            crowd.bury(one.number)
            self._send([i for i in self._replace(one) if i in self._under_way])


def _rows(infos: dict[str, Any], ids: np.ndarray) -> dict[str, Any]:
    """The rows of some envs in infos of all."""
    return {
        key: _rows(value, ids) if isinstance(value, dict) else _of(value, ids)
        for key, value in infos.items()
    }


def _of(value: Any, ids: np.ndarray) -> Any:
    return tuple(_of(one, ids) for one in value) if isinstance(value, tuple) else value[ids]
