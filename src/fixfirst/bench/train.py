"""The speed of training: what `fixfirst bench train` measures.

Whole runs are timed, from the first update to the last, as a user starts them: with an order to
keep to, figures, checkpoints and TensorBoard. The parts are timed in the same run, and what they
leave unexplained is shown. Beside them stand what the machine's matrix products would allow
and, where they are installed, rivals on the same game.
"""

import importlib.util
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from fixfirst.bench import machine
from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import Trained, train
from fixfirst.learn.training import Training

ORDER = "critical-first"
PARTS = ("game", "inference and sampling", "advantages", "update", "logging and checkpoints")
WARM_UP = 3  # updates, in which memory is taken and code is compiled
# Larger minibatches go faster through the games and learn less from each: `docs/ppo.md`.
SIZES = {"default": {}, "large minibatches": {"n_envs": 512, "ppo": PPO(minibatch=4096)}}


def setup_of(updates: int, **options: Any) -> Setup:
    """A training of so many updates, one order followed."""
    given = {"orders": (ORDER,), "stop_at_gate": False, **options}
    games = Setup(**given).n_envs
    return Setup(**{**given, "episodes": games * updates})


def measure(seconds: float, **options: Any) -> dict[str, Any]:
    """Steps a second of a run of about so many seconds, and where its time goes."""
    probe = Training(setup_of(1_000, **options))
    for _ in range(WARM_UP):
        row = probe.update()
    spent = row.play_seconds + row.advantage_seconds + row.update_seconds
    updates = max(5, round(seconds / spent))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        ended = train(Path(folder) / "run", setup_of(updates, **options))
        whole = time.perf_counter() - began
        return figures_of(ended, whole)


def figures_of(ended: Trained, whole: float) -> dict[str, Any]:
    """The run's speed, and the share of each part."""
    rows = ended.rows
    games = sum(row.game_seconds for row in rows)
    parts = {
        "game": games,
        "inference and sampling": sum(row.play_seconds for row in rows) - games,
        "advantages": sum(row.advantage_seconds for row in rows),
        "update": sum(row.update_seconds for row in rows),
        "logging and checkpoints": ended.logging_seconds,
    }
    steps = rows[-1].steps
    return {
        "steps": steps,
        "episodes": rows[-1].episodes,
        "seconds": whole,
        "steps_per_second": steps / whole,
        "episodes_per_second": rows[-1].episodes / whole,
        "microseconds_per_step": {name: 1e6 * spent / steps for name, spent in parts.items()},
        "unexplained": 1.0 - sum(parts.values()) / whole,
    }


# --- the ceiling


def flops_of_a_step(setup: Setup) -> float:
    """Floating-point operations of the matrix products that one step costs, learning included."""
    policy = Training(setup).policy
    forward, backward = 0.0, 0.0
    for network in (policy.actor, policy.critic):
        products = [2.0 * weight.numel() for weight in network.weights]
        forward += sum(products)
        backward += 2.0 * sum(products) - products[0]  # the first layer hands nothing further down
    return setup.ppo.epochs * (forward + backward) + forward


def product_rate(setup: Setup, seconds: float) -> float:
    """Floating-point operations a second of products of the sizes of the update's, PyTorch's
    own threads at work.
    """
    policy = Training(setup).policy
    rows = setup.ppo.minibatch
    pairs = [
        (torch.rand(rows, weight.shape[0]), torch.rand(*weight.shape))
        for network in (policy.actor, policy.critic)
        for weight in network.weights[:-1]
    ]
    outs = [torch.empty(rows, right.shape[1]) for _, right in pairs]
    work = sum(2.0 * rows * right.numel() for _, right in pairs)
    return work * _rate(
        lambda: [torch.mm(a, b, out=o) for (a, b), o in zip(pairs, outs, strict=True)], seconds
    )


def square_rate(seconds: float, size: int = 1024) -> float:
    """The same of large square products, the most that the machine can do."""
    left, right, out = torch.rand(size, size), torch.rand(size, size), torch.empty(size, size)
    return 2.0 * size**3 * _rate(lambda: torch.mm(left, right, out=out), seconds)


def _rate(work: Callable[[], object], seconds: float) -> float:
    """How often a second the work is done."""
    for _ in range(3):
        work()
    count, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds:
        work()
        count += 1
    return count / spent


# --- rivals


def stable_baselines(seconds: float, games: int, batch: int) -> dict[str, Any] | None:
    """SB3's PPO with the same networks and epochs on the same game; `None` without SB3."""
    if importlib.util.find_spec("stable_baselines3") is None:
        return None
    import stable_baselines3 as sb3  # noqa: PLC0415 - only where it is installed

    from fixfirst.envs.sb3 import NativeVecEnv  # noqa: PLC0415

    env = NativeVecEnv(games, orders=ORDER, alignment_lambda=30.0)
    hidden = list(PPO().hidden)
    model = sb3.PPO(
        "MlpPolicy", env, n_steps=100, batch_size=batch, n_epochs=PPO().epochs, device="cpu",
        policy_kwargs={"net_arch": {"pi": hidden, "vf": hidden}, "activation_fn": torch.nn.Tanh},
    )  # fmt: skip
    size = 100 * games
    model.learn(size)  # memory is taken
    began = time.perf_counter()
    model.learn(size)
    updates = max(1, round(seconds / (time.perf_counter() - began)))
    began = time.perf_counter()
    model.learn(updates * size)
    spent = time.perf_counter() - began
    env.close()
    return {
        "games": games,
        "batch": batch,
        "version": sb3.__version__,
        "steps_per_second": updates * size / spent,
    }


def run(quick: bool, on_part: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Measure everything; `on_part` is told of each part as it is done."""
    seconds = 5.0 if quick else 30.0
    results: dict[str, Any] = {
        "machine": machine.describe()
        | {"torch": torch.__version__, "threads": torch.get_num_threads()},
        "quick": quick,
        "order": ORDER,
    }
    results["runs"] = {}
    for name, options in SIZES.items():
        results["runs"][name] = measure(seconds, **options)
        on_part(name)
    setup = setup_of(1)
    flops, rate = flops_of_a_step(setup), product_rate(setup, seconds / 10)
    results["ceiling"] = {
        "flops_per_step": flops,
        "gflops_at_these_sizes": rate / 1e9,
        "gflops_of_square_products": square_rate(seconds / 10) / 1e9,
        "steps_per_second": rate / flops,
    }
    on_part("ceiling")
    rivals = []
    for games, batch in RIVALS:
        found = stable_baselines(seconds / 2, games, batch)
        rivals += [found] if found else []
        on_part("SB3")
    results["stable_baselines3"] = rivals
    return results


RIVALS = ((64, 256), (64, 2048), (200, 1000))


def parts() -> int:
    """How many times `run` calls `on_part`."""
    return len(SIZES) + 1 + len(RIVALS)
