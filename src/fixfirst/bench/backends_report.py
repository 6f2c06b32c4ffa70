"""What the benchmark of backends found, as sheets: for the screen and for the docs."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fixfirst.bench.backends import rows as rows_of
from fixfirst.bench.contest import SPEED, when
from fixfirst.judge.report import Sheet

RIVALS = {"gymnasium": "Gymnasium AsyncVectorEnv", "sb3": "SB3 SubprocVecEnv"}
# The order in which the tables list them.
BACKENDS = ("native", "serial", "shared", "async", "ray", "pipe", "queue", *RIVALS, "bare")
NOT_MEASURED = "-"
SHOWN = 200  # envs, at most, where just one size is told of: that all backends have
Row = dict[str, Any]


def sheets(figures: dict[str, Any]) -> list[Sheet]:
    """A sheet for each question that was measured."""
    plain = [row for row in rows_of(figures["bouts"]) if not row["explain"]]
    explained = [row for row in rows_of(figures["bouts"]) if row["explain"]]
    made = [_game(plain), _true_states(plain), _cyborg(plain), _synthetic(plain)]
    made += [_shares(explained), _bars(figures)]
    return [sheet for sheet in made if sheet.rows]


def name_of(row: Row) -> str:
    """What ran the envs."""
    if row["backend"] == "bare":
        each = row["envs"] // 2
        return "no backend: two processes" + (" of one env each" if each == 1 else ", half each")
    return RIVALS.get(row["backend"], str(row["backend"]))


def speed(value: float) -> str:
    """Transitions a second, short."""
    return f"{value / 1e6:.1f} million" if value >= 1e6 else f"{value:,.0f}"


def _game(rows: Sequence[Row]) -> Sheet:
    """Nobody asking for true states; the built-in game costs next to nothing."""
    mine = [r for r in rows if r["env"] == "game" and r["true_states"] == "never"]
    table = _table(mine, lambda r: (name_of(r),), lambda r: r["envs"])
    shown = _shown(mine)
    beside: dict[str, Row] = {name_of(r): r for r in reversed(mine) if r["envs"] == shown}
    return Sheet(
        "The built-in game, nobody asking for true states",
        ("transitions/s", *(f"{n:,} envs" for n in table.columns), f"{shown} made in", "memory"),
        [
            (*key, *cells, *_made(beside.get(key[0])))
            for key, cells in table.rows(lambda r: speed(r[SPEED]))
        ],
    )


def _shown(rows: Sequence[Row]) -> int:
    return max((row["envs"] for row in rows if row["envs"] <= SHOWN), default=SHOWN)


def _made(row: Row | None) -> tuple[str, str]:
    if row is None:
        return NOT_MEASURED, NOT_MEASURED
    return f"{row['creation_seconds']:.1f} s", f"{row['memory_bytes'] / 2**20:,.0f} MiB"


def _true_states(rows: Sequence[Row]) -> Sheet:
    mine = [r for r in rows if r["env"] == "game" and r["backend"] not in RIVALS]
    shown = _shown([r for r in mine if r["backend"] != "native"])
    mine = [r for r in mine if r["backend"] == "native" or r["envs"] == shown]
    table = _table(mine, lambda r: (name_of(r), f"{r['envs']:,}"), _mode)
    return Sheet(
        "The built-in game, true states read",
        ("transitions/s", "envs", *table.columns),
        [(*key, *cells) for key, cells in table.rows(lambda r: speed(r[SPEED]))],
    )


def _cyborg(rows: Sequence[Row]) -> Sheet:
    mine = [r for r in rows if r["env"] == "cyborg"]
    # Two processes of one env each are what every size is compared with: they are in each bout.
    table = _table(mine, lambda r: (name_of(r), _mode(r)), lambda r: r["envs"])
    return Sheet(
        "The real CybORG",
        ("transitions/s", "true states", *(f"{n:,} envs" for n in table.columns)),
        [(*key, *cells) for key, cells in table.rows(lambda r: speed(r[SPEED]))],
    )


def _synthetic(rows: Sequence[Row]) -> Sheet:
    mine = [r for r in rows if r["env"] == "synthetic"]
    table = _table(mine, lambda r: (r["title"],), name_of)
    return Sheet(
        "A synthetic env whose steps take time",
        ("transitions/s", *table.columns),
        [(*key, *cells) for key, cells in table.rows(lambda r: speed(r[SPEED]))],
    )


def _shares(rows: Sequence[Row]) -> Sheet:
    names = list(rows[0]["shares"]) if rows else []
    return Sheet(
        "Where the time goes, % of the wall clock",
        ("", "true states", *names),
        [
            (f"{row['title']}: {name_of(row)}", _mode(row),
             *(f"{100 * row['shares'][name]:.1f}" for name in names))
            for row in rows
        ],
    )  # fmt: skip


def _bars(figures: dict[str, Any]) -> Sheet:
    machine = figures["machine"]
    return Sheet(
        "What was to be reached",
        ("", "target", "reached", "", "the lowest of all was with"),
        [
            (bar["what"], f"{bar['target']:.2f}", f"{bar['figure']:.2f}",
             "met" if bar["met"] else "not met", bar["where"])
            for bar in figures["bars"]
        ],
        (
            f"{machine['processor']}, {figures['usable_cores']} cores; Python {machine['python']}, "
            f"Gymnasium {machine['gymnasium']}; medians of rounds in which the entries of a bout "
            "take turns.",
        ),
    )  # fmt: skip


# --- tables of two keys


class _Table:
    """Results by what names a row and what names a column; the first of its kind counts."""

    def __init__(self, columns: list[Any], cells: dict[tuple[str, ...], dict[Any, Row]]) -> None:
        self.columns, self._cells = columns, cells

    def rows(self, tell: Callable[[Row], str]) -> Iterable[tuple[tuple[str, ...], list[str]]]:
        """Each row's names and its cells in words."""
        for key, found in self._cells.items():
            yield key, [tell(found[c]) if c in found else NOT_MEASURED for c in self.columns]


def _table(
    rows: Iterable[Row], by: Callable[[Row], tuple[str, ...]], across: Callable[[Row], Any]
) -> _Table:
    cells: dict[tuple[str, ...], dict[Any, Row]] = {}
    columns: dict[Any, None] = {}
    listed = sorted(rows, key=lambda r: BACKENDS.index(r["backend"]))
    for row in listed:
        cells.setdefault(by(row), {}).setdefault(across(row), row)
        columns.setdefault(across(row))
    numbers = all(isinstance(one, int) for one in columns)
    return _Table(sorted(columns) if numbers else list(columns), cells)


def _mode(row: Row) -> str:
    told = when(row["true_states"])
    return f"{told}, {row['options']['look']} read" if "look" in row["options"] else told
