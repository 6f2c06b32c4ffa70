"""Means and their uncertainty."""

import math

import numpy as np

# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
STUDENT_95 = (
    12.70620, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
    2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596,
    2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227,
)  # fmt: skip
NORMAL_95 = 1.959964


def standard_error(values: np.ndarray) -> float:
    """The standard error of the mean; infinite for a single value, which shows no spread."""
    if len(values) < 2:
        return math.inf
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def student_95(degrees: int) -> float:
    """The two-sided 95 % point of Student's t."""
    if degrees <= len(STUDENT_95):
        return STUDENT_95[degrees - 1]
    z = NORMAL_95
    # The expansion about the normal distribution, in powers of 1 / degrees.
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / degrees + second / degrees**2 + third / degrees**3


def half_width_95(values: np.ndarray) -> float:
    """Half the width of the 95 % interval of the mean; infinite for a single value."""
    if len(values) < 2:
        return math.inf
    return student_95(len(values) - 1) * standard_error(values)


def finite(number: float) -> float | None:
    """The number, or None if it is infinite, which JSON cannot say."""
    return number if math.isfinite(number) else None


def student_p(t: float, degrees: int) -> float:
    """The two-sided p-value of a value of Student's t."""
    if math.isinf(t):
        return 0.0
    if abs(t) < 1:  # the other way round too little would be left of t after rounding
        return 1 - incomplete_beta(0.5, degrees / 2, t * t / (degrees + t * t))
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on this side only
        return 1 - incomplete_beta(b, a, 1 - x)
    front = a * math.log(x) + b * math.log1p(-x) - math.log(a)
    front += math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    # Lentz's method: the fraction is the product of the ratios of its convergents.
    upper, lower = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = lower
    for m in range(1, 1000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower = 1 / _not_zero(1 + term * lower)
            upper = _not_zero(1 + term / upper)
            value *= upper * lower
        if abs(upper * lower - 1) < 1e-14:
            break
    return math.exp(front) * value


def _not_zero(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300


# Up to this many differences all signs are tried; beyond, this many are drawn.
ALL_SIGNS = 16
SIGNS_DRAWN = 20_000
_AT_ONCE = 4_000_000  # signs held in memory


def sign_flip_p(differences: np.ndarray) -> float:
    """The two-sided p-value of the sign-flip test of a mean of zero.

    If two blues are as good as each other, each difference might as well have had the other
    sign. The p-value is the share of all ways to set the signs whose mean lies at least as
    far from zero as the one that was found; of many differences it is estimated from a fixed
    sequence of drawn signs, which count the one that was found as one of them.
    """
    given = differences[differences != 0]  # the others have no sign
    n = len(given)
    found = abs(given.sum()) * (1 - 1e-12)  # what rounding parts is the same
    if n <= ALL_SIGNS:
        signs: np.ndarray = np.arange(2**n)[:, None] >> np.arange(n) & 1
        return float((np.abs(_flipped(signs, given)) >= found).mean())
    draw = np.random.default_rng(0)
    further, drawn = 0, 0
    while drawn < SIGNS_DRAWN:
        rows = min(SIGNS_DRAWN - drawn, max(1, _AT_ONCE // n))
        words = draw.integers(256, size=(rows, -(-n // 8)), dtype=np.uint8)
        signs = np.unpackbits(words, axis=1, count=n)
        further += int((np.abs(_flipped(signs, given)) >= found).sum())
        drawn += rows
    return (further + 1) / (drawn + 1)


def _flipped(signs: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """The sums of the differences [rows] with signs changed where there is a 1 [rows, n]."""
    return differences.sum() - 2 * (signs @ differences)  # type: ignore[no-any-return]
