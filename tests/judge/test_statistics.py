"""Means and intervals against SciPy."""

import math

import numpy as np
import pytest
from scipy import stats

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
