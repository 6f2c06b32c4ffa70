"""PPO's losses on a minibatch, and their derivatives by what the networks put out."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class PolicyLoss:
    """The policy's loss, with what is told of it. Means over the minibatch."""

    loss: Tensor
    entropy: Tensor
    clipped: Tensor  # share of the samples whose ratio was clipped
    divergence: Tensor  # estimate of the KL divergence from the old policy


def policy_loss(
    logits: Tensor,
    actions: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    clip: float,
    entropy_coefficient: float,
    slope: Tensor,
) -> PolicyLoss:
    """The clipped surrogate loss less the entropy bonus; its derivative by the logits is
    written to `slope`.
    """
    count = len(logits)
    log_probs = torch.log_softmax(logits, dim=1)
    probs = log_probs.exp()
    taken = log_probs.gather(1, actions[:, None]).squeeze(1)
    log_ratio = taken - old_log_probs
    ratio = log_ratio.exp()
    plain = ratio * advantages
    bounded = ratio.clamp(1.0 - clip, 1.0 + clip) * advantages
    entropies = -(probs * log_probs).sum(dim=1)
    loss = -torch.minimum(plain, bounded).mean() - entropy_coefficient * entropies.mean()
    # Where the bounded term is the smaller one, the loss is flat in the ratio.
    steep = torch.where(plain <= bounded, plain, 0.0)
    torch.mul(probs, steep[:, None], out=slope)
    slope.scatter_add_(1, actions[:, None], -steep[:, None])
    slope.addcmul_(probs, log_probs + entropies[:, None], value=entropy_coefficient)
    slope.div_(count)
    return PolicyLoss(
        loss=loss,
        entropy=entropies.mean(),
        clipped=((ratio - 1.0).abs() > clip).float().mean(),
        divergence=(ratio - 1.0 - log_ratio).mean(),
    )


def value_loss(values: Tensor, returns: Tensor, coefficient: float, slope: Tensor) -> Tensor:
    """Half the mean squared error times the coefficient; its derivative goes to `slope`."""
    error = values - returns
    torch.mul(error, coefficient / len(values), out=slope)
    return 0.5 * coefficient * error.square().mean()
