"""The published leaderboard of CAGE Challenge 2 (2022), as data.

It stands in the README of cage-challenge-2, "Validated Test Scores": 1,000 episodes a cell,
after `random.seed(153)`, on rules `leaderboard` (commit 606813b). It gives intervals of the
totals alone. One row's total is not the sum of its cells (UTS_CIBCI), and the row of Blue
React Restore is not what that agent scores on that code: run again, it scores about -12 in
the first cell with Meander, and exactly 0 against Sleep.
"""

from typing import NamedTuple

RULES = "leaderboard"
SEED = 153
EPISODES = 1000


class Entry(NamedTuple):
    """A row of the board."""

    team: str
    method: str
    cells: tuple[float, ...]  # 30, 50, 100 steps x B_line, Meander, Sleep: as `protocol.CELLS`
    total: float
    half_width: float  # of the total's 95 % interval


# fmt: off
BOARD = (
    Entry("CardiffUni", "PPO + Greedy Decoys", (-3.47, -5.64, 0.0, -6.41, -8.69, 0.0, -13.76, -16.6, 0.0), -54.57, 0.43),
    Entry("Keeping it RL", "Ensemble of Ensembles", (-3.48, -6.47, 0.0, -5.85, -10.33, 0.0, -11.39, -19.38, 0.0), -56.9, 0.59),
    Entry("Mindrake", "HIPPO Float Observations", (-3.53, -6.76, 0.0, -6.2, -10.13, 0.0, -12.78, -17.65, 0.0), -57.05, 0.56),
    Entry("Mindrake", "HIPPO-Heuristic", (-3.69, -6.81, 0.0, -6.24, -10.09, 0.0, -12.86, -17.6, 0.0), -57.29, 0.59),
    Entry("Mindrake", "HIPPO Bandit Controller", (-3.73, -6.85, 0.0, -6.65, -9.98, 0.0, -12.86, -17.39, 0.0), -57.46, 0.74),
    Entry("Keeping it RL", "Ensemble", (-3.62, -6.57, 0.0, -6.1, -10.32, 0.0, -11.9, -20.16, 0.0), -58.68, 0.61),
    Entry("UoA", "Belief Ensemble", (-3.87, -6.54, 0.0, -6.74, -12.01, 0.0, -14.63, -26.09, 0.0), -69.88, 0.88),
    Entry("Keeping it RL", "Transfer Learning", (-5.54, -6.4, 0.0, -9.74, -10.21, 0.0, -19.57, -18.65, 0.0), -70.12, 0.71),
    Entry("Keeping it RL", "Action Masking", (-4.61, -6.45, 0.0, -7.92, -11.22, 0.0, -17.75, -24.22, 0.0), -72.17, 1.6),
    Entry("Keeping it RL", "PPO", (-4.76, -8.03, 0.0, -8.13, -12.91, 0.0, -17.19, -22.94, -0.01), -73.98, 0.94),
    Entry("SRG Raytheon", "HPPO", (-4.44, -6.57, 0.0, -7.7, -11.78, 0.0, -15.68, -29.52, 0.0), -75.7, 1.29),
    Entry("UoA", "Ensemble", (-6.02, -6.23, 0.0, -10.19, -11.74, 0.0, -22.09, -25.55, 0.0), -81.83, 0.86),
    Entry("CCS RL Benchmark", "PPO", (-8.75, -7.31, -0.01, -14.92, -12.04, -0.01, -30.19, -22.21, -0.03), -95.47, 1.36),
    Entry("Keeping it RL", "HPPO", (-4.64, -9.15, 0.0, -8.45, -22.3, 0.0, -17.44, -57.72, 0.0), -119.7, 1.63),
    Entry("Reward is not Enough", "ACME IMPALA CAGE 2", (-6.0, -9.27, -0.12, -10.25, -22.27, -0.16, -19.72, -54.79, -0.33), -122.91, 1.11),
    Entry("KingMatthew", "PPO with RE3 Exploration", (-12.48, -6.99, 0.0, -23.33, -12.26, -0.01, -54.01, -28.69, -0.02), -137.79, 3.89),
    Entry("UTS_CIBCI", "Ensembled DDDQN", (-5.87, -10.93, 0.0, -10.82, -26.29, 0.0, -23.96, -67.89, 0.0), -154.71, 1.95),
    Entry("CCS Heuristic", "Blue React Restore", (-58.83, -44.29, -27.0, -93.05, -85.75, -46.0, -184.34, -192.63, -92.0), -823.89, 1.03),
    Entry("CCS Random", "Random Agent", (-154.06, -33.43, -2.8, -347.1, -171.49, -4.45, -726.92, -566.41, -8.94), -2015.61, 30.93),
    Entry("CCS Sleeper", "Sleeping Agent", (-218.65, -39.31, 0.0, -480.17, -267.6, 0.0, -1134.03, -972.43, 0.0), -3112.2, 6.67),
)
# fmt: on
