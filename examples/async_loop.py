"""Envs of uneven pace without a barrier: whoever is ready goes on.

To run it:

    python examples/async_loop.py
"""

import argparse
import time

import numpy as np

import fixfirst
from fixfirst.envs.synthetic import Awkward


def main() -> None:
    """Play the same envs in step and without a barrier, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=2_000)
    given = parser.parse_args()

    slow = Awkward(mean=0.005, tail=1.0)  # 5 ms a step on average, some far longer
    draw = np.random.default_rng(0)
    with_barrier, without = 0.0, 0.0
    env = fixfirst.make_vec(given.envs, backend="async", env=slow, seed=0, workers=given.envs)
    try:
        env.reset()
        began = time.perf_counter()
        for _ in range(given.steps // given.envs):
            env.step(draw.integers(0, 5, given.envs))  # waits for the slowest
        with_barrier = time.perf_counter() - began

        env.reset()
        began, done = time.perf_counter(), 0
        env.send(draw.integers(0, 5, given.envs))
        while done < given.steps:
            got = env.recv(1)  # the first one that is ready
            done += len(got.ids)
            env.send(draw.integers(0, 5, len(got.ids)), got.ids)
        without = time.perf_counter() - began
    finally:
        env.close()
    print(f"with a barrier {given.steps / with_barrier:,.0f} steps/s")
    print(f"without        {given.steps / without:,.0f} steps/s")


if __name__ == "__main__":
    main()
