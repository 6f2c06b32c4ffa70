"""The trials of a search as an Optuna study: what its workers agree upon.

A trial is put into the study in one transaction, with its order and everything that is known of
it. It is over once Optuna has it as over, which is told last: of one that was killed before, the
result is not read. Its order is told as one parameter a place, its passing the
gate as Optuna's COMPLETE, its failing as PRUNED; a training that diverged is FAIL. What else
there is to tell stands in user attributes, so that dashboards show it.
"""

import contextlib
import logging
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
import sqlalchemy
from optuna.distributions import CategoricalDistribution
from optuna.exceptions import DuplicatedStudyError, StorageInternalError, UpdateFinishedTrialError
from optuna.storages import RDBStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError

from fixfirst.runs.folder import RunError
from fixfirst.search.folder import DATABASE, FORMAT, SearchFolder
from fixfirst.search.history import FAILED, PASSED, RUNNING, Trial
from fixfirst.search.plain import as_running, trial_as_dict, trial_from
from fixfirst.version import VERSION
from fixfirst.workflow.groups import Groups

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

PATIENCE = 60.0  # seconds for which a writer waits for another one, with SQLite
POSTGRESQL, SQLITE = "postgresql", "sqlite"
BEAT = "beat"
WHOLE = "format"  # of the study; there once all of it is
LOST = "lost"  # a number that a repaired study leaves empty

_STATE_OF = {PASSED: TrialState.COMPLETE, FAILED: TrialState.PRUNED, RUNNING: TrialState.RUNNING}


class Study:
    """The study of one search, in its database."""

    def __init__(
        self, folder: SearchFolder, name: str, storage: str | None, groups: Groups
    ) -> None:
        self.folder, self.name, self.groups = folder, name, groups
        self._url = url_of(folder.path, storage)
        self._storage = _opened(self._url)
        self._id = self._found()

    def close(self) -> None:
        """Let go of the database."""
        self._storage.engine.dispose()

    # --- reading

    def trials(self) -> list[Trial]:
        """All trials, by number."""
        found = []
        for frozen in self._frozen():
            if LOST in frozen.user_attrs:
                continue
            trial = trial_from({**frozen.user_attrs, "number": frozen.number}, self.groups)
            # Its result is written attribute by attribute, and counts once Optuna's state does.
            found.append(trial if frozen.state.is_finished() else as_running(trial))
        return found

    # --- writing

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """One worker at a time chooses an order or ends a trial.

        PostgreSQL itself keeps the others out, wherever they run. With other databases it is a
        locked file in the run folder, which holds between machines if the folder's file system
        passes locks on (NFS does). Either is freed when the worker ends, in whatever way.
        """
        engine = self._storage.engine
        if engine.dialect.name != POSTGRESQL:
            with self.folder.choosing():
                yield
            return
        key = zlib.crc32(self.name.encode())
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text(f"SELECT pg_advisory_lock({key})"))
            connection.commit()
            try:
                yield
            finally:
                connection.execute(sqlalchemy.text(f"SELECT pg_advisory_unlock({key})"))
                connection.commit()

    def add(self, trial: Trial) -> int:
        """Put a new trial in. Its number."""
        attributes = trial_as_dict(trial)
        del attributes["number"]  # Optuna counts
        frozen = self._storage.get_trial(
            self._storage.create_new_trial(self._id, _frozen(trial, attributes))
        )
        return int(frozen.number)

    def update(self, trial: Trial) -> None:
        """Tell how a running trial stands."""
        self._set(self._place(trial.number), trial_as_dict(trial))

    def end(self, trial: Trial) -> bool:
        """Tell the result of a trial; whether it was not over before."""
        place = self._place(trial.number)
        state = _STATE_OF[trial.state] if trial.reward is not None else TrialState.FAIL
        values = [trial.reward] if trial.state == PASSED and trial.reward is not None else None
        try:
            self._set(place, trial_as_dict(trial))
            return bool(self._storage.set_trial_state_values(place, state, values))
        except UpdateFinishedTrialError:
            return False

    def beat(self, number: int, clock: float) -> None:
        """Tell other machines that a trial's worker lives, at this time of its own clock."""
        with contextlib.suppress(UpdateFinishedTrialError):
            self._storage.set_trial_user_attr(self._place(number), BEAT, clock)

    def last_beat(self, number: int) -> float:
        """The last time that a trial's worker has told, by its own clock."""
        attributes = self._storage.get_trial_user_attrs(self._place(number))
        return float(attributes.get(BEAT, 0.0))

    # --- making and finding it

    def create(self, trials: Sequence[Trial] = ()) -> None:
        """Make the study, with these trials as their files tell them.

        Its format is written last: without one it is not all there, and counts as not there.
        """
        with contextlib.suppress(DuplicatedStudyError), _quiet():
            self._storage.create_new_study([StudyDirection.MAXIMIZE], self.name)
        self._id = int(self._storage.get_study_id_from_name(self.name))
        self._restore(trials)
        attributes = {"fixfirst": VERSION, "run": str(self.folder.path), WHOLE: FORMAT}
        for key, value in attributes.items():
            self._storage.set_study_user_attr(self._id, key, value)

    @property
    def there(self) -> bool:
        """Whether the database holds it."""
        return self._id >= 0

    def check(self) -> None:
        """Raise if the study cannot be used by this version, or is not there."""
        if not self.there:
            raise RunError(f"{_shown(self._url)} holds no study {self.name}")
        written = self._storage.get_study_user_attrs(self._id)
        if written[WHOLE] != FORMAT:
            raise RunError(
                f"the study {self.name} was written by fixfirst {written.get('fixfirst')} in "
                f"format {written[WHOLE]!r}; this is fixfirst {VERSION}, which reads {FORMAT}"
            )

    def _restore(self, trials: Sequence[Trial]) -> None:
        """Put trials in. A number without a file is left empty."""
        by_number = {trial.number: trial for trial in trials}
        for number in range(max(by_number, default=-1) + 1):
            if number not in by_number:
                self._storage.create_new_trial(
                    self._id, create_trial(state=TrialState.FAIL, user_attrs={LOST: True})
                )
                continue
            added = self.add(by_number[number])
            if added != number:
                raise RunError(
                    f"trial {number} became {added} in the study {self.name}: somebody else "
                    "writes to it"
                )

    def _found(self) -> int:
        try:
            number = int(self._storage.get_study_id_from_name(self.name))
        except KeyError:
            return -1
        return number if WHOLE in self._storage.get_study_user_attrs(number) else -1

    def _frozen(self) -> list[FrozenTrial]:
        return list(self._storage.get_all_trials(self._id, deepcopy=False))

    def _place(self, number: int) -> int:
        return int(self._storage.get_trial_id_from_study_id_trial_number(self._id, number))

    def _set(self, place: int, attributes: Mapping[str, Any]) -> None:
        there = self._storage.get_trial_user_attrs(place)
        for key, value in attributes.items():
            if key != "number" and there.get(key, ...) != value:
                self._storage.set_trial_user_attr(place, key, value)


