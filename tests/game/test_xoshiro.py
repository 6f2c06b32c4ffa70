"""The fast generator is xoshiro128++, and its picks are fair."""

import numpy as np
import pytest

from fixfirst.game import state, xoshiro


@pytest.fixture
def game():
    games = state.new_games(1)
    games.random[0] = [1, 2, 3, 4]
    return games[0]


def test_words_are_those_of_the_published_generator(game):
    # The reference implementation's first outputs from the state 1, 2, 3, 4.
    expected = [641, 1573767, 3222811527, 3517856514, 836907274]
    expected += [4247214768, 3867114732, 1355841295, 495546011, 621204420]
    assert [xoshiro.word(game) for _ in range(10)] == expected


def test_below_is_even(game):
    counts = np.bincount([xoshiro.below(game, 13) for _ in range(26_000)], minlength=13)
    assert len(counts) == 13
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)


def test_chance_keeps_its_probability(game):
    hits = sum(xoshiro.chance(game, 0.95) for _ in range(40_000))
    assert abs(hits - 38_000) < 5 * np.sqrt(40_000 * 0.95 * 0.05)


def test_pick_bit_finds_every_set_bit_evenly(game):
    counts = np.bincount([xoshiro.pick_bit(game, 0b1010010000001, 4) for _ in range(8000)])
    assert np.flatnonzero(counts).tolist() == [0, 7, 10, 12]
    assert np.abs(counts[counts > 0] - 2000).max() < 5 * np.sqrt(2000)


def test_neighbouring_seeds_give_unrelated_streams():
    states = xoshiro.states(np.arange(50_000))
    assert len(np.unique(states, axis=0)) == 50_000
    bits = np.unpackbits(states.view(np.uint8), axis=1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(50_000)
    flips = (bits[1:] != bits[:-1]).mean()
    assert abs(flips - 0.5) < 0.01
