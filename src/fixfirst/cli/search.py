"""`fixfirst search`: find the best order of repair."""

import tomllib
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fixfirst.cli import console
from fixfirst.cli.learning import must_have_search
from fixfirst.game.facts import REDS, RULES

if TYPE_CHECKING:
    from fixfirst.search.found import Found

EXAMPLES = console.examples(
    "fixfirst search                                      20 workflows against B_line",
    "fixfirst search runs/m --red-agent meander           against Meander, in that folder",
    "fixfirst search runs/all --strategy exhaustive --total-episodes 480000 --no-stop-at-gate",
    "fixfirst search runs/a --config search.toml --seed 7   settings from a file, one changed",
    "fixfirst search --resume runs/a                      go on after a kill or Ctrl-C",
    "fixfirst search --resume runs/a --n-workflows 40     go on with more",
    "fixfirst search --join runs/a                        one more worker, from any machine",
)

STRATEGIES = "gp-ucb|random|round-robin|successive-halving|tpe|exhaustive"
NUMBER = "NUMBER"


def _option(help_text: str, metavar: str | None = None, default: str | None = None) -> Any:
    """An option that is None unless it is given, so that a config file can set it."""
    return typer.Option(help=help_text, metavar=metavar, show_default=default or False)


def search(
    context: typer.Context,
    run: Annotated[
        Path | None,
        typer.Argument(help="A new folder; without one, runs/search-DATE.", metavar="RUN"),
    ] = None,
    resume: Annotated[Path | None, _option("Go on with the search in RUN.", "RUN")] = None,
    join: Annotated[Path | None, _option("Lend the search in RUN a hand.", "RUN")] = None,
    config: Annotated[
        Path | None, _option("Settings from a TOML file; options given here win.", "FILE")
    ] = None,
    red_agent: Annotated[
        str | None, _option("Who attacks; several with commas.", "|".join(REDS), "bline")
    ] = None,
    rules: Annotated[
        str | None, _option("Which version of the game.", "|".join(RULES), "latest")
    ] = None,
    max_steps: Annotated[int | None, _option("Steps in an episode.", NUMBER, "100")] = None,
    groups: Annotated[
        str | None, _option("Groups to order: default, hosts, or a TOML file.", "GROUPS")
    ] = None,
    total_episodes: Annotated[
        int | None, _option("Training episodes in all.", NUMBER, "100000")
    ] = None,
    n_workflows: Annotated[
        int | None, _option("Trials.", NUMBER, "20; exhaustive: all orders")
    ] = None,
    max_episodes: Annotated[
        int | None, _option("Training episodes of a trial.", NUMBER, "an equal share")
    ] = None,
    stage_episodes: Annotated[
        int | None,
        _option("Training episodes of the one policy of --warm-start all.", NUMBER, "half of all"),
    ] = None,
    time: Annotated[float | None, _option("Minutes after which to stop.", "MINUTES")] = None,
    n_envs: Annotated[int | None, _option("Games side by side.", NUMBER, "200")] = None,
    update_steps: Annotated[
        int | None, _option("Steps of each game in an update.", NUMBER, "an episode")
    ] = None,
    alignment_lambda: Annotated[
        float | None, _option("Size of the reward for keeping to the order.", NUMBER, "30")
    ] = None,
    compliance_threshold: Annotated[
        float | None, _option("Compliance at which the gate opens.", "0..1", "0.9")
    ] = None,
    stop_at_gate: Annotated[
        bool | None,
        typer.Option(
            "--stop-at-gate/--no-stop-at-gate",
            help="End a training once it passes the gate.",
            show_default="stop",
        ),
    ] = None,
    patience: Annotated[
        int | None, _option("Updates without a gain after which to stop; 0 never.", NUMBER, "0")
    ] = None,
    warm_start: Annotated[
        str | None, _option("With whose weights to begin.", "nearest|same|all|scratch", "nearest")
    ] = None,
    score: Annotated[
        str | None, _option("What a trial's reward is.", "evaluation|training", "evaluation")
    ] = None,
    evaluation_episodes: Annotated[
        int | None, _option("Fresh episodes behind each reward.", NUMBER, "1000")
    ] = None,
    memory: Annotated[
        bool | None,
        typer.Option("--memory/--no-memory", help="Show the policy what blue remembers."),
    ] = None,
    mask: Annotated[
        bool | None,
        typer.Option("--mask/--no-mask", help="Bar actions known to be without effect."),
    ] = None,
    ppo: Annotated[Path | None, _option("A TOML file with options of PPO.", "FILE")] = None,
    strategy: Annotated[str | None, _option("How orders are chosen.", STRATEGIES, "gp-ucb")] = None,
    gp_beta: Annotated[
        str | None, _option("Deviations that gp-ucb adds, or srinivas.", NUMBER, "2")
    ] = None,
    seed: Annotated[int | None, _option("The same seed, the same search.", NUMBER, "0")] = None,
    workers: Annotated[int | None, _option("Processes on this machine.", NUMBER, "1")] = None,
    threads: Annotated[
        int | None, _option("Of each worker.", NUMBER, "the machine's, shared evenly")
    ] = None,
    storage: Annotated[
        str | None, _option("A database for the trials.", "URL", "SQLite in RUN")
    ] = None,
    checkpoint_dir: Annotated[
        Path | None, _option("Where the trials are kept.", "DIR", "RUN/trials")
    ] = None,
) -> None:
    """Find the order of repair that gives the best defence. All that is found goes to RUN."""
    given = {
        name: value
        for name, value in context.params.items()
        if name not in ("run", "resume", "join", "config") and value is not None
    }
    _one_of_three(run, resume, join)
    if config is not None and (resume or join):
        raise ValueError("--config is for a new search; one that is there has its own settings")
    must_have_search()
    found = _searched(run, resume, join, config, given)
    report(found)
    if found.record.state == "stopped":
        raise typer.Exit(130)


