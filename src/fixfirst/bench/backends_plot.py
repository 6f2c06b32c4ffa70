"""How the backends scale, as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fixfirst.bench.contest import SPEED

TITLES = {"game": "the built-in game", "cyborg": "the real CybORG"}
RIVALS = {"gymnasium": "Gymnasium AsyncVectorEnv", "sb3": "SB3 SubprocVecEnv"}
FORMATS = ("png", "svg")


def curves(rows: Sequence[dict[str, Any]], env: str) -> dict[str, list[tuple[int, float]]]:
    """Transitions a second by number of envs, for each backend, nobody asking for true states.

    An entry that was measured in several bouts counts with the first.
    """
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        plain = row["true_states"] == "never" and not row["explain"]
        if row["env"] == env and plain and row["backend"] != "bare":
            found.setdefault(row["backend"], {}).setdefault(row["envs"], row[SPEED])
    return {name: sorted(points.items()) for name, points in found.items()}


def draw(rows: Sequence[dict[str, Any]], out: Path) -> list[Path]:
    """Write the picture in each format; none if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        return []
    panels = {env: curves(rows, env) for env in TITLES}
    panels = {env: found for env, found in panels.items() if found}
    figure = Figure(figsize=(5.5 * max(1, len(panels)), 4.2), layout="constrained")
    for number, (env, found) in enumerate(panels.items(), 1):
        axes = figure.add_subplot(1, len(panels), number)
        for name, points in found.items():
            style = "--" if name in RIVALS else "-"
            xs, ys = zip(*points, strict=True)
            axes.plot(xs, ys, style, marker="o", markersize=4, label=RIVALS.get(name, name))
        axes.set(xscale="log", yscale="log", xlabel="environments", title=TITLES[env])
        axes.set_ylabel("transitions a second")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    written = [out / f"backends.{kind}" for kind in FORMATS]
    for path in written:
        figure.savefig(path, dpi=150)
    return written
