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
