"""Record games of CybORG's own React agents, for `react_games.npz` beside this file.

    python tests/judge/record_react.py FILE RULES CYBORG_DIR [RULES CYBORG_DIR ...] [--episodes N]

CYBORG_DIR is the folder that holds the Python package `CybORG`; one process plays one
version, so the versions are played in child processes. Needs NumPy and what CybORG needs.
"""

import argparse
import importlib
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REDS = {"bline": "B_lineAgent", "meander": "RedMeanderAgent", "sleep": "SleepAgent"}
BLUES = {"react-remove": "BlueReactRemoveAgent", "react-restore": "BlueReactRestoreAgent"}
MONITOR, FIRST_OF = 1, {"Remove": 15, "Restore": 132}
STEPS = 100


def record(folder, episodes):
    """Play `episodes` games of each pair of agents; the arrays of `react_games.npz`."""
    sys.path.insert(0, folder)
    cyborg = importlib.import_module("CybORG")
    reds = importlib.import_module("CybORG.Agents")
    blues = importlib.import_module("CybORG.Agents.SimpleAgents.BlueReactAgent")
    scenario = Path(cyborg.__file__).parent / "Shared" / "Scenarios" / "Scenario2.yaml"
    games = []
    for red, red_class in REDS.items():
        env = cyborg.CybORG(str(scenario), "sim", agents={"Red": getattr(reds, red_class)})
        for blue, blue_class in BLUES.items():
            for seed in range(episodes):
                agent = getattr(blues, blue_class)()
                games.append((red, blue, seed, *play(env, agent, seed)))
    red, blue, seed, action, tenths = zip(*games, strict=True)
    return {
        "red": np.array(red),
        "blue": np.array(blue),
        "seed": np.array(seed, dtype=np.int32),
        "action": np.array(action, dtype=np.uint8),
        "tenths": np.array(tenths, dtype=np.int16),
    }


def play(env, agent, seed):
    """One episode: blue's action numbers, and the rewards in tenths."""
    random.seed(seed)
    observation = env.reset("Blue").observation
    hosts = sorted(env.environment_controller.state.hosts)
    actions, tenths = [], []
    for _ in range(STEPS):
        action = agent.get_action(observation, env.get_action_space("Blue"))
        result = env.step("Blue", action)
        observation = result.observation
        kind = type(action).__name__
        actions.append(
            MONITOR if kind == "Monitor" else FIRST_OF[kind] + hosts.index(action.hostname)
        )
        tenths.append(round(10 * result.reward))
    return actions, tenths


def main():
    """Record both versions, each in a process of its own, and write one file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("versions", nargs="+", metavar="RULES CYBORG_DIR")
    parser.add_argument("--episodes", type=int, default=10)
    asked = parser.parse_args()
    if asked.versions[0] == "-":  # a child: one version
        np.savez(asked.file, **record(asked.versions[1], asked.episodes))
        return
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for rules, version in zip(asked.versions[::2], asked.versions[1::2], strict=True):
            part = str(Path(folder) / f"{rules}.npz")
            child = [sys.executable, __file__, part, "-", version]
            subprocess.run([*child, "--episodes", str(asked.episodes)], check=True)
            with np.load(part) as arrays:
                games = {key: arrays[key] for key in arrays}
            games["rules"] = np.full(len(games["seed"]), rules)
            parts.append(games)
    joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    np.savez_compressed(asked.file, **joined)
    print(f"{len(joined['seed'])} games in {asked.file}")


if __name__ == "__main__":
    main()
