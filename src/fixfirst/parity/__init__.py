"""The proof that the game is the real one."""
