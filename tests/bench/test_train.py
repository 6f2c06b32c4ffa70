"""What `bench train` says of a run is what the run was."""

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")

import torch

from fixfirst.bench import train as bench
from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup
from fixfirst.learn.training import Training

TINY = {"n_envs": 20, "horizon": 10, "ppo": PPO(steps=10, minibatch=50, hidden=(8,))}


def test_the_parts_of_the_time_and_what_they_leave_add_up_to_the_whole():
    figures = bench.measure(0.05, **TINY)
    assert figures["episodes"] * 10 == figures["steps"] >= 1000
    parts = sum(figures["microseconds_per_step"].values()) * figures["steps"] / 1e6
    left = figures["unexplained"] * figures["seconds"]
    assert parts + left == pytest.approx(figures["seconds"])
    assert set(figures["microseconds_per_step"]) == set(bench.PARTS)


def test_the_operations_of_a_step_are_those_of_its_matrix_products():
    setup = bench.setup_of(1, **TINY)
    seen = []

    class Counting(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            name = function.overloadpacket.__name__
            if name in ("mm", "addmm"):
                left, right = arguments[-2:]
                seen.append(2.0 * left.shape[0] * left.shape[1] * right.shape[1])
            return function(*arguments, **(options or {}))

    before = torch.get_num_threads()
    torch.set_num_threads(1)  # other threads would not be seen
    try:
        trained = Training(setup)
        with Counting():
            trained.update()
    finally:
        torch.set_num_threads(before)
    policy = trained.policy
    critic = sum(2.0 * weight.numel() for weight in policy.critic.weights)
    # Beside what each step costs, the critic looks at the observations after the last steps
    # and at those that resets have replaced.
    extra = critic * (TINY["n_envs"] * 2)
    assert sum(seen) == pytest.approx(bench.flops_of_a_step(setup) * 200 + extra)


def test_the_order_and_the_number_of_updates_are_as_asked():
    setup = bench.setup_of(7, n_envs=30)
    assert (setup.episodes, setup.orders) == (210, (bench.ORDER,))
    assert not setup.stop_at_gate
    assert bench.setup_of(1) == Setup(orders=(bench.ORDER,), episodes=200, stop_at_gate=False)
