"""What Python's fork server loads before it makes workers, so that they need not each load it.

It loads modules by name and nothing else; so what is to happen there is a module's import:
`load_game` and `load_end`. Only the first set counts: the server runs until this process ends.
"""

import functools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

CROWD = "fixfirst.envs.crowd"  # what a worker is given comes from there
GAME_ENV = "fixfirst.envs.single"
GAME = "fixfirst.envs.load_game"  # the game's machine code
END = "fixfirst.envs.load_end"  # last of all


def preload(factories: Iterable[Callable[[], Any]]) -> None:
    """Have the fork server load what workers need that make envs with these factories."""
    multiprocessing.set_forkserver_preload(modules_of(factories))


def modules_of(factories: Iterable[Callable[[], Any]]) -> list[str]:
    """The names of the modules, in the order in which they are to be loaded."""
    makers = {maker for factory in factories for maker in _makers(factory)}
    named = {module for maker in makers if (module := getattr(maker, "__module__", None))}
    bases = {base.__module__ for maker in makers for base in getattr(maker, "__mro__", ())}
    game = [GAME] if GAME_ENV in bases else []
    return ["__main__", CROWD, *sorted(named - {"__main__"}), *game, END]


def _makers(thing: Any) -> Iterator[Any]:
    """The functions and classes that a factory is made of."""
    if isinstance(thing, functools.partial):
        for part in (thing.func, *thing.args, *thing.keywords.values()):
            yield from _makers(part)
    elif callable(thing):
        yield thing if hasattr(thing, "__qualname__") else type(thing)
