"""`fixfirst bench`: the measurements behind every figure in the README."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fixfirst.cli import bench_backends, bench_search, bench_warm_start, console, sheets
from fixfirst.game.facts import REDS

app = typer.Typer(no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure this project on this machine: the commands behind every figure in the README."""


app.command(epilog=bench_backends.EXAMPLES)(bench_backends.backends)
app.command(epilog=bench_search.EXAMPLES)(bench_search.search)
app.command(epilog=bench_warm_start.EXAMPLES)(bench_warm_start.warm_start)

Json = Annotated[
    Path | None, typer.Option(help="Write all figures to this file, too.", metavar="FILE")
]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer and shorter measurements, < 40 s.")]

GAME_EXAMPLES = console.examples(
    "fixfirst bench game                    everything, some two minutes",
    "fixfirst bench game --quick            the main figures in under 40 seconds",
    "fixfirst bench game --cyborg FOLDER    with the real CybORG, and the ratios to it",
    "fixfirst bench game --json game.json   all figures in a file as well",
)


@app.command(epilog=GAME_EXAMPLES)
def game(
    quick: Quick = False,
    cyborg: Annotated[
        Path | None,
        typer.Option(help="A checkout of cage-challenge-2 to measure too.", metavar="FOLDER"),
    ] = None,
    json: Json = None,
) -> None:
    """Measure the game: steps a second, memory, start-up, and CybORG beside them."""
    from fixfirst.bench import game as bench  # noqa: PLC0415 - loads the compiler

    console.must_be_writable(json)
    if cyborg is not None:
        from fixfirst.envs.cyborg import load  # noqa: PLC0415

        load(cyborg)  # better an error now than after the work
    total = bench.parts(quick, cyborg is not None)
    with console.progress("Measuring", total) as more:
        figures = bench.run(quick, None if cyborg is None else str(cyborg), lambda _: more(1))
    _print(figures)
    if json is not None:
        console.write_json(json, figures)
        console.say(f"All figures are in {json}.")


TRAIN_EXAMPLES = console.examples(
    "fixfirst bench train                     the speed of training, and where its time goes",
    "fixfirst bench train --quick             the same in under 40 seconds",
    "fixfirst bench train --json train.json   all figures in a file as well",
)


@app.command(epilog=TRAIN_EXAMPLES)
def train(quick: Quick = False, json: Json = None) -> None:
    """Measure training: steps a second, the parts of the time, the ceiling, and SB3's PPO."""
    from fixfirst.cli.learning import must_have_torch  # noqa: PLC0415 - loads the compiler

    must_have_torch()
    from fixfirst.bench import train as bench  # noqa: PLC0415

    console.must_be_writable(json)
    with console.progress("Measuring", bench.parts()) as more:
        figures = bench.run(quick, lambda _: more(1))
    _print_training(figures)
    if json is not None:
        console.write_json(json, figures)
        console.say(f"All figures are in {json}.")


LEARN_EXAMPLES = console.examples(
    "fixfirst bench learn runs/learn                        all results, about an hour",
    "fixfirst bench learn runs/learn --only plain-bline     one of them",
    "fixfirst bench learn runs/learn                        the same again: only what is missing",
    "fixfirst bench learn runs/quick --quick                all but the long ones, far too short",
)


@app.command(epilog=LEARN_EXAMPLES)
def learn(
    out: Annotated[
        Path,
        typer.Argument(help="The folder of the results; what is there is kept.", metavar="OUT"),
    ],
    only: Annotated[
        str | None,
        typer.Option(help="Just these results, with commas.", metavar="NAME", show_default=False),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Hundredths of the training: to see that it works.")
    ] = False,
    json: Json = None,
    markdown: sheets.Markdown = None,
) -> None:
    """Train and judge what `docs/ppo.md` reports: the learning results."""
    from fixfirst.cli.learning import must_have_torch  # noqa: PLC0415 - loads the compiler

    must_have_torch()
    from fixfirst.bench import learn as bench  # noqa: PLC0415
    from fixfirst.bench import learn_report  # noqa: PLC0415
    from fixfirst.judge import report  # noqa: PLC0415

    sheets.must_differ(json, markdown)
    wanted = _wanted(bench.results(), only, quick)
    with console.spinner_of("Training") as show:
        found = bench.run(
            out, wanted, 0.01 if quick else 1.0,
            lambda name, run, row: show(
                f"{name}, {run}: {row.episodes:,} episodes, return {row.environment_reward:.1f}"
            ),
        )  # fmt: skip
    shown = learn_report.sheets(found)
    sheets.show(shown)
    sheets.write(found, json, "All figures are")
    sheets.write(report.markdown(shown), markdown, "The tables are")


def _wanted(all_results: list[Any], only: str | None, quick: bool) -> list[Any]:
    if only is None:
        return [one for one in all_results if not (quick and one.name == "all-orders")]
    names = {one.name: one for one in all_results}
    asked = [name.strip() for name in only.split(",")]
    for name in asked:
        if name not in names:
            raise ValueError(f"--only {name!r} is not known; it is of {', '.join(names)}")
    return [names[name] for name in asked]


