"""The study: what Optuna holds of a search, in SQLite and in PostgreSQL, and who may write."""

import multiprocessing
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

import optuna

from fixfirst.runs.folder import RunError
from fixfirst.search.folder import SearchFolder
from fixfirst.search.history import FAILED, PASSED, RUNNING, Guess, Proposal, Trial
from fixfirst.search.plain import trial_as_dict, trial_from
from fixfirst.search.run import search
from fixfirst.search.study import Study, url_of, without_password
from fixfirst.workflow.groups import DEFAULT_GROUPS, HOST_GROUPS
from fixfirst.workflow.orders import Workflow
from tests.search.small import outcome, small

ORDER = Workflow("critical-first")
PROPOSAL = Proposal(
    ORDER, "it may be good", "explore", (Guess(ORDER, -3.5, 0.5),), Guess(ORDER, -3.5, 0.5), 400, 2
)
NEW = Trial(0, ORDER, RUNNING, PROPOSAL, started_from=2, worker="here:1:ab", cap=400)
OVER = replace(
    NEW, state=PASSED, reward=-12.5, error=0.25, compliance=0.95, fixes=3.5, episodes=400,
    why="episodes", seconds=2.5, checkpoint="trials/0000/train/checkpoints/00000002", judged=1000,
)  # fmt: skip


def _postgres():
    """Where PostgreSQL's programs are."""
    here = shutil.which("initdb")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return Path(here).resolve().parent if here else (places[-1] if places else None)


@pytest.fixture(scope="session")
def postgresql():
    """A PostgreSQL server of its own, on a socket in a folder; its URL."""
    programs = _postgres()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    as_user = {}
    with tempfile.TemporaryDirectory(prefix="fixfirst-postgresql-") as name:
        folder = Path(name)
        if os.getuid() == 0:  # it refuses to run as root
            import pwd

            user = pwd.getpwnam("nobody")
            as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = folder / "data"

        def run(program, *arguments):
            with (folder / "said").open("a") as said:
                subprocess.run(
                    [programs / program, "-D", data, *arguments],
                    stdout=said, stderr=said, check=True, cwd="/", **as_user,
                )  # fmt: skip

        run("initdb", "-U", "tester", "-A", "trust", "-N")
        run("pg_ctl", "-w", "-o", f"-k {folder} -c listen_addresses='' -c fsync=off", "start")
        try:
            yield f"postgresql+psycopg://tester@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request):
    """None for SQLite in the run folder, or the URL of a server."""
    return None if request.param == "sqlite" else request.getfixturevalue("postgresql")


@pytest.fixture
def study(tmp_path, storage, request):
    """An empty study."""
    made = Study(SearchFolder(tmp_path), f"study {request.node.name}", storage, DEFAULT_GROUPS)
    made.create()
    yield made
    made.close()


def test_a_trial_survives_as_plain_data():
    for trial in (NEW, OVER, replace(OVER, reward=None, error=None, state=FAILED)):
        assert trial_from(trial_as_dict(trial), DEFAULT_GROUPS) == trial
    far = Workflow.from_index(5_000_000_000, HOST_GROUPS)
    trial = replace(NEW, order=far, proposal=Proposal(far, "drawn", "random"))
    assert trial_from(trial_as_dict(trial), HOST_GROUPS) == trial


def test_trials_are_told_and_ended(study):
    assert study.trials() == []
    assert [study.add(NEW), study.add(NEW), study.add(NEW)] == [0, 1, 2]
    study.update(replace(NEW, number=1, worker="there:2:cd"))
    assert study.end(OVER)
    failed = replace(OVER, number=2, state=FAILED, compliance=0.2)
    assert study.end(failed)
    assert study.trials() == [OVER, replace(NEW, number=1, worker="there:2:cd"), failed]


class KilledError(Exception):
    """Stands for the end of the process."""


def dying(monkeypatch, method, after):
    """Have the database's method work so many times, and then never again."""
    real, left = getattr(optuna.storages.RDBStorage, method), [after]

    def once_more(self, *given):
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        return real(self, *given)

    monkeypatch.setattr(optuna.storages.RDBStorage, method, once_more)


@pytest.mark.parametrize("after", range(9))
def test_a_trial_whose_end_is_broken_off_runs_as_before_and_can_be_ended(study, monkeypatch, after):
    study.add(NEW)
    with monkeypatch.context() as patched:
        dying(patched, "set_trial_user_attr", after)
        with pytest.raises(KilledError):
            study.end(OVER)
    (there,) = study.trials()
    assert there == replace(NEW, number=0, worker=there.worker)
    study.update(there)
    assert study.end(OVER)
    assert study.trials() == [OVER]


