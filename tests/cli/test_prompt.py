"""Completion: what the word before the cursor can become."""

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from fixfirst.cli.prompt import ActionCompleter, about_verb
from fixfirst.game.tables import BLUE_KINDS, HOST_NAMES

COMMANDS = {"undo": "take a step back", "describe": "tell more"}


def completed(text):
    """What the text can become."""
    document = Document(text)
    found = ActionCompleter(COMMANDS).get_completions(document, CompleteEvent())
    return [text[: len(text) + one.start_position] + one.text for one in found]


def test_an_empty_line_offers_all_verbs_and_commands():
    offered = [text.strip() for text in completed("")]
    assert sorted(offered) == sorted([*COMMANDS, *BLUE_KINDS])


@pytest.mark.parametrize("text", ["REST", "rest", "rsto", "restore"])
def test_a_verb_completes_in_any_case_and_fuzzily_with_room_for_a_host(text):
    assert completed(text) == ["Restore "]


def test_a_verb_without_host_gets_no_room():
    assert completed("mon") == ["Monitor"]


def test_the_likeliest_comes_first():
    assert completed("tom")[0] == "DecoyTomcat "
    assert completed("un")[0] == "undo"


@pytest.mark.parametrize("verb", ["Restore", "rest", "apache"])
def test_hosts_complete_after_the_verb(verb):
    assert completed(f"{verb} ") == [f"{verb} {host}" for host in HOST_NAMES]
    assert completed(f"{verb} osrv0") == [f"{verb} Op_Server0"]


@pytest.mark.parametrize("text", ["sleep ", "undo ", "restore User1 ", "nonsense ", "restore zz"])
def test_nothing_completes_where_nothing_can_follow(text):
    assert completed(text) == []


def test_numbers_complete_and_show_their_action():
    found = list(ActionCompleter(COMMANDS).get_completions(Document("13"), CompleteEvent()))
    assert [one.text for one in found][:3] == ["13", "130", "131"]
    assert found[-1].display_meta_text == "Restore Op_Server0"


def test_describe_takes_an_action():
    assert completed("descr") == ["describe "]
    assert completed("describe rest") == ["describe Restore "]
    assert completed("describe restore def") == ["describe restore Defender"]


def test_every_verb_is_explained_in_a_line():
    for verb in BLUE_KINDS:
        assert 0 < len(about_verb(verb)) < 70
        assert "Defender" not in about_verb(verb)
    assert about_verb("DecoyVsftpd") == "place a false web service on port 80, Linux only"
