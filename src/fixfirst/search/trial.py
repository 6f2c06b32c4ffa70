"""Train for an order, tell the result: all that the search knows of learning and judging."""

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from fixfirst.judge.evaluate import evaluate
from fixfirst.judge.statistics import standard_error
from fixfirst.judge.trained import Trained as TrainedBlue
from fixfirst.learn import checkpoint
from fixfirst.learn.checkpoint import CheckpointError
from fixfirst.learn.options import PPO
from fixfirst.learn.policy import Policy
from fixfirst.learn.rollout import Episodes
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import METRICS, STOPPED_BY_HAND, Trained, latest_checkpoint, train
from fixfirst.learn.training import Row, passes_gate
from fixfirst.learn.update import NotFiniteError
from fixfirst.runs.folder import RunError, read_rows
from fixfirst.search.episodes import EpisodeFile
from fixfirst.search.folder import EPISODES
from fixfirst.search.settings import EVALUATION, Settings
from fixfirst.workflow.orders import Workflow

DIVERGED = "diverged"
LAST_EPISODES = 3  # of each game, that a score from training is the mean of

# The games of the judge have other seeds than any game of training, whose seeds are below 2**64.
FIRST_JUDGED = 2**64

_BUSY = ("play_seconds", "advantage_seconds", "update_seconds")  # in a row of a training


@dataclass(frozen=True)
class Task:
    """What is to be trained."""

    folder: Path
    orders: tuple[Workflow, ...]  # of the games in turn: one for a trial
    episodes: int  # at most
    seed: int
    start_from: Path | None = None  # the training whose weights to begin with
    stop_at_gate: bool = True


@dataclass(frozen=True)
class Result:
    """What came of it."""

    passed: bool
    reward: float | None
    error: float | None
    compliance: float
    fixes: float
    episodes: int  # of training
    judged: int
    why: str
    seconds: float
    checkpoint: Path


@dataclass(frozen=True)
class Watch:
    """Who is told of a training, and may stop it."""

    on_update: Callable[[Row], object] = lambda _: None
    on_judging: Callable[[], object] = lambda: None
    stop: Callable[[], bool] = lambda: False


def setup_for(settings: Settings, task: Task) -> Setup:
    """The training of a task. It refuses settings that make no sense."""
    return Setup(
        red=settings.red_agent, rules=settings.rules, horizon=settings.max_steps,
        n_envs=settings.n_envs, episodes=task.episodes,
        orders=tuple(str(order) for order in task.orders), groups=settings.groups,
        alignment_lambda=settings.alignment_lambda,
        compliance_threshold=settings.compliance_threshold, stop_at_gate=task.stop_at_gate,
        patience=settings.patience, memory=settings.memory, mask=settings.mask, seed=task.seed,
        threads=settings.threads,
        ppo=PPO.from_dict({**settings.ppo, "steps": settings.update_steps or settings.max_steps}),
    )  # fmt: skip


def run_trial(task: Task, settings: Settings, watch: Watch) -> Result | None:
    """Train for one order until the gate, a plateau or the cap, and judge the policy.

    What was begun before and broken off goes on where its last checkpoint is. None if it was
    stopped; it can go on.
    """
    try:
        trained = train_task(task, settings, watch)
    except NotFiniteError:
        return _diverged(task)
    if trained.why == STOPPED_BY_HAND:
        return None
    watch.on_judging()
    episodes = last_training_episodes(task.folder / EPISODES, settings.n_envs)
    seconds = seconds_of(trained.rows)
    if settings.score == EVALUATION:
        episodes, judging = judged_episodes(trained.checkpoint, settings)
        seconds += judging
    return Result(
        passed=passes_gate(episodes, settings.compliance_threshold),
        reward=float(episodes.environment.mean()),
        error=standard_error(episodes.environment),
        compliance=episodes.compliance,
        fixes=float(episodes.fixes.mean()),
        episodes=_episodes_of(trained.checkpoint),
        judged=len(episodes.environment),
        why=trained.why,
        seconds=seconds,
        checkpoint=trained.checkpoint,
    )


