"""Successive halving: many orders get a short training, the best of them a longer one.

It is the asynchronous kind (Li et al. 2020), which never waits: an order is promoted as soon as
it is among the best third of those that have ended its rung, and while none is, a new order
begins at the bottom. So any number of workers are busy, and a killed search goes on from its
trials alone: the rung of a trial is the number of trials that it goes on with.
"""

from dataclasses import dataclass

import numpy as np

from fixfirst.search.history import PASSED, RUNNING, History, Proposal, Trial
from fixfirst.search.simple import drawn

SHARE = 3  # one in three is promoted, to a training three times as long in all
RUNGS = 4  # the first is 1/27 of the longest training
LEAST_EPISODES = 1


@dataclass(frozen=True)
class SuccessiveHalving:
    """The strategy `successive-halving`."""

    max_episodes: int
    name: str = "successive-halving"

    def __post_init__(self) -> None:
        if self.max_episodes < 1:
            raise ValueError(
                f"max_episodes={self.max_episodes} is no training; it is 1 episode or more"
            )

    def propose(self, history: History, count: int, seed: int) -> list[Proposal]:
        """Promotions first, the highest rung before the others, then new orders."""
        waiting = self._promotions(history)
        taken = {trial.order for trial in history.trials}
        proposals = waiting[:count]
        for more in range(len(proposals), count):
            random = np.random.default_rng([seed, len(history.trials) + more])
            order = drawn(random, history.groups, taken)
            taken.add(order)
            episodes = self._episodes(0)
            why = f"drawn for the first rung, {episodes:,} episodes"
            proposals.append(Proposal(order, why, self.name, episodes=episodes))
        return proposals

    def _promotions(self, history: History) -> list[Proposal]:
        """What is to be trained on now."""
        rungs = rungs_of(history)
        promoted = {trial.proposal.continues for trial in history.trials}
        found = []
        for rung in reversed(range(RUNGS - 1)):
            ended = [t for t in history.trials if t.state != RUNNING and rungs[t.number] == rung]
            best = sorted(ended, key=_merit, reverse=True)[: len(ended) // SHARE]
            for trial in best:
                if trial.number in promoted:
                    continue
                episodes = self._episodes(rung + 1)
                why = (
                    f"among the best {len(best)} of {len(ended)} in rung {rung + 1}: "
                    f"{episodes:,} episodes more"
                )
                found.append(
                    Proposal(trial.order, why, self.name, episodes=episodes, continues=trial.number)
                )
        return found

    def _episodes(self, rung: int) -> int:
        """What a training of this rung adds to the one that it goes on with."""
        until = self._until(rung) - (self._until(rung - 1) if rung else 0)
        return max(LEAST_EPISODES, until)

    def _until(self, rung: int) -> int:
        return round(self.max_episodes / float(SHARE ** (RUNGS - 1 - rung)))


def rungs_of(history: History) -> dict[int, int]:
    """The rung of every trial: 0 for a new order, one more than that of what it goes on with."""
    rungs: dict[int, int] = {}
    for trial in history.trials:
        before = trial.proposal.continues
        rungs[trial.number] = 0 if before is None else min(rungs.get(before, -1) + 1, RUNGS - 1)
    return rungs


def _merit(trial: Trial) -> tuple[bool, float]:
    """What trials of a rung are compared by: the reward if they passed the gate, and the way to
    the gate if not.
    """
    if trial.state == PASSED and trial.reward is not None:
        return True, trial.reward
    return False, trial.compliance or 0.0
