"""The tables of a report: the trials, the orders, the settings."""

import math
from collections.abc import Sequence

from fixfirst.search.history import FAILED, Trial
from fixfirst.view import words
from fixfirst.view.facts import Facts, Ranked
from fixfirst.view.markup import Html, joined, tag
from fixfirst.view.reproduce import shown_settings

ENDED = {
    "gate": "the gate was passed",
    "plateau": "no more gain",
    "episodes": "all its episodes were played",
    "diverged": "its figures were no longer finite",
}


def trials_table(facts: Facts) -> Html:
    """Every trial: what was tried, why, and what came of it."""
    best = facts.best
    rows = [
        tag(
            "tr",
            _figure(str(trial.number), trial.number, head=True),
            tag("td", str(trial.order), class_="words"),
            tag("td", trial.state, class_="words"),
            _figure(words.interval(trial.reward, trial.error), trial.reward),
            _figure(words.number(trial.compliance, 3), trial.compliance),
            _figure(words.number(trial.fixes, 1), trial.fixes),
            _figure(f"{trial.judged:,}" if trial.judged else words.NOTHING, trial.judged),
            _figure(f"{trial.episodes:,}", trial.episodes),
            tag("td", ENDED.get(trial.why or "", trial.why or words.NOTHING), class_="words"),
            _figure(
                words.NOTHING if trial.started_from is None else str(trial.started_from),
                trial.started_from,
            ),
            _figure(words.duration(trial.seconds), trial.seconds),
            tag("td", _why(trial), class_="words long"),
            class_=_class_of(trial, best),
        )
        for trial in facts.trials
    ]
    heads = (
        "Trial", "*Order", "*State", "Reward, ± 95 %", "Compliance", "Fixes an episode",
        "Episodes judged", "Episodes trained", "*Training ended because", "Began from trial", "Time", "*Chosen because",
    )  # fmt: skip
    return _table("trials-table", "All trials, in the order in which they began.", heads, rows)


def _class_of(trial: Trial, best: Ranked | None) -> str | None:
    if trial.state == FAILED:
        return "failed"
    return "best" if best is not None and trial.order == best.order else None


def _why(trial: Trial) -> str:
    proposal = trial.proposal
    text = proposal.kind if not proposal.why else f"{proposal.kind}: {proposal.why}"
    if proposal.guess is not None:
        guess = words.interval(proposal.guess.mean, proposal.guess.deviation)
        text += f"; the model expected {guess}"
    return text


def orders_table(facts: Facts) -> Html:
    """Every order that the model knows."""
    rows = [
        tag(
            "tr",
            _figure(str(one.place), one.place, head=True),
            tag("td", str(one.order), class_="words"),
            _figure(words.interval(one.mean, one.deviation), one.mean),
            _figure(words.percent(one.best_chance), one.best_chance),
            _figure(words.percent(one.gate_chance), one.gate_chance),
            _measured(one),
            class_="best" if one.place == 1 else None,
        )
        for one in facts.ranked
    ]
    heads = (
        "Place", "*Order", "Posterior mean, ± 95 %", "Chance to be the best",
        "Chance to pass the gate", "Measured, ± 95 %",
    )  # fmt: skip
    caption = f"What the model knows of {facts.whose_orders}."
    return _table("orders-table", caption, heads, rows)


def _measured(one: Ranked) -> Html:
    """What was measured of an order: the mean of its trials that passed sorts it."""
    parts = [f"{words.interval(t.reward, t.error)} (trial {t.number})" for t in one.passed]
    parts += [f"failed (trial {t.number})" for t in one.trials if t.state == FAILED]
    rewards = [float(trial.reward or 0.0) for trial in one.passed]
    mean = math.fsum(rewards) / len(rewards) if rewards else None
    return _figure("; ".join(parts) or words.NOTHING, mean)


def settings_table(facts: Facts) -> Html:
    """The settings as resolved."""
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", words.plain(value)))
        for name, value in shown_settings(facts.settings).items()
    ]
    return tag("table", tag("tbody", *rows), class_="plain")


def _table(name: str, caption: str, heads: Sequence[str], rows: Sequence[Html]) -> Html:
    """A table that can be sorted. Heads with a star stand over words, others over figures."""
    cells = [
        tag("th", head.removeprefix("*"), scope="col", class_="words" if head[0] == "*" else None)
        for head in heads
    ]
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *cells)),
        tag("tbody", joined(rows, "\n")),
        class_="sortable", id=name,
    )  # fmt: skip
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _figure(text: str, value: float | None, head: bool = False) -> Html:
    """A cell with a figure, and the exact value that sorts it."""
    exact = "" if value is None or not math.isfinite(value) else repr(value)
    if head:
        return tag("th", text, scope="row", data_value=exact)
    return tag("td", text, data_value=exact)
