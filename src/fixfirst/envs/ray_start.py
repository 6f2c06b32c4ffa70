"""Starting Ray on this machine, for this process alone, and leaving nothing of it behind.

Ray, started as it comes, listens on every network interface, has a dashboard, writes a token
into the user's home and keeps its logs. What is started here listens on 127.0.0.1 only, has a
token that no file holds, and takes its folder away when it stops.

Asking Ray for the address 127.0.0.1 does not do: it puts the machine's outer address in its
place. Only where Ray's clusters are switched off, as they are on macOS and Windows, it stays.
So they are switched off while it starts, and what came of it is looked at.
"""

import atexit
import contextlib
import logging
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import ray
from ray._private import ray_constants
from ray._raylet import AuthenticationTokenLoader  # type: ignore[attr-defined]

from fixfirst.envs import ray_end

LOOPBACK = "127.0.0.1"
OBJECT_STORE = 100 * 2**20  # bytes; what environments send is small
# Whoever set one of these has a token already. The mode says nothing of that, and Ray sets it.
_TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
_RAYS_OWN = ("RAY_AUTH_MODE", "PYTHONBREAKPOINT")  # what Ray sets in this process as it starts
_folder: Path | None = None
_watch: "subprocess.Popen[bytes] | None" = None  # ends what is left if this process is killed
_users, _ours = 0, False  # how many have need of Ray, and whether it is ours to end


def start(address: str | None = None, cpus: int | None = None) -> None:
    """Have Ray running: the one that runs already, the cluster at an address, or one of our own.

    Each `start` is followed by a `stop`; the last of them ends what the first has begun.
    """
    global _users, _ours
    if ray.is_initialized():
        _must_be_at(address)
    elif address is not None:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        _ours = True
    else:
        _start_here(cpus)
        _ours = True
    _users += 1


def stop() -> None:
    """Have no more need of Ray. A Ray that the user has started is left alone."""
    global _users, _ours
    _users -= 1
    if _users <= 0:
        _users, ours, _ours = 0, _ours, False
        if ours:
            _end()


def _end() -> None:
    global _folder, _watch
    atexit.unregister(_end)
    ray.shutdown()
    if _watch is not None:
        _watch.communicate(b"done")
        _watch = None
    if _folder is not None:
        AuthenticationTokenLoader.instance().reset_cache()  # the next Ray has another token
        shutil.rmtree(_folder, ignore_errors=True)
        _folder = None


def _must_be_at(address: str | None) -> None:
    found = ray.get_runtime_context().gcs_address
    if address not in (None, "auto", found):
        raise ValueError(
            f"address={address!r}, but this process already uses the Ray at {found}; call "
            "ray.shutdown() first, or leave address= to use that one"
        )


def _start_here(cpus: int | None) -> None:
    global _folder, _watch
    atexit.register(_end)  # for whoever ends without `stop`
    before = set(ray_end.below(os.getpid()))
    # Sockets have paths of at most 107 bytes, so a long TMPDIR is of no use. Ray opens the folder
    # that it is given to everybody; the one around it stays ours alone.
    _folder = Path(tempfile.mkdtemp(prefix="fixfirst-ray-", dir="/tmp"))
    try:
        with _to_ourselves():
            ray.init(
                num_cpus=cpus, include_dashboard=False, _node_ip_address=LOOPBACK,
                object_store_memory=OBJECT_STORE, log_to_driver=False,
                logging_level=logging.ERROR, _temp_dir=str(_folder / "r"),
            )  # fmt: skip
        found = ray.get_runtime_context().gcs_address
        if not found.startswith(f"{LOOPBACK}:"):
            raise RuntimeError(
                f"Ray listens at {found}, not at {LOOPBACK} alone, so it was stopped; call "
                "ray.init() yourself and it will be used as it is"
            )
        _watch = _watched(_folder, before)
    except BaseException:
        _end()
        raise


def _watched(folder: Path, before: set[int]) -> "subprocess.Popen[bytes]":
    """What ends the processes that Ray has started here, should this one be killed."""
    started = [pid for pid in ray_end.below(os.getpid()) if pid not in before]
    told = [f"{pid}:{since}" for pid in started if (since := ray_end.began(pid)) is not None]
    return subprocess.Popen(  # noqa: S603 - a file of ours
        [sys.executable, "-I", ray_end.__file__, str(folder), *told],
        stdin=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C in a terminal is not for it
    )


@contextlib.contextmanager
def _to_ourselves() -> Iterator[None]:
    """Ray's settings while it starts; its own processes inherit them, nobody else does."""
    given = {ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR: "0", "RAY_USAGE_STATS_ENABLED": "0"}
    if not any(name in os.environ for name in _TOKENS):
        given["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    before = {name: os.environ.get(name) for name in (*given, *_RAYS_OWN)}
    clusters = ray_constants.ENABLE_RAY_CLUSTER
    os.environ.update(given)
    AuthenticationTokenLoader.instance().reset_cache()  # of an earlier Ray of this process
    ray_constants.ENABLE_RAY_CLUSTER = False  # read from the environment at import, long ago
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = clusters
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
