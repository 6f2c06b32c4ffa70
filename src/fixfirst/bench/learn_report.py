"""The learning results as sheets: for the screen and for the docs."""

from typing import Any

import numpy as np

from fixfirst.bench.learn import THRESHOLDS
from fixfirst.judge.report import Sheet, figure, interval

RECIPES = (
    "Plain: 200 games, minibatches of 2,000. Memory: memory=True and mask=True, 128-128 networks, "
    '512 games, minibatches of 4,096; "all" is one policy, 45 % of its games against B_line, 45 % '
    "against Meander, 10 % against Sleep, which it is not told.",
)


def sheets(found: dict[str, Any]) -> list[Sheet]:
    """A sheet for each kind of result that is there."""
    made = []
    free = {name: result for name, result in found.items() if "judged" in result}
    if free:
        made.append(_without_order(free))
    if "ten-orders" in found:
        made.append(_ten_orders(found["ten-orders"]))
    if "all-orders" in found:
        made.append(_all_orders(found["all-orders"]))
    return made


def _score(judged: dict[str, Any]) -> str:
    return interval(judged["mean"], (judged["high_95"] - judged["low_95"]) / 2)


def _without_order(found: dict[str, Any]) -> Sheet:
    rows = []
    for name, result in found.items():
        reached = [result["first_reached"][str(t)] for t in THRESHOLDS]
        for judged in result["judged"]:
            rows.append(
                (
                    f"{name} against {judged['red']}",
                    _score(judged),
                    f"{result['steps'] / 1e6:.0f}",
                    f"{result['seconds'] / 60:.1f}",
                    *(f"{r['seconds']:.0f}" if r else "never" for r in reached),
                )
            )
    first = next(iter(found.values()))
    judged = first["judged"][0]
    return Sheet(
        "Without an order",
        ("training and judge", "return", "million steps", "minutes",
         *(f"s to {t:.0f}" for t in THRESHOLDS)),
        rows,
        (
            f"Returns of {judged['episodes']:,} fresh episodes of {judged['horizon']} steps, the "
            f"likeliest action taken, with half of the 95 % interval; {judged['seeds']}.",
            "Minutes of training, and seconds of it until the mean return of an update's episodes, "
            "actions drawn, first reached a threshold (over all its reds where there are several); "
            + _where(first),
            *RECIPES,
        ),
    )  # fmt: skip


def _ten_orders(result: dict[str, Any]) -> Sheet:
    rows = [
        (
            row["order"],
            row["why"],
            f"{row['episodes']:,}",
            f"{row['seconds']:.0f}",
            f"{row['compliance']:.3f}",
            f"{row['fixes']:.1f}",
            _score(row["judged"]),
            _score(row["without_order"]),
        )
        for row in result["orders"]
    ]
    return Sheet(
        "Ten random orders, B_line",
        ("order", "ended by", "episodes", "s", "compliance", "fixes", "return", "without order"),
        rows,
        (
            f"{result['reached']} of {len(rows)} reached the gate (compliance 0.90 and a fix an "
            "episode in the episodes of an update). Compliance, fixes and returns are of 1,000 "
            "fresh episodes; without order: the same training for as many episodes, no order.",
        ),
    )  # fmt: skip


def _all_orders(result: dict[str, Any]) -> Sheet:
    rows = []
    for name in ("together", "alone"):
        one = [row[name] for row in result["orders"]]
        rewards = np.array([r["judged"]["mean"] for r in one])
        compliances = np.array([r["compliance"] for r in one])
        rows.append(
            (
                "one policy for all" if name == "together" else "one policy for each",
                f"{result['passed'][name]} of {len(one)}",
                f"{compliances.mean():.3f}",
                f"{compliances.min():.3f}",
                figure(float(rewards.mean())),
                figure(float(rewards.max())),
                figure(float(rewards.min())),
                f"{result['seconds'][name] / 60:.1f}",
            )
        )
    better = sum(
        row["together"]["judged"]["mean"] > row["alone"]["judged"]["mean"]
        for row in result["orders"]
    )
    return Sheet(
        "All 120 orders, B_line",
        ("", "pass the gate", "mean compliance", "lowest", "mean return", "best", "worst", "minutes"),
        rows,
        (
            f"The same {result['episodes']:,} episodes in all; each order judged on 1,000 fresh "
            f"ones. For {better} of {len(result['orders'])} orders the one policy for all has the "
            "higher return.",
        ),
    )  # fmt: skip


def _where(result: dict[str, Any]) -> str:
    there = result["machine"]
    return f"{there['processor']}, {there['threads']} threads, PyTorch {there['torch']}."
