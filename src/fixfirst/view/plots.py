"""The plots of a search: which there are, their titles, captions and descriptions."""

from collections.abc import Callable
from dataclasses import dataclass

from fixfirst.view import model_plots, trial_plots, words
from fixfirst.view.drawing import Drawing, style
from fixfirst.view.effects import PairEffect, pair_effects
from fixfirst.view.facts import Facts
from fixfirst.view.markup import Html

WIDE, HALF, NARROW = 880.0, 420.0, 380.0  # units of an SVG


@dataclass(frozen=True)
class Plot:
    """A plot that can be drawn wide (or half as wide), and narrow for a phone."""

    name: str  # of its files, and of its place on a page
    title: str
    caption: str  # how to read it
    alt: str  # what it shows, for those who cannot see it
    draw: Callable[[Drawing, bool], None]
    height: float
    narrow_height: float | None = None  # None: one drawing, of half the width, does for both

    def drawing(self, narrow: bool = False) -> Drawing:
        """The plot, drawn."""
        half = self.narrow_height is None
        width = HALF if half else NARROW if narrow else WIDE
        drawn = Drawing(width, self.narrow_height or self.height if narrow else self.height)
        self.draw(drawn, narrow or half)
        return drawn

    def inline(self) -> list[tuple[str, Html]]:
        """The drawings of a page, each with the class that says at which widths it is shown."""
        with style():
            wide = self.drawing().inline(f"{self.name}-svg", self.alt)
            if self.narrow_height is None:
                return [("half", wide)]
            narrow = self.drawing(narrow=True).inline(f"{self.name}-narrow-svg", self.alt)
            return [("wide", wide), ("narrow", narrow)]

    def files(self) -> dict[str, bytes]:
        """The plot as files: their names and contents."""
        with style():
            drawn = self.drawing()
            return {f"{self.name}.svg": drawn.svg(), f"{self.name}.png": drawn.png()}


@dataclass(frozen=True)
class Absent:
    """A plot that cannot be drawn yet, and why."""

    name: str
    title: str
    why: str


UNKNOWN = "No trial has passed the gate yet, so the model knows nothing of the orders."
NO_TRIAL = "No trial has ended yet."

TITLES = {
    "reward-by-trial": "Reward by trial",
    "top-orders": "The best orders",
    "all-orders": "All orders, ranked",
    "place-map": "Which group in which place",
    "pair-effects": "Which group before which",
    "compliance": "Compliance and reward",
    "learning-curves": "Learning curves",
    "time-split": "Where the time went",
}


def plots_of(facts: Facts) -> list[Plot | Absent]:
    """The plots of a search, in the order of a report."""
    return [
        _reward_by_trial(facts),
        _top_orders(facts),
        _all_orders(facts),
        _place_map(facts),
        _pair_effects(facts),
        _compliance(facts),
        _learning_curves(facts),
        _time_split(facts),
    ]


def _reward_by_trial(facts: Facts) -> Plot | Absent:
    name = "reward-by-trial"
    if not facts.measured:
        return Absent(name, TITLES[name], NO_TRIAL)
    alt = f"{words.count(len(facts.passed), 'trial')} passed the gate"
    alt += f", {len(facts.failed)} failed."
    if facts.best_so_far:
        first, last = facts.best_so_far[0], facts.best_so_far[-1]
        alt += (
            f" The best measured reward so far rose from {words.number(first[1])} in trial "
            f"{first[0]} to {words.number(last[1])}."
        )
    return Plot(
        name, TITLES[name],
        "Measured mean reward of an episode, with its 95 % interval, in the order in which the "
        "trials began. The best so far is the highest measured mean of the trials that passed the "
        "gate, so chance flatters it; what the model makes of it stands below. An arrow at the "
        "lower edge is a failed trial far below.",
        alt, lambda drawing, narrow: trial_plots.reward_by_trial(drawing, facts, narrow),
        330, 330,
    )  # fmt: skip


def _top_orders(facts: Facts) -> Plot | Absent:
    name, best = "top-orders", facts.best
    if best is None:
        return Absent(name, TITLES[name], UNKNOWN)
    shown = min(model_plots.TOP, len(facts.ranked))
    return Plot(
        name, TITLES[name],
        f"What the model believes of the {shown} orders with the highest posterior mean: the mean "
        "reward of a policy that keeps to the order, with its 95 % interval, and below it what "
        "was measured. Green: the best of them.",
        f"The {shown} best orders. First: {best.order}, "
        f"{words.interval(best.mean, best.deviation)}. All figures are in the table of orders.",
        lambda drawing, narrow: model_plots.top_orders(drawing, facts, narrow),
        70 + 20 * shown, 80 + 40 * shown,
    )  # fmt: skip


