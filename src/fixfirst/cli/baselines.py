"""`fixfirst baselines`: the scripted blues against all reds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from fixfirst.cli import console
from fixfirst.cli.options import Horizon, Rules
from fixfirst.game.facts import REDS
from fixfirst.version import VERSION

if TYPE_CHECKING:
    from fixfirst.judge.play import Played

# Steps a second of CybORG 2.1 on one core, behind its ChallengeWrapper: 820 against B_line,
# 778 against Meander, on the kind of machine for which this project states its speeds.
CYBORG_STEPS_PER_SECOND = 800

EXAMPLES = console.examples(
    "fixfirst baselines                      rules latest, 100 steps",
    "fixfirst baselines --rules leaderboard  the rules of the 2022 leaderboard",
    "fixfirst baselines --json scores.json   all figures in a file as well",
)


def baselines(
    episodes: Annotated[
        int, typer.Option(help="Episodes for each pair of blue and red.", metavar="NUMBER")
    ] = 10_000,
    rules: Rules = "latest",
    horizon: Horizon = 100,
    seed: Annotated[int, typer.Option(help="Seed of the first episode.", metavar="NUMBER")] = 0,
    json: Annotated[
        Path | None, typer.Option(help="Write all figures to this file, too.", metavar="FILE")
    ] = None,
) -> None:
    """Play all scripted blues against all reds, and print what they score."""
    from fixfirst.envs import options  # noqa: PLC0415 - loads the compiler
    from fixfirst.judge.blues import SCRIPTS  # noqa: PLC0415
    from fixfirst.judge.play import play  # noqa: PLC0415

    options.whole("episodes", episodes, 1, None)
    threads = options.checked(episodes, REDS[0], rules, horizon, "fast", None, "disabled").threads
    console.must_be_writable(json)
    with console.spinner("Getting the game ready"):
        play("sleep", rules=rules, horizon=1, episodes=episodes)
    results = []
    watch = console.clock()
    with console.progress("Playing", len(SCRIPTS) * len(REDS) * episodes * horizon) as more:
        for policy in SCRIPTS:
            for red in REDS:
                played = play(
                    policy, red, rules=rules, horizon=horizon, episodes=episodes, seed=seed,
                    on_step=more,
                )  # fmt: skip
                results.append(played)
    figures = _figures(results, watch(), threads)
    _print(results, figures)
    if json is not None:
        console.write_json(json, figures)
        console.say(f"All figures are in {json}.")


def _figures(results: "list[Played]", seconds: float, threads: int) -> dict[str, Any]:
    steps = sum(played.episodes * played.horizon for played in results)
    speed = steps / seconds
    return {
        "fixfirst": VERSION,
        "steps": steps,
        "seconds": seconds,
        "threads": threads,
        "steps_per_second": speed,
        "cyborg_steps_per_second": CYBORG_STEPS_PER_SECOND,
        "times_cyborg": speed / CYBORG_STEPS_PER_SECOND,
        "results": [played.summary() for played in results],
    }


def _print(results: "list[Played]", figures: dict[str, Any]) -> None:
    first = results[0]
    last_seed = first.seed + first.episodes - 1
    console.out.print(_table(results))
    console.say(
        f"Mean return of {_count(first.episodes, 'episode')} of {_count(first.horizon, 'step')}, "
        f"± half of its 95 % interval.\nRules {first.rules}, seeds {first.seed} to {last_seed}.\n"
    )
    console.say(
        f"{figures['steps']:,} steps in {figures['seconds']:.2f} s on "
        f"{_count(figures['threads'], 'thread')}: {figures['steps_per_second']:,.0f} steps/s,\n"
        f"{figures['times_cyborg']:,.0f} times CybORG's {CYBORG_STEPS_PER_SECOND}, with which this "
        f"would take {_duration(figures['steps'] / CYBORG_STEPS_PER_SECOND)}."
    )
    console.say(
        f"(The {CYBORG_STEPS_PER_SECOND} were measured on one core; "
        "`fixfirst bench game --cyborg DIR` measures them again.)"
    )
    console.out.print(
        "\n[bold]Try next[/bold]\n"
        "  fixfirst play                           defend the network yourself\n"
        "  fixfirst watch --policy react-restore   see an episode step by step\n"
        "  fixfirst verify                         see that the game is the real one"
    )


def _table(results: "list[Played]") -> Table:
    """A row for each blue, a column for each red."""
    table = Table(title="What the scripted blues score", title_justify="left")
    table.add_column("blue")
    for red in REDS:
        table.add_column(red, justify="right")
    for row in range(0, len(results), len(REDS)):
        cells = results[row : row + len(REDS)]
        table.add_row(cells[0].policy, *map(console.score, cells))
    return table


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
