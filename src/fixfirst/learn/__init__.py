"""Policy networks and PPO. Needs the extra `learn` (PyTorch and friends)."""