@pytest.mark.parametrize(("method", "after"), [
    ("set_study_user_attr", 0), ("set_study_user_attr", 2), ("create_new_trial", 1),
])  # fmt: skip
def test_a_study_whose_making_is_broken_off_is_not_there(tmp_path, monkeypatch, method, after):
    def opened(name):
        folder = SearchFolder(tmp_path / name)
        folder.path.mkdir(exist_ok=True)
        return Study(folder, "a study", None, DEFAULT_GROUPS)

    kept = [replace(OVER, number=0), replace(NEW, number=1)]
    study = opened("run")
    with monkeypatch.context() as patched:
        dying(patched, method, after)
        with pytest.raises(KilledError):
            study.create(kept)
    study.close()
    again = opened("run")
    assert not again.there
    with pytest.raises(RunError, match="holds no study a study"):
        again.check()
    again.close()
    whole = opened("other")
    whole.create(kept)
    whole.check()
    assert whole.trials() == kept
    whole.close()


def test_a_trial_ends_once(study):
    study.add(NEW)
    assert study.end(OVER)
    assert not study.end(replace(OVER, reward=-1.0))
    assert study.trials() == [OVER]


def test_optuna_sees_orders_rewards_and_what_became_of_the_gate(study, storage):
    diverged = replace(OVER, number=2, state=FAILED, reward=None, error=None, why="diverged")
    for trial in (OVER, replace(OVER, number=1, state=FAILED), diverged):
        study.add(NEW)
        study.end(trial)
    url = url_of(study.folder.path, storage).render_as_string(hide_password=False)
    database = optuna.storages.RDBStorage(url)
    seen = optuna.load_study(study_name=study.name, storage=database)
    states = [trial.state.name for trial in seen.trials]
    assert states == ["COMPLETE", "PRUNED", "FAIL"]
    assert seen.best_value == -12.5
    assert seen.direction.name == "MAXIMIZE"
    assert tuple(seen.best_params[f"place {place}"] for place in range(1, 6)) == ORDER.names
    attributes = seen.best_trial.user_attrs
    assert (attributes["order"], attributes["error"]) == (str(ORDER), 0.25)
    assert attributes["proposal"]["why"] == "it may be good"
    database.engine.dispose()


def test_a_study_is_made_anew_with_the_same_numbers(study, storage):
    kept = [replace(OVER, number=0), replace(NEW, number=2)]  # the file of 1 was never written
    made = Study(study.folder, f"{study.name} again", storage, DEFAULT_GROUPS)
    assert not made.there
    made.create(kept)
    assert made.trials() == kept
    assert made.add(NEW) == 3
    made.close()


def test_beats_are_heard(study):
    study.add(NEW)
    assert study.last_beat(0) == 0.0
    study.beat(0, 12.5)
    assert study.last_beat(0) == 12.5
    study.end(OVER)
    study.beat(0, 14.0)  # comes too late, and does no harm
    assert study.trials() == [OVER]


def _count(folder, name, storage, path):
    """Read a number, wait, and write it plus one: safe only for one at a time."""
    study = Study(SearchFolder(folder), name, storage, DEFAULT_GROUPS)
    for _ in range(20):
        with study.alone():
            number = int(path.read_text())
            os.sched_yield()
            path.write_text(str(number + 1))
            study.add(NEW)
    study.close()


def test_only_one_process_chooses_at_a_time(study, storage, tmp_path):
    path = tmp_path / "number"
    path.write_text("0")
    spawn = multiprocessing.get_context("spawn")
    arguments = (tmp_path, study.name, storage, path)
    processes = [spawn.Process(target=_count, args=arguments) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert path.read_text() == "40"
    assert [trial.number for trial in study.trials()] == list(range(40))


def test_a_search_in_postgresql_is_the_same_search(tmp_path, postgresql):
    found = search(tmp_path / "one", small(n_workflows=3), storage=postgresql)
    assert outcome(found) == outcome(search(tmp_path / "two", small(n_workflows=3)))
    assert not (tmp_path / "one/study.db").exists()
    more = search(tmp_path / "one", resume=True, n_workflows=4)
    assert len(more.trials) == 4


def test_passwords_are_not_written_down():
    url = "postgresql+psycopg://me:secret@host:5433/name?sslmode=require"
    kept = without_password(url)
    assert kept == "postgresql+psycopg://me@host:5433/name?sslmode=require"
    assert without_password(None) is None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "storage='nonsense' is no URL of a database"),
        ("nosuch://host/name", "needs a driver that is not installed"),
        ("sqlite:////no/such/folder/x.db", "/no/such/folder/x.db cannot be opened"),
        ("postgresql+psycopg://me:secret@127.0.0.1:1/x", "cannot be opened"),
    ],
)
def test_databases_that_cannot_be_used_are_refused_before_there_is_a_run(tmp_path, url, words):
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        search(tmp_path / "run", small(), storage=url)
    assert "secret" not in str(refused.value)
    assert not (tmp_path / "run/config.json").exists()
