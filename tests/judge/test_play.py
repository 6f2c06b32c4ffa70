"""Playing for scores: complete episodes, each known by its seed."""

import math

import numpy as np
import pytest

import fixfirst
from fixfirst.judge import play as module
from fixfirst.judge.play import play, shares


def returns_by_hand(seeds, actions, **options):
    """The returns of single games, played through the public environment."""
    env = fixfirst.Cage2Env(**options)
    returns = []
    for seed in seeds:
        env.reset(seed=seed)
        total, over = 0.0, False
        for action in actions:
            assert not over
            _, reward, _, over, _ = env.step(action)
            total += reward
        assert over
        returns.append(total)
    return returns


@pytest.mark.parametrize("rng", ["fast", "cpython"])
@pytest.mark.parametrize("red", ["bline", "meander"])
def test_each_return_is_the_sum_of_a_whole_episode(red, rng):
    played = play("monitor", red, episodes=5, horizon=40, seed=7, rng=rng)
    expected = returns_by_hand(range(7, 12), [1] * 40, red=red, horizon=40, rng=rng)
    np.testing.assert_allclose(played.returns, expected, atol=1e-9)


@pytest.mark.parametrize("episodes", [1, 9, 10, 11, 25])
def test_exactly_so_many_episodes_are_played(monkeypatch, episodes):
    monkeypatch.setitem(module.GAMES_AT_ONCE, "fast", 10)
    steps = []
    played = play("sleep", episodes=episodes, horizon=3, on_step=steps.append)
    assert (played.episodes, len(played.returns)) == (episodes, episodes)
    assert sum(steps) == episodes * 3


@pytest.mark.parametrize("policy", ["random", "react-restore"])
@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_an_episode_does_not_depend_on_those_beside_it(monkeypatch, policy, at_once):
    whole = play(policy, "meander", episodes=20, horizon=30, seed=3)
    monkeypatch.setitem(module.GAMES_AT_ONCE, "fast", at_once)
    parts = play(policy, "meander", episodes=20, horizon=30, seed=3)
    fewer = play(policy, "meander", episodes=8, horizon=30, seed=3)
    np.testing.assert_array_equal(whole.returns, parts.returns)
    np.testing.assert_array_equal(whole.returns[:8], fewer.returns)


def test_threads_change_nothing():
    one, two = (play("random", episodes=300, horizon=20, threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one.returns, two.returns)


def test_mean_and_interval_are_those_of_the_returns():
    played = play("random", episodes=40, horizon=30)
    error = played.returns.std(ddof=1) / math.sqrt(40)
    assert played.mean == pytest.approx(played.returns.mean())
    assert played.standard_error == pytest.approx(error)
    assert played.half_width == pytest.approx(2.0227 * error, rel=1e-4)  # t of 39
    low, high = played.interval
    assert (low + high) / 2 == pytest.approx(played.mean)
    assert high - low == pytest.approx(2 * played.half_width)


def test_the_summary_tells_how_to_play_the_same_games_again():
    played = play(
        "random", {"bline": 0.5, "sleep": 0.5}, rules="leaderboard", episodes=6, horizon=8
    )
    told = played.summary()
    again = play(
        told["policy"], told["red"], rules=told["rules"], horizon=told["horizon"],
        episodes=told["episodes"], seed=told["seed"], rng=told["rng"],
    )  # fmt: skip
    np.testing.assert_array_equal(played.returns, again.returns)
    assert (told["mean"], told["sees"]) == (played.mean, "bits")
    assert (told["low_95"], told["high_95"]) == played.interval


def test_a_single_episode_has_a_mean_and_no_error():
    told = play("sleep", episodes=1, horizon=5).summary()
    assert told["mean"] is not None
    assert told["standard_error"] is told["low_95"] is told["high_95"] is None


def test_without_a_seed_one_is_drawn_and_told():
    first, second = (play("sleep", episodes=1, horizon=1, seed=None) for _ in range(2))
    assert first.seed != second.seed


def test_reds_can_be_drawn():
    played = play("sleep", {"bline": 0.5, "sleep": 0.5}, episodes=400, horizon=30)
    assert 0.4 < (played.returns == 0).mean() < 0.6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"episodes": 0}, "episodes=0 makes no sense here; it is 1 or more"),
        ({"episodes": 2.5}, "episodes=2.5"),
        ({"horizon": 0}, "horizon=0"),
        ({"red": "green"}, "red='green' .* bline, meander, sleep"),
        ({"rules": "new"}, "rules='new'"),
        ({"rng": "dice"}, "rng='dice' .* fast, cpython"),
        ({"seed": 1.5}, r"seed=1\.5"),
        ({"threads": 0}, "threads=0"),
        ({"policy": "slep"}, "did you mean sleep"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        play(**{"policy": "sleep", **options})


@pytest.mark.parametrize(("count", "most"), [(1, 1), (10, 10), (11, 10), (99, 10), (5, 1)])
def test_shares_are_few_even_and_complete(count, most):
    sizes = shares(count, most)
    assert sum(sizes) == count
    assert len(sizes) == math.ceil(count / most)
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1
