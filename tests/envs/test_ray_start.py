"""The Ray that is started here is this process's alone, and goes without a trace."""

import os
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra `ray` is not installed")

import ray

from fixfirst.envs import ray_end, ray_start

LOOPBACKS = {"0100007F", "0000000000000000FFFF00000100007F"}  # as /proc/net spells 127.0.0.1
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which Linux has")


def family(pid):
    """A process and all below it."""
    return [pid, *ray_end.below(pid)]


def listening(pids):
    """The addresses at which processes listen, as /proc/net spells them."""
    sockets = set()
    for pid in pids:
        try:
            sockets |= {str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir()}
        except OSError:
            continue
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {
        row[1].split(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets
    }


def gone(pids, within=20.0):
    end = time.monotonic() + within
    while time.monotonic() < end and any(Path(f"/proc/{pid}").exists() for pid in pids):
        time.sleep(0.1)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


@linux
def test_it_listens_on_loopback_only_writes_nothing_at_home_and_leaves_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    environment, others = dict(os.environ), set(family(os.getpid()))
    for _ in range(2):  # the second in a process must be as the first
        ray_start.start(cpus=1)
        try:
            ray_start.start()  # a second user, whose end is not that of the first
            ray_start.stop()
            with pytest.raises(ValueError, match=r"already uses the Ray at 127\.0\.0\.1"):
                ray_start.start(address="192.0.2.7:6379")
            assert dict(os.environ) == environment
            actor = ray.remote(num_cpus=0)(Answering).remote()
            assert ray.get(actor.answer.remote()) == 42
            pids, folder = family(os.getpid()), ray_start._folder
            assert len(pids) > 3
            found = listening(pids)
            assert found
            assert found <= LOOPBACKS
            assert folder.stat().st_mode & 0o077 == 0
        finally:
            ray_start.stop()
        assert not folder.exists()
        assert gone(set(pids) - others)
    assert list(tmp_path.iterdir()) == []


class Answering:
    def answer(self):
        return 42


def test_a_ray_that_listens_elsewhere_is_stopped_and_refused(monkeypatch):
    stopped = []
    monkeypatch.setattr(ray, "init", lambda **_: None)
    monkeypatch.setattr(ray, "shutdown", lambda: stopped.append(True))
    context = type("Context", (), {"gcs_address": "192.0.2.7:6379"})
    monkeypatch.setattr(ray, "get_runtime_context", context)
    with pytest.raises(RuntimeError, match=r"Ray listens at 192\.0\.2\.7:6379, not at 127"):
        ray_start.start()
    assert stopped == [True]
    assert ray_start._folder is None
