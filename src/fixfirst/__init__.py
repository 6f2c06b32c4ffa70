"""Which machine do you fix first.

CAGE Challenge 2, played exactly and fast. Everything public is listed here and loaded when
it is first used, so that `import fixfirst` is quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from fixfirst.envs.registration import register as _register
from fixfirst.version import VERSION

if TYPE_CHECKING:
    from fixfirst.envs.make import make_vec
    from fixfirst.envs.native import NativeVectorEnv
    from fixfirst.envs.single import Cage2Env
    from fixfirst.envs.snapshot import Snapshot, SnapshotError
    from fixfirst.game.names import action_index, describe, host_index
    from fixfirst.game.tables import ACTION_NAMES, HOST_NAMES
    from fixfirst.game.truth import TrueState
    from fixfirst.learn.options import PPO
    from fixfirst.learn.policy import Policy
    from fixfirst.learn.setup import Setup
    from fixfirst.learn.train import Trained, train
    from fixfirst.search.run import search
    from fixfirst.workflow.groups import Groups
    from fixfirst.workflow.orders import Workflow

__version__ = VERSION

_PUBLIC = {
    "ACTION_NAMES": "fixfirst.game.tables",
    "Cage2Env": "fixfirst.envs.single",
    "Groups": "fixfirst.workflow.groups",
    "HOST_NAMES": "fixfirst.game.tables",
    "NativeVectorEnv": "fixfirst.envs.native",
    "Snapshot": "fixfirst.envs.snapshot",
    "PPO": "fixfirst.learn.options",
    "Policy": "fixfirst.learn.policy",
    "Setup": "fixfirst.learn.setup",
    "SnapshotError": "fixfirst.envs.snapshot",
    "Trained": "fixfirst.learn.train",
    "TrueState": "fixfirst.game.truth",
    "Workflow": "fixfirst.workflow.orders",
    "action_index": "fixfirst.game.names",
    "describe": "fixfirst.game.names",
    "host_index": "fixfirst.game.names",
    "make_vec": "fixfirst.envs.make",
    "train": "fixfirst.learn.train",
}

__all__ = [
    "ACTION_NAMES",
    "HOST_NAMES",
    "PPO",
    "Cage2Env",
    "Groups",
    "NativeVectorEnv",
    "Policy",
    "Setup",
    "Snapshot",
    "SnapshotError",
    "Trained",
    "TrueState",
    "Workflow",
    "action_index",
    "describe",
    "host_index",
    "make_vec",
    "search",
    "train",
]


_LEARN_NEEDS = ("torch", "safetensors", "tensorboard")


def __getattr__(name: str) -> Any:
    if name == "search":  # a room that can be called
        return importlib.import_module("fixfirst.search")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'fixfirst' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
    except ModuleNotFoundError as missing:
        if missing.name not in _LEARN_NEEDS:
            raise
        raise ImportError(
            f"fixfirst.{name} needs {missing.name}; install it with: pip install 'fixfirst[learn]'"
        ) from missing
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_register()
