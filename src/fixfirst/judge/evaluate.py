"""Play a blue, and account for what it scored: the spread, what each host cost, the order kept."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fixfirst.envs import options
from fixfirst.envs.batch import Batch
from fixfirst.envs.where import BUILT_IN, cyborg_folder_in
from fixfirst.game.facts import RULES
from fixfirst.game.state import MAX_HORIZON
from fixfirst.game.tables import ACTION_HOST, HOST_NAMES, HOSTS, NONE
from fixfirst.game.truth import TrueState
from fixfirst.judge import cyborg, statistics
from fixfirst.judge.blues import find_blue
from fixfirst.judge.play import Played, batches, checked_episodes, episode, name_of
from fixfirst.judge.view import Blue
from fixfirst.workflow.alignment import Compliance
from fixfirst.workflow.orders import Workflow

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
QUANTILE_NAMES = ("min", "5 %", "25 %", "median", "75 %", "95 %", "max")


@dataclass(frozen=True)
class Losses:
    """What each host cost in an episode, on average [13]; zero or negative.

    An action's cost is that of the host it was aimed at. All of it adds up to the mean return.
    """

    confidentiality: np.ndarray
    availability: np.ndarray
    action_cost: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """The three together."""
        return np.asarray(self.confidentiality + self.availability + self.action_cost)

    def summary(self) -> dict[str, dict[str, float]]:
        """By host, as JSON can hold it."""
        parts = {
            "confidentiality": self.confidentiality,
            "availability": self.availability,
            "action_cost": self.action_cost,
        }
        return {
            name: {part: float(values[host]) for part, values in parts.items()}
            for host, name in enumerate(HOST_NAMES)
        }


@dataclass(frozen=True)
class Kept:
    """How the episodes kept to an order; every array is [episodes]."""

    order: Workflow
    fixes: np.ndarray
    compliant: np.ndarray
    compliance: np.ndarray

    @property
    def mean(self) -> float:
        """The mean compliance."""
        return float(self.compliance.mean())

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval of the mean compliance."""
        return statistics.half_width_95(self.compliance)

    def summary(self) -> dict[str, Any]:
        """Means, as JSON can hold them."""
        return {
            "order": str(self.order),
            "groups": self.order.groups.as_mapping(),
            "fixes": float(self.fixes.mean()),
            "compliant_fixes": float(self.compliant.mean()),
            "compliance": self.mean,
            "compliance_standard_error": statistics.finite(
                statistics.standard_error(self.compliance)
            ),
        }


@dataclass(frozen=True)
class Evaluated:
    """What a blue scored, and where it lost it."""

    played: Played
    on: str  # BUILT_IN, or "cyborg:" and its folder
    losses: Losses
    kept: Kept | None = None

    @property
    def quantiles(self) -> dict[str, float]:
        """Of the returns, by name."""
        values = np.quantile(self.played.returns, QUANTILES)
        return {name: float(v) for name, v in zip(QUANTILE_NAMES, values, strict=True)}

    def summary(self) -> dict[str, Any]:
        """All but the single episodes, as JSON can hold it."""
        return {
            **self.played.summary(),
            "on": self.on,
            "quantiles": self.quantiles,
            "losses": self.losses.summary(),
            "workflow": None if self.kept is None else self.kept.summary(),
        }


def evaluate(
    policy: Any,
    red: str | Mapping[str, float] = "bline",
    *,
    rules: str | None = None,
    horizon: int = 100,
    episodes: int = 1000,
    seed: int | None = 0,
    rng: str | None = None,
    order: Workflow | str | None = None,
    on: str | os.PathLike[str] = BUILT_IN,
    threads: int | None = None,
    on_step: Callable[[int], object] | None = None,
) -> Evaluated:
    """Play complete episodes, as `play` does, and account for what was lost.

    order     judge the blue's fixes by this order, too; a trained policy's are judged by its own
    on        "fixfirst", or "cyborg:DIR" for the real CybORG in that folder
    rules     None: "latest", or those that the CybORG plays
    rng       None: "fast", or on CybORG "cpython", its own
    """
    count, first = checked_episodes(episodes, seed)
    player = find_blue(policy, first)
    workflow = Workflow(order) if isinstance(order, str) else order
    if workflow is None:
        workflow = getattr(player, "order", None)
    name = name_of(policy)
    tally = _Tally(workflow)
    folder = cyborg_folder_in(on)
    if folder is None:
        rules = RULES[0] if rules is None else rules
        rng = options.RNGS[0] if rng is None else rng
        for batch in batches(count, first, red, rules, horizon, rng, threads, workflow):
            _on_built_in(player, batch, name, tally, on_step)
    else:
        length = options.whole("horizon", horizon, 1, MAX_HORIZON)
        games = _cyborg_games(folder, red, rules, rng)
        rules, rng = games.game.rules, "cpython"
        keeping = None if workflow is None else cyborg.Keeping(workflow)
        for number in range(count):
            seeded = first + number
            _on_cyborg(player, games, seeded, length, name, tally, keeping, on_step)
    played = Played(
        policy=name,
        sees=player.sees,
        red=dict(red) if isinstance(red, Mapping) else red,
        rules=rules,
        horizon=horizon,
        rng=rng,
        seed=first,
        returns=np.concatenate(tally.returns),
    )
    return Evaluated(played, os.fspath(on), tally.losses(count), tally.kept())


