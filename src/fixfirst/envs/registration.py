"""The environments' names in Gymnasium's registry."""

import gymnasium as gym

ENV_ID = "fixfirst/Cage2-v0"


def register() -> None:
    """Make `gym.make` and `gym.make_vec` know the game, once."""
    if ENV_ID not in gym.registry:
        gym.register(
            ENV_ID,
            entry_point="fixfirst.envs.single:Cage2Env",
            vector_entry_point="fixfirst.envs.native:NativeVectorEnv",
        )
