"""Policies of the user's own: found by `module:function`, checked, made into a `Blue`."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fixfirst.judge.view import SEES, Blue, View


class Function:
    """A blue that is a function from observations [N, 52] to actions [N]."""

    sees = "bits"

    def __init__(self, function: Callable[[np.ndarray], Any]) -> None:
        self._function = function

    def begin(self, games: np.ndarray) -> None:
        """A function remembers nothing."""

    def act(self, view: View) -> np.ndarray:
        """What the function answers; it is checked before it is played."""
        return self._function(view.observation)  # type: ignore[no-any-return]


def as_blue(policy: Any, name: str) -> Blue:
    """The policy if it is a `Blue`, or a `Blue` made of it if it can be called."""
    if isinstance(policy, type):
        raise TypeError(f"policy {name} is a class; give an object of it, ready to play")
    if hasattr(policy, "act"):
        missing = [part for part in ("sees", "begin") if not hasattr(policy, part)]
        if missing:
            raise TypeError(f"policy {name} has act() but no {' and no '.join(missing)}")
        if policy.sees not in SEES:
            raise ValueError(
                f"policy {name} has sees={policy.sees!r}; it is one of {', '.join(SEES)}"
            )
        return policy  # type: ignore[no-any-return]
    if not callable(policy):
        raise TypeError(
            f"policy {name} is a {type(policy).__name__}; a policy is a function from "
            "observations [N, 52] to actions [N]"
        )
    return Function(policy)


def load(path: str) -> Any:
    """What `module:function` names; the module may lie in the current folder."""
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise ValueError(f"policy={path!r} is not of the form module:function")
    module = _module(module_name, path)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"policy={path!r}: module {module_name!r} has no {attribute!r}")
        found = getattr(found, part)
    return found


def _module(name: str, path: str) -> Any:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name is None or not (name + ".").startswith(problem.name + "."):
            raise  # the module is there; it is something that it imports that is not
        raise ValueError(
            f"policy={path!r}: there is no module {name!r}, neither installed nor in {here}"
        ) from None
    finally:
        sys.path.remove(here)
