"""Searches that never ran: records as a run folder tells them, made from a smooth landscape."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from fixfirst.search.history import FAILED, PASSED, RUNNING, Guess, History, Proposal, Trial
from fixfirst.search.record import Knowledge, SearchRecord
from fixfirst.search.settings import Settings
from fixfirst.workflow.distances import kendall
from fixfirst.workflow.groups import DEFAULT_GROUPS, Groups
from fixfirst.workflow.orders import Workflow, ranks_of

LENGTH, SPREAD, MEAN = 0.8, 4.0, -24.0
THRESHOLD = 0.9


def settings(**others):
    """As a search resolves them."""
    given = {"seed": 7, "n_workflows": 30, "max_episodes": 5_000, "ppo": {"gamma": 0.98}}
    return Settings(**(given | others)).resolved().as_dict()


def landscape(orders, groups, random):
    """A value for each order: the nearer to one best order the better, and a smooth rest."""
    ranks = ranks_of(orders, groups)
    best = Workflow.from_index(math.factorial(len(groups)) // 2, groups)
    covariance = np.exp(-kendall(ranks, ranks) / LENGTH)
    factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(orders)))
    downhill = 12 * kendall(ranks, ranks_of([best]))[:, 0]
    return MEAN + 6 - downhill + factor @ random.normal(size=len(orders))


def knowledge(history, orders):
    """What an exact process with these hyperparameters knows after these trials."""
    ranks = ranks_of(orders, history.groups)
    tried, rewards, errors = history.measured()

    def prior(a, b):
        return SPREAD**2 * np.exp(-kendall(a, b) / LENGTH)

    gain = np.linalg.solve(prior(tried, tried) + np.diag(errors**2), prior(tried, ranks))
    mean = MEAN + gain.T @ (rewards - MEAN)
    covariance = prior(ranks, ranks) - prior(ranks, tried) @ gain
    draws = np.random.default_rng(3).multivariate_normal(mean, covariance, 4000, method="eigh")
    best = np.bincount(draws.argmax(axis=1), minlength=len(orders)) / len(draws)
    gate = 0.5 + 0.5 * np.exp(-np.arange(len(orders)) / len(orders))
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0))
    return Knowledge(orders, mean, deviation, best, gate, LENGTH, SPREAD, MEAN)


def curve(random, number, reward, compliance, updates=14):
    """The rows of a training that ends near this reward and compliance."""
    rows = []
    for update in range(1, updates + 1):
        left = math.exp(-4 * update / updates)
        rows.append(
            {
                "update": update, "episodes": 200 * update, "steps": 20_000 * update,
                "environment_reward": reward - 180 * left + random.normal(),
                "alignment_reward": 20 * (1 - left), "total_reward": reward - 160 * left,
                "compliance": min(1.0, compliance - 0.5 * left + 0.01 * random.normal()),
                "fixes": 6.0, "play_seconds": 0.11, "game_seconds": 0.02,
                "advantage_seconds": 0.004, "update_seconds": 0.16,
            }
        )  # fmt: skip
    if number == 2:  # an update in which no episode ended
        rows[0] |= {"environment_reward": float("nan"), "compliance": float("nan")}
    return rows


def history(groups=DEFAULT_GROUPS, count=26, seed=5):
    """Trials of near orders, some repeated, every fifth failing at the gate; one is running."""
    random = np.random.default_rng(seed)
    orders = Workflow.sample(random, count, groups)
    for repeated in (9, 14, 19, 22):
        if repeated < count:
            orders[repeated] = orders[repeated - 5]
    unlike = list(dict.fromkeys(orders))
    values = dict(zip(unlike, landscape(unlike, groups, random), strict=True))
    trials = []
    for number, order in enumerate(orders):
        error = 0.2 + 0.15 * random.random()
        passes = number % 5 != 3
        reward = values[order] + error * random.normal() - (0 if passes else 15 + 3 * number)
        guess = Guess(order, values[order] + 1, 1.5)
        others = tuple(Guess(o, values[o], 1.0) for o in unlike[:3])
        trials.append(
            Trial(
                number, order, PASSED if passes else FAILED,
                Proposal(order, "its bound is the highest", ("explore", "exploit")[number % 2],
                         others, guess),
                reward, error, 0.91 + 0.08 * random.random() if passes else 0.5 + 0.3 * random.random(),
                5 + random.random(), 2_800 if passes else 5_000, "gate" if passes else "episodes",
                None if number == 0 else number // 2, 6.5, "here-4711", f"trials/{number:04d}", 5_000, 1_000,
            )
        )  # fmt: skip
    last = trials[-1]
    trials[-1] = Trial(
        last.number, last.order, RUNNING, last.proposal, episodes=400, worker=last.worker
    )
    return History(groups, tuple(trials))


def record(groups=DEFAULT_GROUPS, count=26, state="finished", listed=None, **others):
    """A search. A finished one has no running trial."""
    past = history(groups, count)
    if state != "running":
        past = replace(past, trials=past.trials[:-1])
    orders = list(Workflow.every(groups)) if listed is None else listed
    random = np.random.default_rng(11)
    rows = {
        trial.number: curve(random, trial.number, trial.reward or -40, trial.compliance or 0.6)
        for trial in past.trials
    }
    why = "the episode budget is used up" if state == "finished" else "it goes on"
    return SearchRecord(
        Path("runs/fabricated"), settings(groups=groups, **others), state, why, past, rows,
        knowledge(past, orders) if past.passed else None, 190.0, 190.0,
    )  # fmt: skip


def without_a_pass(state="stopped"):
    """A search whose trials have all failed so far."""
    full = record()
    failed = tuple(
        replace(trial, state=FAILED, compliance=0.4) for trial in full.history.trials[:4]
    )
    return replace(
        full, state=state, history=History(DEFAULT_GROUPS, failed), knowledge=None,
        updates={n: full.updates[n] for n in range(4)},
    )  # fmt: skip


def empty(groups=DEFAULT_GROUPS):
    """A search that has just begun."""
    return SearchRecord(
        Path("runs/new"),
        settings(groups=groups),
        "running",
        "",
        History(groups),
        {},
        None,
        0.4,
        0.4,
    )


def near(groups, count):
    """Some orders, as a model lists them where it cannot list all: those tried, and others."""
    tried = list(dict.fromkeys(trial.order for trial in history(groups, count).trials))
    others = tried[0].neighbours()
    return list(dict.fromkeys(tried + others))


CUSTOM_GROUPS = Groups(
    {
        "servers-of-the-operation-and-of-the-enterprise": (
            "Op_Server0", "Enterprise0", "Enterprise1", "Enterprise2",
        ),
        "defender": ("Defender",),
        "rest": ("Op_Host0", "Op_Host1", "Op_Host2", "User0", "User1", "User2", "User3", "User4"),
    }
)  # fmt: skip
