"""Searches that take a second: what the tests of the search share."""

from dataclasses import replace

from fixfirst.search.history import PASSED
from fixfirst.search.loop import Spectator
from fixfirst.search.settings import Settings

# Drawn actions make some fixes in ten steps, and any compliance will do: most trials pass.
SMALL = Settings(
    max_steps=10, n_envs=8, total_episodes=240, n_workflows=5, max_episodes=48,
    evaluation_episodes=20, threads=1,
    compliance_threshold=0.0, stop_at_gate=False, score="training", strategy="random",
    ppo={"hidden": [8], "minibatch": 40, "epochs": 1},
)  # fmt: skip


def small(**changes):
    """Small settings, some of them otherwise."""
    return replace(SMALL, **changes)


def outcome(found):
    """All that two searches with the same seed have in common."""
    return [
        (
            trial.number, str(trial.order), trial.state, trial.reward, trial.error,
            trial.compliance, trial.fixes, trial.episodes, trial.why, trial.started_from,
            trial.cap, trial.judged, trial.proposal,
        )
        for trial in found.trials
    ]  # fmt: skip


class Listener(Spectator):
    """Remembers what it was told."""

    def __init__(self):
        self.orders, self.rewards, self.notes, self.updates = [], [], [], 0
        self.on_update = lambda trial, row: None

    def began(self, trial, history):
        self.orders.append(str(trial.order))

    def updated(self, trial, row):
        self.updates += 1
        self.on_update(trial, row)

    def ended(self, trial, history):
        assert history.trials[trial.number] == trial
        self.rewards.append(trial.reward)

    def note(self, text):
        self.notes.append(text)


def passed(found):
    """How many trials passed the gate."""
    return sum(trial.state == PASSED for trial in found.trials)
