"""Plots of the model: what it knows of the orders, and what their parts are worth."""

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from fixfirst.judge.statistics import NORMAL_95
from fixfirst.search.history import Trial
from fixfirst.view import words
from fixfirst.view.drawing import Drawing
from fixfirst.view.effects import Basis, PairEffect, place_means
from fixfirst.view.facts import Facts, Ranked
from fixfirst.view.palette import LIGHT

TOP = 20  # orders that are named
PAIRS = 21  # effects that are shown
_BELOW = 0.3  # how far below the model's interval the measured ones stand, in rows
_POINTS = 600  # of the curve of all orders
_MAP = "cividis"  # even in lightness for all eyes
_DARK_INK, _LIGHT_INK = "#101010", "#fdfdfd"  # of words in the cells of the map


def top_orders(drawing: Drawing, facts: Facts, narrow: bool) -> None:
    """The best orders by name: what the model believes, and what was measured."""
    (axes,) = drawing.axes()
    shown = facts.ranked[:TOP]
    for row, ranked in enumerate(shown):
        colour = LIGHT["best" if ranked.place == 1 else "model"]
        _bar(drawing, axes, ranked, row, colour)
        for trial in ranked.passed:
            _measured(drawing, axes, trial, row + _BELOW)
    if narrow:  # names stand above their intervals
        for row, ranked in enumerate(shown):
            axes.annotate(
                f"{ranked.place}  {words.short_order(ranked.order, 52)}", (0, row),
                (0, 6), xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=9.5,
            )  # fmt: skip
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
    else:
        axes.grid(axis="x")
        names = [f"{words.short_order(one.order, 56)}  {one.place}" for one in shown]
        axes.set_yticks(range(len(shown)), names, color=LIGHT["ink"], fontsize=10)
    axes.set_ylim(len(shown) - 0.4, -1.1 if narrow else -0.7)
    axes.set_xlabel("mean reward of an episode")
    _legend(axes, tried=any(one.passed for one in shown))


def all_orders(drawing: Drawing, facts: Facts, narrow: bool) -> None:
    """Every order by its place: mean, interval, and those that were measured."""
    (axes,) = drawing.axes()
    ranked = facts.ranked
    count = len(ranked)
    kept = np.unique(np.linspace(0, count - 1, min(count, _POINTS)).round().astype(int))
    places = np.array([ranked[i].place for i in kept])
    means = np.array([ranked[i].mean for i in kept])
    halves = NORMAL_95 * np.array([ranked[i].deviation for i in kept])
    axes.fill_between(
        places, means - halves, means + halves, color=LIGHT["model"], alpha=0.22, lw=0,
        label="95 % interval",
    )  # fmt: skip
    axes.plot(places, means, color=LIGHT["model"], lw=2.0, label="posterior mean")
    tried = False
    for one in ranked:
        for trial in one.passed:
            (mark,) = axes.plot(
                one.place, trial.reward or 0.0, "o", ms=5.5, mew=0, color=LIGHT["measured"]
            )
            measured = words.interval(trial.reward, trial.error)
            drawing.hint(
                mark,
                f"place {one.place}: {one.order}; trial {trial.number} measured {measured}",
            )
            tried = True
    if tried:
        axes.plot([], [], "o", ms=5.5, mew=0, color=LIGHT["measured"], label="measured")
    axes.set_xlim(1 - 0.01 * count, count + 0.01 * count)
    axes.set_xlabel("place of the order, the best first")
    axes.set_ylabel("mean reward of an episode")
    axes.grid(axis="y")
    _above(axes, 2 if narrow else 3)


