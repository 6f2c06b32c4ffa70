"""The native batch beside threads and forks of the caller's."""

import importlib.util
import subprocess
import sys
import threading

import numpy as np

import fixfirst


def total(env, steps=40):
    env.reset(seed=0)
    plan = np.random.default_rng(0).integers(0, 145, (steps, env.num_envs))
    return sum(env.step(actions)[1].sum() for actions in plan)


def test_environments_may_be_stepped_from_several_threads_at_once():
    expected = total(fixfirst.make_vec(600, threads=2))
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(total(fixfirst.make_vec(600, threads=2))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


FORK = """
import os, warnings
warnings.simplefilter("ignore")
import numpy as np
import fixfirst
env = fixfirst.make_vec(600, threads=2, seed=0)
env.reset()
actions = np.full(600, 5)
env.step(actions)
kept = env.save()
expected = [env.step(actions)[1].sum() for _ in range(30)]
child = os.fork()
env.load(kept)
same = [env.step(actions)[1].sum() for _ in range(30)] == expected
if child == 0:
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
print(same, os.waitstatus_to_exitcode(status))
"""


def test_a_forked_child_goes_on_playing():
    """The threads of some of Numba's layers abort a child that touches them."""
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.strip() == "True 0", done.stderr


def test_import_is_light():
    """Numba, rich and the command line are loaded when they are needed."""
    program = (
        "import sys, fixfirst; print([m for m in ('numba', 'rich', 'typer') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_needs_an_extra_that_is_missing_says_how_to_get_it():
    program = "import sys; sys.modules['torch'] = None; import fixfirst; fixfirst.Policy"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "fixfirst.Policy needs torch; install it with: pip install 'fixfirst[learn]'" in (
        done.stderr
    )


def test_everything_public_can_be_had():
    learning = importlib.util.find_spec("torch") is not None
    for name in fixfirst.__all__:
        if learning or not fixfirst._PUBLIC.get(name, "").startswith("fixfirst.learn"):
            assert getattr(fixfirst, name) is not None
    assert set(fixfirst.__all__) == {*fixfirst._PUBLIC, "search"}  # a room that can be called
    assert set(fixfirst.__all__) <= set(dir(fixfirst))
