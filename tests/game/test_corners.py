"""Corners of the rules: what seldom or never happens in play, and what only wholes show."""

import numpy as np
import pytest

from fixfirst.game import agents, blue, facts, processes, red, state, step, tables
from fixfirst.game.names import action_index, host_index
from fixfirst.game.truth import TrueState
from tests.game.conftest import Play

E0, E1, E2 = (host_index(n) for n in facts.OP_GATES)
OP, U0, U1, U2, U4 = (host_index(n) for n in ("Op_Server0", "User0", "User1", "User2", "User4"))


def act(play, name):
    blue.act(play.game, play.ids, action_index(name))


def mask(*ports):
    return sum(1 << tables.PORTS.index(p) for p in ports)


def newest(play):
    return int(play.ids.process[play.ids.processes - 1]) & 32767


# --- the order of a step


def bline_about_to_exploit(exact):
    """B_line, whose next action breaks into Enterprise2 through HTTPS."""
    play = Play(exact, red="bline", seed=1)
    play.position, play.furthest, play.foothold = 8, 8, U1
    play.success = tables.SUCCESS
    play.ports[E2] = mask(443)
    return play


def test_blue_moves_before_red_and_pays_after_it(exact):
    play = bline_about_to_exploit(exact)
    play.root[E2] = 1
    step.step(play.game, play.ids, action_index("Restore Enterprise2"))
    assert (play.user[E2], play.root[E2]) == (1, 0), "red came back after the restore"
    assert play.cost == 10
    step.step(play.game, play.ids, action_index("Analyse Enterprise2"))
    assert play.found == E2, "the shell's file was there before red's move"
    assert play.root[E2] == 1
    assert play.cost == 10, "red's escalation of this step is paid for in this step"


def test_an_analysis_misses_the_file_of_the_same_step(exact):
    play = bline_about_to_exploit(exact)
    step.step(play.game, play.ids, action_index("Analyse Enterprise2"))
    assert TrueState(play.games).files[0, E2]
    assert play.found == tables.NONE


def test_a_decoy_of_the_same_step_is_there_when_red_scans(exact):
    play = Play(exact, red="bline", seed=1)
    play.position, play.furthest, play.foothold = 0, 1, U1
    play.success = tables.SUCCESS
    step.step(play.game, play.ids, action_index("DecoyApache User1"))
    assert play.ports[U1] == mask(21, 22, 80)
    assert (play.placed, play.event_host, play.events) == (U1, U1, 3)


def test_what_a_step_showed_is_gone_in_the_next(exact):
    play = Play(exact, red="bline", seed=1)
    play.position, play.furthest, play.foothold = 0, 1, U2
    play.success, play.files = tables.SUCCESS, 1 << U1
    step.step(play.game, play.ids, action_index("Analyse User1"))
    assert (play.event_host, play.events, play.event_ports, play.activity) == (U2, 4, 4, 1)
    assert play.belief[U1] == facts.BELIEFS.index("Privileged")
    play.red = facts.REDS.index("sleep")
    step.step(play.game, play.ids, action_index("DecoyTomcat User1"))
    assert (play.found, play.placed) == (tables.NONE, U1)
    assert (play.event_host, play.events, play.event_ports) == (tables.NONE, 0, 0)
    assert (play.event_shell, play.activity) == (0, 0)
    step.step(play.game, play.ids, action_index("Sleep"))
    assert play.placed == tables.NONE


def test_steps_and_costs_are_counted(exact):
    play = Play(exact, red="sleep")
    for count in range(1, 4):
        step.step(play.game, play.ids, action_index("Restore User1"))
        assert (play.step, play.lost) == (count, 10 * count)


def test_the_worst_step_costs_158_tenths(play):
    play.root[:] = 1
    play.ot_running = 0
    play.blue_action = action_index("Restore User4")
    assert step.cost(play.game) == 158
    assert 158 * state.MAX_HORIZON < 2**32


def test_a_reset_sets_every_field_but_those_it_keeps(play):
    kept = {"episode", "random", "rules", "red"}
    new = play.games.copy()
    for name in set(state.GAME.names) - kept:
        play.games[name] = 77
    step.reset(play.game, play.ids)
    for name in set(state.GAME.names) - {"random"}:
        assert np.array_equal(play.games[name], new[name]), name


