"""The fast source's generator: xoshiro128++ of Blackman and Vigna, one stream a game.

Its words are 32 bits wide, so that every step fits into 64-bit integers without overflow,
compiled and interpreted alike.
"""

import numpy as np

from fixfirst.game.compile import rule
from fixfirst.game.state import Game

WORD = 0xFFFFFFFF


@rule
def word(game: Game) -> int:
    """The next 32 bits."""
    state = game.random
    a, b = np.int64(state[0]), np.int64(state[1])
    c, d = np.int64(state[2]), np.int64(state[3])
    total = (a + d) & WORD
    result = (((total << 7) | (total >> 25)) + a) & WORD
    shifted = (b << 9) & WORD
    c ^= a
    d ^= b
    state[1] = b ^ c
    state[0] = a ^ d
    state[2] = c ^ shifted
    state[3] = ((d << 11) | (d >> 21)) & WORD
    return int(result)


@rule
def below(game: Game, n: int) -> int:
    """An integer from 0 to n - 1; the unevenness is below n / 2**32."""
    return (word(game) * n) >> 32


@rule
def chance(game: Game, probability: float) -> bool:
    """True with the given probability, to a resolution of 2**-32."""
    return word(game) < probability * 4294967296.0


@rule
def pick_bit(game: Game, mask: int, count: int) -> int:
    """The position of one of the `count` bits that are set in `mask`, each as likely."""
    skip = below(game, count)
    position = 0
    while True:
        if mask >> position & 1:
            if skip == 0:
                return position
            skip -= 1
        position += 1


def states(seeds: np.ndarray) -> np.ndarray:
    """Starting states [n, 4] for 64-bit seeds [n], by splitmix64. No state is all zeros."""
    first = _splitmix(seeds.astype(np.uint64), 1)
    second = _splitmix(seeds.astype(np.uint64), 2)
    words = np.stack([first, first >> np.uint64(32), second, second >> np.uint64(32)], axis=1)
    out = (words & np.uint64(WORD)).astype(np.uint32)
    out[(out == 0).all(axis=1), 0] = 1
    return out


def _splitmix(seeds: np.ndarray, draw: int) -> np.ndarray:
    z = seeds + np.uint64(0x9E3779B97F4A7C15 * draw % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: np.ndarray = z ^ (z >> np.uint64(31))
    return result
