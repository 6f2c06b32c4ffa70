"""The challenge's protocols: nine cells by seeds, and CybORG's own script, draw for draw."""

import math
import random
from pathlib import Path

import numpy as np
import pytest

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.judge import board
from fixfirst.judge.play import play
from fixfirst.judge.protocol import CELLS, leaderboard, official, steps_of
from tests.judge.record_official import jumble

RECORDING = Path(__file__).with_name("official_games.npz")
BLUES = ("sleep", "react-remove", "react-restore", "jumble")


class Jumble:
    """The recorder's agent of that name."""

    sees = "bits"

    def begin(self, games):
        pass

    def act(self, view):
        return jumble(view.observation, view.step)


def tenths(scored):
    return np.rint(10 * np.array([cell.returns for cell in scored.cells])).astype(int)


# --- CybORG's own script


@pytest.mark.parametrize("rules", ["latest", "leaderboard"])
@pytest.mark.parametrize("name", BLUES)
def test_official_earns_what_cyborgs_script_printed(name, rules):
    with np.load(RECORDING) as recorded:
        theirs = recorded[f"{rules} {name}"]
    blue = Jumble() if name == "jumble" else name
    np.testing.assert_array_equal(tenths(official(blue, rules=rules, episodes=6)), theirs)


def test_the_recording_tells_rules_and_blues_apart():
    with np.load(RECORDING) as recorded:
        runs = {name: recorded[name] for name in recorded}
    assert set(runs) == {f"{r} {b}" for r in ("latest", "leaderboard") for b in BLUES}
    for blue in ("react-restore", "jumble"):
        assert (runs[f"latest {blue}"] != runs[f"leaderboard {blue}"]).any()
    assert all(run.shape == (9, 6) and (run[0] < 0).all() for run in runs.values())


def test_official_says_how_it_played():
    scored = official("sleep", rules="leaderboard", episodes=2, seed=7)
    told = scored.summary()
    assert (told["protocol"], told["rules"], told["seeds"]) == (
        "official", "leaderboard", "one stream from seed 7",
    )  # fmt: skip
    assert all(cell["one_stream"] and cell["rng"] == "cpython" for cell in told["cells"])
    assert (tenths(scored) != tenths(official("sleep", episodes=2, seed=8))).any()


def batch_of(count, horizon, rng="cpython"):
    return Batch(options.checked(count, "meander", "latest", horizon, rng, 1, "disabled"), 1)


def test_a_generator_goes_on_in_a_batch_of_another_horizon():
    short, long = batch_of(2, 10), batch_of(2, 90)
    short.reset()
    state = short.generator_state()
    long.set_generator_state(state)
    expected = [random.Random(seed) for seed in (1, 2)]
    for one, seen in zip(expected, long.next_random(), strict=True):
        assert seen != one.random()  # the reset has drawn
    np.testing.assert_array_equal(short.next_random(), long.next_random())
    before = state.twister.copy()
    short.reset()
    np.testing.assert_array_equal(state.twister, before)
    long.reset()
    np.testing.assert_array_equal(short.next_random(), long.next_random())


def test_generators_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="the generators are of 2 games, not 3"):
        batch_of(3, 5).set_generator_state(batch_of(2, 5).generator_state())
    for fast in (batch_of(2, 5, "fast").generator_state, batch_of(2, 5, "fast").next_random):
        with pytest.raises(ValueError, match="use rng='cpython'"):
            fast()


# --- by seeds


def test_the_nine_cells_have_seeds_of_their_own():
    scored = leaderboard("random", rules="leaderboard", episodes=4, seed=100)
    assert [(cell.horizon, cell.red) for cell in scored.cells] == list(CELLS)
    assert [cell.seed for cell in scored.cells] == list(range(100, 136, 4))
    assert scored.seeds == "seeds 100 to 135"
    for cell in scored.cells:
        alone = play(
            "random", cell.red, rules="leaderboard", horizon=cell.horizon, episodes=4,
            seed=cell.seed,
        )  # fmt: skip
        np.testing.assert_array_equal(cell.returns, alone.returns)


def test_cells_stand_in_cyborgs_order():
    assert [f"{red} {horizon}" for horizon, red in CELLS[:4]] == [
        "bline 30", "meander 30", "sleep 30", "bline 50",
    ]  # fmt: skip
    assert steps_of(10) == 10 * 3 * 180


def test_the_total_is_the_sum_with_the_interval_of_a_sum():
    scored = leaderboard("random", episodes=30)
    means = [cell.returns.mean() for cell in scored.cells]
    squares = np.array([cell.returns.var(ddof=1) / 30 for cell in scored.cells])
    degrees = int(squares.sum() ** 2 / (squares**2 / 29).sum())
    from scipy import stats

    assert scored.total == pytest.approx(sum(means))
    expected = stats.t.ppf(0.975, degrees) * math.sqrt(squares.sum())
    assert scored.half_width == pytest.approx(expected, rel=1e-5)
    told = scored.summary()
    assert told["total_high_95"] - told["total"] == pytest.approx(scored.half_width)


def test_one_episode_a_cell_has_no_interval():
    told = leaderboard("sleep", episodes=1).summary()
    assert told["total_low_95"] is told["total_high_95"] is None


def test_a_blue_that_loses_nothing_is_sure_of_it():
    assert leaderboard(lambda seen: [0] * len(seen), episodes=3).cells[2].half_width == 0


# --- the published board


def test_rows_of_the_board_add_up():
    assert len(board.BOARD) == 20
    off = [e.team for e in board.BOARD if abs(sum(e.cells) - e.total) > 0.015]
    assert off == ["UTS_CIBCI"]
    totals = [entry.total for entry in board.BOARD]
    assert totals == sorted(totals, reverse=True)
    assert all(len(entry.cells) == len(CELLS) for entry in board.BOARD)


def test_the_boards_sleeper_and_random_blue_score_the_same_here():
    by_method = {entry.method: entry for entry in board.BOARD}
    for name, method in (("sleep", "Sleeping Agent"), ("random", "Random Agent")):
        entry = by_method[method]
        here = leaderboard(name, rules=board.RULES, episodes=1000)
        joint = math.hypot(entry.half_width, here.half_width) / 1.96
        assert abs(here.total - entry.total) < 3.5 * joint
