"""What the fork server has loaded, its workers need not load."""

import functools
import json
import subprocess
import sys

import pytest

from fixfirst.envs import fork_server
from fixfirst.envs.single import Cage2Env
from fixfirst.envs.synthetic import Awkward

SCRIPT = """
import functools, gc, sys
import fixfirst
from fixfirst.envs.synthetic import Awkward, SyntheticEnv

class Own(SyntheticEnv):
    def loaded(self, name):
        return name in sys.modules, gc.get_freeze_count() > 10_000

class Game(fixfirst.Cage2Env):
    loaded = Own.loaded

if __name__ == "__main__":
    env = {make}
    with_it = fixfirst.make_vec(2, backend="pipe", env=env)
    print(with_it.call("loaded", "fixfirst.envs.load_game"))
    with_it.close()
"""


def test_the_modules_of_a_factory_are_those_of_all_that_it_is_made_of():
    inner = functools.partial(Awkward(), "x")
    found = fork_server.modules_of(
        [functools.partial(functools.partial(json.dumps, inner), key=Cage2Env)]
    )
    assert found == [
        "__main__", "fixfirst.envs.crowd", "fixfirst.envs.single",
        "fixfirst.envs.synthetic", "json", "fixfirst.envs.load_game", "fixfirst.envs.load_end",
    ]  # fmt: skip


def test_each_module_is_named_once_and_the_users_script_comes_first():
    class Local(Cage2Env):
        pass

    Local.__module__ = "__main__"
    found = fork_server.modules_of([Local, Local, Cage2Env])
    assert found[0] == "__main__"
    assert len(found) == len(set(found))
    assert found[-2:] == ["fixfirst.envs.load_game", "fixfirst.envs.load_end"]


@pytest.mark.skipif(sys.platform != "linux", reason="the fork server needs what Linux has")
@pytest.mark.parametrize(
    ("make", "has_game"), [("Own", False), ("Game", True), ("functools.partial(Game)", True)]
)
def test_workers_begin_with_what_the_fork_server_loaded(tmp_path, make, has_game):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("{make}", make))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == str(((has_game, True),) * 2)
