"""The derived tables say what the facts say."""

import numpy as np
import pytest

from fixfirst.game import facts, tables
from fixfirst.game.names import action_index, describe, host_index


def test_there_are_145_actions_in_challenge_wrappers_order():
    assert tables.ACTIONS == 145
    assert tables.ACTION_NAMES[:3] == ("Sleep", "Monitor", "Analyse Defender")
    kinds = ["Analyse", "Remove", *(d.name for d in facts.DECOYS), "Restore"]
    assert tables.ACTION_NAMES[2:] == tuple(f"{k} {h.name}" for k in kinds for h in facts.HOSTS)


def test_hosts_stand_in_alphabetical_order():
    assert list(tables.HOST_NAMES) == sorted(tables.HOST_NAMES)


# rules.md, section 3: the decoys that can succeed on a fresh host, by action kind 2 to 9.
FITTING = {
    "Defender": {2, 4, 8, 9},
    **dict.fromkeys(
        ("Enterprise0", "Op_Host0", "Op_Host1", "Op_Host2", "Op_Server0"), {2, 4, 8, 9}
    ),
    **dict.fromkeys(("Enterprise1", "Enterprise2"), {3}),
    **dict.fromkeys(("User0", "User1"), {2, 5, 7, 8}),
    "User2": {2, 3, 6, 8},
    "User3": {6, 9},
    "User4": {9},
}


@pytest.mark.parametrize("name", tables.HOST_NAMES)
def test_decoys_fit_where_the_system_fits_and_the_port_is_free(name):
    host = host_index(name)
    fitting = {
        2 + k
        for k in range(tables.DECOYS)
        if tables.DECOY_FITS_OS[k, host] and not tables.IMAGE_PORTS[host] & tables.DECOY_CHECKED[k]
    }
    assert fitting == FITTING[name]


# rules.md, section 4: what red's exploits find on a fresh, scanned host.
OPTIONS = {
    "Defender": {"SSHBruteForce"},
    "Enterprise0": {"SSHBruteForce"},
    "Enterprise1": {"HTTPSRFI", "EternalBlue", "BlueKeep", "HTTPRFI", "SSHBruteForce"},
    "Op_Server0": {"SSHBruteForce"},
    "User0": {"FTPDirTraversal", "SSHBruteForce"},
    "User2": {"EternalBlue", "BlueKeep"},
    "User3": {"HarakaRCE", "BlueKeep", "HTTPRFI", "HTTPSRFI"},
    "User4": {"HarakaRCE", "HTTPRFI", "HTTPSRFI", "SSHBruteForce", "SQLInjection"},
}
HEAVIEST = {"User0": "FTPDirTraversal", "User2": "EternalBlue", "User3": "HarakaRCE"}
HEAVIEST |= {"User4": "HarakaRCE", "Enterprise1": "HTTPSRFI"}


@pytest.mark.parametrize("name", OPTIONS)
def test_exploits_are_offered_by_the_ports_a_host_shows(name):
    ports = tables.IMAGE_PORTS[host_index(name)]
    row = tables.OPTIONS[ports, : tables.OPTION_COUNT[ports]]
    names = [facts.EXPLOITS[e].name for e in row]
    assert set(names) == OPTIONS[name]
    if name in HEAVIEST:
        assert names[-1] == HEAVIEST[name]
    order = [facts.EXPLOITS.index(next(e for e in facts.EXPLOITS if e.name == n)) for n in names]
    assert order[:-1] == sorted(order[:-1])


def test_the_sql_exploit_needs_a_web_port_too():
    ports = {p: 1 << tables.PORTS.index(p) for p in tables.PORTS}
    sql = [e.name for e in facts.EXPLOITS].index("SQLInjection")
    assert sql not in tables.OPTIONS[ports[3390]]
    assert sql in tables.OPTIONS[ports[3390] | ports[80]]
    assert sql in tables.OPTIONS[ports[3390] | ports[443]]


def test_smss_of_the_internal_image_is_no_smb_service():
    eternal_blue = [e.name for e in facts.EXPLOITS].index("EternalBlue")
    assert tables.IMAGE_SERVICE[host_index("Enterprise1"), eternal_blue] == tables.NO_SERVICE
    assert tables.IMAGE_SERVICE[host_index("User2"), eternal_blue] == tables.ROOT_SERVICE


def test_host_words_spell_challenge_wrappers_bits():
    spelt = tables.HOST_WORD[tables.EXPLOITED, tables.BELIEVED_USER]
    assert np.array([spelt]).view(np.uint8).tolist() == [1, 1, 0, 1]
    spelt = tables.HOST_WORD[tables.SCANNED, tables.BELIEVED_UNKNOWN]
    assert np.array([spelt]).view(np.uint8).tolist() == [1, 0, 1, 0]


def test_every_action_has_a_name_that_leads_back_and_a_description():
    for action, name in enumerate(tables.ACTION_NAMES):
        assert action_index(name) == action
        assert action_index(f"  {name.upper()} ") == action
        assert describe(action).startswith(name + ":")


def test_a_misspelt_action_is_answered_with_near_ones():
    with pytest.raises(ValueError, match=r"'Restor User1'.*did you mean Restore User1"):
        action_index("Restor User1")
    with pytest.raises(ValueError, match="145"):
        action_index("zzzzzz")
    with pytest.raises(ValueError, match="0 to 144"):
        describe(145)
