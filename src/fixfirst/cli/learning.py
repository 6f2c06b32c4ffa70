"""What the commands that train have in common."""

import importlib.util
import sys
from typing import Any


def must_have_torch() -> Any:
    """PyTorch, or an error that says how to get it."""
    try:
        import torch  # noqa: PLC0415 - slow to load
    except ModuleNotFoundError:
        raise ValueError(
            f"training needs PyTorch, which this Python ({sys.executable}) does not have; "
            "install it with: pip install 'fixfirst[learn]'"
        ) from None
    return torch


def must_have_search() -> None:
    """All that a search needs, or an error that says how to get it."""
    must_have_torch()
    for name in ("optuna", "gpytorch", "botorch"):
        if importlib.util.find_spec(name) is None:
            raise ValueError(
                f"a search needs {name}, which this Python ({sys.executable}) does not have; "
                "install it with: pip install 'fixfirst[search]'"
            )
