"""Games that any backend runs train as the batch of compiled games does."""

import numpy as np
import pytest

import fixfirst
from fixfirst.envs.batch import Batch
from fixfirst.envs.options import checked
from fixfirst.envs.synthetic import Awkward
from fixfirst.envs.vector_games import VectorGames
from fixfirst.workflow.alignment import checked_terms

N, HORIZON = 6, 12
ORDERS = {
    "none": None,
    "one": "critical-first",
    "each": ["critical-first", "user-priority"] * 3,
}


def games(orders, remember, red="bline"):
    terms = checked_terms(30.0, bonus=0.5, penalty=0.25)
    options = checked(N, red, "latest", HORIZON, "fast", 1, "same_step", orders, terms, remember)
    env = fixfirst.make_vec(
        N, backend="serial", red=red, horizon=HORIZON, seed=4, autoreset="same_step",
        true_states="step",
    )  # fmt: skip
    return VectorGames(env, options), Batch(options, 4)


@pytest.mark.parametrize("orders", ORDERS)
@pytest.mark.parametrize("remember", [False, True])
def test_they_show_pay_and_remember_what_the_batch_does(orders, remember):
    mine, theirs = games(ORDERS[orders], remember)
    assert (mine.reset() == theirs.reset()).all()
    chance, fixes = np.random.default_rng(0), 0
    for t in range(3 * HORIZON):
        # Every other action is a fix, so that there is something to judge.
        actions = np.where(
            chance.random(N) < 0.5, chance.integers(118, 144, N), chance.integers(0, 145, N)
        )
        mine.step(actions)
        theirs.step(actions)
        ended = theirs.results.truncated
        assert (mine.results.truncated == ended).all()
        assert np.allclose(mine.rewards, theirs.rewards)
        assert (mine.observation == theirs.observation).all()
        assert ended.all() == ((t + 1) % HORIZON == 0)
        if remember:
            assert (mine.recalling.rows == theirs.recalling.rows).all()
            assert (mine.recalling.masks == theirs.recalling.masks).all()
        if not ended.any():
            continue
        assert (mine.final_observation == theirs.final_observation).all()
        assert np.allclose(mine.final_state.episode_return, theirs.final_state.episode_return)
        if remember:
            assert (mine.recalling.finals == theirs.recalling.finals).all()
        if ORDERS[orders] is not None:
            kept, expected = mine.following.finals, theirs.following.finals
            for name in ("fixes", "compliant", "compliance", "reward"):
                assert np.allclose(kept[name], expected[name]), name
            fixes += int(kept["fixes"].sum())
    assert bool(fixes) == (ORDERS[orders] is not None)


def test_envs_that_cannot_be_trained_on_are_refused():
    options = checked(2, "bline", "latest", 10, "fast", 1, "same_step")

    def refused(says, count=2, **given):
        given = {"autoreset": "same_step", "true_states": "step", **given}
        env = fixfirst.make_vec(count, backend="serial", **given)
        with pytest.raises(ValueError, match=says):
            VectorGames(env, options)

    refused("autoreset='same_step' and true_states='step'", autoreset="next_step")
    refused("autoreset='same_step' and true_states='step'", true_states=5)
    refused("runs 3 games, not 2", count=3)
    refused("has 52 bits and 145 actions", env=Awkward())


def test_a_lost_episode_ends_a_training():
    env = fixfirst.make_vec(
        2, backend="serial", autoreset="same_step", true_states="step", on_failure="restart"
    )
    mine = VectorGames(env, checked(2, "bline", "latest", 100, "fast", 1, "same_step"))
    mine.reset()
    env.set_attr("step", [_broken] * 2)
    with pytest.raises(ValueError, match="one was lost: env 0"):
        mine.step(np.zeros(2, int))


def _broken(action):
    raise RuntimeError("broken")
