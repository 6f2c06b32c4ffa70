"""How plain functions become machine code, and where the machine code is kept.

`rule` compiles a small function on first use. `entry` does the same for a function that
Python calls directly, and keeps the result on disk for the next process.

The stored code must never be stale. Numba by itself looks only at the file of the entry,
not at the files of the rules that are compiled into it. So entries are filed under a
digest of every source file that can be part of them and of the compiler's versions:
after an edit or an upgrade the digest is another one, and nothing old is found.
"""

import functools
import hashlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import llvmlite
import numba
import numpy as np
from numba.core import caching, config

P = ParamSpec("P")
R = TypeVar("R")

INTERPRETED = bool(config.DISABLE_JIT)
_PACKAGE = Path(__file__).resolve().parents[1]
# What machine code is made from.
_COMPILED = ("game/*.py", "workflow/*.py", "envs/kernel.py", "envs/memory.py", "learn/fused.py")
_KEEP_UNUSED_SECONDS = 30 * 24 * 3600


def rule(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that other compiled functions call."""
    return numba.njit(error_model="numpy")(function)  # type: ignore[no-any-return]


def entry(
    *, parallel: bool = False, fastmath: Set[str] = frozenset()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function that Python calls, without the GIL, and store the machine code.

    parallel   share its `prange` loops out among threads
    fastmath   what the compiler may do to floating-point sums, in LLVM's words
    """
    compiler = numba.njit(
        error_model="numpy", nogil=True, parallel=parallel, fastmath=set(fastmath)
    )

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        dispatcher = compiler(function)
        if not INTERPRETED:
            cache = _ParallelCache if parallel else _EntryCache
            try:
                dispatcher._cache = cache(dispatcher.py_func)
            except OSError as problem:
                _say(f"compiled code cannot be stored and is built anew each time ({problem})")
        return dispatcher  # type: ignore[no-any-return]

    return compiled


@functools.cache
def source_digest() -> str:
    """Name everything that the machine code is made from."""
    digest = hashlib.sha256()
    made_by = numba.__version__, llvmlite.__version__, np.__version__, platform.python_version()
    digest.update(repr(made_by).encode())
    for path in sorted(path for pattern in _COMPILED for path in _PACKAGE.glob(pattern)):
        digest.update(f"\0{path.relative_to(_PACKAGE)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:32]


def cache_folder() -> Path:
    """The folder of all stored machine code; `FIXFIRST_CACHE_DIR` moves it."""
    chosen = os.environ.get("FIXFIRST_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fixfirst"


def _writable_folder() -> Path:
    """The folder for this source, made private to the user; a temporary one if home is read-only."""
    candidates = [cache_folder(), Path(tempfile.gettempdir()) / f"fixfirst-cache-{os.getuid()}"]
    for base in candidates:
        folder = base / source_digest()
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            if base.stat().st_uid != os.getuid():
                continue  # someone else's folder: its code is not to be trusted
            folder.mkdir(mode=0o700, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    raise OSError("no writable folder among " + ", ".join(map(str, candidates)))


def _say(text: str) -> None:
    if not os.environ.get("FIXFIRST_QUIET"):
        print(f"fixfirst: {text}", file=sys.stderr, flush=True)


@functools.cache
def _say_compiling(folder: str) -> None:
    _say(f"compiling the game for this machine; this takes some seconds, once (kept in {folder})")


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Tells Numba where an entry is filed and by what it is known to be current."""

    variant = ""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._folder = _writable_folder()
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return source_digest()

    def get_disambiguator(self) -> str:
        return f"{self._line}{self.variant}"

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_Locator":
        return cls(function, file)


class _ParallelLocator(_Locator):
    """Keeps the threaded code of an entry apart from its plain code."""

    variant = "-parallel"


class _EntryImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _ParallelImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_ParallelLocator,)


class _EntryCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache, filed by `_Locator`, with a word to the user when it must compile."""

    _impl_class = _EntryImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            _say_compiling(self.cache_path)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)
        _drop_unused(Path(self.cache_path))


class _ParallelCache(_EntryCache):
    _impl_class = _ParallelImpl


def _drop_unused(current: Path) -> None:
    """Remove machine code of other versions that nobody has used for a month."""
    os.utime(current)
    for folder in current.parent.iterdir():
        if len(folder.name) != len(current.name) or not folder.is_dir() or folder == current:
            continue
        try:
            files = list(folder.iterdir())
            newest = max((f.stat().st_atime for f in files), default=folder.stat().st_mtime)
            if time.time() - newest > _KEEP_UNUSED_SECONDS:
                for file in files:
                    file.unlink(missing_ok=True)
                folder.rmdir()
        except OSError:
            continue  # another process is at it; the next one will see to the folder