def url_of(run: Path, storage: str | None) -> "URL":
    """Where the study is."""
    if storage is None:
        return sqlalchemy.engine.URL.create(SQLITE, database=str(run.absolute() / DATABASE))
    try:
        return sqlalchemy.engine.make_url(storage)
    except ArgumentError:
        raise ValueError(
            f"storage={storage!r} is no URL of a database; it is such as "
            "postgresql+psycopg://user@host/name"
        ) from None


def without_password(storage: str | None) -> str | None:
    """A database's URL as it may stand in a file."""
    if storage is None:
        return None
    return _without(url_of(Path(), storage)).render_as_string()


def _without(url: "URL") -> "URL":
    """The same without its password; `URL.set` keeps what is to be set to None."""
    return sqlalchemy.engine.URL.create(
        url.drivername, url.username, None, url.host, url.port, url.database, url.query
    )


def _opened(url: "URL") -> RDBStorage:
    """The database, made ready for Optuna if it is new."""
    kwargs: dict[str, Any] = {"pool_pre_ping": True}
    if url.get_backend_name() == SQLITE:
        kwargs = {"connect_args": {"timeout": PATIENCE}}
    try:
        storage = RDBStorage(url.render_as_string(hide_password=False), kwargs)
        if url.get_backend_name() == SQLITE:
            _check_pages(storage)
    except (ImportError, NoSuchModuleError) as missing:
        raise RunError(
            f"{_shown(url)} needs a driver that is not installed: {_first_line(missing)}"
        ) from missing
    except (OperationalError, StorageInternalError) as problem:
        raise RunError(f"{_shown(url)} cannot be opened: {_first_line(problem)}") from problem
    except DatabaseError as problem:
        raise DamagedStudyError(f"{_shown(url)} is damaged: {_first_line(problem)}") from problem
    except RuntimeError as problem:  # Optuna's, for tables of another version
        raise RunError(f"{_shown(url)} is of another version of Optuna: {problem}") from problem
    return storage


class DamagedStudyError(RunError):
    """A study that cannot be read, although the database is there."""


def _check_pages(storage: RDBStorage) -> None:
    """SQLite's own check of its file."""
    with storage.engine.connect() as connection:
        (told,) = connection.execute(sqlalchemy.text("PRAGMA quick_check(1)")).one()
    if told != "ok":
        raise DatabaseError(str(told), None, ValueError(str(told)))


def _frozen(trial: Trial, attributes: Mapping[str, Any]) -> FrozenTrial:
    """A trial as Optuna has it."""
    names = trial.order.names
    state = _STATE_OF[trial.state]
    if trial.state == FAILED and trial.reward is None:
        state = TrialState.FAIL
    return create_trial(
        state=state,
        value=trial.reward if trial.state == PASSED else None,
        params={f"place {place}": name for place, name in enumerate(names, 1)},
        distributions={
            f"place {place}": CategoricalDistribution(list(trial.order.groups.names))
            for place in range(1, len(names) + 1)
        },
        user_attrs=dict(attributes),
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Optuna reports what it makes, which nobody asked."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _shown(url: "URL") -> str:
    return url.database or "" if url.get_backend_name() == SQLITE else url.render_as_string()


def _first_line(problem: BaseException) -> str:
    cause = problem.__cause__ or getattr(problem, "orig", None) or problem
    return str(cause).strip().splitlines()[0]
