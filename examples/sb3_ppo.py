"""Stable-Baselines3's PPO learns to defend and to keep to a repair order.

To run it:

    pip install 'fixfirst[sb3]'
    python examples/sb3_ppo.py --steps 1000000
"""

import argparse

from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

from fixfirst.envs.sb3 import NativeVecEnv

ORDER = "critical-first"


def main() -> None:
    """Train, and tell how the policy does on games that it has not seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--games", type=int, default=64)
    parser.add_argument("--horizon", type=int, default=100)
    given = parser.parse_args()

    # The order stands in the observation, and keeping to it is paid for.
    game = {"red": "bline", "horizon": given.horizon, "orders": ORDER}
    env = NativeVecEnv(given.games, seed=0, alignment_lambda=30.0, **game)
    model = PPO(
        "MlpPolicy", env, n_steps=given.horizon, batch_size=given.games * given.horizon // 2,
        seed=0, device="cpu",
    )  # fmt: skip
    model.learn(given.steps)

    told = [episode["compliance"] for episode in model.ep_info_buffer]
    mean, deviation = evaluate_policy(model, NativeVecEnv(20, seed=10_000, **game), 20)
    print(f"return {mean:.1f} (deviation {deviation:.1f}) in 20 fresh episodes")
    print(f"compliance {sum(told) / len(told):.2f} in the last episodes of training")
    env.close()


if __name__ == "__main__":
    main()