def place_map(drawing: Drawing, basis: Basis, facts: Facts) -> None:
    """The mean reward of the orders that have a group in a place."""
    (axes,) = drawing.axes()
    means, deviations = place_means(basis)
    k = len(facts.groups)
    low, high = np.nanmin(means), np.nanmax(means)
    decimals = words.decimals_for(float(high - low))
    colours = colormaps[_MAP]
    rows = np.argsort(-_first_places(means))  # the group that is best fixed first on top
    size = 10.5 if k <= 7 else 7.0
    for row, group in enumerate(rows):
        for place in range(k):
            value = means[group, place]
            shade = (value - low) / (high - low) if high > low else 0.5
            shown = bool(np.isfinite(value))
            cell = Rectangle(
                (place - 0.5, row - 0.5), 1, 1, lw=0,
                facecolor=to_hex(colours(shade)) if shown else LIGHT["rule"],
            )  # fmt: skip
            axes.add_patch(cell)
            average = words.interval(float(value), float(deviations[group, place]))
            drawing.hint(cell, f"{facts.groups.names[group]} in place {place + 1}: {average}")
            axes.text(
                place, row, words.number(float(value), decimals), ha="center", va="center", fontsize=size,
                color=_DARK_INK if not shown or shade > 0.5 else _LIGHT_INK,
            )  # fmt: skip
    names = [words.cut(facts.groups.names[group], 18) for group in rows]
    axes.set_yticks(range(k), names, color=LIGHT["ink"])
    axes.set_xticks(range(k), [str(place + 1) for place in range(k)])
    axes.set_xlim(-0.5, k - 0.5)
    axes.set_ylim(k - 0.5, -0.5)
    axes.set_xlabel("place in the order")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def pair_plot(drawing: Drawing, effects: list[PairEffect], facts: Facts) -> None:
    """What it is worth to fix one group before another, largest first."""
    (axes,) = drawing.axes()
    shown = effects[:PAIRS]
    names = facts.groups.names
    for row, one in enumerate(shown):
        half = NORMAL_95 * one.deviation
        sure = np.isfinite(half) and one.effect > half
        colour = LIGHT["best" if sure else "muted"]
        if np.isfinite(half):
            axes.plot([one.effect - half, one.effect + half], [row, row], color=colour, lw=1.6)
        (mark,) = axes.plot(
            one.effect, row, "o", ms=6.5, color=colour, mfc=colour if sure else "none"
        )
        drawing.hint(
            mark,
            f"{names[one.first]} before {names[one.second]}: "
            f"+{words.interval(one.effect, one.deviation)}",
        )
    axes.axvline(0, color=LIGHT["muted"], lw=0.8)
    labels = [f"{words.cut(names[e.first], 15)} > {words.cut(names[e.second], 15)}" for e in shown]
    axes.set_yticks(range(len(shown)), labels, color=LIGHT["ink"])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlabel("reward gained on average")
    axes.grid(axis="x")


def _first_places(means: np.ndarray) -> np.ndarray:
    """How much better each group stands early than late [groups]; unknown cells count nothing."""
    places = np.arange(means.shape[1])
    centred = means - np.nanmean(means)
    return -np.asarray(np.nansum(centred * (places - places.mean()), axis=1))


def _bar(drawing: Drawing, axes: Axes, ranked: Ranked, row: int, colour: str) -> None:
    half = NORMAL_95 * ranked.deviation
    axes.plot([ranked.mean - half, ranked.mean + half], [row, row], color=colour, lw=2.2)
    (mark,) = axes.plot(ranked.mean, row, "D", ms=6, mew=0, color=colour, zorder=3)
    drawing.hint(
        mark,
        f"{ranked.place}. {ranked.order}: {words.interval(ranked.mean, ranked.deviation)}, "
        f"best with a chance of {words.percent(ranked.best_chance)}",
    )


def _measured(drawing: Drawing, axes: Axes, trial: Trial, row: float) -> None:
    reward, half = float(trial.reward or 0.0), NORMAL_95 * float(trial.error or 0.0)
    colour = LIGHT["measured"]
    axes.plot([reward - half, reward + half], [row, row], color=colour, lw=1.2)
    (mark,) = axes.plot(reward, row, "o", ms=5.5, mew=0, color=colour, zorder=4)
    drawing.hint(
        mark, f"trial {trial.number}: measured {words.interval(trial.reward, trial.error)}"
    )


def _legend(axes: Axes, tried: bool) -> None:
    axes.plot([], [], "D-", ms=6, mew=0, lw=2.2, color=LIGHT["model"], label="the model, 95 %")
    if tried:
        axes.plot(
            [], [], "o-", ms=5.5, mew=0, lw=1.2, color=LIGHT["measured"], label="measured, 95 %"
        )
    _above(axes, 2)


def _above(axes: Axes, columns: int) -> None:
    """The legend above the axes, where it hides nothing."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2,
        handlelength=1.4, columnspacing=1.4, borderpad=0,
    )  # fmt: skip
