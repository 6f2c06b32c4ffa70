"""Record what CybORG's own `evaluation.py` prints, for `official_games.npz` beside this file.

    python tests/judge/record_official.py FILE RULES CYBORG_DIR [RULES CYBORG_DIR ...] [--episodes N]

CYBORG_DIR is the folder that holds the Python package `CybORG`; one process plays one
version, so the versions are played in child processes. Needs NumPy and what CybORG needs.

The script itself is run, after `random.seed(153)`. It is told how many episodes to play,
its agent is replaced, and its results are taken where it hands them to `statistics.mean`.
CybORG's React agents look at raw reports, for which the script has lines commented out; for
them those lines are put in force.
"""

import argparse
import builtins
import contextlib
import importlib
import inspect
import io
import random
import statistics
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from unittest import mock

import numpy as np

SEED = 153
CELLS = 9
REACTS = {"react-remove": "BlueReactRemoveAgent", "react-restore": "BlueReactRestoreAgent"}
MODULE = "CybORG.Agents.SimpleAgents.BlueLoadAgent"

# The script's lines, and those for agents that look at raw reports.
RAW = (
    ("wrapped_cyborg.reset()", "cyborg.reset('Blue').observation"),
    ("wrapped_cyborg.get_action_space(agent_name)", "cyborg.get_action_space(agent_name)"),
    (
        "observation, rew, done, info = wrapped_cyborg.step(action)",
        "result = cyborg.step('Blue', action); observation, rew = result.observation, result.reward",
    ),
)


def jumble(observation, step):
    """Actions [N] that follow from the bits [N, 52] and the step in no simple way."""
    weights = (np.arange(observation.shape[1]) + 3) ** 3 % 1009
    return (observation.astype(np.int64) @ weights + 61 * np.asarray(step) ** 2) % 145


class Agent:
    """An agent as the script wants it, of a function of the bits and the step."""

    def __init__(self, function):
        self._function = function
        self._step = 0

    def get_action(self, observation, action_space):
        action = int(self._function(np.asarray(observation)[None], [self._step])[0])
        self._step += 1
        return action

    def end_episode(self):
        self._step = 0


def agents():
    """What makes each agent, by the name that it has here."""
    module = importlib.import_module("CybORG.Agents.SimpleAgents.BlueReactAgent")
    made = {name: getattr(module, cls) for name, cls in REACTS.items()}
    made["sleep"] = lambda: Agent(lambda observation, step: [0])
    made["jumble"] = lambda: Agent(jumble)
    return made


def run(folder, name, make, episodes):
    """Run the script; the returns of each episode in tenths [9, episodes]."""
    path = Path(folder) / "CybORG" / "Evaluation" / "evaluation.py"
    source = path.read_text()
    assert source.count("MAX_EPS = 100") == 1
    source = source.replace("MAX_EPS = 100", f"MAX_EPS = {episodes}")
    for line, raw in RAW if name in REACTS else ():
        assert line in source
        source = source.replace(line, raw)
    module = sys.modules[MODULE] = types.ModuleType(MODULE)  # the real one needs a trained agent
    module.BlueLoadAgent = make
    cells = []
    patches = (
        (statistics, "mean", lambda values: cells.append(list(values)) or _mean(values)),
        (subprocess, "check_output", lambda *_, **__: b""),
        (inspect, "getsource", lambda _: "\n return as the challenge does"),
        (builtins, "input", lambda *_: ""),
        (builtins, "open", _open_all_but_results),
        (sys, "stdout", io.StringIO()),
    )
    random.seed(SEED)
    with contextlib.ExitStack() as stack:
        for owner, what, stand_in in patches:
            stack.enter_context(mock.patch.object(owner, what, stand_in))
        exec(compile(source, str(path), "exec"), {"__name__": "__main__"})
    assert len(cells) == 2 * CELLS  # printed, then written
    return np.rint(10 * np.array(cells[::2])).astype(np.int32)


_mean, _open = statistics.mean, builtins.open


def _open_all_but_results(file, mode="r", *rest, **options):
    """`open`, but what is appended to (the script's file of results) goes nowhere."""
    return io.StringIO() if mode.startswith("a") else _open(file, mode, *rest, **options)


def record(folder, episodes):
    """Run the script for each agent; the arrays of `official_games.npz`."""
    sys.path.insert(0, folder)
    return {name: run(folder, name, make, episodes) for name, make in agents().items()}


def main():
    """Record both versions, each in a process of its own, and write one file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("versions", nargs="+", metavar="RULES CYBORG_DIR")
    parser.add_argument("--episodes", type=int, default=8)
    asked = parser.parse_args()
    if asked.versions[0] == "-":  # a child: one version
        np.savez(asked.file, **record(asked.versions[1], asked.episodes))
        return
    joined = {}
    with tempfile.TemporaryDirectory() as folder:
        for rules, version in zip(asked.versions[::2], asked.versions[1::2], strict=True):
            part = str(Path(folder) / f"{rules}.npz")
            child = [sys.executable, __file__, part, "-", version]
            subprocess.run([*child, "--episodes", str(asked.episodes)], check=True)
            with np.load(part) as arrays:
                joined |= {f"{rules} {name}": arrays[name] for name in arrays}
    np.savez_compressed(asked.file, **joined)
    print(f"{len(joined)} runs of {CELLS} x {asked.episodes} episodes in {asked.file}")


if __name__ == "__main__":
    main()
