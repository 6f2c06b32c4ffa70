"""Means and intervals against SciPy."""

import math

import numpy as np
import pytest
from scipy import special, stats

from fixfirst.judge import statistics


@pytest.mark.parametrize("degrees", [*range(1, 60), 100, 1000, 10_000_000])
def test_student_is_scipys(degrees):
    assert statistics.student_95(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=5e-6)


def test_half_width_is_scipys():
    values = np.random.default_rng(0).normal(size=12)
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert statistics.standard_error(values) == pytest.approx(stats.sem(values))
    assert statistics.half_width_95(values) == pytest.approx((high - low) / 2, rel=5e-6)


def test_a_single_value_has_no_interval():
    assert statistics.standard_error(np.ones(1)) == math.inf
    assert statistics.half_width_95(np.ones(1)) == math.inf


@pytest.mark.parametrize("degrees", [1, 2, 3, 30, 999, 99_999])
@pytest.mark.parametrize("t", [0, 1e-6, 0.5, 1, -2, 4, 12, 60])
def test_p_values_of_student_are_scipys(degrees, t):
    expected = 2 * stats.t.sf(abs(t), degrees)
    assert statistics.student_p(t, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (3, 0.5), (2, 7), (400, 0.5)])
@pytest.mark.parametrize("x", [0.0, 0.01, 0.3, 0.9, 0.999, 1.0])
def test_the_incomplete_beta_function_is_scipys(a, b, x):
    assert statistics.incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), rel=1e-9)


def test_few_signs_are_all_tried():
    values = np.random.default_rng(3).normal(0.5, 1, size=9)
    test = stats.permutation_test(
        (values,), lambda x, axis: x.mean(axis=axis), permutation_type="samples",
        n_resamples=np.inf,
    )  # fmt: skip
    assert statistics.sign_flip_p(values) == pytest.approx(test.pvalue)
    with_zeros = np.append(values, np.zeros(30))  # which have no sign
    assert statistics.sign_flip_p(with_zeros) == statistics.sign_flip_p(values)
    assert statistics.sign_flip_p(np.ones(4)) == 2 / 16
    assert statistics.sign_flip_p(np.zeros(4)) == 1.0


@pytest.mark.parametrize("mean", [0.0, 0.1, 0.2])
def test_many_signs_are_drawn_and_agree_with_student(mean):
    values = np.random.default_rng(4).normal(mean, 1, size=300)
    expected = stats.ttest_1samp(values, 0).pvalue
    assert statistics.sign_flip_p(values) == pytest.approx(expected, abs=0.015)


def test_a_drawn_p_value_is_never_zero():
    assert statistics.sign_flip_p(np.ones(50)) == 1 / (statistics.SIGNS_DRAWN + 1)


def test_signs_are_drawn_alike_however_many_fit_in_memory(monkeypatch):
    values = np.random.default_rng(5).normal(0.1, 1, size=40)
    whole = statistics.sign_flip_p(values)
    monkeypatch.setattr(statistics, "_AT_ONCE", 40 * 1500)
    assert statistics.sign_flip_p(values) == whole
