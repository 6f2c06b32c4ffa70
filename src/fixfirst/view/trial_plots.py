"""Plots of the trials: what was measured, and how the policies learnt."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from fixfirst.judge.statistics import NORMAL_95
from fixfirst.search.history import FAILED, PASSED, Trial
from fixfirst.view import words
from fixfirst.view.drawing import Drawing
from fixfirst.view.facts import Facts
from fixfirst.view.palette import LIGHT

_BEYOND = 0.6  # how far below those that passed a failed one is still shown in its place
_POINTS = 200  # of a learning curve


def reward_by_trial(drawing: Drawing, facts: Facts, narrow: bool) -> None:
    """The measured reward of each trial with its interval, and the best so far."""
    (axes,) = drawing.axes()
    low, high = _limits(facts)
    steps = facts.best_so_far
    if steps:
        last = facts.trials[-1].number + 0.4
        xs, ys = zip(*[*steps, (last, steps[-1][1])], strict=True)
        axes.step(xs, ys, where="post", color=LIGHT["best"], lw=2.0, label="best so far")
    for trial in facts.measured:
        _point(drawing, axes, float(trial.number), trial, low)
    for trial in facts.running:
        (mark,) = axes.plot(
            trial.number, low, "^", ms=7, mfc="none", mec=LIGHT["muted"], clip_on=False
        )
        drawing.hint(mark, f"trial {trial.number}: {trial.order}; running")
    _name_marks(axes, facts, bool(facts.running))
    axes.set_ylim(low, high)
    axes.set_xlabel("trial")
    axes.set_ylabel("mean reward of an episode")
    axes.grid(axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(axes, 2 if narrow else 4)


def compliance_and_reward(drawing: Drawing, facts: Facts, narrow: bool) -> None:
    """Compliance against reward, and where the gate stands."""
    (axes,) = drawing.axes()
    low, high = _limits(facts)
    shown = [trial for trial in facts.measured if words.known(trial.compliance)]
    if facts.threshold is not None:
        axes.axvline(facts.threshold, color=LIGHT["gate"], lw=1.6, ls=(0, (4, 2)), label="gate")
    for trial in shown:
        _point(drawing, axes, float(trial.compliance or 0.0), trial, low)
    _name_marks(axes, facts, running=False)
    axes.set_ylim(low, high)
    least = min([float(trial.compliance or 0.0) for trial in shown] + [facts.threshold or 1.0])
    axes.set_xlim(max(least - 0.05, -0.02), 1.02)
    axes.set_xlabel("compliance")
    axes.set_ylabel("mean reward of an episode")
    axes.grid()
    _legend(axes, 3)


def learning_curves(drawing: Drawing, facts: Facts, narrow: bool) -> None:
    """Reward and compliance while each policy was trained: all faint, the best one bold."""
    above, below = drawing.axes(rows=2)
    bold = facts.best_trial
    for trial in sorted(facts.trials, key=lambda trial: trial is bold):
        for axes, name in ((above, "environment_reward"), (below, "compliance")):
            xs, ys = _curve(facts, trial, name)
            ours = trial is bold
            look = (LIGHT["best"], 2.4, 1.0) if ours else (LIGHT["faint"], 0.9, 0.7)
            (line,) = axes.plot(
                xs, ys, color=look[0], lw=look[1], alpha=look[2],
                marker="o", ms=2 * look[1] + 1, mew=0, markevery=[-1] if xs else [],
            )  # fmt: skip
            drawing.hint(line, f"trial {trial.number}: {trial.order}")
    if bold is not None:
        above.plot([], [], color=LIGHT["best"], lw=2.4, label=f"trial {bold.number}")
    above.plot([], [], color=LIGHT["faint"], lw=0.9, label="the others")
    if facts.threshold is not None:
        below.axhline(facts.threshold, color=LIGHT["gate"], lw=1.6, ls=(0, (4, 2)))
        above.plot([], [], color=LIGHT["gate"], lw=1.6, ls=(0, (4, 2)), label="gate")
    above.set_ylabel("mean reward")
    below.set_ylabel("compliance")
    below.set_ylim(-0.02, 1.04)
    below.set_xlabel("episodes of the trial's training")
    below.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    for axes in (above, below):
        axes.grid(axis="y")
    _legend(above, 2 if narrow else 3)


def time_split(drawing: Drawing, facts: Facts, narrow: bool) -> None:
    """Where the time went."""
    (axes,) = drawing.axes()
    parts = facts.time_parts
    total = math.fsum(part.seconds for part in parts) or 1.0
    for place, part in enumerate(parts):
        share = part.seconds / total
        (bar,) = axes.barh(place, share, color=LIGHT["measured"], height=0.62)
        text = f"{words.duration(part.seconds)}, {words.percent(share)}"
        drawing.hint(bar, f"{part.name}: {text}")
        axes.annotate(text, (share, place), (5, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(parts)), [part.name for part in parts], color=LIGHT["ink"])
    axes.invert_yaxis()
    axes.set_xlim(0, max(part.seconds for part in parts) / total * 1.42 or 1.0)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def said(trial: Trial) -> str:
    """A trial's result in one line."""
    result = "passed" if trial.state == PASSED else "failed at the gate"
    return (
        f"trial {trial.number}: {trial.order}; {words.interval(trial.reward, trial.error)}, "
        f"compliance {words.number(trial.compliance, 2)}, {result}"
    )


