"""RLlib's PPO learns to defend and to keep to a repair order.

To run it:

    pip install 'fixfirst[ray]'
    python examples/rllib_ppo.py --iterations 50
"""

import argparse

from ray.rllib.algorithms.ppo import PPOConfig

from fixfirst.envs import ray_start, rllib


def main() -> None:
    """Train, and tell how each iteration went."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--games", type=int, default=64, help="in each env runner")
    parser.add_argument("--runners", type=int, default=0, help="0: play in this process")
    parser.add_argument("--horizon", type=int, default=100)
    given = parser.parse_args()

    config = rllib.configure(
        PPOConfig(), num_envs=given.games, red="bline", horizon=given.horizon,
        orders="critical-first", alignment_lambda=30.0,
    )  # fmt: skip
    batch = given.games * given.horizon
    config.env_runners(num_env_runners=given.runners)
    config.training(train_batch_size=batch, minibatch_size=max(1, batch // 4), num_epochs=4)
    config.debugging(seed=0)

    ray_start.start()  # on this machine alone, listening to nobody else
    algorithm = config.build_algo()
    try:
        for number in range(1, given.iterations + 1):
            told = algorithm.train()["env_runners"]
            print(
                f"iteration {number}: return {told['episode_return_mean']:.1f}, "
                f"compliance {told['compliance']:.2f}"
            )
    finally:
        algorithm.stop()
        ray_start.stop()


if __name__ == "__main__":
    main()
