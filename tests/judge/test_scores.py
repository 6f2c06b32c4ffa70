"""The scripted blues score here what they score on the real CybORG.

The scores below are CybORG's, 150 episodes a cell: mean and half of the 95 % interval, as
printed with one decimal. Each is compared with 2,000 episodes here. With 54 comparisons
some differ by two standard errors though nothing is wrong; 3.5 joint standard errors are
passed by chance in one of 2,000 comparisons, so in 1 of 40 such tables.
"""

import math

import pytest

from fixfirst.judge.play import play

HORIZONS = (30, 50, 100)
EPISODES = 2000
BOUND = 3.5
ROUNDING = 0.05

SCORES = {
    ("sleep", "bline", "latest"): ((-220.2, 2.6), (-481.5, 2.4), (-1136.9, 2.3)),
    ("sleep", "bline", "leaderboard"): ((-219.5, 2.6), (-481.5, 2.4), (-1134.4, 3.4)),
    ("sleep", "meander", "latest"): ((-41.1, 3.6), (-263.6, 12.4), (-979.3, 9.9)),
    ("sleep", "meander", "leaderboard"): ((-42.2, 3.7), (-255.1, 13.0), (-976.1, 10.7)),
    ("random", "bline", "latest"): ((-172.9, 11.1), (-364.4, 23.6), (-791.1, 54.8)),
    ("random", "bline", "leaderboard"): ((-163.1, 12.6), (-361.3, 24.1), (-771.0, 54.9)),
    ("random", "meander", "latest"): ((-34.7, 2.7), (-184.4, 15.3), (-610.4, 43.4)),
    ("random", "meander", "leaderboard"): ((-32.3, 2.2), (-171.8, 14.4), (-634.9, 43.5)),
    ("random", "sleep", "latest"): ((-2.6, 0.3), (-4.1, 0.3), (-8.8, 0.5)),
    ("random", "sleep", "leaderboard"): ((-2.6, 0.3), (-4.1, 0.3), (-8.8, 0.5)),
    ("react-restore", "bline", "latest"): ((-30.7, 5.8), (-118.7, 20.7), (-488.9, 57.1)),
    ("react-restore", "bline", "leaderboard"): ((-24.6, 6.2), (-88.0, 18.1), (-440.1, 57.7)),
    ("react-restore", "meander", "latest"): ((-12.7, 0.5), (-38.4, 5.2), (-192.8, 28.2)),
    ("react-restore", "meander", "leaderboard"): ((-11.2, 0.7), (-35.8, 5.1), (-205.2, 32.0)),
    ("react-remove", "bline", "latest"): ((-84.8, 12.1), (-287.0, 25.9), (-935.5, 27.7)),
    ("react-remove", "bline", "leaderboard"): ((-86.7, 12.3), (-291.3, 25.7), (-911.4, 31.1)),
    ("react-remove", "meander", "latest"): ((-20.4, 1.3), (-115.7, 14.3), (-664.5, 41.5)),
    ("react-remove", "meander", "leaderboard"): ((-20.3, 1.1), (-114.2, 14.1), (-617.5, 43.0)),
}
CELLS = [
    (*who, horizon, *score)
    for who, row in SCORES.items()
    for horizon, score in zip(HORIZONS, row, strict=True)
]


@pytest.mark.parametrize(("policy", "red", "rules", "horizon", "mean", "half_width"), CELLS)
def test_blue_scores_as_on_cyborg(policy, red, rules, horizon, mean, half_width):
    here = play(policy, red, rules=rules, horizon=horizon, episodes=EPISODES, seed=10_000)
    joint = math.hypot((half_width + ROUNDING) / 1.96, here.standard_error)
    assert abs(here.mean - mean) <= BOUND * joint + ROUNDING


@pytest.mark.parametrize("rules", ["latest", "leaderboard"])
@pytest.mark.parametrize("policy", ["sleep", "monitor", "react-remove", "react-restore"])
def test_nothing_is_lost_while_red_sleeps(policy, rules):
    here = play(policy, "sleep", rules=rules, episodes=200)
    assert not here.returns.any()
    assert (here.mean, here.standard_error) == (0.0, 0.0)
