"""Optuna's tree-structured Parzen estimator over orders, with the Kendall distance."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fixfirst.search.history import PASSED, RUNNING, History, Proposal
from fixfirst.search.simple import drawn
from fixfirst.workflow import distances
from fixfirst.workflow.orders import Workflow, ranks_of
from fixfirst.workflow.permutations import LISTABLE

POOL = 2_000  # orders to choose among, where all are too many: drawn ones, and all around tried
TRIES = 20  # suggestions until one is new


@dataclass(frozen=True)
class Tpe:
    """The strategy `tpe`."""

    name: str = "tpe"

    def propose(self, history: History, count: int, seed: int) -> list[Proposal]:
        """Orders one after another, those before taken as running."""
        random = np.random.default_rng([seed, len(history.trials)])
        orders = _choices(history, random)
        study = _study(history, orders, int(random.integers(2**31)))
        taken = {trial.order for trial in history.trials}
        proposals = []
        for _ in range(count):
            order = _new(study, orders, taken)
            order = order or drawn(random, history.groups, taken)
            taken.add(order)
            proposals.append(Proposal(order, "suggested by Optuna's TPE", self.name))
        return proposals


def _choices(history: History, random: np.random.Generator) -> list[Workflow]:
    """The orders to choose among: all, or a pool that holds the tried ones and what is near."""
    groups = history.groups
    if len(groups) <= LISTABLE:
        return list(Workflow.every(groups))
    tried = [trial.order for trial in history.trials]
    best = sorted(history.passed, key=lambda trial: trial.reward or 0.0, reverse=True)[:8]
    near = [order for trial in best for order in trial.order.neighbours("insertions")]
    far = [Workflow.random(random, groups) for _ in range(POOL)]
    return list(dict.fromkeys([*tried, *near, *far]))


def _study(history: History, orders: list[Workflow], seed: int) -> Any:
    """The trials as an Optuna study in memory."""
    import optuna  # noqa: PLC0415 - slow to load

    place = {order: index for index, order in enumerate(orders)}
    there = optuna.distributions.CategoricalDistribution(tuple(range(len(orders))))
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # a new study announces itself
    try:
        study = optuna.create_study(sampler=_sampler(orders, seed), direction="maximize")
    finally:
        optuna.logging.set_verbosity(verbosity)
    # TPE asks only what is better than what, so a failed gate counts as the worst reward.
    worst = min((trial.reward for trial in history.passed if trial.reward is not None), default=0.0)
    for trial in history.trials:
        value = trial.reward if trial.state == PASSED else worst
        running = trial.state == RUNNING
        states = optuna.trial.TrialState
        study.add_trial(
            optuna.trial.create_trial(
                state=states.RUNNING if running else states.COMPLETE,
                params={"order": place[trial.order]},
                distributions={"order": there},
                value=None if running else value,
            )
        )
    return study


def _new(study: Any, orders: list[Workflow], taken: set[Workflow]) -> Workflow | None:
    """The study's next suggestion that is not taken, if it has one before long."""
    import optuna  # noqa: PLC0415

    there = optuna.distributions.CategoricalDistribution(tuple(range(len(orders))))
    for _ in range(TRIES):
        trial = study.ask({"order": there})
        order: Workflow = orders[trial.params["order"]]
        if order not in taken:
            return order  # the study takes it as running from now on
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return None


def _sampler(orders: list[Workflow], seed: int) -> Any:
    """Optuna's TPE, its defaults kept, whose kernels are as wide as the Kendall distance says.

    Optuna 4 had an option for distances between choices; Optuna 5 has none, and names its
    class of estimators as the place to change them.
    """
    from optuna.samplers import TPESampler  # noqa: PLC0415
    from optuna.samplers._tpe.parzen_estimator import _ParzenEstimator  # noqa: PLC0415
    from optuna.samplers._tpe.probability_distributions import (  # noqa: PLC0415
        _BatchedCategoricalDistributions,
    )

    ranks = ranks_of(orders)

    class OverOrders(_ParzenEstimator):
        def _calculate_categorical_distributions(
            self, observations: np.ndarray, *about: Any, **more: Any
        ) -> Any:
            seen = observations.astype(int)
            return _BatchedCategoricalDistributions(kernels(ranks[seen], ranks))

    sampler = TPESampler(seed=seed, constant_liar=True)
    sampler._parzen_estimator_cls = OverOrders
    return sampler


def kernels(seen: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The weights of all m orders around each of n seen ones, and a flat row [n + 1, m].

    The width is that of Optuna 4's categorical distance: the more orders have been seen, the
    closer the weight stays to each.
    """
    flat = np.full((1, len(ranks)), 1.0 / len(ranks))
    if not len(seen):
        return flat
    apart = distances.kendall(seen, ranks)
    narrow = np.log(len(seen) + 1) * np.log(len(ranks)) / np.log(6)
    around = np.exp(-(apart**2) * narrow)
    return np.concatenate([around / around.sum(axis=1, keepdims=True), flat])
