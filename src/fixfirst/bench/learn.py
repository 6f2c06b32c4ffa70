"""What training reaches: the learning results, each a fixed training, judged on fresh episodes.

Every result has a folder of its own below the output folder, with its runs and `result.json`. A result
that is there is not made again, so a bench that was stopped goes on where it was.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fixfirst.bench import machine
from fixfirst.files import write_whole
from fixfirst.game.facts import REDS
from fixfirst.judge.evaluate import Evaluated, evaluate
from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import METRICS, Trained, train
from fixfirst.learn.training import GATE, LEAST_FIXES, Row
from fixfirst.runs.folder import read_rows
from fixfirst.workflow.orders import Workflow

EPISODES = 1_000  # in each judgement
FRESH_SEED = 10_000_000  # of the first of them; training never plays these
THRESHOLDS = (-30.0, -25.0, -20.0, -17.0)
ORDERS = 10  # drawn at random
ORDER_EPISODES = 10_000  # for each of them, at most
ALL_ORDERS_SHARE = 2_000  # episodes for each of the 120

LONG = PPO(minibatch=2_000)  # of trainings that have time: docs/ppo.md, "What was tried"
WITH_MEMORY = PPO(hidden=(128, 128), minibatch=4_096)
Told = Callable[[str, Row], None]


@dataclass(frozen=True)
class Result:
    """A learning result: what it says, and how it is made."""

    name: str
    about: str
    make: Callable[[Path, float, Told], dict[str, Any]]  # folder, share of the full length


# --- trainings without an order


def _plain(setup: Setup, reds: tuple[str, ...]) -> Callable[[Path, float, Told], dict[str, Any]]:
    def make(folder: Path, share: float, told: Told) -> dict[str, Any]:
        ended, seconds = _train(folder / "run", setup, share, told)
        return {
            **_summary(ended, seconds),
            "first_reached": _first_reached(ended),
            "judged": [
                _judged(evaluate(
                    str(folder / "run"), red, rules=setup.rules, horizon=setup.horizon,
                    episodes=EPISODES, seed=FRESH_SEED,
                ))
                for red in reds
            ],
        }  # fmt: skip

    return make


def _first_reached(ended: Trained) -> dict[str, dict[str, float] | None]:
    """When the mean return of an update's episodes first reached each threshold."""
    found: dict[str, dict[str, float] | None] = {}
    for threshold in THRESHOLDS:
        seconds = 0.0
        found[str(threshold)] = None
        for row in ended.rows:
            seconds += row.play_seconds + row.advantage_seconds + row.update_seconds
            if row.environment_reward >= threshold:
                found[str(threshold)] = {"steps": row.steps, "seconds": seconds}
                break
    return found


# --- trainings with orders


def _ten_orders(folder: Path, share: float, told: Told) -> dict[str, Any]:
    """Ten random orders, each trained to the gate, and beside each the same without an order."""
    rows = []
    for k, order in enumerate(Workflow.sample(np.random.default_rng(0), ORDERS)):
        kept = Setup(orders=(str(order),), episodes=ORDER_EPISODES, seed=k)
        ended, seconds = _train(folder / f"order-{k}", kept, share, told)
        there = evaluate(str(folder / f"order-{k}"), episodes=EPISODES, seed=FRESH_SEED)
        spent = ended.last.episodes
        free = replace(kept, orders=())  # with the same schedules, for as long
        _train(folder / f"free-{k}", free, share, told, until=spent)
        without = evaluate(str(folder / f"free-{k}"), episodes=EPISODES, seed=FRESH_SEED)
        rows.append(
            {
                "order": str(order),
                "why": ended.why,
                "episodes": spent,
                "seconds": seconds,
                "training_compliance": ended.last.compliance,
                "training_fixes": ended.last.fixes,
                **_kept(there),
                "judged": _judged(there),
                "without_order": _judged(without),
            }
        )
    return {"orders": rows, "reached": sum(row["why"] == GATE for row in rows)}


def _all_orders(folder: Path, share: float, told: Told) -> dict[str, Any]:
    """One policy for all orders, against one for each with the same episodes in all."""
    every = [str(order) for order in Workflow.every()]
    together = Setup(
        orders=tuple(every), n_envs=2 * len(every), episodes=ALL_ORDERS_SHARE * len(every),
        stop_at_gate=False,
    )  # fmt: skip
    ended, seconds = _train(folder / "together", together, share, told)
    rows, alone_seconds = [], 0.0
    for k, order in enumerate(every):
        alone = Setup(orders=(order,), episodes=ALL_ORDERS_SHARE, stop_at_gate=False, seed=k)
        _, spent = _train(folder / f"alone-{k}", alone, share, told)
        alone_seconds += spent
        row: dict[str, Any] = {"order": order}
        for name, what in (("together", f"{folder / 'together'}@{order}"),
                           ("alone", str(folder / f"alone-{k}"))):  # fmt: skip
            there = evaluate(what, episodes=EPISODES, seed=FRESH_SEED)
            row[name] = {**_kept(there), "judged": _judged(there)}
        rows.append(row)
    return {
        "orders": rows,
        "episodes": ended.last.episodes,
        "seconds": {"together": seconds, "alone": alone_seconds},
        "passed": {
            name: sum(row[name]["passes_gate"] for row in rows) for name in ("together", "alone")
        },
        "mean_reward": {
            name: float(np.mean([row[name]["judged"]["mean"] for row in rows]))
            for name in ("together", "alone")
        },
    }


