"""The exact generator is CPython's, word for word."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixfirst.envs import kernel, seeding
from fixfirst.game import state, twister


def seeded(*seeds):
    ids = state.new_identities(len(seeds), 1)
    kernel.seed_exact(ids, np.arange(len(seeds)), *seeding.limbs_of(seeds))
    return ids


SEEDS = [0, 1, -1, 153, 2**31, 2**32 - 1, 2**32, -(2**40), 2**64, 2**64 + 1, 3**200, -(7**999)]


@pytest.mark.parametrize("seed", SEEDS)
def test_any_int_seeds_as_python_does(seed):
    reference = random.Random(seed)
    ids = seeded(seed)[0]
    assert [twister.word(ids) for _ in range(1300)] == [
        reference.getrandbits(32) for _ in range(1300)
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers())
def test_first_draws_agree_for_every_seed(seed):
    reference = random.Random(seed)
    ids = seeded(seed)[0]
    assert twister.uniform(ids) == reference.random()


def test_seeds_of_different_length_do_not_disturb_each_other():
    together = seeded(*SEEDS)
    for row, seed in zip(together, SEEDS, strict=True):
        assert twister.uniform(row) == random.Random(seed).random()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 13, 14, 16, 4096, 10848, 32768])
def test_below_is_randrange(n):
    reference = random.Random(n)
    ids = seeded(n)[0]
    assert [twister.below(ids, n) for _ in range(500)] == [
        reference.randrange(n) for _ in range(500)
    ]


def test_shuffle_is_pythons():
    reference = random.Random(5)
    ids = seeded(5)[0]
    mine, theirs = np.arange(13, dtype=np.uint8), list(range(13))
    for _ in range(50):
        twister.shuffle(ids, mine)
        reference.shuffle(theirs)
        assert mine.tolist() == theirs


def test_peek_draws_nothing():
    ids = seeded(8)[0]
    for _ in range(700):
        seen = twister.peek(ids)
        assert seen == twister.peek(ids) == twister.uniform(ids)
