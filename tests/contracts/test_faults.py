"""Envs that raise, workers that die, hang or are killed: who is told what, and what is left."""

import gc
import os
import signal
import threading
import time
from collections import Counter

import numpy as np
import pytest

import fixfirst
from fixfirst.envs import seeding
from fixfirst.envs.contract import EnvError
from fixfirst.envs.synthetic import Awkward
from tests.contracts.conftest import LOCAL_PROCESSES
from tests.contracts.faults import Program, gone, open_files, shared_memory
from tests.contracts.oracle import same

WAYS = {
    "raise": "RuntimeError: told to fail at step 3",
    "die": r"was killed by signal 9 \(SIGKILL\)",
    "hang": r"no answer in 1.5 seconds \(timeout=\)",
}


@pytest.fixture(params=LOCAL_PROCESSES)
def processes(request):
    """A backend with worker processes on this machine."""
    return request.param


def failing(way, **more):
    """Three envs of which the second fails in step 3 of its second episode."""
    fine = Awkward(length=5, **more)
    return [fine, Awkward(length=5, fail_at=3, fail_episode=2, failure=way, **more), fine]


def play(env, steps):
    return [env.step([t % 5] * env.num_envs) for t in range(steps)]


@pytest.mark.parametrize("way", WAYS)
def test_an_error_names_env_seed_episode_and_step(processes, way):
    env = fixfirst.make_vec(
        3, backend=processes, env=failing(way), autoreset="same_step", timeout=1.5
    )
    env.reset(seed=40)
    workers = env.worker_pids
    with pytest.raises(EnvError, match=WAYS[way]) as caught:
        play(env, 10)
    error = caught.value
    assert (error.env, error.seed, error.episode, error.step) == (1, 41, 2, 3)
    assert str(error).startswith("env 1 (seed 41) failed in step 3 of its episode 2: ")
    assert ("in _fail" in error.trace) == (way == "raise")
    assert env.closed
    assert gone(workers)


def test_an_error_in_this_process_names_them_too():
    env = fixfirst.make_vec(3, backend="serial", env=failing("raise"), autoreset="same_step")
    env.reset(seed=40)
    with pytest.raises(EnvError, match="told to fail") as caught:
        play(env, 10)
    error = caught.value
    assert (error.env, error.seed, error.episode, error.step) == (1, 41, 2, 3)
    assert env.closed


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
def test_an_env_that_raises_is_restarted_and_the_run_goes_on(make, autoreset):
    env = make(3, env=failing("raise"), autoreset=autoreset, on_failure="restart")
    fine = make(3, env=Awkward(length=5), autoreset=autoreset)
    check_restart(env, fine, autoreset, "told to fail at step 3")


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("way", ["die", "hang"])
def test_a_worker_that_is_lost_is_restarted_and_the_run_goes_on(processes, way, autoreset):
    options = {"backend": processes, "autoreset": autoreset, "timeout": 1.5}
    if processes in ("shared", "async"):
        options["workers"] = 3  # the others are to play on undisturbed
    env = fixfirst.make_vec(3, env=failing(way), on_failure="restart", **options)
    fine = fixfirst.make_vec(3, env=Awkward(length=5), **options)
    check_restart(env, fine, autoreset, "signal 9" if way == "die" else "no answer in 1.5")
    env.close()
    fine.close()


def check_restart(env, fine, autoreset, says):
    """Env 1 fails in step 3 of its second episode; all else is as among envs that are fine."""
    env.reset(seed=7)
    fine.reset(seed=7)
    failed_at = 8 if autoreset == "next_step" else 7
    for t in range(failed_at + 1):
        mine, theirs = env.step([1] * 3), fine.step([1] * 3)
        if t < failed_at:
            assert same(mine[:4], theirs[:4])
            last = mine[0][1].copy()
        else:
            assert same(mine[0][[0, 2]], theirs[0][[0, 2]])
            break
        if autoreset == "disabled" and mine[3].any():
            env.reset(options={"reset_mask": mine[3]})
            fine.reset(options={"reset_mask": mine[3]})
    observations, rewards, terminated, truncated, infos = mine
    assert (rewards[1], terminated[1], truncated[1]) == (0.0, False, True)
    assert says in infos["failure"][1]
    assert "env 1 (seed 8) failed in step 3 of its episode 2" in infos["failure"][1]
    assert infos["_failure"].tolist() == [False, True, False]
    expected = Awkward()().reset(seed=seeding.after_restart(8, 1))[0]
    if autoreset == "same_step":
        assert same(infos["final_obs"][1], last)
        assert same(observations[1], expected)
    else:
        assert same(observations[1], last)
        if autoreset == "disabled":
            observations, _ = env.reset(options={"reset_mask": np.array([False, True, False])})
        else:
            observations, *_ = env.step([1] * 3)
        assert same(observations[1], expected)
    assert env.episodes[1] == 3
    env.step([1] * 3)


