"""Seeds as users give them, and as the generators take them."""

import hashlib
import operator
from collections.abc import Sequence

import numpy as np

Seed = int | Sequence[int | None] | None


def seeds_of(seed: Seed, count: int) -> list[int | None]:
    """One seed a game.

    A single seed s gives game i the seed s + i; `None` leaves a game's generator as it is.
    """
    if seed is None:
        return [None] * count
    if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes):
        if len(seed) != count:
            raise ValueError(f"{len(seed)} seeds were given for {count} games; give one a game")
        return [None if one is None else _integer(one) for one in seed]
    first = _integer(seed)
    return list(range(first, first + count))


def _integer(seed: object) -> int:
    if isinstance(seed, bool | np.bool_):
        raise TypeError(f"seed {seed!r} is a truth value; a seed is an integer of any size")
    try:
        return operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"seed {seed!r} is of type {type(seed).__name__}; a seed is an integer of any size"
        ) from None


def limbs_of(seeds: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The 32-bit limbs of |seed|, lowest first [n, longest], and how many each has [n]."""
    texts = [
        abs(seed).to_bytes(4 * max(1, -(-abs(seed).bit_length() // 32)), "little") for seed in seeds
    ]
    counts = np.array([len(text) // 4 for text in texts], dtype=np.int64)
    limbs = np.zeros((len(texts), int(counts.max(initial=1))), dtype=np.uint32)
    for row, text in zip(limbs, texts, strict=True):
        row[: len(text) // 4] = np.frombuffer(text, dtype="<u4")
    return limbs, counts


def words_of(seeds: Sequence[int]) -> np.ndarray:
    """Seeds as 64-bit numbers [n]. Those that fit stand for themselves, others are hashed."""
    return np.array([seed if 0 <= seed < 2**64 else _hash(seed) for seed in seeds], dtype=np.uint64)


def _hash(seed: int) -> int:
    return int.from_bytes(hashlib.blake2b(str(seed).encode(), digest_size=8).digest(), "little")


def after_restart(seed: int | None, restarts: int) -> int | None:
    """The seed of an env that was made anew so many times, from the one it was given."""
    if seed is None:
        return None
    return int(np.random.SeedSequence([abs(seed), restarts]).generate_state(1)[0])


def fresh_seed() -> int:
    """A seed from the operating system's entropy."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
