"""The real CybORG where there is one, and a stand-in where there is none."""

import os
import sys

import pytest

from fixfirst.parity import golden
from tests.parity.standin import StandIn


@pytest.fixture(scope="session")
def cyborg_folder():
    """The folder of the real CybORG; tests that need it are skipped where there is none."""
    folder = os.environ.get("FIXFIRST_CYBORG")
    if not folder:
        pytest.skip("FIXFIRST_CYBORG does not name the folder of a CybORG")
    return folder


@pytest.fixture
def no_cyborg_loaded():
    """A process that has not loaded CybORG, for the length of a test."""

    def forget():
        names = [n for n in sys.modules if n == "CybORG" or n.startswith("CybORG.")]
        return {name: sys.modules.pop(name) for name in names}

    kept = forget()
    yield
    forget()
    sys.modules.update(kept)


@pytest.fixture
def stand_in(monkeypatch):
    """Put the stand-in in the place of CybORG."""
    from fixfirst.envs import cyborg

    monkeypatch.setattr(cyborg, "CyborgGame", StandIn)
    monkeypatch.setattr(StandIn, "tamper", None)
    return StandIn


@pytest.fixture(scope="session")
def recorded():
    """The games of one shipped golden file, by the file's name without its ending."""

    def load(name):
        (file,) = (f for f in golden.shipped() if f.name == f"{name}.npz")
        return golden.load(file)

    return load
