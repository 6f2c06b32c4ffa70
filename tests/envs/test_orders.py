"""Games that follow orders, through the environment."""

import numpy as np
import pytest

import fixfirst
from fixfirst import Workflow
from fixfirst.game import tables
from tests.workflow.oracle import Oracle

RNGS = ["fast", "cpython"]
FIXES = [a for a, n in enumerate(tables.ACTION_NAMES) if n.startswith(("Remove", "Restore"))]


def plan(steps, games, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(
        rng.random((steps, games)) < 0.5,
        rng.choice(FIXES, (steps, games)),
        rng.integers(0, tables.ACTIONS, (steps, games)),
    )


def orders(count, seed=0):
    rng = np.random.default_rng(seed)
    return [Workflow.random(rng) for _ in range(count)]


@pytest.mark.parametrize("rng", RNGS)
@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_orders_leave_the_game_alone_and_add_what_they_pay(rng, autoreset):
    options = {"red": "meander", "rng": rng, "seed": 4, "horizon": 25, "autoreset": autoreset}
    plain = fixfirst.make_vec(30, **options)
    followed = fixfirst.make_vec(30, orders=orders(30), alignment_lambda=30.0, **options)
    assert (plain.reset()[0] == followed.reset()[0]).all()
    paid = 0.0
    for actions in plan(60, 30):
        expected, got = plain.step(actions), followed.step(actions)
        assert (expected[0] == got[0]).all()
        assert np.array_equal(got[1], expected[1] + followed.alignment_reward)
        paid += np.abs(followed.alignment_reward).sum()
    assert paid > 0


def oracle_for(workflow, size):
    members = workflow.groups.members
    order = [[tables.HOST_NAMES[h] for h in members[g]] for g in workflow.numbers]
    return Oracle(order, alignment_lambda=size)


def test_the_batch_judges_as_the_oracle_does():
    games, steps = 40, 30
    chosen = orders(games)
    env = fixfirst.make_vec(
        games, red="meander", seed=2, horizon=steps, orders=chosen, alignment_lambda=7.0,
        autoreset="disabled", episode_stats=True,
    )  # fmt: skip
    env.reset()
    oracles = [oracle_for(workflow, 7) for workflow in chosen]
    for step, actions in enumerate(plan(steps, games), start=1):
        sessions = env.true_state.sessions
        _, _, _, _, info = env.step(actions)
        for i, oracle in enumerate(oracles):
            held = dict(zip(tables.HOST_NAMES, sessions[i].tolist(), strict=True))
            paid = oracle.act(tables.ACTION_NAMES[actions[i]], held)
            paid += oracle.end() if step == steps else 0
            assert env.alignment_reward[i] == pytest.approx(float(paid))
    assert env.compliance.fixes.tolist() == [len(o.fixed) for o in oracles]
    assert env.compliance.compliant.tolist() == [o.compliant() for o in oracles]
    episode = info["episode"]
    assert episode["compliance"] == pytest.approx([float(o.compliance()) for o in oracles])
    assert episode["r"] == pytest.approx(
        episode["environment_reward"] + episode["alignment_reward"]
    )


def test_same_step_reset_keeps_the_counts_of_the_ended_episode():
    env = fixfirst.make_vec(
        3, horizon=4, orders="balanced", autoreset="same_step", episode_stats=True, seed=0
    )
    env.reset()
    restore = env.action_index("Restore User1")
    for action in (0, restore, 0, restore):
        _, _, _, _, info = env.step([action] * 3)
    assert info["episode"]["fixes"].tolist() == [2, 2, 2]
    assert env.final_compliance.fixes.tolist() == [2, 2, 2]
    assert env.compliance.fixes.tolist() == [0, 0, 0]
    assert env.compliance.compliance.tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("rng", RNGS)
def test_snapshots_carry_orders_counts_and_memory(rng):
    options = {"red": "bline", "rng": rng, "memory": True, "alignment_lambda": 3.0}
    env = fixfirst.make_vec(6, seed=1, orders=orders(6), **options)
    env.reset()
    for actions in plan(20, 6):
        env.step(actions)
    kept = fixfirst.Snapshot.from_bytes(env.save().to_bytes())
    seen = env.observation.copy()
    first = [env.step(a)[1] for a in plan(30, 6, seed=5)]
    other = fixfirst.make_vec(6, seed=2, orders=orders(6, seed=9), **options)
    other.reset()
    assert np.array_equal(other.load(kept), seen)
    assert np.array_equal([other.step(a)[1] for a in plan(30, 6, seed=5)], first)


def test_a_snapshot_without_orders_does_not_fit_games_with_them():
    plain, followed = fixfirst.make_vec(2), fixfirst.make_vec(2, orders="reverse")
    plain.reset()
    followed.reset()
    with pytest.raises(fixfirst.SnapshotError, match="orders=False, not True"):
        followed.load(plain.save())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alignment_lambda": 30.0}, "no orders were given"),
        ({"orders": ["balanced"]}, "1 orders were given for 2 games"),
        ({"orders": "user > user"}, "user"),
        ({"orders": "balanced", "alignment_lambda": -1.0}, "alignment_lambda"),
        ({"orders": "balanced", "compliance_rule": "x"}, "'x'"),
    ],
)
def test_orders_that_make_no_sense(options, words):
    with pytest.raises(ValueError, match=words):
        fixfirst.make_vec(2, **options)


def test_games_without_orders_say_so():
    env = fixfirst.make_vec(1)
    for read in (
        lambda: env.compliance,
        lambda: env.final_compliance,
        lambda: env.alignment_reward,
    ):
        with pytest.raises(ValueError, match="follow no order"):
            read()
