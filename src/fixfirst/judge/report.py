"""Results as sheets of words: for the screen, for Markdown; and as lines of CSV."""

import csv
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fixfirst.envs.where import BUILT_IN
from fixfirst.game.tables import HOST_NAMES
from fixfirst.judge import board
from fixfirst.judge.compare import LEVEL, Compared
from fixfirst.judge.evaluate import Evaluated
from fixfirst.judge.play import Played
from fixfirst.judge.protocol import CELLS, Scored

SIGHT = {"bits": "the bits", "sensors": "the sensors' raw reports", "truth": "the true state"}
SHORT_RED = {"bline": "B", "meander": "M", "sleep": "S"}


class Sheet(NamedTuple):
    """A table, and the words below it that say how it came about."""

    title: str
    columns: tuple[str, ...]  # the first is of words, the others are of figures
    rows: Sequence[tuple[str, ...]]
    notes: Sequence[str] = ()
    own: int = 0  # how many rows at the end are the new ones


def figure(value: float) -> str:
    """A score: two decimals, or one where it is large."""
    return f"{value + 0.0:.2f}" if abs(value) < 100 else f"{value:.1f}"


def _short(value: float) -> str:
    """A score in at most six characters, down to -9999."""
    return figure(value) if abs(value) < 1000 else f"{value:.0f}"


def interval(value: float, half_width: float) -> str:
    """A score with half of its 95 % interval, if it has one."""
    return f"{figure(value)} ± {figure(half_width)}" if np.isfinite(half_width) else figure(value)


