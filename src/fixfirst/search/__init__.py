"""The search for the best order of repair. Needs the extra `search` (Optuna, BoTorch)."""
