"""The comparison side by side, with a second game of fixfirst in CybORG's place."""

import numpy as np
import pytest

from fixfirst.game.names import action_index, host_index
from fixfirst.parity import live
from fixfirst.parity.policies import POLICIES
from tests.parity.standin import StandIn


def no_step():
    pass


def match(red="bline", horizon=60):
    return live.Match(StandIn(red=red), horizon)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("red", ["bline", "meander", "sleep"])
def test_equal_games_are_equal_throughout(stand_in, red, policy):
    steps = []
    tally = live.play(match(red), policy, range(2), 60, lambda: steps.append(1))
    assert (tally.episodes, tally.steps, tally.equal) == (2, 120, 120)
    assert tally.found is None
    assert len(steps) == 120


# What a game must not do unseen: each is done at one step, and shows in one field first.
TAMPERINGS = {
    "level": lambda game: game.batch.games.root.__setitem__((0, 5), 1),
    "sessions": lambda game: game.batch.games.root.__setitem__((0, 8), 2),
    "files": lambda game: game.batch.games.__setattr__("files", game.batch.games.files ^ 64),
    "red_success": lambda game: game.batch.games.__setattr__("success", 2),
    "known_addresses": lambda game: game.batch.games.__setattr__("known_address", 256),
    "known_names": lambda game: game.batch.games.__setattr__("known_name", 1),
    "known_ports": lambda game: game.batch.games.ports.__setitem__((0, 0), 1),
    "knows_ot": lambda game: game.batch.games.__setattr__("knows_ot", 1),
    "decoys": lambda game: game.batch.games.stacked.__setitem__((0, 7), 3),
    "ot_service": lambda game: game.batch.games.__setattr__("ot_running", 0),
    "pids": lambda game: game.batch.ids.process.__setitem__((0, 4), 7),
    "suspects": lambda game: game.batch.ids.__setattr__("suspects", 40),
}


@pytest.mark.parametrize("field", TAMPERINGS)
def test_a_hidden_change_is_found_at_its_step(stand_in, monkeypatch, field):
    def tamper(game):
        if game.steps == 3:
            TAMPERINGS[field](game)

    monkeypatch.setattr(stand_in, "tamper", tamper)
    tally = live.play(match(), "idle", [5], 60, no_step)
    difference = tally.found.difference
    assert (difference.step, difference.field) == (3, field)
    assert (tally.steps, tally.equal) == (3, 2)
    assert (tally.found.policy, tally.found.red, tally.found.seed) == ("idle", "bline", 5)


def test_one_draw_too_many_is_found_at_the_end(stand_in, monkeypatch):
    def tamper(game):
        if game.steps == 60:
            game.batch.ids.position += 1

    monkeypatch.setattr(stand_in, "tamper", tamper)
    tally = live.play(match(), "idle", [5], 60, no_step)
    assert (tally.found.difference.step, tally.found.difference.field) == (60, "generator")


def test_a_port_too_many_is_found_at_the_end(stand_in, monkeypatch):
    def tamper(game):
        game.batch.ids.ephemeral[0, 3, 0] |= 1

    monkeypatch.setattr(stand_in, "tamper", tamper)
    tally = live.play(match(), "idle", [5], 60, no_step)
    assert tally.found.difference.field == "ephemeral_ports"
    assert "49152" in tally.found.difference.cyborg


@pytest.mark.parametrize("reading", live.READINGS)
def test_every_reading_is_compared(stand_in, reading):
    both = match()
    assert both.reset(0) is None
    assert both.step(0) is None
    true = np.asarray(getattr(both.game.true_state, reading))
    both.game.readings = {reading: ~true if true.dtype == bool else true + 99}
    assert both.step(0).field == reading


@pytest.mark.parametrize("reading", ["addresses", "pids", "suspects", "ephemeral_ports"])
def test_addresses_and_lists_are_compared_at_the_reset(stand_in, reading):
    both = match()
    assert both.reset(0) is None
    wrong = [[1]] * 13 if reading != "addresses" else both.game.true_state.addresses + 1
    both.game.readings = {reading: wrong}
    difference = both.reset(0)
    assert (difference.step, difference.field) == (0, reading)


def test_a_game_that_breaks_off_is_a_difference(stand_in, monkeypatch):
    def tamper(game):
        if game.steps == 9:
            raise AttributeError("no such thing")

    monkeypatch.setattr(stand_in, "tamper", tamper)
    tally = live.play(match(), "idle", [5], 60, no_step)
    assert str(tally.found.difference) == (
        "step 9: the game is over, by AttributeError: no such thing in CybORG, going on in fixfirst"
    )


def test_without_a_seed_both_generators_go_on(stand_in):
    both = match("meander")
    assert both.reset(1) is None
    for _ in range(20):
        assert both.step(0) is None
    first = both.game.true_state.addresses.tolist()
    assert both.reset() is None
    assert both.game.true_state.addresses.tolist() != first
    assert both.reset(1) is None
    assert both.game.true_state.addresses.tolist() == first


def test_the_command_shows_the_difference_again(stand_in, monkeypatch):
    def tamper(game):
        if game.true_state.level[host_index("Enterprise2")]:
            game.readings = {"knows_ot": True}

    monkeypatch.setattr(stand_in, "tamper", tamper)
    tally = live.play(match(), "late", range(4, 9), 60, no_step)
    command = live.command("a folder", "latest", 60, tally.found)
    told = dict(zip(command[2::2], command[3::2], strict=True))
    assert told["--cyborg"] == "a folder"
    again = live.play(
        match(told["--red"]), told["--policy"], [int(told["--seed"])], int(told["--horizon"]),
        no_step,
    )  # fmt: skip
    assert again.found == tally.found


def test_restore_leaves_both_games_equal(stand_in):
    both = match("meander")
    both.reset(2)
    for step in range(40):
        assert both.step(action_index("Restore User0") if step % 5 == 0 else 0) is None
    assert both.end() is None
