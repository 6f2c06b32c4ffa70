"""Playing a batch of games with a policy, and keeping what the update needs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fixfirst.envs.memory import WIDTH
from fixfirst.game.tables import ACTIONS, OBSERVATION_BITS
from fixfirst.learn import fused
from fixfirst.learn.games import Games
from fixfirst.learn.network import ActorCritic
from fixfirst.learn.workers import Workers
from fixfirst.workflow.orders import Workflow

MASKED = -1e9  # the logit of an action that is not allowed


def input_width(orders: Sequence[Workflow], memory: bool) -> int:
    """How many numbers the networks see: the observation, and the order as a one-hot matrix."""
    groups = len(orders[0].groups) if orders else 0
    return (WIDTH if memory else OBSERVATION_BITS) + groups * groups


def order_features(orders: Sequence[Workflow], games: int) -> np.ndarray:
    """The orders' one-hot matrices as rows [games, k * k]; [games, 0] without orders."""
    if not orders:
        return np.zeros((games, 0), dtype=np.float32)
    rows = np.stack([order.one_hot.reshape(-1) for order in orders]).astype(np.float32)
    return np.broadcast_to(rows, (games, rows.shape[1])) if len(rows) == 1 else rows


def observe(batch: Games, memory: bool, into: Tensor) -> None:
    """Write the batch's observations into the first columns of `into` [N, inputs]."""
    recalling = batch.recalling
    seen = recalling.rows if memory and recalling is not None else batch.observation
    into[:, : seen.shape[1]].copy_(torch.from_numpy(seen))


def sample(logits: Tensor, dice: Tensor) -> Tensor:
    """An action for each row, by inverting its cumulative probabilities at `dice` in [0, 1)."""
    actions = torch.empty(len(logits), dtype=torch.int64, device=logits.device)
    draw(logits.clone(), dice, actions, torch.empty_like(dice))
    return actions


def draw(logits: Tensor, dice: Tensor, actions: Tensor, log_probs: Tensor) -> None:
    """As `sample`, into `actions`, with the log-probability of each; `logits` may be overwritten.

    A row's total is what its own sum says, not 1, so that rounding can draw no action that
    does not exist or has no chance.
    """
    if fused.usable(logits):
        fused.draw(logits.numpy(), dice.numpy(), actions.numpy(), log_probs.numpy())
        return
    heights = torch.softmax(logits, dim=1).cumsum_(dim=1)
    cut = dice[:, None] * heights[:, -1:]
    actions.copy_((heights <= cut).sum(dim=1).clamp_(max=logits.shape[1] - 1))
    log_probs.copy_(logits.gather(1, actions[:, None]).squeeze(1) - logits.logsumexp(dim=1))


@dataclass
class Episodes:
    """What the episodes that ended in a rollout brought. All arrays are [episodes]."""

    environment: np.ndarray
    alignment: np.ndarray
    fixes: np.ndarray
    compliant: np.ndarray
    game: np.ndarray  # which game of the batch

    @property
    def total(self) -> np.ndarray:
        """Environment and alignment reward together."""
        return np.asarray(self.environment + self.alignment)

    @property
    def compliance(self) -> float:
        """Compliant fixes / fixes, over all; 0.5 if nothing was fixed."""
        fixes = int(self.fixes.sum())
        return float(self.compliant.sum() / fixes) if fixes else 0.5


