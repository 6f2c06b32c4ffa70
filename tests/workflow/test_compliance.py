"""The compiled rules on situations made by hand."""

import numpy as np
import pytest

from fixfirst.game import state, step
from fixfirst.game.names import action_index, host_index
from fixfirst.game.tables import ACTIONS
from fixfirst.workflow.alignment import Compliance, checked_terms, follow, new_alignments
from fixfirst.workflow.orders import Workflow

from .loops import begin_all, end_all, judge_all

ORDER = "op_server > enterprise > defender > op_host > user"


class Table:
    """One game, set up at will, and the account of its fixes."""

    def __init__(self, order=ORDER, alignment_lambda=1.0, **terms):
        self.games = state.new_games(1)
        step.reset(self.games[0], None)
        self.alignments = new_alignments(1)
        follow(self.alignments, Workflow(order))
        self.terms = checked_terms(alignment_lambda, **terms)
        begin_all(self.alignments)

    def hold(self, *hosts, level="user", sessions=1):
        for host in hosts:
            self.games[level][0, host_index(host)] += sessions
        return self

    def act(self, *names):
        """What each action pays; the game itself stands still."""
        paid = np.full(1, np.nan)
        rewards = []
        for name in names:
            judge_all(self.games, self.alignments, self.terms, np.array([action_index(name)]), paid)
            rewards.append(paid[0])
        return rewards

    def end(self):
        paid = np.full(1, np.nan)
        end_all(self.alignments, self.terms, paid)
        return paid[0]

    @property
    def counts(self):
        account = Compliance(self.alignments)
        return account.compliant[0], account.fixes[0]

    @property
    def compliance(self):
        return Compliance(self.alignments).compliance[0]

    @property
    def total(self):
        return Compliance(self.alignments).alignment_reward[0]


# --- what a fix is


def test_only_remove_and_restore_are_fixes():
    table = Table().hold("Op_Server0")
    for action in range(ACTIONS):
        before = table.alignments.fixes[0]
        paid = np.zeros(1)
        judge_all(table.games, table.alignments, table.terms, np.array([action]), paid)
        is_fix = 15 <= action < 28 or action >= 132
        assert table.alignments.fixes[0] - before == is_fix
        assert is_fix or paid[0] == 0.0


@pytest.mark.parametrize("kind", ["Remove", "Restore"])
def test_remove_and_restore_count_alike(kind):
    table = Table().hold("Enterprise1")
    table.act(f"{kind} Enterprise1", f"{kind} User1")
    assert table.counts == (1, 2)


# --- the rule "held"


@pytest.mark.parametrize("level", ["user", "root"])
def test_a_host_is_held_at_either_level(level):
    table = Table().hold("Enterprise1", level=level)
    table.act("Restore Op_Host0")
    assert table.counts == (0, 1)


def test_a_fix_in_the_first_held_group_is_compliant():
    table = Table().hold("Enterprise1", "Op_Host2", "User3")
    table.act("Restore Enterprise1")
    assert table.counts == (1, 1)


def test_the_target_itself_need_not_be_held():
    table = Table().hold("Enterprise1")
    table.act("Remove Enterprise2")
    assert table.counts == (1, 1)


def test_a_fix_in_a_later_held_group_is_a_violation():
    table = Table().hold("Enterprise1", "User3")
    table.act("Restore User3")
    assert table.counts == (0, 1)


def test_a_fix_in_an_earlier_group_that_is_not_held_is_a_violation():
    table = Table().hold("User3")
    table.act("Restore Op_Server0")
    assert table.counts == (0, 1)


@pytest.mark.parametrize("host", ["Defender", "Enterprise0", "Op_Host1", "Op_Server0", "User0"])
def test_any_fix_is_compliant_while_red_holds_nothing(host):
    table = Table()
    table.act(f"Restore {host}", f"Remove {host}")
    assert table.counts == (2, 2)


def test_reds_foothold_on_user0_is_not_held():
    table = Table("user > op_server > enterprise > defender > op_host").hold("Enterprise1")
    table.act("Restore Enterprise1", "Restore User0")
    assert table.counts == (1, 2)


