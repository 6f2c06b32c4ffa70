"""Tables of a search's trials: what was chosen and why, and what came of it."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from fixfirst.files import write_whole
from fixfirst.search.folder import SearchFolder
from fixfirst.search.history import Trial
from fixfirst.search.plain import trial_as_dict

TRIALS, CHOICES = "trials.csv", "choices.jsonl"

# A table by order, as `fixfirst bench search` reads it.
EXPORTED = ("order", "reward", "standard_error", "compliance", "fixes", "passed", "episodes",
            "seconds")  # fmt: skip


def write_tables(folder: SearchFolder, trials: Sequence[Trial]) -> None:
    """Write both tables, whole: they hold what the trials' own files hold."""
    plain = [trial_as_dict(trial) for trial in trials]
    chosen = [{"trial": row["number"], "order": row["order"], **row["proposal"]} for row in plain]
    folder.write_lines(CHOICES, chosen)
    for row in plain:
        proposal = row.pop("proposal")
        row["kind"], row["chosen_because"] = proposal["kind"], proposal["why"]
    write_whole(folder.path / TRIALS, as_csv(plain).encode())


def exported(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """The trials that are over, as rows by order."""
    return [
        {
            "order": str(trial.order),
            "reward": trial.reward,
            "standard_error": trial.error,
            "compliance": trial.compliance,
            "fixes": trial.fixes,
            "passed": int(trial.state == "passed"),
            "episodes": trial.episodes,
            "seconds": round(trial.seconds, 2),
        }
        for trial in sorted(trials, key=lambda one: one.order.numbers)
        if trial.state != "running"
    ]


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a table with a header."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()
