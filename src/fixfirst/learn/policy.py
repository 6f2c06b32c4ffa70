"""A trained policy as a blue of the judge's: it sees bits, and what it can remember."""

import os

import numpy as np
import torch

from fixfirst.envs.batch import Batch
from fixfirst.game.tables import ACTIONS
from fixfirst.learn import checkpoint
from fixfirst.learn.network import ActorCritic
from fixfirst.learn.rollout import MASKED, input_width, observe, order_features, sample
from fixfirst.learn.train import latest_checkpoint
from fixfirst.workflow.orders import Workflow


class Policy:
    """The weights of a checkpoint, ready to act in batches of games."""

    def __init__(self, path: str | os.PathLike[str], order: Workflow | str | None = None) -> None:
        where = latest_checkpoint(path)
        self.setup = checkpoint.setup_of(where)
        workflows = self.setup.workflows
        width = input_width(workflows, self.setup.memory)
        self.network = ActorCritic(width, ACTIONS, self.setup.ppo.hidden, 0, torch.device("cpu"))
        self.network.load(checkpoint.weights_of(where))
        self.order = self._order(order, workflows)

    def act(
        self, batch: Batch, generator: torch.Generator | None, features: np.ndarray | None = None
    ) -> np.ndarray:
        """An action [N] for each game: drawn, or the likeliest one if there is no generator."""
        games = len(batch.games)
        inputs = torch.empty(games, self.network.inputs)
        if features is None:
            features = order_features([self.order] if self.order else [], games)
        if features.shape[1]:
            inputs[:, -features.shape[1] :] = torch.from_numpy(np.ascontiguousarray(features))
        observe(batch, inputs)
        logits = self.network.actor.forward(
            inputs, self.network.actor.memory(games, torch.device("cpu"))
        )
        if self.setup.mask and batch.recalling is not None:
            logits.masked_fill_(~torch.from_numpy(batch.recalling.masks), MASKED)
        if generator is None:
            return logits.argmax(dim=1).numpy()
        return sample(logits, torch.rand(games, generator=generator)).numpy()

    def _order(self, order: Workflow | str | None, trained: list[Workflow]) -> Workflow | None:
        if order is None:
            if len(set(trained)) > 1:
                raise ValueError("this policy was trained on several orders; say which to follow")
            return trained[0] if trained else None
        if not trained:
            raise ValueError("this policy was trained without an order, and cannot follow one")
        return order if isinstance(order, Workflow) else Workflow(order, trained[0].groups)
