"""The derivatives by hand are those that PyTorch works out by itself."""

import pytest
import torch

from fixfirst.learn.loss import policy_loss, value_loss
from fixfirst.learn.network import ActorCritic, Network


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def reference_policy_loss(logits, actions, old, advantages, clip, entropy):
    """Written as in the paper, for automatic differentiation."""
    distribution = torch.distributions.Categorical(logits=logits)
    ratio = (distribution.log_prob(actions) - old).exp()
    surrogate = torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
    return -surrogate.mean() - entropy * distribution.entropy().mean()


@pytest.mark.parametrize("entropy", [0.0, 0.3])
@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_the_policy_loss_and_its_derivative(entropy, spread):
    draw = generator(1)
    logits = torch.randn(200, 7, generator=draw, dtype=torch.float64, requires_grad=True)
    actions = torch.randint(0, 7, (200,), generator=draw)
    old = torch.log_softmax(logits.detach(), 1).gather(1, actions[:, None]).squeeze(1)
    old = old + spread * torch.randn(200, generator=draw, dtype=torch.float64)
    advantages = torch.randn(200, generator=draw, dtype=torch.float64)
    expected = reference_policy_loss(logits, actions, old, advantages, 0.2, entropy)
    expected.backward()
    slope = torch.empty_like(logits.detach())
    told = policy_loss(logits.detach(), actions, old, advantages, 0.2, entropy, slope)
    assert told.loss == pytest.approx(expected.item())
    assert torch.allclose(slope, logits.grad)
    assert (told.clipped > 0) == (spread == 1.0)


def test_an_unchanged_policy_is_neither_clipped_nor_diverged():
    logits = torch.randn(50, 5, generator=generator())
    actions = torch.arange(50) % 5
    old = torch.log_softmax(logits, 1).gather(1, actions[:, None]).squeeze(1)
    told = policy_loss(logits, actions, old, torch.ones(50), 0.2, 0.0, torch.empty_like(logits))
    assert told.loss == pytest.approx(-1.0)
    assert told.clipped == 0
    assert told.divergence == pytest.approx(0.0, abs=1e-6)


def test_the_value_loss_and_its_derivative():
    values = torch.randn(30, 1, generator=generator(), dtype=torch.float64, requires_grad=True)
    returns = torch.randn(30, 1, generator=generator(2), dtype=torch.float64)
    expected = 0.7 * 0.5 * torch.nn.functional.mse_loss(values, returns)
    expected.backward()
    slope = torch.empty_like(values.detach())
    assert value_loss(values.detach(), returns, 0.7, slope) == pytest.approx(expected.item())
    assert torch.allclose(slope, values.grad)


@pytest.mark.parametrize("hidden", [(), (8,), (8, 6), (5, 4, 3)])
@pytest.mark.parametrize("rows", [16, 11])
def test_a_network_and_its_derivatives(hidden, rows):
    network = Network((9, *hidden, 4), 1.0, generator())
    inputs = torch.randn(rows, 9, generator=generator(3))
    slope = torch.randn(rows, 4, generator=generator(4))
    parameters = [p.clone().requires_grad_() for p in network.parameters()]
    count = len(parameters) // 2
    current = inputs
    for k in range(count):
        current = current @ parameters[k] + parameters[count + k]
        if k + 1 < count:
            current = current.tanh()
    current.backward(slope)

    device = torch.device("cpu")
    layers, slopes = network.memory(16, device), network.memory(16, device)
    assert torch.allclose(network.forward(inputs, layers), current, atol=1e-6)
    slopes[-1][:rows] = slope
    gradients = [torch.empty_like(p) for p in network.parameters()]
    network.backward(inputs, layers, slopes, gradients)
    for mine, theirs in zip(gradients, parameters, strict=True):
        assert torch.allclose(mine, theirs.grad, atol=1e-5)


def test_the_same_seed_gives_the_same_networks():
    networks = [ActorCritic(10, 5, (8,), seed, torch.device("cpu")) for seed in (1, 1, 2)]
    first, same, other = (n.state() for n in networks)
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["actor.0.weight"], other["actor.0.weight"])


def test_weights_that_do_not_fit_are_refused_by_name():
    small, large = (ActorCritic(n, 5, (8,), 0, torch.device("cpu")) for n in (10, 11))
    with pytest.raises(ValueError, match=r"actor\.0\.weight is \(10, 8\).*\(11, 8\)"):
        large.load(small.state())
    with pytest.raises(ValueError, match="has no extra"):
        small.load(small.state() | {"extra": torch.zeros(1)})
