"""Play CybORG and fixfirst side by side with so few process ids and ports that they collide.

Run as a program of its own: both sides must be narrowed before they are loaded, and the
rules must run interpreted (NUMBA_DISABLE_JIT=1), or machine code for other ranges is used.
Prints what happened as JSON.
"""

import argparse
import importlib
import json
import random

from fixfirst.game import facts

# What CybORG raises at quirk 23: a service record names the pid of a red shell that is removed.
CRASH = "AttributeError: 'int' object has no attribute 'user'"


def narrow(pids: int, ports: int) -> None:
    """Let ours draw from these ranges; before anything else of the game is loaded."""
    facts.PID_RANGE = pids
    facts.EPHEMERAL_RANGE = ports


def narrow_cyborg(pids: int, ports: int, happened: dict[str, int]) -> None:
    """The same for CybORG, whose hosts draw both; and count what collisions lead to."""
    host = importlib.import_module("CybORG.Simulator.Host")
    stop = importlib.import_module("CybORG.Shared.Actions.ConcreteActions.StopProcess").StopProcess
    kill = stop.kill_process

    def randrange(first: int, beyond: int | None = None) -> int:
        if beyond is None:
            assert first == 32768
            return random.randrange(pids)
        return random.randrange(first, first + ports)

    def counted_kill(self, state, host, process):
        recorded = [service["process"] for service in host.services.values()]
        if process.decoy_type:
            happened["decoys ended"] += 1
            happened["decoys restarted"] += process.pid in recorded
        kill(self, state, host, process)

    host.randrange = randrange
    stop.kill_process = counted_kill


def collider():
    """A blue that fills the user host where red breaks in with decoys, and ends suspects there."""
    from fixfirst.parity import policies
    from fixfirst.parity.policies import USER_HOSTS, aimed

    class Collide(policies.Policy):
        def __init__(self, rng):
            super().__init__(rng)
            self.host, self.plan = USER_HOSTS[0], []

        def choose(self, seen):
            broken = [host for host in USER_HOSTS if seen[host, 3]]
            if broken:
                self.host = self.one_of(broken)
            if not self.plan:
                self.plan = [policies.SLEEP] * int(self.rng.integers(3))
                self.plan += [aimed(policies.REMOVE, self.host)] * int(self.rng.integers(1, 4))
                for _ in range(self.rng.integers(2, 9)):
                    kind = policies.STACKED if self.rng.random() < 0.4 else None
                    kind = kind or self.one_of(policies.DECOY_KINDS)
                    self.plan.append(aimed(kind, self.host))
                if self.rng.random() < 0.7:
                    self.plan.append(aimed(policies.RESTORE, self.host))
            return self.plan.pop()

    return Collide


def main() -> None:
    """Play, and print what happened."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--pids", type=int, required=True)
    parser.add_argument("--ports", type=int, required=True)
    parser.add_argument("--reds", nargs="+", required=True)
    parser.add_argument("--policies", nargs="+", required=True)
    parser.add_argument("--episodes", type=int, required=True)
    parser.add_argument("--horizon", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    narrow(chosen.pids, chosen.ports)

    from fixfirst.envs.cyborg import CyborgGame, load
    from fixfirst.parity import live
    from fixfirst.parity.policies import POLICIES, make_policy

    POLICIES["collide"] = collider()
    happened = {"steps": 0, "equal": 0, "crashes": 0, "decoys ended": 0, "decoys restarted": 0}
    load(chosen.folder)
    narrow_cyborg(chosen.pids, chosen.ports, happened)
    differences = []
    for red in chosen.reds:
        match = live.Match(CyborgGame(chosen.folder, red), chosen.horizon)
        for policy in chosen.policies:
            for seed in range(chosen.seed, chosen.seed + chosen.episodes):
                blue = make_policy(policy, seed)
                equal, difference = live.play_episode(match, blue, seed, chosen.horizon, _nothing)
                crashed = difference is not None and difference.cyborg.endswith(CRASH)
                happened["equal"] += equal
                happened["steps"] += equal + (difference is not None and not crashed)
                happened["crashes"] += crashed
                if difference is not None and not crashed:
                    differences.append(f"{red} {policy} seed {seed}: {difference}")
    print(json.dumps({**happened, "differences": differences}))


def _nothing() -> None:
    pass


if __name__ == "__main__":
    main()
