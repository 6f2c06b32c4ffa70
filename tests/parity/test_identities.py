"""The exact half of a game in CybORG's terms, checked against Python itself."""

import random

import numpy as np
import pytest

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.game import facts, tables, twister
from fixfirst.game.names import action_index, host_index
from fixfirst.parity import identities


def batch_of(seed, red="meander"):
    batch = Batch(options.checked(1, red, "latest", 100, "cpython", 1, "disabled"), [seed])
    batch.reset()
    return batch


@pytest.mark.parametrize("words", [0, 1, 226, 227, 396, 397, 623, 624, 625, 1247, 1248, 5000])
@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 + 5])
def test_the_generator_is_pythons_after_any_number_of_words(seed, words):
    batch = Batch(options.checked(1, "bline", "latest", 100, "cpython", 1, "disabled"), [seed])
    python = random.Random(seed)
    for _ in range(words):
        assert twister.word(batch.ids[0]) == python.getrandbits(32)
    assert identities.generator(batch.ids[0]).tolist() == list(python.getstate()[1])


def test_a_python_generator_goes_on_where_the_game_is():
    batch = batch_of(7)
    batch.step([5])
    python = random.Random()
    python.setstate((3, tuple(identities.generator(batch.ids[0]).tolist()), None))
    assert python.random() == batch.next_random()[0]


def test_a_game_begins_with_the_pids_of_images_and_first_sessions():
    batch = batch_of(3)
    alive = identities.pids(batch.games[0], batch.ids[0])
    sessions = [h for who in facts.FIRST_SESSIONS for h in who]
    for host, name in enumerate(tables.HOST_NAMES):
        image = {p.pid for p in facts.IMAGES[facts.HOSTS[host].image].processes}
        assert image < set(alive[host])
        assert len(alive[host]) == len(image) + sessions.count(name)
    assert identities.suspects(batch.ids[0]) == [[]] * tables.HOSTS


def test_a_stopped_service_has_no_pid():
    batch = batch_of(3)
    server = host_index("Op_Server0")
    assert tables.OT_PID in identities.pids(batch.games[0], batch.ids[0])[server]
    batch.games.ot_running = 0
    assert tables.OT_PID not in identities.pids(batch.games[0], batch.ids[0])[server]


def test_a_restore_takes_the_ephemeral_ports_back():
    batch = batch_of(0)
    for _ in range(30):
        batch.step([0])
    before = identities.ephemeral_ports(batch.ids[0])
    given = [host for host, ports in enumerate(before) if ports]
    assert given
    assert all(49152 <= port < 60000 for ports in before for port in ports)
    host = given[0]
    batch.step([action_index(f"Restore {tables.HOST_NAMES[host]}")])
    batch.games.event_host = tables.NONE
    after = identities.ephemeral_ports(batch.ids[0])
    assert not set(before[host]) & set(after[host])


def test_suspects_are_listed_in_the_order_they_were_seen():
    batch = batch_of(0)
    ids = batch.ids[0]
    keys = [(9, 500), (3, 7), (9, 2), (9, 500)]
    ids.suspect[: len(keys)] = [host << 15 | pid for host, pid in keys]
    ids.suspects = len(keys)
    assert identities.suspects(ids)[9] == [500, 2, 500]
    assert identities.suspects(ids)[3] == [7]
    assert np.sum([len(host) for host in identities.suspects(ids)]) == 4
