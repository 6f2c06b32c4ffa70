"""CPython's `random` for one game: MT19937 and the helpers of Python's `random` module.

All arithmetic is in 64-bit integers, so that the same source runs compiled and interpreted.
"""

import numpy as np

from fixfirst.game.compile import rule
from fixfirst.game.state import Ids

N, M = 624, 397
WORD = 0xFFFFFFFF


@rule
def seed(core: Ids, limbs: np.ndarray, count: int) -> None:
    """What `random.seed(n)` does, given the 32-bit limbs of |n|, the lowest first."""
    state = core.twister
    value = np.int64(19650218)
    state[0] = value
    for i in range(1, N):
        value = ((value ^ (value >> 30)) * 1812433253 + i) & WORD
        state[i] = value
    i, j = 1, 0
    value = np.int64(state[0])
    for _ in range(max(N, count)):
        value = ((np.int64(state[i]) ^ ((value ^ (value >> 30)) * 1664525)) + limbs[j] + j) & WORD
        state[i] = value
        i, j = i + 1, j + 1
        if i == N:
            state[0] = value
            i = 1
        if j == count:
            j = 0
    for _ in range(N - 1):
        value = ((np.int64(state[i]) ^ ((value ^ (value >> 30)) * 1566083941)) - i) & WORD
        state[i] = value
        i += 1
        if i == N:
            state[0] = value
            i = 1
    state[0] = 0x80000000
    core.position = 0


@rule
def word(core: Ids) -> int:
    """The next 32 bits. Each word of the state is renewed when its turn comes, none before."""
    state = core.twister
    i = np.int64(core.position)
    following = i + 1 if i + 1 < N else 0
    distant = i + M if i + M < N else i + M - N
    mixed = (np.int64(state[i]) & 0x80000000) | (np.int64(state[following]) & 0x7FFFFFFF)
    value = np.int64(state[distant]) ^ (mixed >> 1) ^ ((mixed & 1) * 0x9908B0DF)
    state[i] = value
    core.position = following
    value ^= value >> 11
    value ^= (value << 7) & 0x9D2C5680
    value ^= (value << 15) & 0xEFC60000
    return int(value ^ (value >> 18))


@rule
def uniform(core: Ids) -> float:
    """`random.random()`."""
    high = word(core) >> 5
    low = word(core) >> 6
    return (high * 67108864.0 + low) / 9007199254740992.0


@rule
def below(core: Ids, n: int) -> int:
    """`random.randrange(n)`. Draws for n = 1 too, until a word begins with a zero bit."""
    bits = 1
    while n >> bits:
        bits += 1
    value = word(core) >> (32 - bits)
    while value >= n:
        value = word(core) >> (32 - bits)
    return value


@rule
def shuffle(core: Ids, items: np.ndarray) -> None:
    """`random.shuffle(items)`."""
    for i in range(len(items) - 1, 0, -1):
        j = below(core, i + 1)
        kept = items[i]
        items[i] = items[j]
        items[j] = kept


@rule
def peek(core: Ids) -> float:
    """The next `random.random()`, leaving the generator as it was."""
    position = core.position
    i = np.int64(position)
    first = core.twister[i]
    second = core.twister[(i + 1) % N]
    value = uniform(core)
    core.twister[i] = first
    core.twister[(i + 1) % N] = second
    core.position = position
    return value
