"""What blue makes of a step."""

import pytest

from fixfirst.game import table, tables
from fixfirst.game.names import action_index, host_index

U1 = host_index("User1")
NO, UNKNOWN, USER, PRIVILEGED = range(4)
QUIET, SCAN, EXPLOIT = range(3)


def report(play, events, ports, shell=False, placed=False):
    play.event_host, play.events, play.event_ports = U1, events, ports
    play.event_shell = shell
    play.placed = U1 if placed else tables.NONE


@pytest.mark.parametrize(
    ("events", "ports", "shell", "placed", "activity"),
    [
        (3, 3, False, False, SCAN),  # a scan of three ports
        (4, 3, False, False, SCAN),  # Defender's four sockets on three ports
        (1, 1, False, False, SCAN),  # a scan of one port, or an unseen shell
        (2, 2, False, False, SCAN),
        (2, 2, True, False, EXPLOIT),  # a shell that was seen
        (10, 1, False, False, EXPLOIT),  # a login that was guessed at
        (11, 1, False, False, EXPLOIT),
        (2, 1, False, False, SCAN),  # a decoy that was hit
        (2, 1, False, True, EXPLOIT),  # ... in the step in which it was placed
        (2, 2, False, True, QUIET),  # a decoy hides the scan of up to two ports
        (1, 1, False, True, QUIET),
        (3, 3, False, True, SCAN),
        (2, 2, True, True, EXPLOIT),
        (3, 2, False, False, SCAN),
    ],
)
def test_items_are_read_as_the_table_wrapper_reads_them(
    play, events, ports, shell, placed, activity
):
    report(play, events, ports, shell, placed)
    assert table.interpret(play.game) == activity


def test_an_exploit_lowers_privileged_to_user(play):
    play.belief[U1] = PRIVILEGED
    report(play, 11, 1)
    table.update(play.game)
    assert (play.activity, play.belief[U1]) == (EXPLOIT, USER)


def test_a_scan_changes_no_belief(play):
    play.belief[U1] = PRIVILEGED
    report(play, 3, 3)
    table.update(play.game)
    assert (play.activity, play.belief[U1]) == (SCAN, PRIVILEGED)


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [("Remove", NO, NO), ("Remove", UNKNOWN, UNKNOWN), ("Remove", USER, UNKNOWN)]
    + [("Remove", PRIVILEGED, UNKNOWN), ("Restore", PRIVILEGED, NO), ("Restore", USER, NO)]
    + [("Analyse", USER, USER), ("DecoyTomcat", USER, USER)],
)
def test_blue_believes_what_it_did_itself(play, action, before, after):
    play.belief[U1] = before
    play.blue_action = action_index(f"{action} User1")
    table.update(play.game)
    assert play.belief[U1] == after


def test_an_exploit_in_the_step_of_a_restore_is_believed(play):
    play.blue_action = action_index("Restore User1")
    report(play, 11, 1)
    table.update(play.game)
    assert play.belief[U1] == USER


def test_an_analysis_has_the_last_word(play):
    play.found = U1
    report(play, 11, 1)
    table.update(play.game)
    assert (play.activity, play.belief[U1]) == (EXPLOIT, PRIVILEGED)


def test_activity_is_forgotten_and_belief_is_kept_in_the_bits(play):
    import numpy as np

    words = np.zeros(tables.HOSTS, dtype=np.uint32)
    report(play, 11, 1)
    table.update(play.game)
    table.observe(play.game, words)
    bits = words.view(np.uint8).reshape(tables.HOSTS, 4)
    assert bits[U1].tolist() == [1, 1, 0, 1]
    assert bits.sum() == 3
    play.event_host = tables.NONE
    table.observe(play.game, words)
    assert bits[U1].tolist() == [0, 0, 0, 1]
