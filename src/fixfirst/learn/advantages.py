"""Generalised advantage estimation, and the scale of values."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor


def estimate_advantages(
    rewards: Tensor,
    values: Tensor,
    truncated: Tensor,
    final_values: Tensor,
    last_values: Tensor,
    gamma: float,
    gae_lambda: float,
) -> Tensor:
    """The advantages [T, N] of T steps of N games.

    rewards, values, truncated   [T, N]: of the step from observation t, V(observation t), and
                                 whether the horizon came after it
    final_values                 [T, N]: V(the last observation of the episode); read only where
                                 truncated. A horizon is no end of the game: the future beyond
                                 it counts, by this estimate, and no advantage passes over it
    last_values                  [N]: V(the observation after the last step), where not truncated
    """
    advantages = torch.empty_like(rewards)
    following, advantage = last_values, torch.zeros_like(last_values)
    for t in reversed(range(len(rewards))):
        ended = truncated[t]
        ahead = torch.where(ended, final_values[t], following)
        delta = rewards[t] + gamma * ahead - values[t]
        advantage = delta + gamma * gae_lambda * torch.where(ended, 0.0, advantage)
        advantages[t] = advantage
        following = values[t]
    return advantages


@dataclass
class Scale:
    """The running mean and spread of returns: the critic learns values in these units."""

    mean: float = 0.0
    spread: float = 1.0
    seen: float = 0.0  # updates, of which old ones count less and less

    KEPT: ClassVar[float] = 0.95  # of the weight of what came before, at each update

    def take_in(self, returns: Tensor) -> None:
        """Move towards the mean and spread of these returns."""
        square = self.spread**2 + self.mean**2
        weight = self.seen * self.KEPT
        mean, second = returns.mean().item(), returns.square().mean().item()
        self.seen = weight + 1.0
        self.mean = (weight * self.mean + mean) / self.seen
        square = (weight * square + second) / self.seen
        self.spread = max(square - self.mean**2, 1e-8) ** 0.5

    def to_units(self, returns: Tensor) -> Tensor:
        """Returns in the critic's units."""
        return (returns - self.mean) / self.spread

    def from_units(self, values: Tensor) -> Tensor:
        """The critic's values as returns."""
        return values * self.spread + self.mean
