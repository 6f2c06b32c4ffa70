"""The experiment folder and its store."""