def _cyborg_games(
    folder: str, red: str | Mapping[str, float], rules: str | None, rng: str | None
) -> cyborg.CyborgGames:
    if not isinstance(red, str):
        raise ValueError(f"red={dict(red)!r}: on CybORG one red plays all episodes; name it")
    if rng not in (None, "cpython"):
        raise ValueError(f"rng={rng!r}: CybORG has the draws of rng='cpython' only")
    return cyborg.CyborgGames(folder, red, rules)


@dataclass
class _Tally:
    """What is counted while episodes are played. Money is counted in tenths, which are exact."""

    order: Workflow | None
    returns: list[np.ndarray] = field(default_factory=list)
    compliances: list[Compliance] = field(default_factory=list)
    confidentiality: np.ndarray = field(default_factory=lambda: np.zeros(HOSTS, np.int64))
    availability: np.ndarray = field(default_factory=lambda: np.zeros(HOSTS, np.int64))
    action_cost: np.ndarray = field(default_factory=lambda: np.zeros(HOSTS, np.int64))

    def step(self, truth: TrueState, actions: np.ndarray) -> None:
        """Count what the last step cost."""
        self.confidentiality += _tenths(truth.confidentiality)
        self.availability += _tenths(truth.availability)
        paid = np.rint(10 * truth.action_cost).astype(np.int64)
        costly = np.flatnonzero(paid)
        hosts = ACTION_HOST[actions[costly]]
        assert not (hosts == NONE).any()  # what has no host is free
        np.add.at(self.action_cost, hosts, paid[costly])

    def episodes(self, returns: np.ndarray, compliance: Compliance | None) -> None:
        """Count episodes that are over."""
        self.returns.append(returns)
        if compliance is not None:
            self.compliances.append(compliance.frozen())

    def losses(self, episodes: int) -> Losses:
        """The mean losses."""
        parts = (self.confidentiality, self.availability, self.action_cost)
        return Losses(*(part / (10 * episodes) for part in parts))

    def kept(self) -> Kept | None:
        """How the order was kept, if there is one."""
        if self.order is None:
            return None
        parts = self.compliances
        return Kept(
            self.order,
            np.concatenate([part.fixes for part in parts]),
            np.concatenate([part.compliant for part in parts]),
            np.concatenate([part.compliance for part in parts]),
        )


def _tenths(rewards: np.ndarray) -> np.ndarray:
    """Rewards [N, 13], summed over the games, in tenths."""
    return np.rint(10 * rewards).astype(np.int64).sum(axis=0)  # type: ignore[no-any-return]


def _on_built_in(
    player: Blue, batch: Batch, name: str, tally: _Tally, on_step: Callable[[int], object] | None
) -> None:
    for _ in episode(player, batch, name):
        tally.step(batch.true_state, batch.actions)
        if on_step is not None:
            on_step(len(batch.games))
    following = batch.following
    compliance = None if following is None else Compliance(following.alignments)
    tally.episodes(batch.true_state.episode_return.copy(), compliance)


def _on_cyborg(
    player: Blue, games: cyborg.CyborgGames, seed: int, horizon: int, name: str, tally: _Tally,
    keeping: cyborg.Keeping | None, on_step: Callable[[int], object] | None,
) -> None:  # fmt: skip
    tenths = 0
    for reward in cyborg.episode(player, games, seed, horizon, name, keeping):
        tenths += round(10 * reward)
        tally.step(games.all_truth, games.last_action)
        if on_step is not None:
            on_step(1)
    returns = np.array([tenths / 10])
    tally.episodes(returns, None if keeping is None else keeping.compliance)