# --- what Restore and the service records leave behind


def test_only_the_first_decoy_of_a_kind_is_recorded():
    play = Play(exact=True)
    act(play, "DecoyVsftpd User4")
    first = newest(play)
    act(play, "DecoyVsftpd User4")
    assert newest(play) != first
    assert play.ids.recorded[U4, tables.STACKABLE] == first


def test_red_remembers_the_ot_service_over_a_restore(play):
    play.root[OP] = 1
    red.escalate(play.game, play.ids, OP)
    act(play, "Restore Op_Server0")
    assert play.knows_ot


def test_a_restore_of_the_server_writes_a_new_service_record(play):
    play.ot_running = play.ot_active = 0
    act(play, "Restore Op_Server0")
    assert (play.ot_running, play.ot_active, play.ot_has_pid) == (1, 1, 0)


def test_a_restore_of_another_host_leaves_the_service_stopped(play):
    play.ot_running = play.ot_active = 0
    act(play, "Restore Op_Host0")
    assert (play.ot_running, play.ot_active, play.ot_has_pid) == (0, 0, 1)


def test_restore_clears_stacked_decoys_and_marks(play):
    for _ in range(3):
        act(play, "DecoyVsftpd User4")
    play.user[U4] = play.marked[U4] = 1
    act(play, "Restore User4")
    assert (play.stacked[U4], play.user[U4], play.marked[U4]) == (0, 0, 0)


# --- process ids


def test_the_id_of_a_stopped_service_is_free_until_another_process_has_it():
    play = Play(exact=True)
    play.ot_running = 0
    assert not processes.lives(play.game, play.ids, OP, tables.OT_PID)
    act(play, "DecoyVsftpd Op_Server0")
    play.ids.process[play.ids.processes - 1] = processes.key_of(OP, tables.OT_PID)
    assert processes.lives(play.game, play.ids, OP, tables.OT_PID)


def test_a_step_adds_at_most_two_processes_and_one_suspicion():
    rng = np.random.default_rng(0)
    grown = set()
    for red_name in ("bline", "meander"):
        for seed in range(6):
            play = Play(exact=True, red=red_name, seed=seed)
            for _ in range(100):
                before = int(play.ids.processes), int(play.ids.suspects)
                step.step(play.game, play.ids, int(rng.integers(28, 132)))
                grown.add((int(play.ids.processes) - before[0], int(play.ids.suspects) - before[1]))
    assert max(processes for processes, _ in grown) == 2
    assert max(suspects for _, suspects in grown) == 1


def test_a_scan_of_the_most_decoys_a_game_can_hold_is_counted(play):
    play.stacked[U4] = state.MAX_HORIZON
    red.scan(play.game, play.ids, U4)
    assert play.events == state.MAX_HORIZON + 5


# --- sessions


def test_impact_fails_while_red_does_not_know_the_service(play):
    play.root[OP], play.success = 1, tables.SUCCESS
    red.impact(play.game, play.ids, OP)
    assert (play.success, play.ot_running, play.ot_active) == (tables.FAILURE, 1, 1)


def test_escalation_leaves_a_file_where_a_guessed_login_left_none(play):
    play.ports[E0] = mask(22)
    red.exploit(play.game, play.ids, E0)
    assert play.files == 0
    red.escalate(play.game, play.ids, E0)
    assert play.files == 1 << E0


@pytest.mark.parametrize("sessions", [2, 3])
def test_escalation_takes_one_of_several_sessions(exact, sessions):
    play = Play(exact)
    for _ in range(sessions):
        red.open_session(play.game, play.ids, E1, False)
    red.escalate(play.game, play.ids, E1)
    assert (play.user[E1], play.root[E1]) == (sessions - 1, 1)


# --- Meander


def test_a_failed_escalation_of_an_unmapped_host_closes_nothing(exact):
    """User0 is known by name before it is mapped: its address stays as it was."""
    play = Play(exact, red="meander")
    play.swept = 7
    play.scanned = play.exploited = play.escalated = 1 << U0
    play.last_host, play.success = U0, tables.FAILURE
    agents.choose(play.game, play.ids)
    assert play.exploited == 1 << U0
