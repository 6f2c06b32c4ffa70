"""The scripted reds."""

import numpy as np
import pytest

from fixfirst.game import agents, facts, tables
from fixfirst.game.names import host_index
from tests.game.conftest import Play

OP, E2, U0, DEFENDER = (host_index(n) for n in ("Op_Server0", "Enterprise2", "User0", "Defender"))
OP_HOST0, E0, U1 = (host_index(n) for n in ("Op_Host0", "Enterprise0", "User1"))


def bits(*hosts):
    return sum(1 << h for h in hosts)


def chosen(play):
    agents.choose(play.game, play.ids)
    return facts.RED_ACTIONS[play.action], int(play.target)


@pytest.fixture
def bline(exact):
    return Play(exact, red="bline", seed=4)


@pytest.fixture
def meander(exact):
    return Play(exact, red="meander", seed=4)


def test_the_sleeper_sleeps(play):
    assert chosen(play) == ("Sleep", tables.NONE)


class TestBline:
    def test_goes_through_its_plan_while_all_succeeds(self, bline):
        steps = []
        for _ in range(17):
            steps.append(chosen(bline)[0])
            bline.success = tables.SUCCESS
        assert steps == [a for a, _ in facts.BLINE_PLAN] + ["Impact", "Impact"]

    def test_goes_for_a_drawn_user_host_and_the_gate_that_it_shows(self, exact):
        pairs = set()
        for seed in range(40):
            play = Play(exact, red="bline", seed=seed)
            for _ in range(5):
                action, target = chosen(play)
                play.success = tables.SUCCESS
            assert action == "DiscoverNetworkServices"
            pairs.add((tables.HOST_NAMES[play.foothold], tables.HOST_NAMES[target]))
        assert pairs == {("User1", "Enterprise1"), ("User2", "Enterprise1")} | {
            ("User3", "Enterprise0"),
            ("User4", "Enterprise0"),
        }

    @pytest.mark.parametrize("position", range(15))
    @pytest.mark.parametrize("success", [tables.FAILURE, tables.UNKNOWN])
    def test_goes_back_to_where_a_failure_leads(self, bline, position, success):
        bline.position = bline.furthest = position
        bline.foothold = U1
        bline.success = success
        chosen(bline)
        assert bline.position == facts.BLINE_ON_FAILURE[position]
        assert bline.furthest == position

    def test_never_changes_its_foothold(self, bline):
        for _ in range(3):
            chosen(bline)
            bline.success = tables.SUCCESS
        first = int(bline.foothold)
        for _ in range(30):
            bline.position, bline.success = 0, tables.SUCCESS
            assert chosen(bline) == ("DiscoverNetworkServices", first)

    def test_starts_over_when_the_last_scan_was_empty(self, bline):
        bline.position = bline.furthest = 11
        bline.foothold = U1
        bline.success, bline.scan_empty = tables.SUCCESS, 1
        assert chosen(bline) == ("DiscoverNetworkServices", U1)
        assert bline.position == 1

    def test_does_not_start_over_once_it_has_broken_in(self, bline):
        bline.position, bline.furthest = 11, 13
        bline.foothold = U1
        bline.success, bline.scan_empty = tables.SUCCESS, 1
        assert chosen(bline) == ("ExploitRemoteService", OP)


class TestMeander:
    def settle(self, meander, known=(), **notes):
        """Everything swept and scanned, these addresses known, no name, with these notes."""
        meander.known_name = 0
        meander.known_subnet = meander.swept = 7
        meander.known_address = meander.scanned = bits(*known)
        for name, value in notes.items():
            setattr(meander, name, value)

    def test_sweeps_known_subnets_in_order_once_each(self, meander):
        meander.known_subnet = 0b101
        assert chosen(meander) == ("DiscoverRemoteSystems", 0)
        meander.success = tables.FAILURE
        assert chosen(meander) == ("DiscoverRemoteSystems", 2)
        assert chosen(meander)[0] == "DiscoverNetworkServices"

    def test_scans_every_known_address_once_in_random_order(self, exact):
        orders = set()
        for seed in range(12):
            play = Play(exact, red="meander", seed=seed)
            self.settle(play)
            play.known_address, play.scanned = bits(U0, U1, E0), 0
            turns = [chosen(play) for _ in range(3)]
            assert {t for _, t in turns} == {U0, U1, E0}
            orders.add(tuple(t for _, t in turns))
        assert len(orders) > 2

    def test_escalates_known_names_before_breaking_in(self, meander):
        self.settle(meander, (U0, U1), known_name=bits(U0))
        assert chosen(meander) == ("PrivilegeEscalate", U0)
        meander.success = tables.SUCCESS
        action, target = chosen(meander)
        assert action == "ExploitRemoteService"
        assert target in (U0, U1)

    def test_learns_the_host_behind_an_address_from_a_success(self, meander):
        self.settle(meander, (U1,), escalated=bits(U0), known_name=bits(U0))
        assert chosen(meander) == ("ExploitRemoteService", U1)
        meander.success = tables.SUCCESS
        meander.known_name |= bits(U1)
        assert chosen(meander) == ("PrivilegeEscalate", U1)
        assert meander.mapped == bits(U1)
        assert meander.exploited == bits(U1)

    def test_doubts_the_guarded_hosts_after_a_failed_exploit(self, meander):
        held = bits(OP_HOST0, E0, E2)
        self.settle(meander, (DEFENDER, OP_HOST0, E0, E2), exploited=held, escalated=held)
        meander.mapped = held
        meander.last_address, meander.success = DEFENDER, tables.FAILURE
        chosen(meander)
        assert meander.escalated == bits(E0, E2)

    def test_else_doubts_the_enterprise_hosts(self, meander):
        held = bits(E0, E2, U1)
        self.settle(meander, (DEFENDER, E0, E2, U1), exploited=held, escalated=held, mapped=held)
        meander.last_address, meander.success = DEFENDER, tables.FAILURE
        action, target = chosen(meander)
        assert meander.escalated == bits(U1)
        assert action == "ExploitRemoteService"
        assert target in (DEFENDER, E0, E2)

    def test_impacts_for_ever_once_the_server_is_escalated(self, meander):
        self.settle(meander, (OP,), escalated=bits(OP), exploited=bits(OP), mapped=bits(OP))
        for _ in range(3):
            assert chosen(meander) == ("Impact", OP)
            meander.success = tables.SUCCESS

    def test_a_failed_impact_opens_the_server_again(self, meander):
        self.settle(meander, (OP,), escalated=bits(OP), exploited=bits(OP), mapped=bits(OP))
        chosen(meander)
        meander.success = tables.FAILURE
        assert chosen(meander) == ("ExploitRemoteService", OP)

    def test_prefers_no_host(self, exact):
        """Each waiting address is as likely to be attacked first."""
        games = 1200
        counts = np.zeros(tables.HOSTS)
        for seed in range(games):
            play = Play(exact, red="meander", seed=seed)
            self.settle(play, (U0, U1, E0))
            counts[chosen(play)[1]] += 1
        expected = games / 3
        assert np.abs(counts[[U0, U1, E0]] - expected).max() < 4.5 * np.sqrt(expected)