class Rollout:
    """T steps of N games. All memory is taken once and used again for every rollout."""

    def __init__(
        self, steps: int, games: int, inputs: int, device: torch.device, memory: bool, masked: bool,
        workers: Workers,
    ) -> None:  # fmt: skip
        self.steps, self.games, self.inputs, self.device = steps, games, inputs, device
        self.memory = memory
        self.observations = torch.zeros(steps + 1, games, inputs, device=device)
        self.actions = torch.zeros(steps, games, dtype=torch.int64, device=device)
        self.log_probs = torch.zeros(steps, games, device=device)
        self.rewards = torch.zeros(steps, games, device=device)
        self.truncated = torch.zeros(steps, games, dtype=torch.bool, device=device)
        # V(the last observation of the episode), where truncated
        self.finals = torch.zeros(steps, games, device=device)
        self.masks: Tensor | None = None
        if masked:
            self.masks = torch.ones(steps, games, ACTIONS, dtype=torch.bool, device=device)
        self._final_observation = torch.zeros(games, inputs, device=device)
        self.workers, self._parts = workers, workers.parts(games)
        self.game_seconds = 0.0  # that the games took in the last rollout

    def set_orders(self, features: np.ndarray) -> None:
        """Write the orders into their columns, once for all steps."""
        if features.shape[1]:
            rows = torch.from_numpy(np.ascontiguousarray(features))
            self.observations[:, :, -features.shape[1] :] = rows
            self._final_observation[:, -features.shape[1] :] = rows

    def collect(
        self, batch: Games, policy: ActorCritic, generator: torch.Generator, reward_scale: float
    ) -> Episodes:
        """Play. An action is chosen from the very observation that is kept beside it."""
        layers = policy.actor.memory(self.games, self.device)
        ended: list[Episodes] = []
        dice = torch.rand(self.steps, self.games, generator=generator).to(self.device)
        self.game_seconds = 0.0
        for t in range(self.steps):
            observe(batch, self.memory, self.observations[t])
            if self.masks is not None and batch.recalling is not None:
                self.masks[t] = torch.from_numpy(batch.recalling.masks)
            self._choose(t, policy, layers, dice[t])
            actions = self.actions[t].cpu().numpy()
            began = time.perf_counter()
            batch.step(actions)
            self.game_seconds += time.perf_counter() - began
            results = batch.results
            self.rewards[t] = torch.from_numpy(batch.rewards)
            self.truncated[t] = torch.from_numpy(results.truncated)
            if results.truncated.any():
                self._keep_ends(batch, policy, t)
                ended.append(ended_episodes(batch, results.truncated))
        self.rewards.mul_(reward_scale)
        observe(batch, self.memory, self.observations[self.steps])
        return join(ended)

    def _choose(self, t: int, policy: ActorCritic, layers: list[Tensor], dice: Tensor) -> None:
        """Draw the actions of step t, and keep how likely they were."""

        def work(part: slice) -> None:
            logits = policy.actor.forward(self.observations[t, part], [x[part] for x in layers])
            if self.masks is not None:
                logits.masked_fill_(~self.masks[t, part], MASKED)
            draw(logits, dice[part], self.actions[t, part], self.log_probs[t, part])

        self.workers.map(work, self._parts)

    def _keep_ends(self, batch: Games, policy: ActorCritic, t: int) -> None:
        """The value of the observation that a same-step reset has replaced."""
        recalling = batch.recalling
        seen = batch.final_observation
        if self.memory and recalling is not None:
            seen = recalling.finals
        self._final_observation[:, : seen.shape[1]].copy_(torch.from_numpy(seen))
        layers = policy.critic.memory(self.games, self.device)
        self.finals[t] = policy.critic.forward(self._final_observation, layers).squeeze(1)


def ended_episodes(batch: Games, truncated: np.ndarray) -> Episodes:
    """The episodes that ended in the last step of a batch with same-step reset."""
    which = np.flatnonzero(truncated)
    environment = batch.final_state.episode_return[which]
    if batch.following is None:
        none = np.zeros(len(which))
        return Episodes(environment, none, none.astype(int), none.astype(int), which)
    kept = batch.following.finals[which]
    return Episodes(
        environment, kept["reward"].copy(), kept["fixes"].astype(np.int64),
        kept["compliant"].astype(np.int64), which,
    )  # fmt: skip


def join(parts: list[Episodes]) -> Episodes:
    """Several as one."""
    names = ("environment", "alignment", "fixes", "compliant", "game")
    if not parts:
        return Episodes(*(np.zeros(0) for _ in names))
    return Episodes(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
