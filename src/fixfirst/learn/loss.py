"""PPO's losses, and their derivatives by what the networks put out.

A minibatch may be worked on in parts. Each part's share counts by its rows, so that the parts
of a minibatch add up to its means.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from fixfirst.learn import fused


class PolicyLoss(NamedTuple):
    """The policy's loss, with what is told of it: shares of the means over the minibatch."""

    loss: float
    entropy: float
    clipped: float  # share of the samples whose ratio was clipped
    divergence: float  # estimate of the KL divergence from the old policy


def policy_loss(
    logits: Tensor,
    actions: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    clip: float,
    entropy_coefficient: float,
    slope: Tensor,
    count: int | None = None,
) -> PolicyLoss:
    """The clipped surrogate loss less the entropy bonus; its derivative by the logits is
    written to `slope`. `count` is the size of the minibatch, if these rows are a part of one.
    """
    count = len(logits) if count is None else count
    if not fused.usable(logits):
        return _by_torch(
            logits, actions, old_log_probs, advantages, clip, entropy_coefficient, slope, count
        )
    sums = np.empty(4)
    fused.policy_slopes(
        logits.numpy(), actions.numpy(), old_log_probs.numpy(), advantages.numpy(),
        np.float32(clip), np.float32(entropy_coefficient), np.float32(1.0 / count),
        slope.numpy(), sums,
    )  # fmt: skip
    surrogate, entropy, clipped, divergence = (sums / count).tolist()
    return PolicyLoss(surrogate - entropy_coefficient * entropy, entropy, clipped, divergence)


def _by_torch(
    logits: Tensor, actions: Tensor, old_log_probs: Tensor, advantages: Tensor, clip: float,
    entropy_coefficient: float, slope: Tensor, count: int,
) -> PolicyLoss:  # fmt: skip
    log_probs = torch.log_softmax(logits, dim=1)
    probs = log_probs.exp()
    taken = log_probs.gather(1, actions[:, None]).squeeze(1)
    log_ratio = taken - old_log_probs
    ratio = log_ratio.exp()
    plain = ratio * advantages
    bounded = ratio.clamp(1.0 - clip, 1.0 + clip) * advantages
    entropies = -(probs * log_probs).sum(dim=1)
    # Where the bounded term is the smaller one, the loss is flat in the ratio.
    steep = torch.where(plain <= bounded, plain, 0.0)
    torch.mul(probs, steep[:, None], out=slope)
    slope.scatter_add_(1, actions[:, None], -steep[:, None])
    slope.addcmul_(probs, log_probs + entropies[:, None], value=entropy_coefficient)
    slope.div_(count)
    sums = torch.stack(
        [
            -torch.minimum(plain, bounded).sum(),
            entropies.sum(),
            ((ratio - 1.0).abs() > clip).sum().to(ratio.dtype),
            (ratio - 1.0 - log_ratio).sum(),
        ]
    )
    surrogate, entropy, clipped, divergence = (sums / count).tolist()
    return PolicyLoss(surrogate - entropy_coefficient * entropy, entropy, clipped, divergence)


def value_loss(
    values: Tensor, returns: Tensor, coefficient: float, slope: Tensor, count: int | None = None
) -> float:
    """Half the mean squared error times the coefficient; its derivative goes to `slope`."""
    count = len(values) if count is None else count
    error = values - returns
    torch.mul(error, coefficient / count, out=slope)
    return 0.5 * coefficient * float(error.square().sum()) / count
