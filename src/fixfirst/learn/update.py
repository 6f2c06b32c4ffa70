"""One PPO update: epochs of minibatches over a rollout."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fixfirst.learn.advantages import Scale, estimate_advantages
from fixfirst.learn.loss import policy_loss, value_loss
from fixfirst.learn.network import ActorCritic
from fixfirst.learn.options import PPO
from fixfirst.learn.rollout import MASKED, Rollout
from fixfirst.learn.workers import Workers


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


class _Desk:
    """The memory that one thread needs to work on its part of a minibatch."""

    def __init__(self, policy: ActorCritic, rows: int) -> None:
        device = policy.device
        self.inputs = torch.empty(rows, policy.inputs, device=device)
        self.layers = {n: n.memory(rows, device) for n in (policy.actor, policy.critic)}
        self.slopes = {n: n.memory(rows, device) for n in (policy.actor, policy.critic)}
        self.gradient = torch.zeros_like(policy.flat)
        self.gradients = {
            network: network.views(part)
            for network, part in zip(
                (policy.actor, policy.critic), policy.parts(self.gradient), strict=True
            )
        }


class Updater:
    """Memory, optimiser and scale of the updates of one policy."""

    def __init__(
        self, policy: ActorCritic, options: PPO, rollout: Rollout, workers: Workers
    ) -> None:
        self.policy, self.options, self.workers = policy, options, workers
        self.scale = Scale()
        self.total = rollout.steps * rollout.games
        self.minibatch = min(options.minibatch, self.total)
        self.gradient = policy.flat.grad = torch.zeros_like(policy.flat)
        self.adam = torch.optim.Adam(
            [policy.flat], lr=options.learning_rate, eps=options.adam_epsilon,
            fused=policy.device.type == "cpu",
        )  # fmt: skip
        share = -(-self.minibatch // workers.threads)
        self._desks = [_Desk(policy, share) for _ in range(workers.threads)]

    def values(self, observations: Tensor) -> Tensor:
        """The critic's values, as returns, of observations [..., inputs]."""
        flat = observations.reshape(-1, self.policy.inputs)
        values = torch.empty(len(flat), device=flat.device)
        critic = self.policy.critic

        def work(job: tuple[_Desk, slice]) -> None:
            desk, part = job
            size = len(desk.inputs)
            for rows, out in zip(
                torch.split(flat[part], size), torch.split(values[part], size), strict=True
            ):
                out.copy_(critic.forward(rows, desk.layers[critic]).squeeze(1))

        self.workers.map(work, self._jobs(len(flat)))
        return self._returns_of(values).reshape(observations.shape[:-1])

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
        numbers = [*np.mean(told, axis=0).tolist(), explained.item()]
        if not all(map(math.isfinite, numbers)) or not self.policy.flat.isfinite().all():
            raise NotFiniteError(
                "losses or weights are no longer finite; a lower learning rate may help"
            )
        return Told(*numbers)

    def _step(self, flat: "_Flat", rows: Tensor, entropy: float) -> list[float]:
        """One gradient step on the given samples."""
        options, advantages = self.options, flat.advantages[rows]
        if options.normalise_advantages and len(rows) > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        jobs = self._jobs(len(rows))
        told = self.workers.map(
            lambda job: self._slopes(job[0], flat, rows[job[1]], advantages[job[1]], entropy,
                                     len(rows)), jobs,
        )  # fmt: skip
        self.gradient.copy_(jobs[0][0].gradient)
        for desk, _ in jobs[1:]:
            self.gradient.add_(desk.gradient)
        norm = self.gradient.norm().item()
        self.gradient.mul_(min(1.0, options.max_gradient_norm / (norm + 1e-6)))
        self.adam.step()
        return [*(sum(column) for column in zip(*told, strict=True)), norm]

    def _slopes(
        self, desk: _Desk, flat: "_Flat", rows: Tensor, advantages: Tensor, entropy: float,
        count: int,
    ) -> list[float]:  # fmt: skip
        """The gradients of some samples' share of the loss, left on the desk; what they tell."""
        options, size = self.options, len(rows)
        actor, critic = self.policy.actor, self.policy.critic
        inputs = torch.index_select(flat.observations, 0, rows, out=desk.inputs[:size])

        layers, slopes = desk.layers[actor], desk.slopes[actor]
        logits = actor.forward(inputs, layers)
        if flat.masks is not None:
            logits.masked_fill_(~flat.masks[rows], MASKED)
        policy = policy_loss(
            logits, flat.actions[rows], flat.log_probs[rows], advantages, options.clip, entropy,
            slopes[-1][:size], count,
        )  # fmt: skip
        actor.backward(inputs, layers, slopes, desk.gradients[actor])

        layers, slopes = desk.layers[critic], desk.slopes[critic]
        values = critic.forward(inputs, layers)
        value = value_loss(
            values, flat.targets[rows][:, None], options.value_coefficient, slopes[-1][:size],
            count,
        )  # fmt: skip
        critic.backward(inputs, layers, slopes, desk.gradients[critic])
        return [policy.loss, value, policy.entropy, policy.clipped, policy.divergence]

    def _jobs(self, rows: int) -> list[tuple[_Desk, slice]]:
        """A desk and a part of the rows for each thread."""
        return list(zip(self._desks, self.workers.parts(rows), strict=False))

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
