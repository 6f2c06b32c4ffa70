"""All strategies by name."""

import math

from fixfirst.search.gp_ucb import SRINIVAS, GpUcb
from fixfirst.search.halving import SuccessiveHalving
from fixfirst.search.history import Strategy
from fixfirst.search.simple import Exhaustive, Random, RoundRobin
from fixfirst.search.tpe import Tpe

STRATEGIES = ("gp-ucb", "random", "round-robin", "successive-halving", "tpe", "exhaustive")
BETA = 2.0
MAX_EPISODES = 10_000


def make_strategy(
    name: str, *, beta: float | str = BETA, max_episodes: int = MAX_EPISODES
) -> Strategy:
    """The strategy of that name.

    beta          how many deviations `gp-ucb` adds to the mean, or `srinivas`, their schedule
    max_episodes  the most that a search spends on one order, of which `successive-halving`
                  gives shares
    """
    if name == "gp-ucb":
        return GpUcb(checked_beta(beta))
    if name == "successive-halving":
        return SuccessiveHalving(max_episodes)
    plain: dict[str, type[Random | RoundRobin | Tpe | Exhaustive]] = {
        "random": Random, "round-robin": RoundRobin, "tpe": Tpe, "exhaustive": Exhaustive,
    }  # fmt: skip
    if name not in plain:
        raise ValueError(f"no strategy is named {name!r}; they are {', '.join(STRATEGIES)}")
    return plain[name]()


def checked_beta(beta: float | str) -> float | str:
    """Beta as a number, or the name of the schedule; text is read, as of a command line."""
    if isinstance(beta, str) and beta.strip().lower() == SRINIVAS:
        return SRINIVAS
    try:
        number = float(beta)
    except ValueError:
        number = math.nan
    if not 0.0 <= number < math.inf:
        raise ValueError(
            f"beta {beta!r} is no number of deviations; it is 0 or more (2 by default), or "
            f"{SRINIVAS!r} for the schedule that grows with the trials"
        )
    return number
