"""Actions as people type them."""

import pytest

from fixfirst.cli import words
from fixfirst.game.tables import ACTION_NAMES, BLUE_KINDS, HOST_NAMES


@pytest.mark.parametrize("number", [0, 1, 2, 77, 144])
def test_full_names_in_any_case_and_numbers_mean_their_action(number):
    name = ACTION_NAMES[number]
    for text in (name, name.lower(), name.upper(), f"  {name.replace(' ', '   ')} ", str(number)):
        assert words.action_of(text) == number


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sl", "Sleep"),
        ("rest u1", "Restore User1"),
        ("rem def", "Remove Defender"),
        ("an e2", "Analyse Enterprise2"),
        ("apache oh0", "DecoyApache Op_Host0"),
        ("tom user4", "DecoyTomcat User4"),
        ("ssh opserver", "DecoySSHD Op_Server0"),
        ("decoyfem ent1", "DecoyFemitter Enterprise1"),
        ("vs op_host2", "DecoyVsftpd Op_Host2"),
    ],
)
def test_short_words_mean_the_one_name_they_fit(text, name):
    assert ACTION_NAMES[words.action_of(text)] == name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no action was named"),
        ("145", "action 145 does not exist; actions are 0 to 144"),
        ("r u1", "'r' could be Remove, Restore; type a little more"),
        ("rest user", "'user' could be User0, User1, User2, User3, User4; type"),
        ("rest", "Restore takes one host, as in Restore User1; 0 were named"),
        ("rest u1 u2", "Restore takes one host, as in Restore User1; 2 were named"),
        ("sleep u1", "Sleep takes no host, so 'u1' has no meaning"),
        ("anlayse u1", "no action is named 'anlayse'; did you mean Analyse"),
        ("rest usr9", "no host is named 'usr9'; did you mean User"),
        ("rest xyz", "no host is named 'xyz'; hosts are Defender, Enterprise0"),
    ],
)
def test_what_fits_none_or_several_is_refused(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        words.action_of(text)


def test_a_whole_name_is_itself_though_others_begin_with_it():
    assert words.one_of("op", ["Op_Host0", "Op"], "host") == "Op"


def test_matches_are_ranked_the_strictest_first():
    found = words.matches("e1", HOST_NAMES)
    assert found == ["Enterprise1", "User1"]
    assert words.matches("", BLUE_KINDS) == list(BLUE_KINDS)
    assert words.matches("zz", BLUE_KINDS) == []
