"""The examples run, and are short."""

import importlib.util
import os
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
CYBORG = os.environ.get("FIXFIRST_CYBORG")


def needs(module, extra):
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(missing, reason=f"the extra `{extra}` is not installed")


TINY = [
    pytest.param(
        "sb3_ppo.py", ["--steps", "160", "--games", "8", "--horizon", "10"], "compliance",
        marks=needs("stable_baselines3", "sb3"),
    ),
    pytest.param(
        "rllib_ppo.py", ["--iterations", "1", "--games", "8", "--horizon", "10"], "iteration 1",
        marks=needs("ray", "ray"),
    ),
    pytest.param("async_loop.py", ["--envs", "4", "--steps", "40"], "with a barrier"),
    pytest.param(
        "cyborg_backend.py", [CYBORG or "", "--envs", "2", "--steps", "4", "--horizon", "3"],
        "8 steps, 2 episodes",
        marks=[
            pytest.mark.cyborg,
            pytest.mark.skipif(CYBORG is None, reason="FIXFIRST_CYBORG names no folder"),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "told"), TINY)
def test_it_runs(name, arguments, told, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert told in capsys.readouterr().out


def test_every_example_is_run_here_and_has_fewer_than_sixty_lines():
    there = {path.name: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert set(there) == {one.values[0] for one in TINY}
    assert max(there.values()) < 60
