"""Blue's actions, one by one."""

import numpy as np
import pytest

from fixfirst.game import blue, processes, red, tables
from fixfirst.game.names import action_index, host_index

U1, E1, E0, OP = (host_index(n) for n in ("User1", "Enterprise1", "Enterprise0", "Op_Server0"))
U0, DEFENDER = host_index("User0"), host_index("Defender")


def act(play, name):
    blue.act(play.game, play.ids, action_index(name))


def give_shell(play, host, privileged, seen):
    """Red gains a shell on a host, of which blue saw the process or not."""
    red.open_session(play.game, play.ids, host, privileged)
    play.game.files |= 1 << host
    if seen and play.ids is not None:
        processes.suspect_newest(play.ids)
    elif seen and not privileged:
        play.game.marked[host] += 1


@pytest.mark.parametrize("name", ["Sleep", "Monitor"])
def test_sleep_and_monitor_change_nothing(play, name):
    before = play.games.copy()
    before.blue_action = action_index(name)
    act(play, name)
    assert all(np.array_equal(play.games[f], before[f]) for f in before.dtype.names)


def test_analyse_finds_files_whatever_reds_level(play):
    act(play, "Analyse User1")
    assert play.found == tables.NONE
    play.files = 1 << U1
    act(play, "Analyse User1")
    assert play.found == U1


def test_remove_ends_only_unprivileged_shells_that_were_seen(play):
    for privileged in (False, True):
        for seen in (False, True):
            give_shell(play, U1, privileged, seen)
    act(play, "Remove User1")
    assert (play.user[U1], play.root[U1]) == (1, 2)
    assert play.files == 1 << U1, "files stay"
    act(play, "Remove User1")
    assert play.user[U1] == 1


def test_remove_leaves_other_hosts_alone(play):
    give_shell(play, U1, False, True)
    act(play, "Remove User2")
    assert play.user[U1] == 1


def test_restore_puts_the_host_back(play):
    give_shell(play, U1, False, False)
    give_shell(play, U1, True, True)
    act(play, "DecoyApache User1")
    play.ports[U1] = 7
    act(play, "Restore User1")
    assert (play.user[U1], play.root[U1], play.decoys[U1], play.files) == (0, 0, 0, 0)
    assert play.ports[U1] == 7, "red's memory stays"


def test_restore_of_user0_keeps_reds_first_session(play):
    give_shell(play, U0, False, True)
    act(play, "Restore User0")
    assert (play.user[U0], play.root[U0]) == (0, 1)


def test_restore_does_not_clear_blues_suspicions():
    from tests.game.conftest import Play

    play = Play(exact=True)
    give_shell(play, U1, False, True)
    act(play, "Restore User1")
    assert play.ids.suspects == 1


def test_after_a_restore_of_the_server_impact_stops_nothing(play):
    play.root[OP] = 1
    play.knows_ot = 1
    red.impact(play.game, play.ids, OP)
    assert (play.success, play.ot_running) == (tables.SUCCESS, 0)
    act(play, "Restore Op_Server0")
    assert play.ot_running == 1
    play.root[OP] = 1
    red.impact(play.game, play.ids, OP)
    assert (play.success, play.ot_running, play.ot_active) == (tables.SUCCESS, 1, 0)


@pytest.mark.parametrize("rules", ["latest", "leaderboard"])
@pytest.mark.parametrize("name", ["User3", "User4", "User1"])
def test_leaderboard_restore_loses_the_haraka_version(exact, rules, name):
    from tests.game.conftest import Play

    play = Play(exact, rules=rules)
    act(play, f"Restore {name}")
    host = host_index(name)
    lost = rules == "leaderboard" and name in ("User3", "User4")
    assert play.broken == (1 << host if lost else 0)


def test_a_decoy_takes_its_port_so_that_no_second_fits(play):
    act(play, "DecoyApache Enterprise0")
    assert (play.placed, play.decoys[E0]) == (E0, 1)
    play.placed = tables.NONE
    act(play, "DecoyApache Enterprise0")
    assert play.placed == tables.NONE


