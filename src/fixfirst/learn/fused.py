"""What the networks do number by number, compiled for the processor in 32-bit floats.

Between two matrix products PyTorch would go over the same rows many times, once for each
operation; tanh alone took it longer than the products. Here each row is gone over once or
twice. `loss` and `network` use these functions where they can (see `usable`) and PyTorch's own
elsewhere (on a graphics card, in the debugger); the tests compare the two.
"""

import math

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from torch import Tensor, float32

from fixfirst.game.compile import INTERPRETED, entry

# Sums may be added up in any order, which lets the compiler take 8 or 16 numbers at a time.
# Infinities and NaNs keep their meaning.
_FAST = {"reassoc", "contract", "nsz"}

_F = np.float32
_ONE = _F(1.0)


def usable(tensor: Tensor) -> bool:
    """Whether these functions can work on the tensor."""
    return tensor.device.type == "cpu" and tensor.dtype == float32 and not INTERPRETED


# tanh(x) = x P(x^2) / Q(x^2), a minimax fit; beyond the limit it is 1 in 32 bits.
_TANH_LIMIT = _F(7.90531110763549805)
_P0, _P1, _P2, _P3, _P4, _P5, _P6 = map(
    _F,
    (
        4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05, 5.12229709037114e-08,
        -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16,
    ),
)  # fmt: skip
_Q0, _Q1, _Q2, _Q3 = map(
    _F, (4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06)
)


@entry(fastmath=_FAST)
def tanh(rows: np.ndarray) -> None:
    """The hyperbolic tangent of every number, in place; right to some 3e-7."""
    flat = rows.reshape(-1)
    for i in range(len(flat)):
        given = flat[i]
        x = max(min(given, _TANH_LIMIT), -_TANH_LIMIT)
        q = x * x
        above = _P0 + q * (_P1 + q * (_P2 + q * (_P3 + q * (_P4 + q * (_P5 + q * _P6)))))
        below = _Q0 + q * (_Q1 + q * (_Q2 + q * _Q3))
        flat[i] = x * above / below if given == given else given  # noqa: PLR0124 - NaN stays


@entry(fastmath=_FAST)
def tanh_slope(slopes: np.ndarray, values: np.ndarray) -> None:
    """Slopes by what comes out of tanh become slopes by what goes in, in place."""
    flat, out = slopes.reshape(-1), values.reshape(-1)
    for i in range(len(flat)):
        flat[i] *= _ONE - out[i] * out[i]


@intrinsic
def _float_of_bits(context, bits):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """The float whose bits are those of an integer."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


# exp(x) = 2^n exp(r) with r within half of ln 2, and a polynomial for exp(r).
_EXP_LOWEST = _F(-87.0)  # less is nothing beside the row's largest
_LOG2_E, _HALF = _F(1.44269504088896341), _F(0.5)
_LN2_HIGH, _LN2_LOW = _F(0.693359375), _F(-2.12194440e-4)
_E0, _E1, _E2, _E3, _E4, _E5 = map(
    _F,
    (
        1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
        5.0000001201e-1,
    ),
)  # fmt: skip
_BIAS, _MANTISSA = np.int32(127), np.int32(23)


@numba.njit(fastmath=_FAST, error_model="numpy", inline="always")  # type: ignore[untyped-decorator]
def _exp(x: np.float32) -> np.float32:
    """The exponential of a number that is not above 0; 0 for what is next to nothing."""
    given = x
    x = max(x, _EXP_LOWEST)
    n = np.floor(x * _LOG2_E + _HALF)
    r = x - n * _LN2_HIGH - n * _LN2_LOW
    power = ((((_E0 * r + _E1) * r + _E2) * r + _E3) * r + _E4) * r + _E5
    two_to_n = _float_of_bits(np.int32((np.int32(n) + _BIAS) << _MANTISSA))
    height = (power * r * r + r + _ONE) * two_to_n
    return height if given > _EXP_LOWEST else _F(0.0)


@entry(fastmath=_FAST)
def policy_slopes(
    logits: np.ndarray, actions: np.ndarray, old_log_probs: np.ndarray, advantages: np.ndarray,
    clip: np.float32, entropy_coefficient: np.float32, share: np.float32, slopes: np.ndarray,
    sums: np.ndarray,
) -> None:  # fmt: skip
    """`loss.policy_loss`: slopes for each row, and sums [4] over the rows.

    share   of a row in the mean, 1 / rows of the minibatch
    sums    clipped surrogate (its negative), entropy, clipped rows, divergence
    """
    surrogate = entropies = clipped = divergence = np.float64(0.0)
    low, high = _ONE - clip, _ONE + clip
    for i in range(len(logits)):
        row, out, action = logits[i], slopes[i], actions[i]
        largest = row[0]
        for j in range(len(row)):
            largest = max(largest, row[j])
        total, moment = _F(0.0), _F(0.0)
        for j in range(len(row)):
            x = row[j] - largest
            height = _exp(x)
            out[j] = height
            total += height
            moment += height * max(x, _EXP_LOWEST)
        log_total = _F(math.log(total))
        entropy = log_total - moment / total
        log_ratio = row[action] - largest - log_total - old_log_probs[i]
        ratio = _F(math.exp(log_ratio))
        plain = ratio * advantages[i]
        bounded = min(max(ratio, low), high) * advantages[i]
        # Where the bounded term is the smaller one, the loss is flat in the ratio.
        steep = plain if plain <= bounded else _F(0.0)
        surrogate -= min(plain, bounded)
        entropies += entropy
        divergence += ratio - _ONE - log_ratio
        if abs(ratio - _ONE) > clip:
            clipped += 1.0
        scale = share / total
        constant = scale * (steep + entropy_coefficient * (entropy - largest - log_total))
        linear = scale * entropy_coefficient
        for j in range(len(row)):
            # What has no chance has no slope, however low its logit.
            out[j] *= constant + linear * max(row[j], largest + _EXP_LOWEST)
        out[action] -= share * steep
    sums[0], sums[1], sums[2], sums[3] = surrogate, entropies, clipped, divergence


@entry(fastmath=_FAST)
def draw(logits: np.ndarray, dice: np.ndarray, actions: np.ndarray, log_probs: np.ndarray) -> None:
    """`rollout.sample`: an action for each row by its die, and the action's log-probability.

    The logits are overwritten.
    """
    for i in range(len(logits)):
        row = logits[i]
        largest = row[0]
        for j in range(len(row)):
            largest = max(largest, row[j])
        total = _F(0.0)
        for j in range(len(row)):
            row[j] = _exp(row[j] - largest)
            total += row[j]
        cut, height, action = dice[i] * total, row[0], 0
        while height <= cut and action + 1 < len(row):
            action += 1
            height += row[action]
        while row[action] == 0.0:  # what rounding leaves over goes to one that has a chance
            action -= 1
        actions[i] = action
        log_probs[i] = math.log(row[action] / total)
