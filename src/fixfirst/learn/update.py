"""One PPO update: epochs of minibatches over a rollout."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from fixfirst.learn.advantages import Scale, estimate_advantages
from fixfirst.learn.loss import policy_loss, value_loss
from fixfirst.learn.network import ActorCritic, Network
from fixfirst.learn.options import PPO
from fixfirst.learn.rollout import MASKED, Rollout


class NotFiniteError(RuntimeError):
    """Training has produced a number that is not finite."""


@dataclass
class Told:
    """What an update tells: means over its minibatches."""

    policy_loss: float
    value_loss: float
    entropy: float
    clipped: float
    divergence: float
    gradient_norm: float
    explained: float  # share of the returns' variance that the values explained before


class Updater:
    """Memory, optimiser and scale of the updates of one policy."""

    def __init__(self, policy: ActorCritic, options: PPO, rollout: Rollout) -> None:
        self.policy, self.options = policy, options
        self.scale = Scale()
        self.total = rollout.steps * rollout.games
        self.minibatch = min(options.minibatch, self.total)
        self.parameters = policy.parameters()
        for parameter in self.parameters:
            parameter.grad = torch.zeros_like(parameter)
        self.gradients = [_given(parameter.grad) for parameter in self.parameters]
        self.adam = torch.optim.Adam(
            self.parameters, lr=options.learning_rate, eps=options.adam_epsilon,
            fused=policy.device.type == "cpu",
        )  # fmt: skip
        rows, device = self.minibatch, policy.device
        self._inputs = torch.empty(rows, policy.inputs, device=device)
        self._memory = {
            id(network): (network.memory(rows, device), network.memory(rows, device))
            for network in (policy.actor, policy.critic)
        }

    def values(self, observations: Tensor) -> Tensor:
        """The critic's values, as returns, of observations [..., inputs]."""
        flat = observations.reshape(-1, self.policy.inputs)
        layers, _ = self._memory[id(self.policy.critic)]
        parts = [
            self.policy.critic.forward(rows, layers).squeeze(1).clone()
            for rows in torch.split(flat, self.minibatch)
        ]
        return self._returns_of(torch.cat(parts)).reshape(observations.shape[:-1])

    def advantages(self, rollout: Rollout) -> tuple[Tensor, Tensor]:
        """Advantages and returns [T, N] of a rollout."""
        values = self.values(rollout.observations)
        advantages = estimate_advantages(
            rollout.rewards, values[:-1], rollout.truncated, self._returns_of(rollout.finals),
            values[-1], self.options.gamma, self.options.gae_lambda,
        )  # fmt: skip
        return advantages, advantages + values[:-1]

    def update(
        self, rollout: Rollout, advantages: Tensor, returns: Tensor, learning_rate: float,
        entropy: float, generator: torch.Generator,
    ) -> Told:  # fmt: skip
        """Improve the policy by a rollout."""
        explained = 1.0 - advantages.var() / returns.var().clamp(min=1e-12)
        if self.options.normalise_values:
            self.scale.take_in(returns)
        targets = self.scale.to_units(returns)
        for group in self.adam.param_groups:
            group["lr"] = learning_rate
        flat = _Flat(rollout, advantages, targets)
        told = []
        for _ in range(self.options.epochs):
            order = torch.randperm(self.total, generator=generator).to(self.policy.device)
            for rows in torch.split(order, self.minibatch):
                told.append(self._step(flat, rows, entropy))
        numbers = [*torch.stack(told).mean(dim=0).tolist(), explained.item()]
        if not all(math.isfinite(number) for number in numbers):
            raise NotFiniteError("the losses are no longer finite; a lower learning rate may help")
        return Told(*numbers)

    def _step(self, flat: "_Flat", rows: Tensor, entropy: float) -> Tensor:
        """One gradient step on the given samples."""
        options = self.options
        inputs = self._inputs[: len(rows)]
        torch.index_select(flat.observations, 0, rows, out=inputs)
        advantages = flat.advantages[rows]
        if options.normalise_advantages and len(rows) > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        actor, critic = self.policy.actor, self.policy.critic

        layers, slopes = self._memory[id(actor)]
        logits = actor.forward(inputs, layers)
        if flat.masks is not None:
            logits.masked_fill_(~flat.masks[rows], MASKED)
        policy = policy_loss(
            logits, flat.actions[rows], flat.log_probs[rows], advantages, options.clip, entropy,
            slopes[-1][: len(rows)],
        )  # fmt: skip
        actor.backward(inputs, layers, slopes, self._gradients_of(actor))

        layers, slopes = self._memory[id(critic)]
        values = critic.forward(inputs, layers)
        loss = value_loss(
            values, flat.targets[rows][:, None], options.value_coefficient, slopes[-1][: len(rows)]
        )
        critic.backward(inputs, layers, slopes, self._gradients_of(critic))

        norm = torch.nn.utils.clip_grad_norm_(self.parameters, options.max_gradient_norm)
        self.adam.step()
        return torch.stack(
            [policy.loss, loss, policy.entropy, policy.clipped, policy.divergence, norm]
        )

    def _gradients_of(self, network: Network) -> list[Tensor]:
        count = len(self.policy.actor.parameters())
        return self.gradients[:count] if network is self.policy.actor else self.gradients[count:]

    def _returns_of(self, values: Tensor) -> Tensor:
        return self.scale.from_units(values)


class _Flat:
    """A rollout's samples in one row each."""

    def __init__(self, rollout: Rollout, advantages: Tensor, targets: Tensor) -> None:
        self.observations = rollout.observations[:-1].reshape(-1, rollout.inputs)
        self.actions = rollout.actions.reshape(-1)
        self.log_probs = rollout.log_probs.reshape(-1)
        self.advantages = advantages.reshape(-1)
        self.targets = targets.reshape(-1)
        self.masks = None if rollout.masks is None else rollout.masks.flatten(0, 1)


def _given(gradient: Tensor | None) -> Tensor:
    assert gradient is not None
    return gradient