def _all_orders(facts: Facts) -> Plot | Absent:
    name, best = "all-orders", facts.best
    if best is None:
        return Absent(name, TITLES[name], UNKNOWN)
    last = facts.ranked[-1]
    return Plot(
        name, TITLES[name],
        f"Posterior mean and 95 % interval of {facts.whose_orders}, the best first. The interval "
        "is narrow where orders were measured, or near such orders.",
        f"Posterior mean from {words.number(best.mean)} for the best order to "
        f"{words.number(last.mean)} for the last of {len(facts.ranked):,}.",
        lambda drawing, narrow: model_plots.all_orders(drawing, facts, narrow),
        280, 300,
    )  # fmt: skip


def _place_map(facts: Facts) -> Plot | Absent:
    name = "place-map"
    basis = facts.basis
    if basis is None:
        return Absent(name, TITLES[name], UNKNOWN)
    k = len(facts.groups)
    first = facts.ranked[0].order.names
    return Plot(
        name, TITLES[name],
        f"Mean posterior reward of those of {basis.words} that have the group in the "
        "place; brighter is better. Groups that are best fixed early stand on top.",
        f"A map of {k} groups by {k} places. The best order has "
        + words.listed([f"{group} in place {place}" for place, group in enumerate(first, 1)])
        + ".",
        lambda drawing, narrow: model_plots.place_map(drawing, basis, facts),
        110 + max(46 * k if k <= 7 else 27 * k, 150),
    )  # fmt: skip


def _pair_effects(facts: Facts) -> Plot | Absent:
    name, basis = "pair-effects", facts.basis
    if basis is None:
        return Absent(name, TITLES[name], UNKNOWN)
    effects = pair_effects(basis)
    if not effects:
        return Absent(name, TITLES[name], "There is no pair of groups to compare.")
    shown = min(len(effects), model_plots.PAIRS)
    more = f" The {shown} largest of {len(effects)}." if shown < len(effects) else ""
    return Plot(
        name, TITLES[name],
        f"How much higher the mean posterior reward is of those of {basis.words} that fix "
        "the first group before the second, with 95 % intervals. Filled: the interval leaves out "
        f"zero.{more}",
        "The largest: " + "; ".join(effect_said(one, facts) for one in effects[:3]) + ".",
        lambda drawing, narrow: model_plots.pair_plot(drawing, effects, facts),
        max(80 + 27 * shown, 240),
    )  # fmt: skip


def effect_said(one: PairEffect, facts: Facts) -> str:
    """An effect in words."""
    names = facts.groups.names
    return (
        f"{names[one.first]} before {names[one.second]} "
        f"+{words.interval(one.effect, one.deviation)}"
    )


def _compliance(facts: Facts) -> Plot | Absent:
    name = "compliance"
    if not facts.measured:
        return Absent(name, TITLES[name], NO_TRIAL)
    gate = "an unrecorded threshold" if facts.threshold is None else f"{facts.threshold:.2f}"
    return Plot(
        name, TITLES[name],
        "How far each trained policy kept to its order, and what it scored, with 95 % intervals. "
        f"The gate stands at {gate}; a policy also has to fix something. Trials that fail are "
        "shown, but tell the model nothing of rewards.",
        f"The gate stands at a compliance of {gate}. {words.count(len(facts.passed), 'trial')} "
        f"passed it, {len(facts.failed)} failed.",
        lambda drawing, narrow: trial_plots.compliance_and_reward(drawing, facts, narrow),
        340,
    )  # fmt: skip


def _learning_curves(facts: Facts) -> Plot | Absent:
    name = "learning-curves"
    trained = [trial for trial in facts.trials if facts.rows_of(trial)]
    if not trained:
        return Absent(name, TITLES[name], "No training has finished an update yet.")
    bold = facts.best_trial
    which = (
        "" if bold is None else f" Bold: trial {bold.number}, of the best order that was trained."
    )
    return Plot(
        name, TITLES[name],
        "Mean environment reward and compliance of the episodes that ended in each update of a "
        f"trial's training, while the policy still explores; a dot where it ended.{which}",
        f"{words.count(len(trained), 'curve')} of reward and of compliance.{which}",
        lambda drawing, narrow: trial_plots.learning_curves(drawing, facts, narrow),
        340,
    )  # fmt: skip


def _time_split(facts: Facts) -> Plot | Absent:
    name, parts = "time-split", facts.time_parts
    total = sum(part.seconds for part in parts)
    if not total:
        return Absent(name, TITLES[name], "No time has been recorded yet.")
    workers = "" if facts.workers == 1 else f", of {facts.workers} workers together"
    return Plot(
        name, TITLES[name],
        f"{words.duration(total)} in all{workers}. What is left when training and judging are "
        "taken away goes to the model, the store, logs, and waiting.",
        "; ".join(
            f"{part.name} {words.duration(part.seconds)}, {words.percent(part.seconds / total)}"
            for part in parts
        ) + ".",
        lambda drawing, narrow: trial_plots.time_split(drawing, facts, narrow),
        250,
    )  # fmt: skip
