"""The search for the best order of repair. Needs the extra `search` (Optuna, BoTorch).

The room can be called: `fixfirst.search(...)` is `fixfirst.search.run.search(...)`.
"""

import sys
import types
from typing import Any

_NEEDS = ("optuna", "botorch", "gpytorch", "sqlalchemy", "torch", "safetensors", "tensorboard")


class _Room(types.ModuleType):
    """A package that has the name of the function that people use it for."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Search for the best order: see `fixfirst.search.run.search`."""
        try:
            from fixfirst.search.run import search  # noqa: PLC0415 - loads PyTorch and Optuna
        except ModuleNotFoundError as missing:
            if missing.name not in _NEEDS:
                raise
            raise ImportError(
                f"fixfirst.search needs {missing.name}; install it with: "
                "pip install 'fixfirst[search]'"
            ) from missing
        return search(*arguments, **options)


sys.modules[__name__].__class__ = _Room