def test_a_decoy_of_another_system_does_not_fit(play):
    act(play, "DecoyFemitter Enterprise0")
    act(play, "DecoyHarakaSMPT Enterprise1")
    assert play.placed == tables.NONE
    assert not np.any(play.decoys)


def test_vsftpd_stacks_without_limit_even_beside_a_web_server(play):
    for _ in range(5):
        act(play, "DecoyVsftpd User3")
    assert play.stacked[host_index("User3")] == 5


def test_a_stacked_vsftpd_takes_port_80_from_apache(play):
    act(play, "DecoyVsftpd Enterprise0")
    play.placed = tables.NONE
    act(play, "DecoyApache Enterprise0")
    assert play.placed == tables.NONE


class TestProcessIds:
    """What only the exact source knows."""

    @pytest.fixture
    def play(self):
        from tests.game.conftest import Play

        return Play(exact=True)

    def force_pid(self, play, host, pid):
        """The newest process gets this pid."""
        play.ids.process[play.ids.processes - 1] = processes.key_of(host, pid)

    def suspect(self, play, host, pid):
        play.ids.suspect[play.ids.suspects] = processes.key_of(host, pid)
        play.ids.suspects += 1

    def test_image_pids_live_and_a_stopped_ot_service_does_not(self, play):
        assert processes.lives(play.game, play.ids, OP, tables.OT_PID)
        play.ot_running = 0
        assert not processes.lives(play.game, play.ids, OP, tables.OT_PID)
        assert processes.lives(play.game, play.ids, E0, 1091)
        assert not processes.lives(play.game, play.ids, U1, 1091)

    def test_a_session_that_reuses_a_suspicious_pid_is_removed(self, play):
        red.open_session(play.game, play.ids, U1, False)
        self.force_pid(play, U1, 4242)
        self.suspect(play, U1, 4242)
        act(play, "Remove User1")
        assert play.user[U1] == 0

    def test_a_recorded_decoy_restarts_once_under_a_new_pid(self, play):
        act(play, "DecoyApache User1")
        first = int(play.ids.process[play.ids.processes - 1]) & 32767
        self.suspect(play, U1, first)
        act(play, "Remove User1")
        assert play.decoys[U1] == 1
        second = int(play.ids.process[play.ids.processes - 1]) & 32767
        assert second != first
        assert play.ids.recorded[U1, 0] == first
        self.suspect(play, U1, second)
        act(play, "Remove User1")
        assert play.decoys[U1] == 0

    def test_an_unrecorded_stacked_decoy_ends_for_good(self, play):
        u4 = host_index("User4")
        act(play, "DecoyVsftpd User4")
        act(play, "DecoyVsftpd User4")
        second = int(play.ids.process[play.ids.processes - 1]) & 32767
        self.suspect(play, u4, second)
        act(play, "Remove User4")
        assert play.stacked[u4] == 1

    def test_a_femitter_decoy_runs_as_system_and_stays(self, play):
        u2 = host_index("User2")
        act(play, "DecoyFemitter User2")
        pid = int(play.ids.process[play.ids.processes - 1]) & 32767
        self.suspect(play, u2, pid)
        act(play, "Remove User2")
        assert play.decoys[u2] == 2

    def test_restore_forgets_service_records_and_ephemeral_ports(self, play):
        act(play, "DecoyApache User1")
        play.ids.ephemeral[U1, 5] = 1
        play.ids.ephemeral[E0, 5] = 1
        before = int(play.ids.processes)
        act(play, "Restore User1")
        assert not play.ids.recorded[U1].any()
        assert not play.ids.ephemeral[U1].any()
        assert play.ids.ephemeral[E0, 5] == 1
        assert play.ids.processes == before - 1

    def test_first_sessions_are_never_ended(self, play):
        for name in tables.HOST_NAMES:
            act(play, f"Restore {name}")
        assert play.ids.processes == len(tables.FIRST_SESSIONS)
