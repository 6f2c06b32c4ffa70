"""Policies of a further kind: found by `find_blue`, and so by every command."""

import numpy as np
import pytest

from fixfirst.judge import blues
from fixfirst.judge.blues import Kind, add_kind, find_blue
from fixfirst.judge.play import play


@pytest.fixture
def restores(monkeypatch):
    """A kind of policies named `restore:HOST_NUMBER`."""
    monkeypatch.setattr(blues, "KINDS", list(blues.KINDS))
    asked = []

    def find(name, seed):
        asked.append((name, seed))
        kind, _, host = name.partition(":")
        return (lambda seen: np.full(len(seen), 132 + int(host))) if kind == "restore" else None

    add_kind(Kind("restore:NUMBER", find))
    return asked


def test_a_further_kind_is_found_by_name(restores):
    played = play("restore:0", "sleep", episodes=2, horizon=3, seed=8)
    assert (played.policy, played.returns.tolist()) == ("restore:0", [-3.0, -3.0])
    assert restores == [("restore:0", 8)]


def test_names_of_other_kinds_are_found_as_before(restores):
    for name in ("sleep", "greedy", "greedy:reverse"):
        find_blue(name)
    assert restores == []
    with pytest.raises(ValueError, match="no module 'nowhere'"):
        find_blue("nowhere:f")
    assert restores == [("nowhere:f", 0)]


@pytest.mark.usefixtures("restores")
def test_an_unknown_name_lists_the_further_kind():
    with pytest.raises(ValueError, match=r"greedy:ORDER, .*, restore:NUMBER, or module:function"):
        find_blue("nonsense")
