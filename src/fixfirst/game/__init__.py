"""The game itself: NumPy and Numba only."""