def _print_training(figures: dict[str, Any]) -> None:
    machine = figures["machine"]
    console.say(
        f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}, "
        f"PyTorch {machine['torch']} with {machine['threads']} threads; one order kept: "
        f"{figures['order']}"
    )
    table = Table(title="Training, microseconds of a step", title_justify="left")
    table.add_column("")
    for name in figures["runs"]:
        table.add_column(name, justify="right")
    runs = list(figures["runs"].values())
    for part in runs[0]["microseconds_per_step"]:
        table.add_row(part, *(f"{run['microseconds_per_step'][part]:.2f}" for run in runs))
    table.add_row("unexplained", *(f"{100 * run['unexplained']:.1f} %" for run in runs))
    table.add_section()
    table.add_row("steps/s", *(f"{run['steps_per_second']:,.0f}" for run in runs))
    table.add_row("episodes/s", *(f"{run['episodes_per_second']:,.0f}" for run in runs))
    console.out.print(table)
    ceiling, ours = figures["ceiling"], figures["runs"]["default"]["steps_per_second"]
    console.say(
        f"Matrix products alone, {ceiling['flops_per_step'] / 1e6:.2f} MFLOP a step at "
        f"{ceiling['gflops_at_these_sizes']:.0f} GFLOP/s (large squares: "
        f"{ceiling['gflops_of_square_products']:.0f}), would allow "
        f"{ceiling['steps_per_second']:,.0f} steps/s; "
        f"training with the defaults reaches {100 * ours / ceiling['steps_per_second']:.0f} % of "
        "that."
    )
    for rival in figures["stable_baselines3"]:
        speed = rival["steps_per_second"]
        console.say(
            f"SB3 {rival['version']} PPO, {rival['games']} games, batch {rival['batch']}: "
            f"{speed:,.0f} steps/s; fixfirst with its defaults is {ours / speed:.1f} times as fast."
        )
    if not figures["stable_baselines3"]:
        console.say("SB3 is not installed, so it is not measured: pip install 'fixfirst[sb3]'")


def _print(figures: dict[str, Any]) -> None:
    machine = figures["machine"]
    console.say(
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB; "
        f"Python {machine['python']}, Numba {machine['numba']}; "
        f"episodes of {figures['horizon']} steps, resets included"
    )
    for rng, blue in dict.fromkeys((row["rng"], row["blue"]) for row in figures["batch"]):
        console.out.print(_speeds(figures, rng, blue))
    console.out.print(_ratios(figures) if "cyborg" in figures else "")
    plain = next(iter(figures["extras"].values()))
    costs = Table(title="4,096 games, B_line, 1 thread, with", title_justify="left")
    for title in ("", "million steps/s", "of the plain game"):
        costs.add_column(title, justify="right" if title else "left")
    for name, speed in figures["extras"].items():
        costs.add_row(name, f"{speed / 1e6:.2f}", f"{100 * speed / plain:.0f} %")
    console.out.print(costs)
    single = figures["single_step_microseconds"]
    console.say("One step of one game: " + _listed(single, "{:.1f} µs"))
    console.say("Memory of one game: " + _listed(figures["bytes_per_game"], "{:,} bytes"))
    table = Table("from an empty process to the first step", title="Start-up, seconds")
    for title in ("import fixfirst", "first ever, compiled", "later, from the cache"):
        table.add_column(title, justify="right")
    for name, seconds in figures["start_up_seconds"].items():
        table.add_row(name, *(f"{seconds[key]:.2f}" for key in ("import", "cold", "warm")))
    console.out.print(table)
    for row in figures["skipped_for_memory"]:
        console.say(f"Not measured, for want of free memory: {row}")


def _speeds(figures: dict[str, Any], rng: str, blue: str) -> Table:
    """A row for each number of games, a column for each red and number of threads."""
    rows = [row for row in figures["batch"] if (row["rng"], row["blue"]) == (rng, blue)]
    table = Table(title=f"Million steps/s, draws {rng}, blue {blue}", title_justify="left")
    table.add_column("games", justify="right")
    columns = list(dict.fromkeys((row["red"], row["threads"]) for row in rows))
    for red, threads in columns:
        table.add_column(f"{red}\n{threads} thread{'s' if threads > 1 else ''}", justify="right")
    found = {(row["games"], row["red"], row["threads"]): row["steps_per_second"] for row in rows}
    for games in sorted({row["games"] for row in rows}):
        speeds = (found.get((games, *column)) for column in columns)
        table.add_row(f"{games:,}", *(f"{s / 1e6:.2f}" if s else "-" for s in speeds))
    return table


def _ratios(figures: dict[str, Any]) -> Table:
    """CybORG, and how many times faster the best batch is, blue random."""
    table = Table(title="Beside the real CybORG, blue random", title_justify="left")
    for title in ("red", "CybORG, steps/s", "cpython draws", "fast draws"):
        table.add_column(title, justify="left" if title == "red" else "right")
    for red in REDS:
        base = figures["cyborg"][red]
        best = {
            rng: max(
                row["steps_per_second"]
                for row in figures["batch"]
                if (row["rng"], row["red"], row["blue"]) == (rng, red, "random")
            )
            for rng in ("cpython", "fast")
        }
        ratios = (f"{best[rng] / base:,.0f} times" for rng in ("cpython", "fast"))
        table.add_row(red, f"{base:,.0f}", *ratios)
    return table


def _listed(values: dict[str, Any], form: str) -> str:
    return "; ".join(f"{name} {form.format(value)}" for name, value in values.items())
