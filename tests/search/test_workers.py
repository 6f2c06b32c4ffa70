"""Several workers on one search: shares, take-overs, and deaths."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

from fixfirst.search import loop
from fixfirst.search.folder import Config, SearchFolder
from fixfirst.search.found import Found
from fixfirst.search.history import RUNNING, Proposal, Trial
from fixfirst.search.life import Name
from fixfirst.search.loop import Spectator, Worker
from fixfirst.search.reading import read_run
from fixfirst.search.run import join, search
from fixfirst.search.strategies import make_strategy
from fixfirst.search.study import Study
from fixfirst.workflow.groups import DEFAULT_GROUPS
from fixfirst.workflow.orders import Workflow
from tests.search.small import Listener, outcome, small

PATIENCE = 120.0
ORDER = Workflow("critical-first")
LEFT = Trial(0, ORDER, RUNNING, Proposal(ORDER, "drawn", "random"), cap=48)


def alive(process):
    """Whether a process is there and not just waiting to be buried."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition):
    """Wait for something that must happen."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def opened(tmp_path, settings, *trials):
    """A search that somebody began, and who would work on it now."""
    folder = SearchFolder(tmp_path / "run")
    folder.path.mkdir()
    config = Config("a study", settings.resolved())
    folder.write_config(config)
    study = Study(folder, config.study, None, DEFAULT_GROUPS)
    study.create()
    for trial in trials:
        study.add(trial)
        folder.write_trial(trial)
    return folder, config, study


def worker(folder, config, study, stop=lambda: False):
    strategy = make_strategy("random")
    return Worker(folder, config, study, strategy, Spectator(), stop)


def test_two_workers_share_the_trials_and_the_budget(tmp_path):
    settings = small(workers=2, n_workflows=8, total_episodes=8 * 48 - 8)
    found = search(tmp_path / "run", settings)
    assert found.record.state == "finished"
    assert [trial.number for trial in found.trials] == list(range(8))
    assert all(trial.state != RUNNING for trial in found.trials)
    assert found.record.history.episodes <= settings.total_episodes
    assert len({str(trial.order) for trial in found.trials}) == 8
    workers = list((found.folder / "workers").glob("*.json"))
    assert len(workers) == 2
    told = (found.folder / "workers/worker-2.log").read_text()
    assert told == "" or "compiling" in told


PARENT = """
import sys
from fixfirst.search.run import search
from tests.search.small import small
search(sys.argv[1], small(workers=2, n_workflows=500, total_episodes=500 * 48))
"""


@pytest.fixture
def parent(tmp_path):
    """A search with two workers, in a process of its own; the process, and its child's number."""
    process = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "run")])

    def both():
        names = [sign.worker for sign in SearchFolder(tmp_path / "run").signs()]
        return [Name.read(name).process for name in names]

    until(lambda: len(both()) == 2 or process.poll() is not None)
    (child,) = set(both()) - {process.pid}
    yield process, child
    process.kill()
    process.wait()


def test_workers_die_with_the_process_that_started_them(parent, tmp_path):
    process, child = parent
    assert alive(child)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    until(lambda: not alive(child))
    until(lambda: not SearchFolder(tmp_path / "run").running)
    assert read_run(tmp_path / "run", knowledge=False).state == "stopped"


def test_the_trial_of_a_worker_that_died_is_finished_by_another_and_ctrl_c_stops_all(
    parent, tmp_path
):
    process, child = parent
    folder = SearchFolder(tmp_path / "run")

    def trials():
        return folder.read_trials(DEFAULT_GROUPS)

    def mine():
        return [t for t in trials() if Name.read(t.worker).process == child]

    until(lambda: any(trial.state == RUNNING for trial in mine()))
    os.kill(child, signal.SIGSTOP)  # so that it dies in the middle of something
    left = [trial.number for trial in mine() if trial.state == RUNNING]
    os.kill(child, signal.SIGKILL)
    until(lambda: all(trials()[number].state != RUNNING for number in left))
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    record = read_run(tmp_path / "run", knowledge=False)
    assert record.state == "stopped"
    for trial in record.history.over:
        assert trial.episodes == 48