def _searched(
    run: Path | None, resume: Path | None, join: Path | None, config: Path | None,
    given: dict[str, Any],
) -> "Found":  # fmt: skip
    from fixfirst.cli.searching import Display  # noqa: PLC0415 - all three load much
    from fixfirst.search.run import join as join_in  # noqa: PLC0415
    from fixfirst.search.run import search as search_in  # noqa: PLC0415

    if join is not None:
        unknown = sorted(set(given) - {"storage", "threads"})
        if unknown:
            raise ValueError(f"--join takes the search's own settings; leave {unknown[0]} away")
        with Display() as show:
            return join_in(join, spectator=show, **given)
    if resume is not None:
        with Display() as show:
            return search_in(resume, resume=True, spectator=show, **given)
    settings = settings_from(config, given)
    folder = run or Path("runs") / f"search-{datetime.now():%Y%m%d-%H%M%S}"
    console.err.print(f"Searching in {folder}", markup=False, soft_wrap=True)
    with Display() as show:
        return search_in(folder, settings, spectator=show)


def settings_from(config: Path | None, given: dict[str, Any]) -> Any:
    """The settings of a file and of the command line, whose win."""
    from fixfirst.search.settings import Settings, read_config  # noqa: PLC0415

    values = {} if config is None else read_config(config)
    flags = dict(given)
    if "ppo" in flags:
        flags["ppo"] = tomllib.loads(Path(flags["ppo"]).read_text())
    if "checkpoint_dir" in flags:
        flags["checkpoint_dir"] = str(Path(flags["checkpoint_dir"]).absolute())
    if "gp_beta" in flags:
        flags["gp_beta"] = _number(flags["gp_beta"])
    return Settings.from_dict(values | flags)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _one_of_three(*given: object) -> None:
    if sum(one is not None for one in given) > 1:
        raise ValueError("give a new folder RUN, or --resume RUN, or --join RUN; one of the three")


def report(found: "Found") -> None:
    """Say how it ended."""
    record, best = found.record, found.best
    console.say(f"{record.state.capitalize()}: {record.why}.")
    history = record.history
    console.say(
        f"{len(history.trials)} trials, {len(history.passed)} passed the gate; "
        f"{history.episodes:,} episodes in {record.seconds:,.0f} s."
    )
    if best is None or found.knowledge is None:
        console.say("No trial has passed the gate, so there is no best order yet.")
    else:
        low, high = best.interval
        console.say(f"Best order: {best.order}")
        console.say(
            f"  mean reward {best.mean:.2f} (95 % interval {low:.2f} to {high:.2f}), the best of "
            f"{found.knowledge.whose} with a probability of {best.chance:.0%}"
        )
        console.say(f"  its policy: {record.folder / (best.trial.checkpoint or '')}")
    console.say(f"Summary: {record.folder / 'summary.md'}")
