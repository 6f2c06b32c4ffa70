"""Searches from beginning to end: begin one, go on with one, lend a hand to one."""

import contextlib
import errno
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from optuna.exceptions import StorageInternalError

from fixfirst.runs.folder import RunError, RunFolder
from fixfirst.search.folder import DATABASE, ENDED, Config, SearchFolder
from fixfirst.search.found import Found
from fixfirst.search.loop import OVER, TIME, Spectator, Worker
from fixfirst.search.reading import read_run
from fixfirst.search.settings import EXTENDABLE, Settings
from fixfirst.search.strategies import make_strategy
from fixfirst.search.study import DamagedStudyError, Study, without_password
from fixfirst.search.summary import write_summary
from fixfirst.search.tables import write_tables
from fixfirst.search.trial import Task, setup_for
from fixfirst.search.workers import team
from fixfirst.workflow.orders import Workflow

FULL = (errno.ENOSPC, errno.EDQUOT)


def search(
    run: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    resume: bool = False,
    spectator: Spectator | None = None,
    **given: Any,
) -> Found:
    """Search for the best order, in the folder `run`.

    settings    what to search, for a new run; or give single ones by name:
                `search("runs/first", red_agent="meander", total_episodes=20_000)`
    resume      go on with the search in the folder, with its own settings; of these
                total_episodes, n_workflows and time can be given anew, and storage where the
                database needs a password
    spectator   is told what happens

    What it returns has the trials, the posterior over all orders, the best order with the
    probability that it is the best, and its policy. Ctrl-C ends it at the next safe point.
    """
    if resume and settings is not None:
        raise ValueError("a search that is resumed has its own settings; give none")
    watching = spectator or Spectator()
    with _room(run):
        if resume:
            return _go_on(Path(run), given, watching)
        chosen = settings or Settings()
        if given:
            chosen = Settings.from_dict({**chosen.as_dict(), **given})
        return _begin(Path(run), chosen, watching)


