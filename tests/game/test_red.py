"""Red's actions, one by one."""

import numpy as np
import pytest

from fixfirst.game import blue, facts, red, tables
from fixfirst.game.names import action_index, host_index
from tests.game.conftest import Play

E0, E1, E2, OP, U0, U1, U2, U3, U4 = (
    host_index(n)
    for n in [
        "Enterprise0",
        "Enterprise1",
        "Enterprise2",
        "Op_Server0",
        "User0",
        "User1",
        "User2",
        "User3",
        "User4",
    ]
)
DEFENDER, OP_HOST = host_index("Defender"), host_index("Op_Host0")
ENTERPRISE, OPERATIONAL, USER = range(3)


def mask(*ports):
    return sum(1 << tables.PORTS.index(p) for p in ports)


def shell(play, host, tries=200, wanted=None):
    """Break in until an exploit succeeds (and `wanted` holds)."""
    for _ in range(tries):
        play.events, play.event_shell, play.event_host = 0, 0, tables.NONE
        red.exploit(play.game, play.ids, host)
        if play.success == tables.SUCCESS and (wanted is None or wanted(play)):
            return
    raise AssertionError("never happened")


def test_the_guarded_subnet_opens_with_a_session_on_a_gate(play):
    red.sweep(play.game, OPERATIONAL)
    assert play.success == tables.FAILURE
    play.user[DEFENDER] = play.user[OP_HOST] = 1
    red.sweep(play.game, OPERATIONAL)
    assert play.success == tables.FAILURE, "only a host named Enterprise opens it"
    play.user[E2] = 1
    red.sweep(play.game, OPERATIONAL)
    assert play.success == tables.SUCCESS


def test_a_sweep_shows_the_addresses_of_the_subnet(play):
    red.sweep(play.game, USER)
    assert play.known_address == sum(1 << h for h in (U0, U1, U2, U3, U4))


def test_an_unreachable_scan_succeeds_with_an_empty_answer(play):
    red.scan(play.game, play.ids, OP)
    assert (play.success, play.scan_empty, play.ports[OP]) == (tables.SUCCESS, 1, 0)
    assert play.event_host == tables.NONE


@pytest.mark.parametrize(
    ("name", "sockets", "ports"),
    [("Defender", 4, 3), ("Enterprise0", 1, 1), ("Enterprise1", 7, 7), ("User1", 2, 2)]
    + [("User2", 4, 4), ("User3", 4, 4), ("User4", 5, 5)],
)
def test_a_scan_leaves_an_event_for_each_listening_socket(play, name, sockets, ports):
    red.scan(play.game, play.ids, host_index(name))
    assert (play.events, play.event_ports) == (sockets, ports)


def test_a_scan_sees_decoys(play):
    for decoy in ("DecoyApache", "DecoyTomcat"):
        blue.act(play.game, play.ids, action_index(f"{decoy} User1"))
    for _ in range(2):
        blue.act(play.game, play.ids, action_index("DecoyVsftpd User4"))
    red.scan(play.game, play.ids, U1)
    assert play.ports[U1] == mask(21, 22, 80, 443)
    red.scan(play.game, play.ids, U4)
    assert (play.events, play.event_ports) == (7, 5)


@pytest.mark.parametrize("rules", ["latest", "leaderboard"])
def test_a_new_scan_replaces_what_red_remembers_or_adds_to_it(exact, rules):
    play = Play(exact, rules=rules)
    play.ports[U1] = mask(25)
    red.scan(play.game, play.ids, U1)
    assert play.ports[U1] == mask(21, 22) + (mask(25) if rules == "leaderboard" else 0)


def test_an_unscanned_host_cannot_be_broken_into(play):
    red.exploit(play.game, play.ids, U1)
    assert (play.success, play.event_host) == (tables.FAILURE, tables.NONE)


def test_ssh_gives_a_session_without_shell_file_or_pid(play):
    play.ports[E0] = mask(22)
    red.exploit(play.game, play.ids, E0)
    assert play.success == tables.SUCCESS
    assert (play.user[E0], play.root[E0], play.files, play.marked[E0]) == (1, 0, 0, 0)
    assert (play.events, play.event_ports, play.event_shell) == (11, 1, 0)
    assert play.known_name & 1 << E0
    if play.ids is not None:
        assert play.ids.suspects == 0


def test_nobody_guesses_a_login_on_defender(play):
    play.ports[DEFENDER] = mask(22)
    red.exploit(play.game, play.ids, DEFENDER)
    assert (play.success, play.events, play.event_ports) == (tables.FAILURE, 10, 1)


def test_an_sshd_decoy_takes_the_ten_tries(play):
    blue.act(play.game, play.ids, action_index("DecoySSHD User2"))
    play.ports[U2] = mask(22)
    red.exploit(play.game, play.ids, U2)
    assert (play.success, play.events, play.user[U2]) == (tables.FAILURE, 10, 0)


@pytest.mark.parametrize("port", [80, 443, 139, 3389])
def test_a_decoy_catches_the_exploit_and_leaves_two_events(play, port):
    decoy = {80: "DecoyApache", 443: "DecoyTomcat", 139: "DecoySmss", 3389: "DecoySvchost"}[port]
    blue.act(play.game, play.ids, action_index(f"{decoy} User1"))
    play.ports[U1] = mask(port)
    red.exploit(play.game, play.ids, U1)
    assert (play.success, play.events, play.event_ports) == (tables.FAILURE, 2, 1)
    assert (play.user[U1], play.root[U1], play.files) == (0, 0, 0)


