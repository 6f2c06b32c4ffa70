"""Generalised advantage estimation on known answers."""

import pytest
import torch

from fixfirst.learn.advantages import Scale, estimate_advantages


def estimate(rewards, values, truncated=None, finals=None, last=0.0, gamma=0.9, lam=0.8):
    def column(numbers):
        return torch.tensor(numbers, dtype=torch.float64)[:, None]

    ended = [False] * len(rewards) if truncated is None else truncated
    finals = [0.0] * len(rewards) if finals is None else finals
    result = estimate_advantages(
        column(rewards), column(values), torch.tensor(ended)[:, None], column(finals),
        torch.tensor([last], dtype=torch.float64), gamma, lam,
    )  # fmt: skip
    return result[:, 0].tolist()


def test_one_step_is_the_temporal_difference():
    assert estimate([1.0], [2.0], last=3.0) == pytest.approx([1.0 + 0.9 * 3.0 - 2.0])


def test_lambda_zero_looks_one_step_ahead():
    rewards, values = [1.0, 2.0, 3.0], [0.5, 1.5, 2.5]
    expected = [1 + 0.9 * 1.5 - 0.5, 2 + 0.9 * 2.5 - 1.5, 3 + 0.9 * 4 - 2.5]
    assert estimate(rewards, values, last=4.0, lam=0.0) == pytest.approx(expected)


def test_lambda_one_is_the_discounted_return_less_the_value():
    rewards, values = [1.0, 2.0, 3.0], [0.5, 1.5, 2.5]
    first = 1 + 0.9 * 2 + 0.81 * 3 + 0.729 * 4 - 0.5
    assert estimate(rewards, values, last=4.0, lam=1.0)[0] == pytest.approx(first)


def test_an_example_by_hand():
    # deltas: 1 + .9*2 - 1 = 1.8; 0 + .9*3 - 2 = .7; 2 + .9*0 - 3 = -1; decay .72
    expected = [1.8 + 0.72 * (0.7 + 0.72 * -1.0), 0.7 + 0.72 * -1.0, -1.0]
    assert estimate([1.0, 0.0, 2.0], [1.0, 2.0, 3.0]) == pytest.approx(expected)


def test_a_horizon_counts_the_future_beyond_it_and_passes_nothing_over():
    # The second step is the last of its episode, whose last observation is worth 5.
    got = estimate(
        [1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [False, True, False], [9.0, 5.0, 9.0], last=7.0
    )
    second = 2.0 + 0.9 * 5.0
    assert got == pytest.approx([1.0 + 0.72 * second, second, 3.0 + 0.9 * 7.0])


def test_the_scale_follows_mean_and_spread():
    scale = Scale()
    returns = torch.tensor([1.0, 3.0, 5.0, 7.0])
    scale.take_in(returns)
    assert (scale.mean, scale.spread) == pytest.approx((4.0, 5**0.5))
    units = scale.to_units(returns)
    assert units.mean().item() == pytest.approx(0.0, abs=1e-6)
    assert torch.allclose(scale.from_units(units), returns)
    for _ in range(300):
        scale.take_in(returns + 10)
    assert scale.mean == pytest.approx(14.0, abs=1e-3)
