"""What the commands that train have in common."""

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
