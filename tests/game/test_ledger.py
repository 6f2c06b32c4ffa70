"""The ledger of draws: what each action draws, and in which order.

Each test of the exact source plays one thing and tells beside it, with a `random.Random` of the
same seed, the draws that CybORG makes for it. Afterwards both generators must go on alike.
"""

import random

import numpy as np
import pytest

from fixfirst.game import agents, blue, facts, processes, red, tables, twister, xoshiro
from fixfirst.game.names import action_index, host_index
from tests.game.conftest import Play

DEFENDER, E0, E1, E2 = (host_index(n) for n in ("Defender", *facts.OP_GATES))
OP, U0, U1, U3, U4 = (host_index(n) for n in ("Op_Server0", "User0", "User1", "User3", "User4"))
HOSTS = range(tables.HOSTS)
MEANDER_TARGETS = (U0, U1, U3)


def mask(*ports):
    return sum(1 << tables.PORTS.index(p) for p in ports)


def hosts(*some):
    return sum(1 << host for host in some)


class Ledger:
    """Python's generator, and the draws of CybORG in its words."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ports = {host: set() for host in HOSTS}
        self.images = {
            host: [p.pid for p in facts.IMAGES[facts.HOSTS[host].image].processes] for host in HOSTS
        }
        self.pids = {host: [] for host in HOSTS}

    def reset(self):
        self.networks = self.random.sample(range(4096), 3)
        self.address = {}
        for network, subnet in zip(self.networks, facts.SUBNETS, strict=True):
            self.random.choice([network])
            places = self.random.sample(range(14), len(subnet.hosts))
            for name, place in zip(subnet.hosts, places, strict=True):
                self.address[host_index(name)] = 16 * network + 1 + place
        for who in facts.FIRST_SESSIONS:
            for name in who:
                self.pid(host_index(name))

    def pid(self, host):
        new = 0
        while new == 0 or new in self.pids[host] or new in self.images[host]:
            new = self.random.randrange(32768)
        self.pids[host].append(new)
        return new

    def port(self, host, times=1):
        for _ in range(times):
            port = 49152 + self.random.randrange(10848)
            if port in self.ports[host]:
                port = 49152 + self.random.randrange(10848)
            self.ports[host].add(port)

    def session(self, sessions=1):
        return self.random.choice(range(sessions))

    def decoy(self, host):
        self.session()  # through which blue acts
        self.session()  # that owns the decoy
        return self.pid(host)

    def exploit(self, options):
        """The place of the exploit that is taken; the heaviest stands last."""
        if options == 1:
            return 0
        other = self.random.choices(range(options - 1))[0]
        return options - 1 if self.random.random() < 0.75 else other

    def shuffled(self):
        order = list(HOSTS)
        self.random.shuffle(order)
        return order


class Both:
    """A game and its ledger, as they are after the same reset."""

    def __init__(self, seed, **options):
        play = Play(exact=True, seed=seed, **options)
        self.game, self.ids = play.game, play.ids
        self.ledger = Ledger(seed)
        self.ledger.reset()

    def blue(self, name):
        blue.act(self.game, self.ids, action_index(name))

    def red(self, act, host):
        act(self.game, self.ids, host)

    def newest(self, back=1):
        """Host and process id of the process that was started last, or before it."""
        key = int(self.ids.process[self.ids.processes - back])
        return key >> 15, key & 32767

    def agree(self):
        """Whether both generators go on alike."""
        ours = [twister.uniform(self.ids) for _ in range(3)]
        return ours == [self.ledger.random.random() for _ in range(3)]


@pytest.fixture(params=range(6))
def both(request):
    return Both(request.param)


# --- reset


def test_a_reset_draws_networks_addresses_and_process_ids(both):
    ledger, ids = both.ledger, both.ids
    assert ids.network.tolist() == ledger.networks
    assert ids.address.tolist() == [ledger.address[host] for host in HOSTS]
    ours = sorted(int(key) for key in ids.process[: ids.processes])
    assert ours == sorted(host << 15 | pid for host in HOSTS for pid in ledger.pids[host])
    assert both.agree()


@pytest.mark.parametrize(
    ("seed", "name"), [(1097, "Op_Server0"), (3082, "User1"), (7425, "Enterprise1"), (0, None)]
)
def test_a_host_with_the_address_of_defenders_socket_stands_first(seed, name):
    both = Both(seed, red="meander")
    first = tables.NONE if name is None else host_index(name)
    assert both.ids.first == first
    both.game.known_subnet = both.game.swept = 7
    both.game.known_address = hosts(*HOSTS)
    order = sorted(HOSTS, key=lambda host: host != first)
    both.ledger.random.shuffle(order)
    agents.choose(both.game, both.ids)
    assert both.game.target == order[0]
    assert both.agree()


# --- blue


@pytest.mark.parametrize("name", ["Sleep", "Monitor"])
def test_sleep_and_monitor_draw_nothing(both, name):
    both.blue(name)
    assert both.agree()


@pytest.mark.parametrize("kind", ["Analyse", "Remove", "Restore", "DecoyFemitter"])
@pytest.mark.parametrize("host", [DEFENDER, E0])
def test_any_other_action_draws_one_of_blues_sessions_there(both, kind, host):
    """DecoyFemitter fits on neither host."""
    both.blue(f"{kind} {tables.HOST_NAMES[host]}")
    both.ledger.session(2 if host == DEFENDER else 1)
    assert both.agree()


def test_a_decoy_that_fits_draws_its_session_and_its_process_id(both):
    both.blue("DecoyApache User1")
    pid = both.ledger.decoy(U1)
    assert both.newest() == (U1, pid)
    assert both.ids.recorded[U1, 0] == pid
    assert both.agree()


def test_remove_draws_a_process_id_for_each_decoy_that_restarts(both):
    old = []
    for kind in ("DecoyApache", "DecoyTomcat"):
        both.blue(f"{kind} User1")
        old.append(both.ledger.decoy(U1))
        processes.suspect_newest(both.ids)
    both.blue("Remove User1")
    both.ledger.session()
    for back, pid in zip((2, 1), old, strict=True):
        both.ledger.pids[U1].remove(pid)
        assert both.newest(back) == (U1, both.ledger.pid(U1))
    assert both.agree()


# --- red


def test_a_sweep_draws_nothing(both):
    red.sweep(both.game, 2)
    assert both.agree()


def test_a_scan_draws_a_port_of_the_host_for_each_socket(both):
    both.blue("DecoyVsftpd User4")
    both.ledger.decoy(U4)
    both.red(red.scan, U4)
    both.ledger.port(U4, times=6)
    assert both.agree()


def test_a_scan_without_an_answer_draws_nothing(both):
    both.red(red.scan, OP)
    assert both.agree()


def test_a_taken_port_is_drawn_once_more_and_then_used_unchecked(both):
    both.ids.ephemeral[U1, :] = 0xFFFFFFFF
    both.ledger.ports[U1] = set(range(49152, 60000))
    both.red(red.scan, U1)
    both.ledger.port(U1, times=2)
    assert both.agree()


def test_an_exploit_of_an_unscanned_host_draws_nothing(both):
    both.red(red.exploit, U1)
    assert both.agree()


def test_an_exploit_that_finds_nothing_draws_only_its_choice(both):
    both.game.ports[OP] = mask(22, 80, 443)  # out of reach
    both.game.ports[U4] = mask(21, 139)  # within reach, but nothing listens there
    for host, options in ((OP, 3), (U4, 2)):
        both.red(red.exploit, host)
        both.ledger.exploit(options)
    assert both.game.event_host == tables.NONE
    assert both.agree()


@pytest.mark.parametrize("host", [U4, DEFENDER])
def test_a_guessed_login_draws_ten_ports_of_reds_first_host(both, host):
    both.game.ports[host] = mask(22)
    both.red(red.exploit, host)
    both.ledger.port(U0, times=10)
    if host != DEFENDER:
        assert both.newest() == (host, both.ledger.pid(host))
        both.ledger.port(host)
    assert both.agree()


@pytest.mark.parametrize("seed", range(12))
def test_a_shell_draws_two_ports_a_process_id_and_whether_it_is_seen(seed):
    both = Both(seed)
    both.game.ports[E1] = mask(80, 443, 3389)
    both.red(red.exploit, E1)
    taken = both.ledger.exploit(3)
    both.ledger.port(E1, times=2)
    assert both.newest() == (E1, both.ledger.pid(E1))
    assert both.game.event_shell == (both.ledger.random.random() < 0.95)
    # BlueKeep, HTTPRFI, HTTPSRFI: only the first breaks a privileged service.
    assert both.game.root[E1] == (taken == 0)
    assert both.agree()


def test_a_decoy_and_a_broken_service_cost_one_port(both):
    both.game.decoys[U1] = 1
    both.game.ports[U1] = mask(80)
    both.game.broken = hosts(U3)
    both.game.ports[U3] = mask(25)
    for host in (U1, U3):
        both.red(red.exploit, host)
        both.ledger.port(host)
    assert both.agree()


@pytest.mark.parametrize("act", [red.escalate, red.impact])
def test_escalation_and_impact_draw_a_session_unless_one_is_privileged(both, act):
    both.game.knows_ot = 1
    both.red(act, OP)  # no session: nothing to draw from
    for _ in range(3):
        red.open_session(both.game, both.ids, OP, False)
        both.ledger.pid(OP)
    both.red(act, OP)
    chosen = both.ledger.session(3)
    if act is red.escalate:
        kinds = both.ids.kind[both.ids.processes - 3 : both.ids.processes].tolist()
        assert kinds.index(processes.RED_ROOT) == chosen
    both.game.root[OP] = 1
    both.red(act, OP)
    assert both.agree()


# --- red's agents


def test_the_sleeper_draws_nothing():
    both = Both(3, red="sleep")
    agents.choose(both.game, both.ids)
    red.act(both.game, both.ids)
    assert both.agree()


@pytest.mark.parametrize("seed", range(8))
def test_bline_draws_its_foothold_and_nothing_else(seed):
    both = Both(seed, red="bline")
    for _ in range(20):
        agents.choose(both.game, both.ids)
        both.game.success = tables.SUCCESS
    assert both.game.foothold == host_index(f"User{1 + both.ledger.random.randrange(4)}")
    assert both.agree()


@pytest.mark.parametrize("seed", range(8))
def test_meander_shuffles_addresses_and_then_names_when_it_gets_to_them(seed):
    both = Both(seed, red="meander")
    game, ledger = both.game, both.ledger

    def turn(action, target):
        agents.choose(game, both.ids)
        assert (facts.RED_ACTIONS[game.action], int(game.target)) == (action, target)
        game.success = tables.SUCCESS

    turn("DiscoverRemoteSystems", 2)  # draws nothing
    game.known_address = hosts(*MEANDER_TARGETS)
    for _ in MEANDER_TARGETS:
        left = [h for h in ledger.shuffled() if game.known_address & ~game.scanned & 1 << h]
        turn("DiscoverNetworkServices", left[0])
    game.known_name = hosts(U1, U3)
    for _ in range(2):
        ledger.shuffled()
        left = [h for h in ledger.shuffled() if game.known_name & ~game.escalated & 1 << h]
        turn("PrivilegeEscalate", left[0])
    left = [h for h in ledger.shuffled() if h in MEANDER_TARGETS]
    ledger.shuffled()
    turn("ExploitRemoteService", left[0])
    game.escalated |= hosts(OP)
    turn("Impact", OP)  # draws nothing
    assert both.agree()


# --- the fast source


def fast_draws(play, act, *arguments):
    """How many words of the fast generator an act takes."""
    twin = play.games.copy()
    act(play.game, *arguments)
    for count in range(20):
        if np.array_equal(twin.random, play.games.random):
            return count
        xoshiro.word(twin[0])
    raise AssertionError("more than 20")


@pytest.mark.parametrize("name", tables.BLUE_KINDS)
def test_no_action_of_blues_draws_from_the_fast_source(name):
    play = Play(exact=False)
    full = name if name in ("Sleep", "Monitor") else f"{name} User1"
    assert fast_draws(play, blue.act, None, action_index(full)) == 0


def test_the_fast_source_draws_only_what_can_be_seen():
    play = Play(exact=False)
    assert fast_draws(play, red.sweep, 2) == 0
    assert fast_draws(play, red.scan, None, U4) == 0
    assert fast_draws(play, red.exploit, None, OP) == 0, "never scanned"
    play.ports[:] = mask(22)
    assert fast_draws(play, red.exploit, None, U4) == 0, "one way in, and no shell"
    assert fast_draws(play, red.escalate, None, U4) == 0
    play.ports[:] = mask(21, 139)
    assert fast_draws(play, red.exploit, None, E0) == 2, "which other, and whether the heaviest"
    play.ports[:] = mask(443)
    assert fast_draws(play, red.exploit, None, E2) == 1, "whether the shell is seen"
    play.user[E2] = 2
    assert fast_draws(play, red.escalate, None, E2) == 1, "which of two sessions"


@pytest.mark.parametrize(("name", "draws"), [("bline", 1), ("meander", 3), ("sleep", 0)])
def test_the_fast_source_draws_one_word_for_each_pick_of_reds(name, draws):
    """B_line its foothold; Meander, after its sweep, a scan, an escalation, a break-in."""
    play = Play(exact=False, red=name)
    total = 0
    for _ in range(4):
        total += fast_draws(play, agents.choose, None)
        play.success = tables.SUCCESS
    assert total == draws
