"""The same source interpreted plays the same games as its machine code, with either random source."""

import os
import subprocess
import sys

import pytest

from fixfirst.game.compile import INTERPRETED

PROGRAM = """
import hashlib
import numpy as np
import fixfirst
digest = hashlib.sha256()
for rng in ("fast", "cpython"):
    for rules in ("latest", "leaderboard"):
        env = fixfirst.make_vec(
            6, rng=rng, rules=rules, red=["bline", "meander"] * 3, horizon=60, seed=11,
            autoreset="same_step", threads=1, orders="balanced", alignment_lambda=3.0,
        )
        env.reset()
        draw = np.random.default_rng(4)
        for _ in range(90):
            bits, reward, _, truncated, _ = env.step(draw.integers(0, 145, 6))
            for part in (bits, reward, truncated, env.true_state.level, env.true_state.sessions):
                digest.update(part.tobytes())
        for name in env.batch.games.dtype.names:
            digest.update(env.batch.games[name].tobytes())
print(digest.hexdigest())
"""


@pytest.mark.skipif(INTERPRETED, reason="there is no machine code to compare with")
def test_interpreted_games_are_those_of_the_machine_code():
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"NUMBA_DISABLE_JIT": setting, "FIXFIRST_QUIET": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for setting in ("0", "1")
    }
    assert len(digests) == 1
