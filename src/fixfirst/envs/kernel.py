"""The compiled batch loop: what happens to many games in one call.

Everything here works in place on arrays that the caller owns and allocates nothing.
Games never look at each other, so a result does not depend on how threads share them out.
"""

from typing import Any, NamedTuple

import numba
import numpy as np

from fixfirst.envs import memory
from fixfirst.game import draws, step, table, twister
from fixfirst.game.compile import entry, rule
from fixfirst.game.state import Game, Ids
from fixfirst.workflow import compliance

# What is done with a game that has reached its horizon.
NEXT_STEP, SAME_STEP, DISABLED = range(3)


class Results(NamedTuple):
    """Where a step leaves its results, one row a game."""

    words: Any  # u4 [N, 13]: the observation bits, four bytes a word
    reward: Any  # f8 [N]
    truncated: Any  # bool [N]


class Finals(NamedTuple):
    """Where same-step reset leaves what it resets; rows of games that did not end are old."""

    games: Any  # GAME [N]
    words: Any  # u4 [N, 13]


class Following(NamedTuple):
    """The orders that games follow, and what they are paid for it."""

    alignments: Any  # ALIGNMENT [N]
    paid: Any  # f8 [N]: the alignment reward of the step
    finals: Any  # ALIGNMENT [N], as in `Finals`
    terms: Any  # TERMS [1]: a record, for Numba takes no tuple of numbers into a thread


class Recalling(NamedTuple):
    """What blue remembers, and the observations that show it."""

    memories: Any  # MEMORY [N]
    rows: Any  # f4 [N, WIDTH]
    masks: Any  # bool [N, ACTIONS]
    finals: Any  # f4 [N, WIDTH], as in `Finals`


@rule
def begin(game: Game, ids: Ids, mixture: np.ndarray) -> None:
    """Begin an episode; first draw its red, if the batch is given a mixture of reds."""
    if len(mixture) > 0:
        game.red = draws.red_kind(game, mixture)
    game.episode += 1
    step.reset(game, ids)


def _play(
    games: np.ndarray, ids: Any, following: Any, recalling: Any, actions: np.ndarray,
    horizon: int, autoreset: int, mixture: np.ndarray, results: Results, finals: Finals,
) -> None:  # fmt: skip
    """One step of every game, and the reset that its end calls for.

    What is `None` (no exact draws, no orders, no memory) is not compiled in. Arrays are not
    handed on to functions game by game: their reference counts would cost more than the game.
    """
    words, rewards, truncated = results.words, results.reward, results.truncated
    # Taken out of their tuples here: what a thread writes to a member of a tuple is lost.
    final_games, final_words = finals.games, finals.words
    if following is not None:
        alignments, paid, final_alignments = (
            following.alignments, following.paid, following.finals,
        )  # fmt: skip
        terms = following.terms
    if recalling is not None:
        memories, rows, masks, final_rows = recalling
    for i in numba.prange(len(games)):
        game = games[i]
        own_ids = None if ids is None else ids[i]
        # Under same-step reset no game is left over, but one that was loaded may be.
        if autoreset != DISABLED and game.over:
            rewards[i] = 0.0
            truncated[i] = False
            begin(game, own_ids, mixture)
            if following is not None:
                paid[i] = 0.0
                compliance.begin(alignments[i])
            if recalling is not None:
                memory.forget(memories[i])
        else:
            if following is not None:
                paid[i] = compliance.before_action(game, alignments[i], terms[0], actions[i])
            step.step(game, own_ids, actions[i])
            rewards[i] = step.reward(game)
            truncated[i] = game.step >= horizon
            if recalling is not None:
                memory.remember(memories[i], game)
            if game.step >= horizon:
                game.over = 1
                if following is not None:
                    paid[i] += compliance.at_end(alignments[i], terms[0])
                if autoreset == SAME_STEP:
                    final_games[i] = game
                    table.observe(game, final_words[i])
                    if following is not None:
                        final_alignments[i] = alignments[i]
                        compliance.begin(alignments[i])
                    if recalling is not None:
                        memory.write(memories[i], game, horizon, final_rows[i])
                        memory.forget(memories[i])
                    begin(game, own_ids, mixture)
        table.observe(game, words[i])
        if recalling is not None:
            memory.write(memories[i], game, horizon, rows[i])
            memory.mask(memories[i], masks[i])


play = entry()(_play)
play_threaded = entry(parallel=True)(_play)


@entry()
def reset(
    games: np.ndarray, ids: Any, following: Any, recalling: Any, chosen: np.ndarray,
    mixture: np.ndarray,
) -> None:  # fmt: skip
    """Begin an episode in the chosen games."""
    for i in chosen:
        begin(games[i], None if ids is None else ids[i], mixture)
        if following is not None:
            compliance.begin(following.alignments[i])
        if recalling is not None:
            memory.forget(recalling.memories[i])


@entry()
def look(
    games: np.ndarray, recalling: Any, horizon: int, chosen: np.ndarray, words: np.ndarray
) -> None:
    """Write the observations of the chosen games as they stand."""
    for i in chosen:
        table.observe(games[i], words[i])
        if recalling is not None:
            memory.write(recalling.memories[i], games[i], horizon, recalling.rows[i])
            memory.mask(recalling.memories[i], recalling.masks[i])


@entry()
def seed_exact(ids: np.ndarray, chosen: np.ndarray, limbs: np.ndarray, counts: np.ndarray) -> None:
    """Seed the exact generators of the chosen games, as `random.seed` would."""
    for k in range(len(chosen)):
        twister.seed(ids[chosen[k]], limbs[k], counts[k])


@entry()
def next_random(ids: np.ndarray, out: np.ndarray) -> None:
    """What `random.random()` would return next in each game; nothing is drawn."""
    for i in range(len(ids)):
        out[i] = twister.peek(ids[i])


@entry()
def first_bad(actions: np.ndarray, count: int) -> int:
    """The first game whose action is not among 0 .. count - 1, or -1."""
    for i in range(len(actions)):
        if actions[i] < 0 or actions[i] >= count:
            return i
    return -1


@entry()
def recall(
    games: np.ndarray, memories: np.ndarray, horizon: int, rows: np.ndarray, masks: np.ndarray
) -> None:
    """Remember one more step of games of which only what blue sees is known."""
    for i in range(len(games)):
        if games[i].step == 0:
            memory.forget(memories[i])
        else:
            memory.remember(memories[i], games[i])
        memory.write(memories[i], games[i], horizon, rows[i])
        memory.mask(memories[i], masks[i])
