"""The real CybORG in worker processes, with true states at the end of each episode.

To run it:

    python examples/cyborg_backend.py FOLDER-OF-CAGE-CHALLENGE-2
"""

import argparse

import fixfirst
from fixfirst.envs.cyborg_env import cyborg_factory


def main() -> None:
    """Play a random defender, and tell where red stood when episodes ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="a checkout of cage-challenge-2")
    parser.add_argument("--envs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--horizon", type=int, default=100)
    given = parser.parse_args()

    make = cyborg_factory(given.folder, horizon=given.horizon)
    env = fixfirst.make_vec(
        given.envs, backend="shared", env=make, seed=0, true_states="episode",
        autoreset="same_step",
    )  # fmt: skip
    ended, held = 0, 0
    try:
        env.action_space.seed(0)
        env.reset()
        for _ in range(given.steps):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated | truncated
            ended += int(over.sum())
            held += int((env.states.level[over] > 0).sum())  # User0 is red's from the beginning
    finally:
        env.close()
    print(f"{given.envs * given.steps} steps, {ended} episodes")
    if ended:
        print(f"hosts that red held at their ends: {held / ended:.1f} of 13")


if __name__ == "__main__":
    main()
