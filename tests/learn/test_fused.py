"""What is compiled for the processor gives what PyTorch gives."""

import numpy as np
import pytest
import torch

from fixfirst.learn import fused, loss, rollout
from fixfirst.learn.workers import Workers

pytestmark = pytest.mark.skipif(fused.INTERPRETED, reason="PyTorch's own functions are in use")


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_tangent_is_right_to_the_last_bits():
    x = np.concatenate([np.linspace(-12, 12, 20_001), [0.0, 1e-8, -1e-30, 80, np.inf, -np.inf]])
    rows = x.astype(np.float32)[None]
    fused.tanh(rows)
    assert np.abs(rows[0] - np.tanh(x)).max() < 4e-7


def test_not_a_number_stays_so():
    rows = np.array([[0.5, np.nan, 2.0]], np.float32)
    fused.tanh(rows)
    assert np.isnan(rows[0]).tolist() == [False, True, False]


def test_the_slope_of_the_tangent():
    slopes, values = torch.randn(2, 30, 7, generator=generator())
    expected = slopes * (1 - values**2)
    fused.tanh_slope(slopes.numpy(), values.numpy())
    assert torch.allclose(slopes, expected, atol=1e-6)


@pytest.mark.parametrize("entropy", [0.0, 0.3])
@pytest.mark.parametrize("height", [0.1, 3.0, 60.0])
@pytest.mark.parametrize("barred", [False, True])
def test_the_policy_loss_and_its_slopes(entropy, height, barred):
    draw = generator(1)
    rows, width = 300, 145
    logits = height * torch.randn(rows, width, generator=draw)
    actions = torch.randint(0, width, (rows,), generator=draw)
    if barred:
        mask = torch.rand(rows, width, generator=draw) < 0.4
        mask[torch.arange(rows), actions] = False
        logits.masked_fill_(mask, rollout.MASKED)
    old = torch.log_softmax(logits, 1).gather(1, actions[:, None]).squeeze(1)
    old = old + 0.3 * torch.randn(rows, generator=draw)
    advantages = torch.randn(rows, generator=draw)
    mine, theirs = torch.empty_like(logits), torch.empty_like(logits)
    arguments = (logits, actions, old, advantages, 0.2, entropy)
    told = loss.policy_loss(*arguments, mine)
    expected = loss._by_torch(*arguments, theirs, rows)
    assert told == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert torch.allclose(mine, theirs, atol=2e-7)
    if barred:
        assert not mine[mask].any()


def test_parts_of_a_minibatch_add_up_to_it():
    draw = generator(2)
    logits, slope = torch.randn(50, 9, generator=draw), torch.empty(50, 9)
    actions = torch.randint(0, 9, (50,), generator=draw)
    old, advantages = torch.randn(2, 50, generator=draw)
    whole = loss.policy_loss(logits, actions, old - 3, advantages, 0.2, 0.1, slope)
    parts, slopes = [], torch.empty_like(slope)
    for part in Workers(3).parts(50):
        parts.append(
            loss.policy_loss(
                logits[part], actions[part], old[part] - 3, advantages[part], 0.2, 0.1,
                slopes[part], 50,
            )
        )  # fmt: skip
    assert np.sum(parts, axis=0) == pytest.approx(np.array(whole))
    assert torch.equal(slope, slopes)


@pytest.mark.parametrize("height", [0.1, 5.0])
def test_draws_are_those_of_the_cumulative_probabilities(height):
    draw = generator(3)
    logits = height * torch.randn(4000, 145, generator=draw)
    logits[:, ::3] = rollout.MASKED
    dice = torch.rand(4000, generator=draw)
    actions, log_probs = torch.empty(4000, dtype=torch.int64), torch.empty(4000)
    rollout.draw(logits.clone(), dice, actions, log_probs)
    heights = torch.softmax(logits.double(), 1).cumsum(1)
    exact = (heights <= dice[:, None]).sum(1)
    assert (actions != exact).float().mean() < 1e-3  # at the very edge between two actions
    assert (actions % 3 != 0).all()
    expected = torch.log_softmax(logits, 1).gather(1, actions[:, None]).squeeze(1)
    assert torch.allclose(log_probs, expected, atol=1e-5)


def test_workers_keep_the_order_and_pass_errors_on():
    workers = Workers(2)
    assert workers.parts(5) == [slice(0, 2), slice(2, 5)]
    assert workers.parts(1) == [slice(0, 1)]
    assert workers.map(lambda part: part.stop, workers.parts(5)) == [2, 5]

    def fail(part):
        raise ArithmeticError(part.stop)

    for parts in (workers.parts(5), workers.parts(1)):
        with pytest.raises(ArithmeticError):
            workers.map(fail, parts)


def test_pytorch_works_in_one_thread_meanwhile_and_in_its_own_again():
    before = torch.get_num_threads()
    with Workers(2).alone():
        assert torch.get_num_threads() == 1
        assert Workers(2).map(lambda _: torch.get_num_threads(), [0, 1]) == [1, 1]
    assert torch.get_num_threads() == before


def test_what_rounding_leaves_over_goes_to_an_action_that_has_a_chance():
    logits = 0.1 * torch.randn(5000, 145, generator=generator(4))
    logits[:, -9:] = rollout.MASKED
    dice = torch.full((5000,), 1.0 - 2.0**-24)
    actions = rollout.sample(logits, dice)
    assert (actions < 145 - 9).all()
    assert (actions > 100).all()
