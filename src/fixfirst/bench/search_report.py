"""The search's figures as sheets and as plots."""

import math
from pathlib import Path
from typing import Any

from fixfirst.bench.search import BASE, INFORMED, OURS, ratio
from fixfirst.judge.report import Sheet

SHOWN_REGRET = (10, 20, 40)  # whole trainings
COLOURS = {
    "gp-ucb": "#0072b2", "random": "#555555", "round-robin": "#cc79a7",
    "successive-halving": "#e69f00", "tpe": "#009e73", "exhaustive": "#d55e00",
    INFORMED: "#56b4e9",
}  # fmt: skip  # Okabe and Ito's, which colour-blind readers can tell apart


def sheets(figures: dict[str, Any]) -> list[Sheet]:
    """All sheets."""
    return [
        _tables(figures["tables"]),
        _reached(figures),
        *_regrets(figures),
        _ratios(figures),
        *_model(figures["model"]),
        _end_to_end(figures["end_to_end"]),
    ]


def _tables(tables: dict[str, Any]) -> Sheet:
    return Sheet(
        "What there is to find, where every order was trained",
        ("", "pass the gate", "within one standard error of the best", "spread",
         "of it, the orders'", "luck of a training", "standard error", "neighbours correlate"),
        [
            (name, str(one["passed"]), str(one["good"]),
             *(f"{one[key]:.2f}" for key in
               ("spread", "spread_of_orders", "luck", "standard_error", "neighbours")))
            for name, one in tables.items()
        ],
        ("Spread, luck and error are standard deviations of the mean reward. Luck is what two "
         "trainings of the same order differ by; the standard error is that of the table.",),
    )  # fmt: skip


def _reached(figures: dict[str, Any]) -> Sheet:
    there, most = figures["landscapes"], figures["most"]
    strategies = list(next(iter(there.values())))
    rows = [
        (name, *(_quartiles(there[land][name]["reached"], f"> {most}") for land in there))
        for name in strategies
    ]
    return Sheet(
        "Trainings until an order within one standard error of the best",
        ("strategy", *there),
        rows,
        (
            f"Median of {figures['seeds']} searches (quartiles), in whole trainings, of 120 orders. "
            "Successive halving pays for its short trainings by their length. Informed: told "
            "beforehand which hyperparameters fit the whole landscape.",
        ),
    )


def _regrets(figures: dict[str, Any]) -> list[Sheet]:
    there = figures["landscapes"]
    strategies = next(iter(there.values()))
    shown = len(next(iter(strategies.values()))["regret"])
    return [
        Sheet(
            f"Simple regret after {after} trainings",
            ("strategy", *there),
            [
                (name, *(_quartiles(there[land][name]["regret"][after - 1], "-", 1)
                         for land in there))
                for name in strategies
            ],
            ("How much worse than the best the order is whose measured reward is highest: median "
             "(quartiles), in units of the reward.",),
        )
        for after in SHOWN_REGRET if after <= shown
    ]  # fmt: skip


def _ratios(figures: dict[str, Any]) -> Sheet:
    rows = []
    for land, strategies in figures["landscapes"].items():
        share = ratio(strategies)
        ours, base = (_number(strategies[s]["reached"][1], f"> {figures['most']}", 0)
                      for s in (OURS, BASE))  # fmt: skip
        rows.append((land, ours, base, "-" if share is None else f"{share:.2f}"))
    return Sheet(
        f"{OURS} beside {BASE} search",
        ("landscape", f"{OURS}, median", f"{BASE}, median", "share"),
        rows,
        ("Trainings until an order within one standard error of the best.",),
    )


def _model(model: dict[str, Any]) -> list[Sheet]:
    kernel = min(model["kernel"].values())
    exact = Sheet(
        "The model against the book",
        ("", "largest difference"),
        [
            ("posterior, textbook formulas", f"{model['textbook']:.1e}"),
            ("posterior, GPyTorch's", f"{model['gpytorch']:.1e}"),
            ("smallest eigenvalue of the kernel", f"{kernel:.1e}"),
        ],
    )
    recovered = Sheet(
        "Known hyperparameters, fitted again",
        ("", "true", "median", "quartiles"),
        [
            (name, f"{one['true']:g}", f"{one['quartiles'][1]:.2f}",
             f"{one['quartiles'][0]:.2f} to {one['quartiles'][2]:.2f}")
            for name, one in model["recovery"].items()
        ],
        ("From all 120 orders, each measured twice.",),
    )  # fmt: skip
    cover = model["calibration"]
    levels = list(next(iter(cover.values())))
    covered = Sheet(
        "Share of untried orders whose true mean lies in its interval",
        ("landscape, trials seen", *levels),
        [(name, *(f"{100 * one[level]:.0f} %" for level in levels)) for name, one in cover.items()],
    )
    return [exact, recovered, covered]


def _end_to_end(one: dict[str, Any]) -> Sheet:
    best = one["best"]
    found = "none passed the gate"
    if best is not None:
        low, high = best["interval"]
        found = (
            f"{best['order']}: {best['reward']:.1f} ({low:.1f} to {high:.1f}), the best of all "
            f"with {best['chance']:.0%}"
        )
    return Sheet(
        "A real search from end to end, B_line, 200 games",
        ("", ""),
        [
            ("orders tried, passed", f"{one['workflows']}, {one['passed']}"),
            ("episodes", f"{one['episodes']:,}"),
            ("seconds", f"{one['seconds']:.0f}"),
            ("seconds at the pace of before", f"{one['seconds_before']:,.0f}"),
            ("best order", found),
        ],
        ("The pace of before is 6.5 episodes a second: that of the package which searches orders "
         "by process pools, on 2 cores.",),
    )  # fmt: skip


def _quartiles(values: list[float | None], never: str, digits: int = 0) -> str:
    low, middle, high = (_number(value, never, digits) for value in values)
    return f"{middle} ({low}-{high})"


def _number(value: float | None, never: str, digits: int) -> str:
    """A count rounded up, so that a fraction of a training is not made nothing; or a figure."""
    if value is None:
        return never
    return f"{math.ceil(value)}" if digits == 0 else f"{value:.{digits}f}"


def draw(figures: dict[str, Any], folder: Path) -> list[Path]:
    """Regret against trainings, a plot for each landscape, as PNG and SVG."""
    import matplotlib  # noqa: PLC0415 - slow to load
    from matplotlib.figure import Figure  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with matplotlib.rc_context({"svg.hashsalt": "fixfirst", "font.size": 9}):
        for land, strategies in figures["landscapes"].items():
            figure = Figure(figsize=(6, 3.6), layout="constrained")
            axes = figure.add_subplot()
            for name, one in strategies.items():
                _line(axes, name, one["regret"])
            axes.set(xlabel="whole trainings", ylabel="simple regret", title=f"Landscape: {land}")
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(frameon=False, fontsize=8)
            for kind in ("png", "svg"):
                path = folder / f"regret-{land.lower()}.{kind}"
                figure.savefig(path, dpi=150, metadata={"Date": None} if kind == "svg" else None)
                made.append(path)
    return made


def _line(axes: Any, name: str, regret: list[list[float | None]]) -> None:
    """The median, and the band between the quartiles."""
    rows = [[math.nan if value is None else value for value in row] for row in regret]
    low, middle, high = zip(*rows, strict=True)
    trainings = range(1, len(rows) + 1)
    axes.fill_between(trainings, low, high, color=COLOURS[name], alpha=0.15, linewidth=0)
    axes.plot(trainings, middle, color=COLOURS[name], label=name, linewidth=1.5)
