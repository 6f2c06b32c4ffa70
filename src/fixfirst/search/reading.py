"""A search as its run folder tells it. Only files are read: no database is needed."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fixfirst.runs.folder import RunError, read_rows
from fixfirst.search.folder import CONFIG, DATABASE, ENDED, SearchFolder, read_json
from fixfirst.search.history import RUNNING, History
from fixfirst.search.record import SearchRecord

RUNS, FINISHED, STOPPED, DAMAGED = "running", "finished", "stopped", "damaged"
STATES = (RUNS, FINISHED, STOPPED, DAMAGED)
METRICS = "train/metrics.jsonl"  # of a trial
_SQLITE = b"SQLite format 3\x00"


def read_run(path: str | os.PathLike[str], knowledge: bool = True) -> SearchRecord:
    """The search in a run folder.

    knowledge   whether to ask the model what it makes of the trials, which takes a moment
    """
    folder, config = SearchFolder.of(path)
    settings = config.settings
    trials = folder.read_trials(settings.partition)
    updates = {trial.number: _rows(folder.trial(trial.number) / METRICS) for trial in trials}
    trials = [
        replace(trial, episodes=updates[trial.number][-1]["episodes"])
        if trial.state == RUNNING and updates[trial.number]
        else trial
        for trial in trials
    ]
    history = History(settings.partition, tuple(trials), folder.before)
    state, why = state_of(folder, settings.storage)
    known = None
    if knowledge and history.passed:
        from fixfirst.search.posterior import know  # noqa: PLC0415 - loads GPyTorch

        known = know(history)
    return SearchRecord(
        folder.path, settings.as_dict(), state, why, history, updates, known, folder.seconds,
        sum(sign.last - sign.began for sign in folder.signs()),
    )  # fmt: skip


def state_of(folder: SearchFolder, storage: str | None = None) -> tuple[str, str]:
    """How a search stands, and why."""
    if storage is None and _is_damaged(folder.path / DATABASE):
        return DAMAGED, (
            f"{DATABASE} is damaged; fixfirst search --resume {folder.path} makes it anew from "
            "the trials' own files"
        )
    if folder.running:
        return RUNS, "at work"
    ended = folder.path / ENDED
    if ended.exists():
        return FINISHED, str(read_json(ended)["why"])
    return STOPPED, f"go on with: fixfirst search --resume {folder.path}"


def runs_below(path: Path) -> list[Path]:
    """The folders of searches in a folder, or the folder itself."""
    if is_search(path):
        return [path]
    if not path.is_dir():
        raise RunError(f"{path} is no folder; name one that holds runs")
    return sorted(one for one in path.iterdir() if is_search(one))


def is_search(path: Path) -> bool:
    """Whether there is a search in the folder, of whatever version."""
    try:
        return "study" in json.loads((path / CONFIG).read_text())
    except (OSError, ValueError, TypeError):
        return False


def _rows(path: Path) -> list[Mapping[str, Any]]:
    return list(read_rows(path)) if path.exists() else []


def _is_damaged(database: Path) -> bool:
    """Whether a file is not what SQLite writes; one that is not there yet is not damaged."""
    if not database.exists():
        return False
    with database.open("rb") as file:
        start = file.read(len(_SQLITE))
    return bool(start) and start != _SQLITE
