"""Draws of blues: one stream an episode, so that they do not depend on what else is played."""

import hashlib

import numpy as np


class Streams:
    """The k-th episode that begins has a stream of its own, given by the seed and k."""

    def __init__(self, name: str, seed: int) -> None:
        digest = hashlib.blake2b(f"{name} {seed}".encode(), digest_size=8).digest()
        self._key = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
        self._begun = 0
        self._streams = np.zeros(0, dtype=np.uint64)

    def begin(self, games: np.ndarray) -> None:
        """Give each game the stream of the next episode."""
        new = np.arange(self._begun, self._begun + len(games), dtype=np.uint64)
        self._begun += len(games)
        missing = int(games.max(initial=-1)) + 1 - len(self._streams)
        if missing > 0:
            self._streams = np.append(self._streams, np.zeros(missing, dtype=np.uint64))
        self._streams[games] = _splitmix(self._key, new)

    def words(self, step: np.ndarray) -> np.ndarray:
        """A number of 32 bits for each game [N], in its step [N]."""
        words = _splitmix(self._streams[: len(step)], step.astype(np.uint64))
        return words >> np.uint64(32)


def _splitmix(start: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The n-th output (from 0) of the generator SplitMix64 started there."""
    words: np.ndarray = start + (n + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words
