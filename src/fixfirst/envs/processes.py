"""What the backends with worker processes have in common: beginning, failing, going on, ending."""

import contextlib
import resource
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fixfirst.envs import checks, seeding
from fixfirst.envs.board import Board, Kind
from fixfirst.envs.contract import FAILURES_IN_A_ROW, START_METHODS, EnvError
from fixfirst.envs.crew import Told
from fixfirst.envs.crowd import Crowd, LostWorkerError
from fixfirst.envs.result_queue import ResultQueue
from fixfirst.envs.slot import Factory
from fixfirst.envs.vector import PythonVectorEnv, same_kind

FILES_PER_WORKER = 3  # that we hold open


class ProcessVectorEnv(PythonVectorEnv):
    """N envs in worker processes. A backend says who runs which, and how a step is commanded."""

    style = "messages"  # see `worker`
    crowd: Crowd | None = None

    def __init__(
        self, factories: Sequence[Factory], *, start_method: str = START_METHODS[0], **common: Any
    ) -> None:
        self.start_method = checks.one_of("start_method", start_method, START_METHODS)
        self._losses: dict[int, int] = {}  # by env: workers lost with it and no step in between
        super().__init__(factories, **common)

    # --- what a backend is

    def _shares(self) -> list[list[int]]:
        """The envs of each worker: a process an env, unless a backend says otherwise."""
        return [[i] for i in range(self.num_envs)]

    def _queue(self) -> ResultQueue | None:
        """Where results come in, if not on the links."""
        return None

    @abstractmethod
    def _play(self, numbers: Iterable[int], told: Told) -> list[LostWorkerError]:
        """Have some workers play a step, and take in what it brought; those that were lost."""

    # --- the face's part

    def _open(self) -> Kind:
        shares = self._shares()
        _enough_files(FILES_PER_WORKER * len(shares))
        self.crowd = Crowd(
            shares, self._factories, self.plan, self.start_method, self.timeout, self.style,
            self._queue(),
        )  # fmt: skip
        self.crowd.start_all()
        kinds: dict[int, Kind] = {}

        def take(number: int) -> None:
            kinds.update(zip(shares[number], self._answer(number), strict=True))

        self._all_must_answer(range(len(shares)), take)
        return same_kind(kinds[i] for i in range(self.num_envs))

    def _lay_out(self, kind: Kind) -> Board:
        board = self._new_board(kind)
        with self._losses_as_errors():
            for number in range(len(self._workers.shares)):
                self._settle(number, kind, None)
        self._all_must_answer(range(len(self._workers.shares)), self._answer)
        return board

    def _new_board(self, kind: Kind) -> Board:
        return Board(kind, self.num_envs, self.plan)

    def _settle(self, number: int, kind: Kind, where: Any) -> None:
        """Tell a worker where its envs leave their results; `where` they were if they are new."""
        self._workers.tell(number, ("settle", kind, where))

    def _reset(
        self, which: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any] | None
    ) -> Told:
        told: Told = []
        wanted = dict(zip(which, seeds, strict=True))
        episodes = self.board.episodes.copy()
        while wanted:
            lost = self._ask_for_reset(wanted, options, told)
            for one in lost:
                share = self._workers.shares[one.number]
                self.board.episodes[share] = episodes[share]  # some may have begun before
            wanted = {i: None for one in lost for i in self._replace(one) if i in wanted}
        return told

    def _step(self) -> Told:
        board = self.board
        told: Told = []
        places = (board.over, board.steps, board.episodes)
        before = [one.copy() for one in places] if self.plan.restart else []
        numbers: Sequence[int] = self._numbers
        while numbers:
            lost = self._play(numbers, told)
            numbers = [one.number for one in lost]
            for one in lost:
                share = self._workers.shares[one.number]
                for now, then in zip(places, before, strict=False):
                    now[share] = then[share]  # some envs may have played before it was lost
                for i in share:
                    board.results.observations.copy_row(i, board.last.observations)
                self._replace(one)
        self._forget_losses(told, list(self._losses))
        return told

    def _call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return self._of_each(dict.fromkeys(self._numbers, ("call", name, args, kwargs)))

    def _assign(self, name: str, values: Sequence[Any]) -> None:
        shares = self._workers.shares
        self._of_each({n: ("assign", name, [values[i] for i in shares[n]]) for n in self._numbers})

    def _shut(self, at_once: bool) -> None:
        crowd, self.crowd = self.crowd, None
        if crowd is not None:
            crowd.shut(at_once)

    @property
    def worker_pids(self) -> list[int]:
        """The process ids of the workers."""
        self._check_open()
        return [int(one.process.pid) for one in self._workers.workers if one is not None]

    # --- asking workers

    @property
    def _workers(self) -> Crowd:
        assert self.crowd is not None
        return self.crowd

    @property
    def _numbers(self) -> range:
        return range(len(self._workers.shares))

    def _tell(self, messages: Mapping[int, Any]) -> tuple[list[int], list[LostWorkerError]]:
        """Send each worker its message: those that got it, and those that were lost."""
        told, lost = [], []
        for number, message in messages.items():
            try:
                self._workers.tell(number, message)
                told.append(number)
            except LostWorkerError as one:
                lost.append(one)
        return told, lost

    def _hear(
        self, numbers: Iterable[int], take: Callable[[int], object], starting: bool = False
    ) -> list[LostWorkerError]:
        """Wait for each of these workers and `take` its answer; those that were lost."""
        pending, lost = set(numbers), []
        while pending:
            try:
                for number in self._workers.ready(pending, starting):
                    if number not in pending:  # nobody asked it: it is dead
                        raise self._workers.lost(number)
                    take(number)
                    pending.discard(number)
            except LostWorkerError as one:
                self._workers.bury(one.number)
                pending.discard(one.number)
                lost.append(one)
        return lost

    def _answer(self, number: int) -> Any:
        """The answer of a worker that is ready, or the error that it tells of."""
        kind, answer = self._workers.hear(number)
        if kind == "failed":
            raise answer
        if kind == "refused":
            is_attribute, text, trace = answer
            raise (
                AttributeError(text)
                if is_attribute
                else RuntimeError(f"{text}\n\nWhere it happened:\n{trace}")
            )
        return answer

    def _all_must_answer(self, numbers: Iterable[int], take: Callable[[int], object]) -> None:
        """Hear workers that are starting; one that is lost then is an error."""
        for one in self._hear(numbers, take, starting=True):
            raise self._loss(one)

    def _of_each(self, messages: Mapping[int, Any]) -> list[Any]:
        """What the envs answer, in their order. A worker lost meanwhile is an error."""
        answers: dict[int, Any] = {}
        refused: list[Exception] = []

        def take(number: int) -> None:
            share = self._workers.shares[number]
            try:
                values = self._answer(number)
            except (AttributeError, RuntimeError) as problem:
                if isinstance(problem, EnvError):
                    raise
                refused.append(problem)
                return
            answers.update(zip(share, values or [None] * len(share), strict=True))

        with self._closing_if_it_fails():
            told, lost = self._tell(messages)
            lost += self._hear(told, take)
            if lost:
                raise self._loss(lost[0])
        if refused:
            raise refused[0]
        return [answers[i] for i in sorted(answers)]

    def _take_results(self, number: int, told: Told) -> None:
        """Take in a worker's answer to "reset" or "step"."""
        infos, parcel = self._answer(number)
        told += infos
        if parcel is not None:
            self.board.unpack(self._workers.shares[number], parcel)

    def _ask_for_reset(
        self, wanted: Mapping[int, int | None], options: dict[str, Any] | None, told: Told
    ) -> list[LostWorkerError]:
        messages: dict[int, Any] = {}
        for number, share in enumerate(self._workers.shares):
            chosen = [i for i in share if i in wanted]
            if chosen:
                messages[number] = ("reset", chosen, [wanted[i] for i in chosen], options)
        asked, lost = self._tell(messages)
        return lost + self._hear(asked, lambda number: self._take_results(number, told))

    def _play_by_messages(self, numbers: Iterable[int], told: Told) -> list[LostWorkerError]:
        """A step by messages: actions one way, all results the other."""
        take, shares = self.board.actions.take, self._workers.shares
        asked, lost = self._tell({n: ("step", take(shares[n])) for n in numbers})
        return lost + self._hear(asked, lambda number: self._take_results(number, told))

    # --- losses

    @contextlib.contextmanager
    def _losses_as_errors(self) -> Iterator[None]:
        try:
            yield
        except LostWorkerError as one:
            raise self._loss(one) from None

    def _forget_losses(self, told: Told, envs: Iterable[int]) -> None:
        """Losses of an env are in a row while it plays no step: see which of these have played."""
        if not self._losses:
            return
        infos = dict(told)
        for i in envs:
            info = infos.get(i, {})
            last = info.get("final_info", info)  # a same-step reset has followed
            if "failure" not in last and (last is not info or self.board.steps[i] > 0):
                self._losses.pop(i, None)

    def _loss(self, lost: LostWorkerError) -> EnvError:
        """The error that tells of a lost worker by the env it was at."""
        env = int(self._workers.pulse["env"][lost.number])
        episode = step = 0
        board: Board | None = getattr(self, "board", None)
        if board is not None:
            # A reset is under way where the episode is over, or has not begun.
            playing = board.episodes[env] > 0 and not board.over[env]
            episode = int(board.episodes[env]) + (not playing)
            step = int(board.steps[env]) + 1 if playing else 0
        return EnvError(lost.what, env, self._seeds[env], episode, step)

    def _replace(self, lost: LostWorkerError) -> list[int]:
        """Start a worker in the place of one that was lost. Its envs are new, and tell of it."""
        error = self._loss(lost)
        number, board, share = lost.number, self.board, self._workers.shares[lost.number]
        self._losses[error.env] = self._losses.get(error.env, 0) + 1
        if not self.plan.restart or self._losses[error.env] >= FAILURES_IN_A_ROW:
            raise error
        board.restarts[share] += 1
        self._workers.start(number)
        self._all_must_answer([number], self._answer)
        after = [(self._seeds[i], self._seed_after(i), str(error)) for i in share]
        with self._losses_as_errors():
            self._settle(number, self.kind, board.pack(share))
            self._all_must_answer([number], self._answer)
            self._workers.tell(number, ("after", after))
        self._all_must_answer([number], self._answer)
        return share

    def _seed_after(self, i: int) -> int | None:
        return seeding.after_restart(self._seeds[i], int(self.board.restarts[i]))


def _enough_files(needed: int) -> None:
    """See to it that so many files may be open, or say what to do."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_now = Path("/dev/fd")
    needed += len(list(open_now.iterdir())) if open_now.is_dir() else 64
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return
    if hard != resource.RLIM_INFINITY and needed > hard:
        raise ValueError(
            f"so many worker processes need {needed} open files, and this process may have {hard}; "
            "ask for fewer envs, or raise the limit (ulimit -n)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
