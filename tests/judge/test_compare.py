"""Comparisons: the same games for both, and a test that knows chance when it sees it."""

import math

import numpy as np
import pytest
from scipy import stats

from fixfirst.judge.compare import compare
from fixfirst.judge.play import play


def test_both_play_the_same_seeds():
    compared = compare("sleep", "random", "meander", episodes=20, horizon=40, seed=9)
    for name, played in zip(("sleep", "random"), compared.played, strict=True):
        alone = play(name, "meander", episodes=20, horizon=40, seed=9)
        np.testing.assert_array_equal(played.returns, alone.returns)


def test_without_a_seed_both_have_the_one_that_was_drawn():
    first, second = compare("sleep", "monitor", episodes=5, horizon=30, seed=None).played
    assert first.seed == second.seed
    np.testing.assert_array_equal(first.returns, second.returns)


def test_the_difference_and_its_tests_are_scipys():
    compared = compare("random", "react-remove", "meander", episodes=60, seed=2)
    first, second = compared.played
    differences = first.returns - second.returns
    test = stats.ttest_rel(first.returns, second.returns)
    low, high = test.confidence_interval(0.95)
    told = compared.summary()["difference"]
    assert told["mean"] == pytest.approx(differences.mean())
    assert (told["low_95"], told["high_95"]) == (pytest.approx(low), pytest.approx(high))
    assert told["t_p"] == pytest.approx(test.pvalue)
    assert told["sign_flip_p"] == pytest.approx(test.pvalue, abs=0.03)
    assert told["first_better"] == (differences > 0).sum()
    assert told["first_better"] + told["equal"] + told["second_better"] == 60


def test_a_blue_is_as_good_as_itself():
    compared = compare("random", "random", episodes=10, horizon=30)
    assert (compared.mean, compared.t_p, compared.sign_flip_p) == (0.0, 1.0, 1.0)
    assert not compared.differences.any()


def test_the_first_is_better_if_the_difference_is_above_zero():
    compared = compare("react-restore", "sleep", episodes=40)
    assert compared.mean > 100
    assert max(compared.t_p, compared.sign_flip_p) < 0.001


def test_a_single_episode_shows_nothing():
    compared = compare("random", "sleep", episodes=1)
    assert compared.sign_flip_p == 1.0
    assert compared.standard_error == math.inf
    told = compared.summary()["difference"]
    assert told["low_95"] is told["high_95"] is told["standard_error"] is told["t_p"] is None