def test_all_envs_of_a_lost_worker_are_restarted():
    env = fixfirst.make_vec(
        3, backend="shared", workers=1, env=failing("die"), on_failure="restart", seed=7
    )
    env.reset()
    results = play(env, 9)
    assert not any(infos for *_, infos in results[:-1])
    assert results[-1][3].all()
    assert all("its worker process was killed" in text for text in results[-1][4]["failure"])
    play(env, 3)
    env.close()


def test_async_goes_on_with_what_was_sent_and_tells_the_others_when_they_are_sent():
    env = fixfirst.make_vec(
        3, backend="async", workers=1, env=failing("die"), on_failure="restart", seed=7,
        autoreset="same_step",
    )  # fmt: skip
    env.reset()
    play(env, 7)
    env.send([0, 0], [0, 1])
    got = env.recv(2)
    assert sorted(got.ids) == [0, 1]
    lost = got.truncated[got.ids == 1]
    assert lost.all()
    env.send([0], [2])
    got = env.recv()
    assert got.truncated.tolist() == [True]
    assert "killed by signal 9" in got.infos["failure"][0]
    env.step([0] * 3)
    env.close()


@pytest.mark.parametrize("way", ["raise", "die"])
def test_an_env_that_always_fails_is_given_up(processes, way):
    env = fixfirst.make_vec(
        2, backend=processes, env=[Awkward(), Awkward(fail_at=1, failure=way)],
        on_failure="restart", autoreset="same_step", seed=3,
    )  # fmt: skip
    env.reset()
    with pytest.raises(EnvError, match="env 1") as caught:
        play(env, 6)
    assert caught.value.step == 1
    assert env.closed


def test_losses_with_steps_in_between_are_not_in_a_row(processes):
    """It is lost in each first step of a second episode, and plays the whole first one before."""
    fails = Awkward(length=2, fail_at=1, fail_episode=2, failure="die")
    env = fixfirst.make_vec(
        2, backend=processes, env=[Awkward(), fails], on_failure="restart", autoreset="same_step"
    )
    env.reset(seed=0)
    failures = ["failure" in infos and infos["_failure"][1] for *_, infos in play(env, 12)]
    assert failures == [False, False, True] * 4
    env.close()


@pytest.mark.parametrize("dies_at", ["place", "after"])
def test_a_worker_that_dies_while_it_takes_a_place_is_an_error_of_its_env(processes, dies_at):
    env = fixfirst.make_vec(
        3, backend=processes, env=failing("die"), on_failure="restart", autoreset="same_step"
    )
    env.reset(seed=40)
    tell = env.crowd.tell

    def deadly(number, message):
        if message[0] in (("share", "settle") if dies_at == "place" else ("after",)):
            kill(env, number)
        tell(number, message)

    env.crowd.tell = deadly
    with pytest.raises(EnvError, match="signal 9"):
        play(env, 10)
    assert env.closed


def test_a_worker_that_dies_before_it_is_given_memory_is_an_error_of_its_env():
    env = fixfirst.make_vec(3, backend="shared", env=failing("die"), on_failure="restart")
    env.reset(seed=40)
    pass_memory = env.crowd.pass_memory

    def deadly(number, fd):
        kill(env, number)
        pass_memory(number, fd)

    env.crowd.pass_memory = deadly
    with pytest.raises(EnvError, match="signal 9"):
        play(env, 10)


def kill(env, number):
    process = env.crowd.workers[number].process
    process.kill()
    process.join()


@pytest.mark.parametrize("given", [{"seed": 3}, {}])
def test_episodes_are_counted_once_though_a_worker_was_lost_in_a_reset(processes, tmp_path, given):
    together = {"workers": 1} if processes in ("shared", "async") else {}
    env = fixfirst.make_vec(
        3, backend=processes, env=[Awkward(), Awkward(), DiesInReset(tmp_path / "died")],
        on_failure="restart", **together,
    )  # fmt: skip
    _, infos = env.reset(**given)
    assert "killed by signal 9" in infos["failure"][2]
    assert env.episodes.tolist() == [1, 1, 1]
    assert env.steps.tolist() == [0, 0, 0]
    env.close()


class DiesInReset:
    """Makes envs of which the first takes its process along in its first reset."""

    def __init__(self, path):
        self.path = path

    def __call__(self):
        env = Awkward()()
        begin = env.reset

        def reset(**given):
            if not self.path.exists():
                self.path.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return begin(**given)

        env.reset = reset
        return env