def p_value(p: float) -> str:
    """A p-value in words."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


# --- one evaluation


def evaluation(evaluated: Evaluated) -> list[Sheet]:
    """The sheets of an evaluation: what it scored, and which host cost how much."""
    return [_returns(evaluated), _losses(evaluated)]


def _returns(evaluated: Evaluated) -> Sheet:
    played, kept = evaluated.played, evaluated.kept
    rows = [("mean, ± half of its 95 % interval", interval(played.mean, played.half_width))]
    if played.episodes > 1:
        low, high = played.interval
        rows.append(("95 % interval", f"{figure(low)} to {figure(high)}"))
        rows.append(("standard error", f"{played.standard_error:.3g}"))
    rows += [(name, figure(value)) for name, value in evaluated.quantiles.items()]
    if kept is not None:
        rows += [
            ("fixes an episode", figure(float(kept.fixes.mean()))),
            ("of them compliant", figure(float(kept.compliant.mean()))),
            ("compliance", interval(kept.mean, kept.half_width)),
        ]
    notes = [setting(played, evaluated.on)]
    if kept is not None:
        notes.append(f"Order: {kept.order}.")
    return Sheet(f"What {played.policy} scores", ("return", "an episode"), rows, notes)


def _losses(evaluated: Evaluated) -> Sheet:
    losses = evaluated.losses
    parts = (losses.confidentiality, losses.availability, losses.action_cost, losses.total)
    lost = [host for host in range(len(HOST_NAMES)) if losses.total[host] < 0]
    rows = [(HOST_NAMES[host], *(figure(part[host]) for part in parts)) for host in lost]
    rows.append(("all hosts", *(figure(float(part.sum())) for part in parts)))
    columns = ("host", "confidentiality", "availability", "action cost", "total")
    return Sheet("Where it is lost, an episode", columns, rows, own=1)


def setting(played: Played, on: str) -> str:
    """How a score came about: nothing is printed without it."""
    red = played.red if isinstance(played.red, str) else f"a mixture {played.red}"
    return (
        f"{played.policy} sees {SIGHT[played.sees]}; against {red}, {played.episodes:,} "
        f"episode{'s' if played.episodes != 1 else ''} of {played.horizon} steps, rules "
        f"{played.rules}, {played.seeds}, draws {played.rng}{_where(on)}."
    )


def _where(on: str) -> str:
    return "" if on == BUILT_IN else f", on the real CybORG ({on})"


# --- a protocol, under the published board


def under_the_board(scored: Scored) -> Sheet:
    """The published rows, and below them the new one."""
    heads = [f"{SHORT_RED[red]}{horizon}" for horizon, red in CELLS]
    rows: list[tuple[str, ...]] = [
        (
            f"{entry.team}, {entry.method}",
            *map(_short, entry.cells),
            f"{_short(entry.total)} ± {figure(entry.half_width)}",
        )
        for entry in board.BOARD
    ]
    first = scored.cells[0]
    total = _short(scored.total)
    if first.episodes > 1:
        total += f" ± {figure(scored.half_width)}"
    rows.append((first.policy, *(_short(cell.mean) for cell in scored.cells), total))
    if first.episodes > 1:
        halves = (figure(cell.half_width) for cell in scored.cells)
        rows.append(("± half of its 95 % interval", *halves, ""))
    return Sheet(
        "The leaderboard of CAGE Challenge 2",
        ("agent", *heads, "total"),
        rows,
        _board_notes(scored),
        own=2 if first.episodes > 1 else 1,
    )


def _board_notes(scored: Scored) -> list[str]:
    first = scored.cells[0]
    notes = [
        f"The board: rules {board.RULES}, {board.EPISODES:,} episodes a cell after "
        f"random.seed({board.SEED}), ± half of the total's 95 % interval.",
        f"{first.policy} sees {SIGHT[first.sees]}; protocol {scored.protocol}, rules "
        f"{first.rules}, {first.episodes:,} episodes a cell, {scored.seeds}, draws {first.rng}"
        f"{_where(scored.on)}.",
    ]
    if first.rules != board.RULES:
        notes.append(
            f"These are not the rules of the board, so the rows cannot be compared; "
            f"--rules {board.RULES} plays by them."
        )
    if first.sees != "bits":
        notes.append(f"The challenge showed its entrants the bits alone; {first.policy} sees more.")
    return notes


# --- a comparison


def comparison(compared: Compared) -> Sheet:
    """Both scores, their difference, and whether it is one."""
    first, second = compared.played
    differences = compared.differences
    better, equal = int((differences > 0).sum()), int((differences == 0).sum())
    rows = [(p.policy, interval(p.mean, p.half_width)) for p in (first, second)]
    rows += [
        ("difference, first - second", interval(compared.mean, compared.half_width)),
        ("episodes: first better, equal, second better",
         f"{better:,}, {equal:,}, {len(differences) - better - equal:,}"),
        ("sign-flip test", p_value(compared.sign_flip_p)),
    ]  # fmt: skip
    if compared.t_p is not None:
        rows.append(("paired t-test", p_value(compared.t_p)))
    notes = [setting(first, compared.first.on), setting(second, compared.second.on)]
    notes.append(_verdict(compared))
    title = f"{first.policy} and {second.policy} in the same games"
    return Sheet(title, ("", "return"), rows, notes)


def _verdict(compared: Compared) -> str:
    first, second = compared.played
    p = compared.sign_flip_p
    said = f"by the sign-flip test ({p_value(p)}), which does not ask how returns are spread"
    if p >= LEVEL or compared.mean == 0:
        return f"No difference is shown {said}."
    better, worse = (first, second) if compared.mean > 0 else (second, first)
    return f"{better.policy} is better than {worse.policy} {said}."


# --- files


def markdown(sheets: Sequence[Sheet]) -> str:
    """Sheets as Markdown tables."""
    return "\n".join(_markdown(sheet) for sheet in sheets)


def _markdown(sheet: Sheet) -> str:
    lines = [f"## {_plain(sheet.title)}", ""]
    rule = ("---", *("---:" for _ in sheet.columns[1:]))
    lines += [f"| {' | '.join(map(_plain, row))} |" for row in (sheet.columns, rule, *sheet.rows)]
    for note in sheet.notes:
        lines += ["", _plain(note)]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text that a Markdown table holds as it stands."""
    return text.strip().replace("|", "\\|").replace("\n", " ")


def episodes_csv(evaluations: Sequence[tuple[Played, Any]]) -> str:
    """A line for each episode, from pairs of what was played and how the order was kept (or
    None). Each line says what it takes to know its score for what it is.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(
        ["policy", "sees", "red", "rules", "horizon", "rng", "one_stream", "seed", "episode",
         "return", "order", "fixes", "compliant", "compliance"]
    )  # fmt: skip
    for played, kept in evaluations:
        about = (
            played.policy, played.sees, played.red, played.rules, played.horizon, played.rng,
            played.one_stream,
        )  # fmt: skip
        for number, value in enumerate(played.returns.tolist()):
            seed = played.seed if played.one_stream else played.seed + number
            order = ("", "", "", "")
            if kept is not None:
                arrays = (kept.fixes, kept.compliant, kept.compliance)
                order = (str(kept.order), *(array[number].item() for array in arrays))
            lines.writerow([*about, seed, number, value, *order])
    return text.getvalue()
