"""Differences are found, and told in words."""

import numpy as np
import pytest

from fixfirst.game import tables
from fixfirst.parity.difference import compare, compare_lists
from fixfirst.parity.live import READINGS


def test_equal_values_differ_in_nothing():
    assert compare(1, "level", np.zeros(13), np.zeros(13)) is None
    assert compare(1, "reward", -0.0, 0.0) is None
    assert compare(1, "knows_ot", True, np.True_) is None
    assert compare_lists(1, "pids", [[1]] * 13, [[1]] * 13) is None


@pytest.mark.parametrize(
    ("field", "shape", "at", "words"),
    [
        ("bits", (52,), (14,), "bits of bit 14 (Enterprise2: compromised) is 1 in"),
        ("level", (13,), (9,), "level of User1 is 1 (User) in CybORG, 0 (None) in fixfirst"),
        ("red_target", (), (), "red_target is 1 (Enterprise0) in CybORG, 0 (Defender) in"),
        ("red_success", (), (), "is 1 (success) in CybORG, 0 (failure) in fixfirst"),
        ("decoys", (13, 8), (11, 7), "decoys of User3 DecoyVsftpd is 1 in CybORG, 0 in"),
        ("services", (13, 8), (0, 4), "Defender SSHBruteForce is 1 (a real service) in"),
        ("known_subnets", (3,), (1,), "known_subnets of Operational is 1 in CybORG"),
        ("generator", (625,), (624,), "generator of the place of the next word is 1 in"),
        ("generator", (625,), (3,), "generator of word 3 is 1 in"),
    ],
)
def test_the_place_and_the_values_have_names(field, shape, at, words):
    cyborg = np.zeros(shape, dtype=int)
    cyborg[at] = 1
    assert words in str(compare(4, field, cyborg, np.zeros(shape, dtype=int)))


def test_every_place_of_every_reading_has_a_name():
    shapes = {
        "decoys": (13, 8), "services": (13, 8), "known_subnets": (3,),
        "known_ports": (13, len(tables.PORTS)),
        **dict.fromkeys(("red_action", "red_target", "red_subnet", "red_success"), ()),
        **dict.fromkeys(("knows_ot", "ot_service", "action_cost"), ()),
    }  # fmt: skip
    for field in READINGS:
        shape = shapes.get(field, (13,))
        last = np.zeros(shape, dtype=int)
        last[tuple(size - 1 for size in shape)] = 1
        assert field in str(compare(1, field, last, np.zeros(shape, dtype=int)))


@pytest.mark.parametrize("value", [-1, 3])
def test_a_value_that_there_is_not_is_said_to_be_none_of_those_that_there_are(value):
    difference = compare(1, "level", [value], [2])
    assert difference.cyborg == f"{value} (none of None, User, Privileged)"


def test_the_target_nothing_is_called_none():
    assert "is 255 (none) in CybORG" in str(compare(1, "red_target", 255, 3))


def test_values_of_unequal_shape_differ():
    assert "of shape (12,) in CybORG" in str(compare(1, "level", np.zeros(12), np.zeros(13)))


def test_the_first_host_whose_list_differs_is_named():
    ours = [[] for _ in range(13)]
    cyborg = [[] for _ in range(13)]
    cyborg[5] = [17]
    assert str(compare_lists(0, "pids", cyborg, ours)) == (
        "the reset: pids of Op_Host1 is [17] in CybORG, [] in fixfirst"
    )
