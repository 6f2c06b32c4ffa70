"""`summary.md`: the outcome of a search in words and tables."""

from collections.abc import Iterable, Sequence
from typing import Any

from fixfirst.files import write_whole
from fixfirst.judge.statistics import NORMAL_95
from fixfirst.search.found import Best, best_of
from fixfirst.search.history import FAILED, Trial
from fixfirst.search.record import Knowledge, SearchRecord
from fixfirst.version import VERSION

SUMMARY = "summary.md"
SHOWN = 10  # orders in the model's table

# The settings that people ask for first; all are in config.json.
NAMED = ("red_agent", "rules", "max_steps", "n_envs", "strategy", "gp_beta", "warm_start", "score",
         "evaluation_episodes", "max_episodes", "alignment_lambda", "compliance_threshold",
         "stop_at_gate", "seed", "workers")  # fmt: skip


def write_summary(record: SearchRecord) -> None:
    """Write the summary into the run folder."""
    write_whole(record.folder / SUMMARY, summary_of(record).encode())


def summary_of(record: SearchRecord) -> str:
    """The summary."""
    history, best = record.history, best_of(record)
    parts = [
        f"# Search in {record.folder.name}",
        f"{record.state.capitalize()}: {record.why}.",
        _outcome(record, best),
        f"{len(history.trials)} trials ({len(history.passed)} passed the gate, "
        f"{len(history.of_state(FAILED))} did not), {history.episodes:,} of "
        f"{record.settings['total_episodes']:,} training episodes, "
        f"{record.seconds:,.0f} s, fixfirst {VERSION}.",
        "## Trials",
        _trials(history.trials),
    ]
    if record.knowledge is not None:
        parts += ["## What the model knows", _known(record.knowledge)]
    parts += ["## Settings", _table(("setting", "value"), _settings(record))]
    return "\n\n".join(parts) + "\n"


def _outcome(record: SearchRecord, best: Best | None) -> str:
    if best is None or record.knowledge is None:
        return (
            "No trial has passed the gate, so there is no best order. More episodes for each trial "
            "or a larger `alignment_lambda` may help."
        )
    low, high = best.interval
    return (
        f"Best order: **{best.order}**, mean reward {best.mean:.2f} (95 % interval {low:.2f} to "
        f"{high:.2f}), the best of {record.knowledge.whose} with a probability of "
        f"{best.chance:.0%}. Its policy is that of trial {best.trial.number}: `{best.trial.checkpoint}`."
    )


def _trials(trials: Sequence[Trial]) -> str:
    rows = [
        (trial.number, trial.order, _reward(trial), _share(trial.compliance),
         _fixed(trial.fixes), f"{trial.episodes:,}", trial.state, trial.why or "",
         f"{trial.proposal.kind}: {trial.proposal.why}")
        for trial in trials
    ]  # fmt: skip
    head = ("", "order", "reward", "compliance", "fixes", "episodes", "gate", "ended by", "chosen")
    return _table(head, rows)


def _known(known: Knowledge) -> str:
    first = sorted(range(len(known.orders)), key=lambda number: -known.mean[number])[:SHOWN]
    rows = [
        (known.orders[number], f"{known.mean[number]:.2f} ± "
         f"{NORMAL_95 * known.deviation[number]:.2f}", f"{known.best_chance[number]:.1%}",
         f"{known.gate_chance[number]:.0%}")
        for number in first
    ]  # fmt: skip
    head = ("order", "reward, 95 % interval", "best with probability", "passes the gate with")
    return _table(head, rows) + (
        f"\n\nThe reward of two orders is alike over a Kendall distance of about "
        f"{known.length:.2f} (1 is the reverse); over all orders it spreads by {known.spread:.2f}."
    )


def _settings(record: SearchRecord) -> list[tuple[str, Any]]:
    return [(name, record.settings[name]) for name in NAMED]


def _reward(trial: Trial) -> str:
    if trial.reward is None:
        return ""
    error = 0.0 if trial.error is None else trial.error
    return f"{trial.reward:.2f} ± {NORMAL_95 * error:.2f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _fixed(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in lines)
