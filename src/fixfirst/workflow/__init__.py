"""Workflows: orders of repair, and how fixes keep to them."""