def _kept(there: Evaluated) -> dict[str, Any]:
    """How judged episodes kept to their order, by the measure of the gate."""
    assert there.kept is not None
    fixes, compliant = int(there.kept.fixes.sum()), int(there.kept.compliant.sum())
    compliance = compliant / fixes if fixes else 0.5
    enough = fixes >= max(LEAST_FIXES, len(there.kept.fixes))
    return {
        "compliance": compliance,
        "fixes": fixes / len(there.kept.fixes),
        "passes_gate": bool(enough and compliance >= Setup().compliance_threshold),
    }


# --- all of them


def results() -> list[Result]:
    """All results, the quickest first."""
    found = [
        Result(
            f"plain-{red}", f"no order, 52 bits, {red}, 10 million steps",
            _plain(Setup(red=red, episodes=100_000, ppo=LONG), (red,)),
        )
        for red in ("bline", "meander")
    ]  # fmt: skip
    found.append(
        Result("ten-orders", "ten random orders, B_line, at most 10,000 episodes each", _ten_orders)
    )
    for rules in ("latest", "leaderboard"):
        for red in ("bline", "meander"):
            setup = _memory_setup(red, rules)
            found.append(
                Result(f"memory-{rules}-{red}", f"memory, {red}, rules {rules}",
                       _plain(setup, (red,)))
            )  # fmt: skip
    found += [
        Result(
            f"memory-{rules}-all", f"memory, one policy for all three reds, rules {rules}",
            _plain(_memory_setup({"bline": 0.45, "meander": 0.45, "sleep": 0.1}, rules), REDS),
        )
        for rules in ("latest", "leaderboard")
    ]  # fmt: skip
    found.append(
        Result("all-orders", "one policy for all 120 orders, against one for each", _all_orders)
    )
    return found


def _memory_setup(red: str | dict[str, float], rules: str) -> Setup:
    return Setup(
        red=red, rules=rules, memory=True, mask=True, n_envs=512, episodes=MEMORY_EPISODES,
        ppo=WITH_MEMORY,
    )  # fmt: skip


MEMORY_EPISODES = 160_000


def run(
    out: Path,
    wanted: list[Result],
    share: float = 1.0,
    told: Callable[[str, str, Row], None] = lambda name, run, row: None,
) -> dict[str, Any]:
    """Make the wanted results, or read those that are there; all that the folder then holds."""
    for result in wanted:
        folder = out / result.name
        if (folder / "result.json").exists():
            _must_be_as_long(folder, share)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        made = result.make(folder, share, lambda run, row, n=result.name: told(n, run, row))  # type: ignore[misc]
        content = {
            "name": result.name,
            "about": result.about,
            "share": share,
            "machine": machine.describe()
            | {"torch": torch.__version__, "threads": torch.get_num_threads()},
            **made,
        }
        write_whole(folder / "result.json", (json.dumps(content, indent=1) + "\n").encode())
    return read(out)


def _must_be_as_long(folder: Path, share: float) -> None:
    """Refuse to pass off a short training as a long one."""
    there = json.loads((folder / "result.json").read_text())["share"]
    if there != share:
        raise ValueError(
            f"{folder} holds a result of {there:g} of the full training, and {share:g} is wanted; "
            "name another folder"
        )


def read(out: Path) -> dict[str, Any]:
    """The results that a folder holds, by name."""
    names = [result.name for result in results()]
    there = [name for name in names if (out / name / "result.json").exists()]
    return {name: json.loads((out / name / "result.json").read_text()) for name in there}


def _train(
    path: Path, setup: Setup, share: float, told: Told, until: int | None = None
) -> tuple[Trained, float]:
    """Train, or go on with what is there; the seconds are those of all its updates.

    until   episodes after which to end, whatever the schedules were made for
    """
    spent = 0
    short = replace(setup, episodes=max(setup.n_envs, round(share * setup.episodes)))

    def tell(row: Row) -> None:
        nonlocal spent
        spent = row.episodes
        told(path.name, row)

    def enough() -> bool:
        return until is not None and spent >= until

    if (path / METRICS).exists():
        rows = read_rows(path / METRICS)
        spent = rows[-1]["episodes"] if rows else 0
        ended = train(path, resume=True, on_update=tell, stop=enough)
    else:
        ended = train(path, short, on_update=tell, stop=enough)
    if ended.why == "ctrl-c" and not enough():
        raise KeyboardInterrupt
    seconds = sum(r["play_seconds"] + r["advantage_seconds"] + r["update_seconds"]
                  for r in read_rows(path / METRICS))  # fmt: skip
    return ended, seconds


def _summary(ended: Trained, seconds: float) -> dict[str, Any]:
    last = ended.last
    return {"why": ended.why, "episodes": last.episodes, "steps": last.steps, "seconds": seconds}


def _judged(done: Evaluated) -> dict[str, Any]:
    played = done.played
    low, high = played.interval
    return {
        "red": played.red, "rules": played.rules, "horizon": played.horizon, "mean": played.mean,
        "low_95": low, "high_95": high, "episodes": played.episodes, "seeds": played.seeds,
    }  # fmt: skip
