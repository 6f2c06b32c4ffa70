import copy
import pickle

import numpy as np
import pytest

from fixfirst.game.tables import HOST_NAMES
from fixfirst.workflow.groups import DEFAULT_GROUPS, HOST_GROUPS, Groups, groups_from

TWO = {
    "servers": ["Op_Server0", "Defender", "Enterprise0", "Enterprise1", "Enterprise2"],
    "clients": ["Op_Host0", "Op_Host1", "Op_Host2", *(f"User{i}" for i in range(5))],
}


def without(host):
    return {name: [one for one in hosts if one != host] for name, hosts in TWO.items()}


def test_the_default_groups_are_the_five_of_the_game():
    assert DEFAULT_GROUPS.as_mapping() == {
        "defender": ["Defender"],
        "enterprise": ["Enterprise0", "Enterprise1", "Enterprise2"],
        "op_server": ["Op_Server0"],
        "op_host": ["Op_Host0", "Op_Host1", "Op_Host2"],
        "user": ["User0", "User1", "User2", "User3", "User4"],
    }
    assert DEFAULT_GROUPS.group_of_host.tolist() == [0, 1, 1, 1, 3, 3, 3, 2, 4, 4, 4, 4, 4]


def test_the_host_groups_hold_one_host_each():
    assert len(HOST_GROUPS) == 13
    assert HOST_GROUPS.group_of_host.tolist() == list(range(13))
    assert HOST_GROUPS.names == tuple(name.lower() for name in HOST_NAMES)


@pytest.mark.parametrize("groups", [DEFAULT_GROUPS, HOST_GROUPS, Groups(TWO)])
def test_masks_and_group_of_host_tell_the_same(groups):
    for number, mask in enumerate(groups.masks):
        hosts = [host for host in range(13) if mask >> host & 1]
        assert np.flatnonzero(groups.group_of_host == number).tolist() == hosts
    assert groups.masks.sum() == 2**13 - 1


@pytest.mark.parametrize("array", ["masks", "group_of_host"])
def test_arrays_cannot_be_written(array):
    with pytest.raises(ValueError, match="read-only"):
        getattr(DEFAULT_GROUPS, array)[0] = 1


def test_groups_never_change():
    with pytest.raises(AttributeError):
        DEFAULT_GROUPS.names = ("a",)


def test_equal_partitions_are_equal_whatever_case_and_order_of_hosts():
    shuffled = {name.upper(): [h.lower() for h in hosts[::-1]] for name, hosts in TWO.items()}
    assert Groups(shuffled) == Groups(TWO)
    assert hash(Groups(shuffled)) == hash(Groups(TWO))
    assert Groups(shuffled).digest == Groups(TWO).digest


@pytest.mark.parametrize(
    "other",
    [
        dict(reversed(TWO.items())),
        {"machines": TWO["servers"], "clients": TWO["clients"]},
        {"servers": [*TWO["servers"], "User0"], "clients": without("User0")["clients"]},
    ],
    ids=["other order of groups", "other name", "other hosts"],
)
def test_other_partitions_differ_in_digest_too(other):
    assert Groups(other) != Groups(TWO)
    assert Groups(other).digest != Groups(TWO).digest


def test_digests_stay_the_same_from_version_to_version():
    assert DEFAULT_GROUPS.digest == "bfb4aa972d5855bebdda155dad1992d5"


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda groups: pickle.loads(pickle.dumps(groups))]
)
def test_copies_are_equal(again):
    assert again(Groups(TWO)) == Groups(TWO)


def test_the_mapping_makes_the_same_groups_again():
    assert Groups(DEFAULT_GROUPS.as_mapping()) == DEFAULT_GROUPS
    assert eval(repr(Groups(TWO))) == Groups(TWO)


def test_a_group_is_found_by_its_name():
    assert DEFAULT_GROUPS.number(" Op_Host") == 3
    with pytest.raises(ValueError, match="no group is named 'ops'; the groups are defender, ent"):
        DEFAULT_GROUPS.number("ops")


# --- choosing


def test_choices_name_the_groups(tmp_path):
    assert groups_from(None) is DEFAULT_GROUPS
    assert groups_from("default") is DEFAULT_GROUPS
    assert groups_from("Hosts") is HOST_GROUPS
    assert groups_from(TWO) == Groups(TWO)
    assert groups_from(HOST_GROUPS) is HOST_GROUPS
    path = tmp_path / "mine.toml"
    path.write_text(toml(TWO))
    assert groups_from(path) == groups_from(str(path)) == Groups(TWO)


def test_an_unknown_choice_is_refused():
    with pytest.raises(
        ValueError, match=r"groups='five' is not known; it is one of default, hosts"
    ):
        groups_from("five")


# --- TOML


def toml(hosts_of):
    lines = [f"{name} = {hosts}" for name, hosts in hosts_of.items()]
    return "\n".join(["[groups]", *lines]).replace("'", '"')


def test_a_toml_file_keeps_the_order_of_its_groups(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(toml(dict(reversed(TWO.items()))))
    assert Groups.from_toml(path).names == ("clients", "servers")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[groups", "is not TOML"),
        ("servers = ['Defender']", "also holds servers; a groups file has one table"),
        ("", r"has no table \[groups\]"),
        ("groups = 3", r"has no table \[groups\]"),
        ("[groups]\na = ['Defender']\na = ['User0']", "is not TOML"),
        ("[groups]\na = ['Defender']", "mine.toml: no group holds Enterprise0, "),
        ("[groups]\na = 'Defender'", "mine.toml: group 'a' has hosts 'Defender'; give a list"),
        ("[groups]\na = [3]", "mine.toml: group 'a' holds 3; hosts are given by name"),
    ],
)
def test_a_bad_toml_file_is_refused(tmp_path, text, complaint):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=complaint):
        Groups.from_toml(path)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not TOML"):
        Groups.from_toml(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"none\.toml cannot be read: No such file"):
        Groups.from_toml(tmp_path / "none.toml")


# --- bad partitions


@pytest.mark.parametrize(
    ("hosts_of", "complaint"),
    [
        (without("User3"), "no group holds User3; every host is in one group"),
        (TWO | {"more": ["User3"]}, "host User3 is in 'clients' and 'more'; a host is in one"),
        (TWO | {"servers": [*TWO["servers"], "defender"]}, "host Defender is in 'servers' twice"),
        (TWO | {"more": ["User9"]}, "group 'more': no host is named 'User9'.*did you mean User"),
        (TWO | {"more": []}, "group 'more' is empty"),
        ({"a": TWO["servers"], "A": TWO["clients"]}, "two groups are named 'a'"),
        (TWO | {"a > b": ["User0"]}, "a group cannot be named 'a > b'; a name is a letter"),
        (TWO | {"": ["User0"]}, "a group cannot be named ''"),
        (TWO | {3: ["User0"]}, "a group cannot be named 3"),
        (TWO | {"ä": ["User0"]}, "a group cannot be named 'ä'"),
        ({}, "no group holds Defender, Enterprise0"),
    ],
)
def test_a_bad_partition_is_refused(hosts_of, complaint):
    with pytest.raises(ValueError, match=complaint):
        Groups(hosts_of)


@pytest.mark.parametrize("given", [["Defender"], "hosts", None])
def test_what_is_no_mapping_is_refused(given):
    with pytest.raises(TypeError, match="give a mapping from group names to lists of host names"):
        Groups(given)
