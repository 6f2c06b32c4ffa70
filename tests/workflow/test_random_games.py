"""The compiled rules against the plain oracle, on random games of fixfirst's own batch.

The games are played once a red; each partition and rule then judges them anew.
"""

import functools

import numpy as np
import pytest

from fixfirst.envs.batch import Batch
from fixfirst.envs.options import checked
from fixfirst.game.compile import INTERPRETED
from fixfirst.game.tables import ACTION_KIND, ACTION_NAMES, ACTIONS, HOST_NAMES, REMOVE, RESTORE
from fixfirst.workflow.alignment import Compliance, checked_terms, follow, new_alignments
from fixfirst.workflow.groups import DEFAULT_GROUPS, HOST_GROUPS, Groups
from fixfirst.workflow.orders import Workflow

from .loops import begin_all, end_all, judge_all
from .oracle import Oracle

GAMES = 50 if INTERPRETED else 1_000
STEPS = 60
FIXES = np.flatnonzero(np.isin(ACTION_KIND, (REMOVE, RESTORE)))
OTHERS = np.setdiff1d(np.arange(ACTIONS), FIXES)

PARTITIONS = {
    "default": DEFAULT_GROUPS,
    "hosts": HOST_GROUPS,
    "one": Groups({"all": HOST_NAMES}),
    "odd": Groups(
        {
            "entry": ["User0"],
            "mixed": ["Op_Server0", "User3", "Enterprise1"],
            "rest": ["Defender", "Op_Host0", "Op_Host2", "User1", "User2", "User4"],
            "gates": ["Enterprise2", "Enterprise0", "Op_Host1"],
        }
    ),
}
# The numbers are exact in binary, so that the oracle's fractions are the very same.
TERMS = {"held": (32.0, 0.0, 0.0), "attempted": (8.0, 0.25, 0.5)}


def random_actions(random, shyness):
    """One action a game: a fix with the probability that the game's shyness leaves."""
    fixes = random.random(len(shyness)) >= shyness
    return np.where(fixes, random.choice(FIXES, GAMES), random.choice(OTHERS, GAMES))


@functools.cache
def played(red):
    """For every step: the games before it (a copy) and blue's actions."""
    batch = Batch(checked(GAMES, red, "latest", STEPS, "fast", 1, "disabled"), seed=17)
    batch.reset()
    random = np.random.default_rng(23)
    shyness = random.choice([0.3, 0.7, 0.95, 1.0], GAMES)  # those of 1.0 never fix anything
    steps = []
    for _ in range(STEPS):
        actions = random_actions(random, shyness)
        steps.append((batch.true_state.frozen(), actions))
        batch.step(actions)
    return steps


def orders_of(groups):
    random = np.random.default_rng(31)
    return [Workflow.random(random, groups) for _ in range(GAMES)]


def oracle_of(workflow, rule):
    hosts_of = workflow.groups.as_mapping()
    return Oracle([hosts_of[name] for name in workflow.names], rule, *TERMS[rule])


@pytest.mark.parametrize("red", ["bline", "meander"])
@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("rule", TERMS)
def test_rules_agree_with_the_oracle(red, partition, rule):
    workflows = orders_of(PARTITIONS[partition])
    alignments = new_alignments(GAMES)
    follow(alignments, workflows)
    begin_all(alignments)
    size, bonus, penalty = TERMS[rule]
    terms = checked_terms(size, rule, bonus, penalty)
    oracles = [oracle_of(workflow, rule) for workflow in workflows]
    total = np.zeros(GAMES)
    for truth, actions in played(red):
        paid = np.full(GAMES, np.nan)
        judge_all(truth.games, alignments, terms, actions, paid)
        assert paid == pytest.approx(wanted(oracles, truth, actions), abs=1e-12)
        total += paid
    paid = np.full(GAMES, np.nan)
    end_all(alignments, terms, paid)
    assert paid == pytest.approx([float(oracle.end()) for oracle in oracles], abs=1e-12)
    account = Compliance(alignments)
    assert account.fixes.tolist() == [len(oracle.fixed) for oracle in oracles]
    assert account.compliant.tolist() == [oracle.compliant() for oracle in oracles]
    assert account.compliance.tolist() == [float(oracle.compliance()) for oracle in oracles]
    assert account.alignment_reward == pytest.approx(total + paid, abs=1e-12)


def wanted(oracles, truth, actions):
    """What the oracles pay for the step."""
    rewards = np.zeros(GAMES)
    for i, sessions in enumerate(truth.sessions.tolist()):
        by_host = dict(zip(HOST_NAMES, sessions, strict=True))
        rewards[i] = oracles[i].act(ACTION_NAMES[actions[i]], by_host)
    return rewards


@pytest.mark.skipif(INTERPRETED, reason="needs many games")
def test_the_random_games_cover_the_rare_cases():
    steps = played("meander")
    fixed = np.array([np.isin(actions, FIXES) for _, actions in steps])
    second = np.array([truth.sessions[:, HOST_NAMES.index("User0")] > 1 for truth, _ in steps])
    assert (fixed & second).sum() > 100
    assert (~fixed.any(axis=0)).sum() > 100  # whole games without a fix
    for red in ("bline", "meander"):
        held = np.array([(truth.sessions > 0).sum(axis=1) for truth, _ in played(red)])
        assert np.unique(held).size > 4
