"""Faces of the game."""