@pytest.mark.parametrize("level", ["user", "root"])
def test_a_second_session_on_user0_is_held(level):
    table = Table("user > op_server > enterprise > defender > op_host")
    table.hold("Enterprise1").hold("User0", level=level)
    table.act("Restore Enterprise1", "Restore User0")
    assert table.counts == (1, 2)
    assert Table("user > op_server > enterprise > defender > op_host").hold("Enterprise1").hold(
        "User0", level=level
    ).act("Restore User0") == [0.5]


def test_many_sessions_are_held_as_one_is():
    table = Table().hold("Enterprise1", sessions=400).hold("User1")
    table.act("Restore Enterprise1", "Restore User1")
    assert table.counts == (1, 2)


def test_the_state_is_that_before_the_action():
    table = Table().hold("Enterprise1")
    table.act("Restore Enterprise1")
    table.games.user[:] = 0
    table.act("Restore User1")
    assert table.counts == (2, 2)


# --- the rule "attempted"


def test_attempted_asks_that_every_earlier_group_was_a_target():
    table = Table(rule="attempted")
    table.act("Remove Enterprise0")  # op_server was no target yet
    table.act("Restore Op_Server0")
    table.act("Restore Enterprise1", "Remove Defender", "Remove Op_Host0", "Restore User4")
    assert table.counts == (5, 6)


def test_attempted_counts_violations_as_targets():
    table = Table(rule="attempted")
    table.act("Restore Enterprise0", "Restore Op_Server0", "Restore Defender")
    assert table.counts == (2, 3)


def test_attempted_looks_at_no_sessions():
    table = Table(rule="attempted").hold("User1")
    table.act("Restore User1", "Restore Op_Server0")
    assert table.counts == (1, 2)


def test_attempted_forgets_the_targets_at_the_next_episode():
    table = Table(rule="attempted")
    table.act("Restore Op_Server0", "Restore Enterprise0")
    begin_all(table.alignments)
    table.act("Restore Enterprise0")
    assert table.counts == (0, 1)


# --- the alignment reward


def test_each_fix_pays_the_change_of_compliance():
    table = Table(alignment_lambda=30.0).hold("Enterprise1")
    right, wrong = "Restore Enterprise1", "Restore User1"
    assert table.act(right, right, wrong, wrong) == pytest.approx([30 * 0.5, 0.0, -30 / 3, -30 / 6])
    assert table.total == pytest.approx(0.0)


def test_a_first_violation_costs_half_of_lambda():
    assert Table(alignment_lambda=30.0).hold("Enterprise1").act("Restore User1") == [-15.0]


def test_other_actions_pay_nothing_even_after_a_fix():
    table = Table().hold("Enterprise1")
    assert table.act("Restore Enterprise1", "Sleep", "Analyse User1", "Monitor")[1:] == [0] * 3


def test_an_episode_without_a_fix_costs_a_fifth_of_lambda_at_its_end():
    table = Table(alignment_lambda=30.0)
    table.act("Sleep", "Analyse User1")
    assert table.end() == pytest.approx(-6.0)
    assert table.total == pytest.approx(-6.0)
    assert table.compliance == 0.5


def test_the_end_costs_nothing_after_a_fix():
    table = Table().hold("Enterprise1")
    table.act("Restore User1")
    assert table.end() == 0.0
    assert table.total == -0.5


def test_bonus_and_penalty_are_in_units_of_lambda():
    table = Table(alignment_lambda=10.0, bonus=0.25, penalty=0.5).hold("Enterprise1")
    paid = table.act("Restore Enterprise1", "Restore User1")
    assert paid == pytest.approx([10 * (0.5 + 0.25), 10 * (-0.5 - 0.5)])


def test_bonus_and_penalty_are_zero_by_default():
    assert checked_terms(30.0)[2:] == (0.0, 0.0)


def test_lambda_zero_pays_nothing_and_still_counts():
    table = Table(alignment_lambda=0.0, bonus=1.0, penalty=1.0).hold("Enterprise1")
    assert table.act("Restore Enterprise1", "Restore User1") == [0.0, 0.0]
    assert table.counts == (1, 2)


# --- an episode after another


def test_an_episode_begins_with_nothing_counted_and_keeps_the_order():
    table = Table().hold("Enterprise1")
    table.act("Restore User1")
    begin_all(table.alignments)
    assert table.counts == (0, 0)
    assert table.total == 0.0
    assert table.compliance == 0.5
    assert table.act("Restore Enterprise1") == [0.5]