def join(
    run: str | os.PathLike[str],
    *,
    storage: str | None = None,
    threads: int | None = None,
    spectator: Spectator | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Found:
    """Lend a hand to a search that another process, maybe on another machine, is running.

    storage   the database's URL, where it needs a password
    threads   of this worker; None: as many as those of the search have
    stop      is asked now and then whether to stop
    """
    with _room(run):
        folder, config = SearchFolder.of(run)
        if threads is not None:
            config = replace(config, settings=replace(config.settings, threads=threads))
        study = _study(folder, config, storage)
        study.check()
        why = _work(folder, config, study, spectator or Spectator(), stop)
        return _finish(folder, study, why)


# --- the parts -----------------------------------------------------------------------------


def _begin(run: Path, settings: Settings, spectator: Spectator) -> Found:
    """A new search."""
    storage = settings.storage
    resolved = settings.resolved(cores())
    resolved = replace(resolved, storage=without_password(storage))
    _check(resolved)
    holder = RunFolder(run, new=True)
    try:
        folder = SearchFolder(run, resolved.checkpoint_dir)
        if folder.trials.exists() and any(folder.trials.iterdir()):
            raise RunError(f"{folder.trials} holds trials already; name a new folder")
        config = Config(f"fixfirst-{secrets.token_hex(6)}", resolved)
        if storage is not None:  # better before there is anything in the folder
            _study(folder, config, storage).close()
        folder.write_config(config)
        study = _study(folder, config, storage)
        study.create()
        return _searched(folder, config, study, storage, spectator)
    finally:
        holder.close()


def _go_on(run: Path, given: dict[str, Any], spectator: Spectator) -> Found:
    """A search that was there before."""
    folder, config = SearchFolder.of(run)
    storage = given.pop("storage", None)
    settings = _extended(config.settings, given)
    try:
        holder = RunFolder(run, new=False)
    except RunError as problem:
        raise RunError(f"{problem}; lend it a hand with: fixfirst search --join {run}") from None
    try:
        _check_time(folder, settings)
        if settings != config.settings:
            config = replace(config, settings=settings)
            folder.write_config(config)
            (run / ENDED).unlink(missing_ok=True)
        elif (run / ENDED).exists():
            return Found(read_run(run))
        study = _study_or_repair(folder, config, storage, spectator)
        return _searched(folder, config, study, storage, spectator)
    finally:
        holder.close()


def _extended(settings: Settings, given: dict[str, Any]) -> Settings:
    for name in given:
        if name not in EXTENDABLE:
            raise ValueError(
                f"{name} cannot be given anew to a search that is resumed; only "
                f"{', '.join(EXTENDABLE)} can"
            )
    return replace(settings, **given)


def _check(settings: Settings) -> None:
    """Refuse what only the strategy or the training can judge, before there is a folder."""
    make_strategy(settings.strategy, beta=settings.gp_beta)
    order = next(iter(Workflow.every(settings.partition)))
    assert settings.max_episodes is not None
    setup_for(settings, Task(Path(), (order,), settings.max_episodes, 0))


def _check_time(folder: SearchFolder, settings: Settings) -> None:
    if settings.time is not None and folder.seconds >= settings.time * 60:
        raise RunError(
            f"the time of {settings.time:g} minutes is used up; give more with --time (it counts "
            "from the search's beginning)"
        )


def _searched(
    folder: SearchFolder, config: Config, study: Study, storage: str | None, spectator: Spectator
) -> Found:
    """Work, with the further workers that the settings ask for."""
    pressed = threading.Event()
    with _ctrl_c(pressed), team(folder, config.settings.workers - 1, storage) as others:
        why = _work(folder, config, study, spectator, pressed.is_set)
        if why not in OVER:
            others.stop()
        for problem in others.wait():
            spectator.note(problem)
        return _finish(folder, study, why)


def _work(
    folder: SearchFolder, config: Config, study: Study, spectator: Spectator,
    stop: Callable[[], bool],
) -> str:  # fmt: skip
    settings = config.settings
    assert settings.max_episodes is not None
    strategy = make_strategy(
        settings.strategy, beta=settings.gp_beta, max_episodes=settings.max_episodes
    )
    spectator.opened(folder, settings)
    before = torch.get_num_threads()
    torch.set_num_threads(settings.threads or before)
    try:
        return Worker(folder, config, study, strategy, spectator, stop).run()
    finally:
        torch.set_num_threads(before)


def _finish(folder: SearchFolder, study: Study, why: str) -> Found:
    """Write what is to be read afterwards."""
    if why in OVER:
        folder.write(folder.path / ENDED, {"why": why})
    with study.alone():
        write_tables(folder, study.trials())
    study.close()
    record = read_run(folder.path)
    if why == TIME:
        record = replace(record, why=f"{TIME}; {record.why} --time MINUTES")
    write_summary(record)
    return Found(record)


# --- the study -----------------------------------------------------------------------------


def _study(folder: SearchFolder, config: Config, storage: str | None) -> Study:
    settings = config.settings
    return Study(folder, config.study, storage or settings.storage, settings.partition)


def _study_or_repair(
    folder: SearchFolder, config: Config, storage: str | None, spectator: Spectator
) -> Study:
    """The study. One that is lost or damaged is made anew from the trials' own files, if it was
    in the run folder, where nobody else can be using it.
    """
    trials = folder.read_trials(config.settings.partition)
    if (storage or config.settings.storage) is not None:
        study = _study(folder, config, storage)
        if not study.there and not trials:  # killed before it was made
            study.create()
        study.check()
        return study
    database = folder.path / DATABASE
    problem = f"{database} is missing"
    if database.exists():
        try:
            study = _study(folder, config, storage)
            if study.there:
                study.check()
                return study
            study.close()
            problem = f"{database} holds no study {config.study}"
        except DamagedStudyError as damage:
            problem = str(damage)
    if trials:
        spectator.note(f"{problem}; it is made anew from the files of {len(trials)} trials")
    _set_aside(database)
    study = _study(folder, config, storage)
    study.create(trials)
    return study


def _set_aside(database: Path) -> None:
    """Keep what is left of a database, and its journal, under another name."""
    number = 1
    while database.with_name(f"damaged-{number}-{database.name}").exists():
        number += 1
    for file in (database, *database.parent.glob(f"{database.name}-*")):
        if file.exists():
            file.rename(file.with_name(f"damaged-{number}-{file.name}"))


# --- surroundings --------------------------------------------------------------------------


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def _ctrl_c(pressed: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C end the search at its next safe point, and the second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears of it
        return
    before = signal.getsignal(signal.SIGINT)

    def hear(number: int, frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _room(run: str | os.PathLike[str]) -> Iterator[None]:
    """Say what to do when there is no room left on the disk."""
    try:
        yield
    except (OSError, RunError, StorageInternalError) as problem:
        if not any(map(_says_full, (problem, problem.__cause__))):
            raise
        raise RunError(
            f"the disk of {os.fspath(run)} is full; nothing that was told is lost. Make room and "
            f"go on with: fixfirst search --resume {os.fspath(run)}"
        ) from problem


def _says_full(problem: BaseException | None) -> bool:
    if isinstance(problem, OSError):
        return problem.errno in FULL
    return "disk is full" in str(problem)  # SQLite's words