def test_an_env_that_hangs_is_noticed_in_time_though_its_making_took_long(processes):
    env = fixfirst.make_vec(1, backend=processes, env=slow_to_make, timeout=0.4)
    env.reset(seed=0)
    began = time.monotonic()
    with pytest.raises(EnvError, match=r"no answer in 0.4 seconds"):
        env.step([0])
    assert time.monotonic() - began < 10


def slow_to_make():
    time.sleep(0.8)
    return Awkward(fail_at=1, failure="hang")()


def test_a_worker_that_is_killed_while_it_waits_is_noticed_in_the_next_step(processes):
    env = fixfirst.make_vec(2, backend=processes, env=Awkward(), seed=0)
    env.reset()
    os.kill(env.worker_pids[0], signal.SIGKILL)
    with pytest.raises(EnvError, match=r"env 0 \(seed 0\).*killed by signal 9"):
        play(env, 3)
    assert env.closed


def test_a_worker_that_is_killed_between_is_replaced_by_a_reset(processes):
    env = fixfirst.make_vec(2, backend=processes, env=Awkward(), on_failure="restart")
    env.reset(seed=0)
    os.kill(env.worker_pids[-1], signal.SIGKILL)
    _, infos = env.reset(seed=5)
    assert "killed by signal 9" in infos["failure"][1]
    play(env, 3)
    env.close()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_what_cannot_be_sent_to_a_worker_is_refused_and_can_be_inherited(processes):
    lock = threading.Lock()

    def factory():
        assert not lock.locked()
        return Awkward()()

    with pytest.raises(ValueError, match=r"cannot be sent to worker processes: .*lock"):
        fixfirst.make_vec(2, backend=processes, env=factory)
    env = fixfirst.make_vec(2, backend=processes, env=factory, start_method="fork")
    env.reset(seed=0)
    play(env, 3)
    env.close()


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_every_way_to_start_processes_works(processes, method):
    env = fixfirst.make_vec(2, backend=processes, env=Awkward(), start_method=method, seed=1)
    twin = fixfirst.make_vec(2, backend="serial", env=Awkward(), seed=1)
    assert same(env.reset()[0], twin.reset()[0])
    assert all(same(*pair) for pair in zip(play(env, 5), play(twin, 5), strict=True))
    workers = env.worker_pids
    env.close()
    assert gone(workers)
    with pytest.raises(ValueError, match="start_method='clone'"):
        fixfirst.make_vec(2, backend=processes, env=Awkward(), start_method="clone")


def test_nothing_is_left_after_close_nor_after_being_forgotten(processes):
    fixfirst.make_vec(2, backend=processes, env=Awkward()).close()  # starts Python's helpers
    gc.collect()
    files, names = Counter(open_files()), shared_memory()
    env = fixfirst.make_vec(2, backend=processes, env=Awkward(), seed=0)
    env.reset()
    workers = env.worker_pids
    env.close()
    assert gone(workers, seconds=0)
    env = fixfirst.make_vec(2, backend=processes, env=Awkward(), seed=0)
    workers = env.worker_pids
    del env
    gc.collect()
    assert gone(workers)
    assert not Counter(open_files()) - files
    assert shared_memory() == names


@pytest.mark.parametrize("how", ["busy", "asleep"])
def test_nothing_is_left_after_ctrl_c(processes, tmp_path, how):
    names = shared_memory()
    program = Program(tmp_path, processes, how)
    program.interrupt()
    told = program.end()
    assert told.rstrip().endswith("KeyboardInterrupt")
    assert told.count("Traceback") == 1, "workers have nothing to say about Ctrl-C"
    assert gone(program.workers)
    assert shared_memory() == names


@pytest.mark.parametrize("how", ["busy", "asleep"])
def test_nothing_is_left_after_the_program_was_killed(processes, tmp_path, how):
    names = shared_memory()
    program = Program(tmp_path, processes, how)
    program.kill()
    assert gone(program.workers)
    program.end()
    assert shared_memory() == names


def test_nothing_is_left_after_an_error_of_the_caller(processes, tmp_path):
    program = Program(tmp_path, processes, "raise")
    assert "of the caller's own" in program.end()
    assert gone(program.workers)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_of_the_caller_leaves_the_workers_alone():
    env = fixfirst.make_vec(2, backend="shared", env=Awkward(), seed=0)
    env.reset()
    child = os.fork()
    if child == 0:
        try:
            env.step([0, 0])
        except RuntimeError as problem:
            os._exit(7 if "this is a fork" in str(problem) else 8)
        os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    play(env, 3)
    env.close()
