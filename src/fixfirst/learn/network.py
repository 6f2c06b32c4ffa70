"""Actor and critic: two networks of tanh layers, and their derivatives by hand.

The derivatives are written out because automatic ones cost half as much again: they keep
and free every intermediate result of every minibatch. Here all memory is taken once.
"""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from fixfirst.learn import fused


class Network:
    """Layers of tanh and a linear last one. Weights are [in, out]."""

    def __init__(self, widths: Sequence[int], last_gain: float, generator: torch.Generator) -> None:
        self.widths = tuple(widths)
        self.weights: list[Tensor] = []
        self.biases: list[Tensor] = []
        last = len(widths) - 2
        for k, (inner, outer) in enumerate(itertools.pairwise(widths)):
            weight = torch.empty(outer, inner)
            gain = last_gain if k == last else math.sqrt(2)
            torch.nn.init.orthogonal_(weight, gain, generator)
            self.weights.append(weight.t().contiguous())
            self.biases.append(torch.zeros(outer))

    def parameters(self) -> list[Tensor]:
        """All weights and biases, in order."""
        return [*self.weights, *self.biases]

    @property
    def size(self) -> int:
        """How many numbers the parameters are."""
        return sum(parameter.numel() for parameter in self.parameters())

    def views(self, flat: Tensor) -> list[Tensor]:
        """The parameters' places in a row of `size` numbers."""
        shapes = [parameter.shape for parameter in self.parameters()]
        parts = torch.split(flat, [shape.numel() for shape in shapes])
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]

    def move_to(self, flat: Tensor) -> None:
        """Have the parameters in that row from now on."""
        places = self.views(flat)
        for place, parameter in zip(places, self.parameters(), strict=True):
            place.copy_(parameter)
        count = len(self.weights)
        self.weights, self.biases = places[:count], places[count:]

    def forward(self, inputs: Tensor, layers: list[Tensor]) -> Tensor:
        """The outputs for a batch; each layer's results go to (the first rows of) `layers`."""
        rows = len(inputs)
        current = inputs
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            out = layers[k][:rows]
            torch.addmm(bias, current, weight, out=out)
            if k + 1 < len(self.weights):
                _tanh(out)
            current = out
        return current

    def backward(
        self, inputs: Tensor, layers: list[Tensor], slopes: list[Tensor], gradients: list[Tensor]
    ) -> None:
        """Fill `gradients` (as `parameters`), given the derivative of the loss by the outputs in
        the last of `slopes`; the other slopes are for use as memory.
        """
        rows, count = len(inputs), len(self.weights)
        for k in reversed(range(count)):
            slope = slopes[k][:rows]
            below = layers[k - 1][:rows] if k else inputs
            torch.mm(below.t(), slope, out=gradients[k])
            torch.sum(slope, dim=0, out=gradients[count + k])
            if k:
                next_slope = slopes[k - 1][:rows]
                torch.mm(slope, self.weights[k].t(), out=next_slope)
                _tanh_slope(next_slope, below)

    def memory(self, rows: int, device: torch.device) -> list[Tensor]:
        """Memory for the results (or slopes) of all layers."""
        return [torch.empty(rows, width, device=device) for width in self.widths[1:]]


def _tanh(rows: Tensor) -> None:
    if fused.usable(rows):
        fused.tanh(rows.numpy())
    else:
        torch.tanh_(rows)


def _tanh_slope(slopes: Tensor, values: Tensor) -> None:
    """The derivative of tanh, by its own value: 1 - value ** 2."""
    if fused.usable(slopes):
        fused.tanh_slope(slopes.numpy(), values.numpy())
    else:
        slopes.addcmul_(slopes * values, values, value=-1.0)


class ActorCritic:
    """Two separate networks on the same observations.

    All parameters stand in one row, `flat`, the actor's first: what is done to each number
    alone, as by the optimiser, is done to all in one go.
    """

    def __init__(
        self, inputs: int, actions: int, hidden: Sequence[int], seed: int, device: torch.device
    ) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.inputs, self.actions, self.hidden = inputs, actions, tuple(hidden)
        self.actor = Network((inputs, *hidden, actions), 0.01, generator)
        self.critic = Network((inputs, *hidden, 1), 1.0, generator)
        self.device = device
        self.flat = torch.empty(self.actor.size + self.critic.size, device=device)
        for network, part in zip((self.actor, self.critic), self.parts(self.flat), strict=True):
            network.move_to(part)

    def parameters(self) -> list[Tensor]:
        """All weights and biases, the actor's first."""
        return [*self.actor.parameters(), *self.critic.parameters()]

    def parts(self, flat: Tensor) -> tuple[Tensor, Tensor]:
        """The actor's and the critic's part of a row like `flat`."""
        return flat[: self.actor.size], flat[self.actor.size :]

    def state(self) -> dict[str, Tensor]:
        """Weights and biases by name."""
        named = {}
        for name, network in (("actor", self.actor), ("critic", self.critic)):
            for k, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
                named[f"{name}.{k}.weight"] = weight
                named[f"{name}.{k}.bias"] = bias
        return named

    def load(self, state: dict[str, Tensor]) -> None:
        """Take over weights; an error names what does not fit."""
        own = self.state()
        for name, tensor in own.items():
            given = state.get(name)
            if given is None or given.shape != tensor.shape:
                shape = None if given is None else tuple(given.shape)
                raise ValueError(
                    f"the weights do not fit this network: {name} is {shape}, and is to be "
                    f"{tuple(tensor.shape)}; observation, groups and hidden layers must be the same"
                )
        if set(state) != set(own):
            extra = sorted(set(state) - set(own))[0]
            raise ValueError(f"the weights do not fit this network: it has no {extra}")
        for name, tensor in own.items():
            tensor.copy_(state[name])