def test_a_worker_can_join_from_elsewhere(tmp_path):
    listener, helped = Listener(), []

    def lend_a_hand(trial, row):
        if listener.updates == 2:  # another process could as well; a thread is quicker to start
            helper = threading.Thread(target=lambda: helped.append(join(tmp_path / "run")))
            helper.start()
            listener.helper = helper

    listener.on_update = lend_a_hand
    found = search(tmp_path / "run", small(n_workflows=8, total_episodes=400), spectator=listener)
    listener.helper.join()
    assert len(helped[0].trials) == 8
    assert found.record.history.episodes == 8 * 48
    again = Found(read_run(tmp_path / "run"))
    assert {trial.state for trial in again.trials} <= {"passed", "failed"}


def test_a_search_in_use_is_not_resumed_but_can_be_joined(tmp_path):
    def resume(trial, row):
        with pytest.raises(ValueError, match=r"in use by another process.*fixfirst search --join"):
            search(tmp_path / "run", resume=True)

    listener = Listener()
    listener.on_update = resume
    search(tmp_path / "run", small(n_workflows=1), spectator=listener)
    assert listener.updates == 6


def test_a_running_trial_whose_worker_is_gone_is_resumed_from_its_checkpoint(tmp_path):
    listener = Listener()
    listener.on_update = lambda trial, row: (
        listener.updates == 4 and signal.raise_signal(signal.SIGINT)
    )
    search(tmp_path / "run", small(n_workflows=1), spectator=listener)
    again = Listener()
    found = search(tmp_path / "run", resume=True, spectator=again)
    assert again.updates == 2  # of 6: the first four are not played again
    whole = search(tmp_path / "whole", small(n_workflows=1))
    assert outcome(found) == outcome(whole)


def test_a_trial_in_good_hands_is_left_alone(tmp_path):
    mine = Name.of_this_process()
    folder, config, study = opened(tmp_path, small(n_workflows=1), replace(LEFT, worker=str(mine)))
    lock = folder.lock_of_trial(0)
    lock.take()
    assert worker(folder, config, study)._next() is None
    lock.free()
    claim = worker(folder, config, study)._next()
    assert claim.trial.number == 0
    claim.lock.free()
    study.close()


def test_a_worker_on_another_machine_must_have_been_silent_for_long(tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(loop.time, "monotonic", lambda: clock[0])
    far = replace(LEFT, worker="far:1:ab")
    folder, config, study = opened(tmp_path, small(n_workflows=1), far)
    study.beat(0, 5.0)
    mine = worker(folder, config, study)
    assert mine._next() is None
    clock[0] += 50
    assert mine._next() is None
    study.beat(0, 15.0)
    clock[0] += 50
    assert mine._next() is None  # it has spoken since
    clock[0] += 61
    claim = mine._next()
    assert claim.trial.worker == str(mine.name)
    assert study.trials()[0].worker == str(mine.name)
    claim.lock.free()
    study.close()


def test_who_lost_a_trial_to_another_does_not_tell_its_result(tmp_path):
    mine = Name.of_this_process()
    folder, config, study = opened(tmp_path, small(n_workflows=1), replace(LEFT, worker=str(mine)))
    first = worker(folder, config, study)
    claim = first._next()
    study.update(replace(claim.trial, worker="far:1:ab"))
    told = []
    first.spectator.note = told.append
    with loop.Life(folder, study, first.name) as first.life:
        first._work(claim)
    claim.lock.free()
    assert told == ["trial 0 was taken up by far:1:ab"]
    assert study.trials()[0].state == RUNNING
    study.close()


def test_what_others_may_still_leave_is_waited_for(tmp_path):
    mine = replace(LEFT, worker=str(Name.of_this_process()))
    folder, config, study = opened(tmp_path, small(n_workflows=9, total_episodes=50), mine)
    lock = folder.lock_of_trial(0)
    lock.take()
    assert worker(folder, config, study)._next() is None  # 48 of 50 episodes are promised
    lock.free()
    study.end(replace(mine, state="failed", reward=-1.0, error=0.1, episodes=8))
    claim = worker(folder, config, study)._next()
    assert claim.trial.cap == 40
    claim.lock.free()
    study.close()


def test_signs_of_life_tell_what_a_worker_does(tmp_path):
    folder, _, study = opened(tmp_path, small(), LEFT)
    name = Name.of_this_process()
    assert Name.read(str(name)) == name
    with loop.Life(folder, study, name) as life:
        life.doing(LEFT)
        until(lambda: folder.signs()[0].trial == 0)
        assert folder.running
    assert not folder.running
    assert folder.signs()[0].order == str(ORDER)
    assert folder.seconds > 0
    study.close()