# --- what the plots share


def _limits(facts: Facts) -> tuple[float, float]:
    """The lowest and highest reward shown. Failed trials do not squeeze the others flat: what
    lies too far down is drawn at the lower edge.
    """
    passed = [end for trial in facts.measured if trial.state == PASSED for end in _ends(trial)]
    failed = [end for trial in facts.measured if trial.state == FAILED for end in _ends(trial)]
    ends = passed or failed
    if not ends:
        return -1.0, 0.0
    low, high = min(ends), max(ends)
    room = (high - low) or abs(high) * 0.1 or 1.0
    near = [end for end in failed if end > low - _BEYOND * room]
    low, high = min([low, *near]), max([high, *near])
    return low - 0.12 * room, high + 0.08 * room


def _ends(trial: Trial) -> tuple[float, float]:
    half = NORMAL_95 * float(trial.error) if words.known(trial.error) else 0.0  # type: ignore[arg-type]
    reward = float(trial.reward or 0.0)
    return reward - half, reward + half


def _point(drawing: Drawing, axes: Axes, x: float, trial: Trial, low: float) -> None:
    """A trial's reward with its interval; an arrow at the edge if it lies below what is shown."""
    passed = trial.state == PASSED
    colour = LIGHT["measured" if passed else "failed"]
    bottom, top = _ends(trial)
    if top < low:
        (mark,) = axes.plot(x, low, marker=7, ms=9, color=colour, clip_on=False, zorder=4)
    else:
        axes.plot([x, x], [bottom, top], color=colour, lw=1.2, zorder=3)
        shape = "o" if passed else "X"
        (mark,) = axes.plot(
            x, trial.reward or 0.0, shape, ms=6.5 if passed else 7.5, color=colour, mew=0, zorder=4
        )
    drawing.hint(mark, said(trial))


def _name_marks(axes: Axes, facts: Facts, running: bool) -> None:
    """Entries of the legend for the marks that are there."""
    if facts.passed:
        axes.plot([], [], "o", ms=6.5, mew=0, color=LIGHT["measured"], label="passed the gate")
    if facts.failed:
        axes.plot([], [], "X", ms=7.5, mew=0, color=LIGHT["failed"], label="failed")
    if running:
        axes.plot([], [], "^", ms=7, mfc="none", mec=LIGHT["muted"], ls="", label="running")


def _legend(axes: Axes, columns: int) -> None:
    """Above the axes, where it hides nothing."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2,
            handlelength=1.4, columnspacing=1.4, borderpad=0,
        )  # fmt: skip


def _curve(facts: Facts, trial: Trial, name: str) -> tuple[Sequence[float], Sequence[float]]:
    """A figure of each update over the episodes played; updates in which none ended have none."""
    points = [
        (float(row["episodes"]), float(row[name]))
        for row in facts.rows_of(trial)
        if words.known(row.get("episodes")) and words.known(row.get(name))
    ]
    kept = np.unique(np.linspace(0, len(points) - 1, min(len(points), _POINTS)).round().astype(int))
    return [points[i][0] for i in kept], [points[i][1] for i in kept]
