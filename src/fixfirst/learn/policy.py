"""A trained policy, read from its checkpoint and ready to act."""

import os

import numpy as np
import torch
from torch import Tensor

from fixfirst.game.tables import ACTIONS
from fixfirst.learn import checkpoint
from fixfirst.learn.network import ActorCritic
from fixfirst.learn.rollout import MASKED, input_width, order_features, sample
from fixfirst.learn.train import latest_checkpoint
from fixfirst.workflow.orders import Workflow


class Policy:
    """The weights of a checkpoint (or of the newest one of a run), and the order they follow."""

    def __init__(self, path: str | os.PathLike[str], order: Workflow | str | None = None) -> None:
        where = latest_checkpoint(path)
        self.setup = checkpoint.setup_of(where)
        workflows = self.setup.workflows
        width = input_width(workflows, self.setup.memory)
        self.network = ActorCritic(width, ACTIONS, self.setup.ppo.hidden, 0, torch.device("cpu"))
        self.network.load(checkpoint.weights_of(where))
        self.order = self._order(order, workflows)
        self._features = order_features([self.order] if self.order else [], 1)

    def act(
        self,
        observation: np.ndarray,
        mask: np.ndarray | None = None,
        dice: np.ndarray | None = None,
    ) -> np.ndarray:
        """An action [N] for each game.

        observation   bits [N, 52], or with memory [N, 196], as the environment returns them
        mask          the environment's `action_mask` [N, 145], for a policy trained with masks
        dice          numbers [N] in [0, 1) to draw the actions by; without them each is the
                      likeliest one
        """
        logits = self.logits(observation, mask)
        if dice is None:
            return logits.argmax(dim=1).numpy()
        return sample(logits, torch.from_numpy(dice.astype(np.float32))).numpy()

    def logits(self, observation: np.ndarray, mask: np.ndarray | None = None) -> Tensor:
        """How much the policy is for each action [N, 145]."""
        games, width = len(observation), self.network.inputs - self._features.shape[1]
        if observation.shape != (games, width):
            raise ValueError(
                f"observations have shape {observation.shape}; this policy takes ({games}, {width})"
            )
        if self.setup.mask != (mask is not None):
            raise ValueError(
                "this policy was trained "
                + ("with masks; give the environment's action_mask" if self.setup.mask else
                   "without masks; leave the mask away")
            )  # fmt: skip
        features = np.broadcast_to(self._features, (games, self._features.shape[1]))
        inputs = torch.from_numpy(np.concatenate([observation, features], 1, dtype=np.float32))
        layers = self.network.actor.memory(games, torch.device("cpu"))
        logits = self.network.actor.forward(inputs, layers)
        if mask is not None:
            logits.masked_fill_(~torch.from_numpy(mask), MASKED)
        return logits

    def _order(self, order: Workflow | str | None, trained: list[Workflow]) -> Workflow | None:
        if order is None:
            if len(set(trained)) > 1:
                raise ValueError("this policy was trained on several orders; say which to follow")
            return trained[0] if trained else None
        if not trained:
            raise ValueError("this policy was trained without an order, and cannot follow one")
        return order if isinstance(order, Workflow) else Workflow(order, trained[0].groups)