def train_task(task: Task, settings: Settings, watch: Watch) -> Trained:
    """Train, or go on with a training that was broken off."""
    run = task.folder / "train"
    told = EpisodeFile(task.folder / EPISODES)
    resumable = _whole_checkpoint(run)
    if not resumable and run.exists():  # it was broken off before its first checkpoint
        shutil.rmtree(run)
    task.folder.mkdir(parents=True, exist_ok=True)
    try:
        return train(
            run,
            None if resumable else setup_for(settings, task),
            resume=resumable,
            start_from=None if resumable else task.start_from,
            on_update=watch.on_update,
            on_episodes=told.add,
            stop=watch.stop,
        )
    finally:
        told.close()


def run_stage(task: Task, settings: Settings, watch: Watch) -> tuple[int, Path] | None:
    """Train one policy for many orders, which nobody judges. How many episodes that took and
    where the policy is; None if it was stopped.
    """
    trained = train_task(task, settings, watch)
    if trained.why == STOPPED_BY_HAND:
        return None
    return _episodes_of(trained.checkpoint), trained.checkpoint


def judged_episodes(policy: Path, settings: Settings) -> tuple[Episodes, float]:
    """Fresh episodes of the policy, which takes its likeliest actions; and how long they took.

    All trials of a search are judged in the same games.
    """
    began = perf_counter()
    played = evaluate(
        TrainedBlue(Policy(policy)),
        settings.red_agent,
        rules=settings.rules,
        horizon=settings.max_steps,
        episodes=settings.evaluation_episodes,
        seed=FIRST_JUDGED + (settings.seed << 32),
        threads=settings.threads,
    )
    assert played.kept is not None
    returns = played.played.returns
    nothing = np.zeros(len(returns))
    episodes = Episodes(
        returns, nothing, played.kept.fixes, played.kept.compliant, np.arange(len(returns))
    )
    return episodes, perf_counter() - began


def last_training_episodes(file: Path, games: int) -> Episodes:
    """The last few training episodes of each game."""
    told = EpisodeFile.read(file)
    kept: list[int] = []
    for game in range(games):
        kept.extend(np.flatnonzero(told.game == game)[-LAST_EPISODES:])
    rows = np.sort(np.array(kept, dtype=np.int64))
    return Episodes(
        told.environment[rows], told.alignment[rows], told.fixes[rows], told.compliant[rows],
        told.game[rows],
    )  # fmt: skip


def seconds_of(rows: list[Row]) -> float:
    """How long the updates took, those before a kill included."""
    return sum(float(getattr(row, part)) for row in rows for part in _BUSY)


def checkpoint_of(folder: Path) -> Path | None:
    """The newest checkpoint of a task, if there is one."""
    try:
        return latest_checkpoint(folder / "train")
    except RunError:
        return None


def _episodes_of(folder: Path) -> int:
    return int(checkpoint.read(folder)["numbers"]["episodes"])


def _diverged(task: Task) -> Result:
    """A training that broke off over a number that was not finite: it fails the gate."""
    run = task.folder / "train"
    rows = read_rows(run / METRICS)
    none: dict[str, Any] = {"compliance": None, "fixes": 0.0, "episodes": 0}
    last = rows[-1] if rows else none
    return Result(
        passed=False, reward=None, error=None,
        compliance=0.5 if last["compliance"] is None else last["compliance"],
        fixes=last["fixes"], episodes=last["episodes"], judged=0, why=DIVERGED,
        seconds=sum(row[part] for row in rows for part in _BUSY), checkpoint=latest_checkpoint(run),
    )  # fmt: skip


def _whole_checkpoint(run: Path) -> bool:
    """Whether a training can go on. Checkpoints that are damaged are set aside: the one before
    leads to the same policy.
    """
    for newest in reversed(checkpoint.finished(run / "checkpoints")):
        try:
            checkpoint.resume(newest)
        except CheckpointError:
            if _format_of(newest) not in (checkpoint.FORMAT, None):
                raise  # it is whole, and of another version
            newest.rename(newest.with_name(f"damaged-{newest.name}"))
        else:
            return True
    return False


def _format_of(folder: Path) -> object:
    """The format that a checkpoint says it has; None if it says nothing."""
    try:
        return json.loads((folder / "checkpoint.json").read_text()).get("format", math.nan)
    except (OSError, ValueError):
        return None
