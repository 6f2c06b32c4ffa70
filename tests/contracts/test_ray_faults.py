"""Ray's actors come to grief: the same errors and restarts, and nothing is left of a Ray of ours."""

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra `ray` is not installed")

import fixfirst
from fixfirst.envs import ray_start
from fixfirst.envs.contract import EnvError
from fixfirst.envs.synthetic import Awkward
from tests.contracts.faults import Program, gone
from tests.contracts.test_faults import check_restart, failing, play
from tests.envs.test_ray_start import family

WAYS = {
    "raise": "RuntimeError: told to fail at step 3",
    "die": "its Ray actor died: .*",
    "hang": r"no answer in 1.5 seconds \(timeout=\); its Ray actor was killed",
}


def folder_of(processes):
    """Where the Ray of a program keeps its files, as the process beside it was told."""
    told = (Path(f"/proc/{one}/cmdline").read_bytes().decode().split("\0") for one in processes)
    (folder,) = (words[3] for words in told if words[2:] and words[2].endswith("ray_end.py"))
    return Path(folder)


@pytest.mark.usefixtures("ray_running")
@pytest.mark.parametrize("way", WAYS)
def test_an_error_names_env_seed_episode_and_step(way):
    env = fixfirst.make_vec(
        3, backend="ray", env=failing(way), autoreset="same_step", timeout=1.5, workers=3
    )
    env.reset(seed=40)
    with pytest.raises(EnvError, match=WAYS[way]) as caught:
        play(env, 10)
    error = caught.value
    assert (error.env, error.seed, error.episode, error.step) == (1, 41, 2, 3)
    assert ("in _fail" in error.trace) == (way == "raise")
    assert env.closed


@pytest.mark.usefixtures("ray_running")
@pytest.mark.parametrize(("way", "says"), [("die", "actor died"), ("hang", "no answer in 1.5")])
def test_an_actor_that_is_lost_is_replaced_and_the_run_goes_on(way, says):
    options = {"backend": "ray", "autoreset": "same_step", "timeout": 1.5, "workers": 3}
    env = fixfirst.make_vec(3, env=failing(way), on_failure="restart", **options)
    fine = fixfirst.make_vec(3, env=Awkward(length=5), **options)
    check_restart(env, fine, "same_step", says)
    env.close()
    fine.close()


@pytest.mark.usefixtures("ray_running")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_that_closes_its_copy_leaves_ray_running(monkeypatch):
    env = fixfirst.make_vec(2, backend="ray", env=Awkward(), seed=0)
    env.reset()
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(ray_start, "stop", lambda: os._exit(8))
        env.close()
        os._exit(7)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    play(env, 3)
    env.close()


def test_nothing_is_left_of_ray_after_the_program_was_killed(tmp_path):
    program = Program(tmp_path, "ray", "asleep")
    mine = set(family(program.process.pid))
    folder = folder_of(mine)
    assert len(mine) > 3
    assert folder.exists()
    program.kill()
    program.end()
    assert gone(mine - {program.process.pid})
    assert not folder.exists()


def test_ctrl_c_leaves_nothing_of_ray(tmp_path):
    program = Program(tmp_path, "ray", "busy")
    mine = set(family(program.process.pid))
    folder = folder_of(mine)
    os.kill(program.process.pid, signal.SIGINT)
    assert "KeyboardInterrupt" in program.end()
    assert gone(mine - {program.process.pid})
    assert not folder.exists()