def test_an_image_service_answers_before_a_decoy(play):
    blue.act(play.game, play.ids, action_index("DecoyVsftpd User3"))
    play.ports[U3] = mask(80)
    red.exploit(play.game, play.ids, U3)
    assert (play.success, play.user[U3]) == (tables.SUCCESS, 1)


def test_a_remembered_port_without_a_service_fails_silently(play):
    play.ports[E1] = mask(139)
    red.exploit(play.game, play.ids, E1)
    assert (play.success, play.event_host) == (tables.FAILURE, tables.NONE)


@pytest.mark.parametrize(
    ("host", "ports", "privileged"),
    [(U1, (21,), True), (U2, (139,), True), (U2, (3389,), False), (E1, (443,), False)]
    + [(E1, (3389,), True), (U3, (25,), True), (U4, (3390, 80), None)],
)
def test_a_shell_has_the_rights_of_the_service(play, host, ports, privileged):
    play.ports[host] = mask(*ports)
    shell(play, host)
    if privileged is not None:
        assert (play.root[host] > 0) == privileged
        assert (play.user[host] > 0) != privileged
    assert play.files == 1 << host


def test_a_seen_shell_is_two_events_and_an_unseen_one_is_one(play):
    play.ports[E1] = mask(443)
    shell(play, E1, wanted=lambda p: p.event_shell)
    assert (play.events, play.event_ports) == (2, 2)
    shell(play, E1, wanted=lambda p: not p.event_shell)
    assert (play.events, play.event_ports) == (1, 1)


def test_shells_are_seen_19_times_in_20(play):
    play.ports[E1] = mask(443)
    seen = 0
    for _ in range(60):
        play.event_shell = 0
        red.exploit(play.game, play.ids, E1)
        seen += int(play.event_shell)
    known = int(play.ids.suspects) if play.ids is not None else int(play.marked[E1])
    assert known == seen
    assert 48 <= seen <= 60


def test_a_broken_haraka_fails_its_version_test_with_one_event(play):
    play.broken = 1 << U3
    play.ports[U3] = mask(25)
    red.exploit(play.game, play.ids, U3)
    assert (play.success, play.events, play.event_ports) == (tables.FAILURE, 1, 1)


def test_the_heaviest_exploit_is_taken_three_times_in_four(exact):
    play = Play(exact, seed=3)
    play.ports[U1] = mask(21, 22)
    for _ in range(150):
        red.exploit(play.game, play.ids, U1)
    assert play.root[U1] + play.user[U1] == 150
    assert abs(int(play.root[U1]) - 112.5) < 4 * np.sqrt(150 * 0.75 * 0.25)


def test_no_exploit_reaches_the_guarded_subnet_from_outside(play):
    play.ports[OP] = mask(22)
    red.exploit(play.game, play.ids, OP)
    assert (play.success, play.event_host) == (tables.FAILURE, tables.NONE)


def test_escalation_needs_a_session(play):
    red.escalate(play.game, play.ids, U1)
    assert play.success == tables.FAILURE


def test_escalation_makes_the_session_privileged_and_unremovable(play):
    play.ports[E1] = mask(443)
    shell(play, E1, wanted=lambda p: p.event_shell)
    already = int(play.user[E1])
    red.escalate(play.game, play.ids, E1)
    assert (play.root[E1], play.user[E1]) == (1, already - 1)
    blue.act(play.game, play.ids, action_index("Remove Enterprise1"))
    assert play.root[E1] == 1


def test_a_second_escalation_changes_nothing(play):
    play.root[U1], play.user[U1] = 1, 1
    red.escalate(play.game, play.ids, U1)
    assert (play.success, play.root[U1], play.user[U1], play.files) == (tables.SUCCESS, 1, 1, 0)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("User1", "Enterprise1"), ("User2", "Enterprise1"), ("User3", "Enterprise0")]
    + [("User4", "Enterprise0"), ("Enterprise2", "Op_Server0"), ("Enterprise0", "Enterprise0")],
)
def test_escalation_shows_the_next_address_and_the_subnet(play, name, shown):
    host = host_index(name)
    play.root[host] = 1
    red.escalate(play.game, play.ids, host)
    assert play.known_address & 1 << host_index(shown)
    assert play.known_address & 1 << host
    assert play.known_subnet & 1 << int(tables.SUBNET_OF[host])


def test_impact_needs_a_session_and_knowledge(play):
    red.impact(play.game, play.ids, OP)
    assert play.success == tables.FAILURE
    play.root[OP] = 1
    red.impact(play.game, play.ids, OP)
    assert (play.success, play.ot_running) == (tables.FAILURE, 1)
    red.escalate(play.game, play.ids, OP)
    assert play.knows_ot
    red.impact(play.game, play.ids, OP)
    assert (play.success, play.ot_running) == (tables.SUCCESS, 0)
    red.impact(play.game, play.ids, OP)
    assert play.success == tables.SUCCESS, "again and again"


def test_sleep_leaves_the_outcome_unknown(play):
    play.action = facts.RED_ACTIONS.index("Sleep")
    play.success = tables.SUCCESS
    red.act(play.game, play.ids)
    assert play.success == tables.UNKNOWN
