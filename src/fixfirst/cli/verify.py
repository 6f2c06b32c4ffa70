"""`fixfirst verify`: the proof that the game is CybORG's."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from fixfirst.cli import console
from fixfirst.game.facts import REDS, RULES

if TYPE_CHECKING:
    from fixfirst.parity.live import Tally

DIFFERENT = 1  # the exit code
ALL = "all"

EXAMPLES = console.examples(
    "fixfirst verify                    the games recorded of CybORG, once more",
    "fixfirst verify --golden DIR       recorded games of your own",
    "fixfirst verify --cyborg DIR       CybORG itself, side by side",
    "fixfirst verify --cyborg DIR --red meander --policy react --horizon 500",
)


@dataclass(frozen=True)
class Plan:
    """What is played side by side."""

    folder: Path
    rules: str | None
    reds: Sequence[str]
    policies: Sequence[str]
    episodes: int
    horizon: int
    seed: int


def verify(
    golden: Annotated[
        Path | None,
        typer.Option(
            help="Replay the golden files in this folder instead of those shipped.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    cyborg: Annotated[
        Path | None,
        typer.Option(
            help="Play the CybORG in this folder, a checkout of cage-challenge-2, side by side.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            help="With --cyborg: refuse it if it plays other rules. [dim]\\[default: its own][/dim]",
            metavar="|".join(RULES),
            show_default=False,
        ),
    ] = None,
    red: Annotated[
        str | None,
        typer.Option(
            help="With --cyborg: who attacks. [dim]\\[default: all][/dim]",
            metavar="|".join((*REDS, ALL)),
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="With --cyborg: who defends; an unknown name lists them. [dim]\\[default: all][/dim]",
            metavar="NAME|all",
            show_default=False,
        ),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(
            help="With --cyborg: for each policy and red. [dim]\\[default: 4][/dim]",
            metavar="NUMBER",
            show_default=False,
        ),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            help="With --cyborg: steps in an episode. [dim]\\[default: 100][/dim]",
            metavar="STEPS",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="With --cyborg: of the first episode; the next has the next. "
            "[dim]\\[default: 0][/dim]",
            metavar="NUMBER",
            show_default=False,
        ),
    ] = None,
) -> None:
    """See that the game is CybORG's, step for step and draw for draw.

    Exit code 0: all steps are equal. 1: there is a difference, and it is printed.
    2: it could not run.
    """
    for_cyborg = {
        "--rules": rules, "--red": red, "--policy": policy,
        "--episodes": episodes, "--horizon": horizon, "--seed": seed,
    }  # fmt: skip
    if cyborg is None:
        given = [name for name, value in for_cyborg.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]} says how to play CybORG, so it needs --cyborg DIR")
        equal = _replay(golden)
    else:
        if golden is not None:
            raise ValueError(
                "--golden and --cyborg are two different proofs; run one, then the other"
            )
        equal = _play(_plan(cyborg, rules, red, policy, episodes, horizon, seed))
    if not equal:
        raise typer.Exit(DIFFERENT)


# --- recorded games


def _replay(folder: Path | None) -> bool:
    """Replay golden files, a line each; whether all steps are equal."""
    from fixfirst.parity import golden  # noqa: PLC0415 - loads the compiler

    watch = console.clock()
    files = golden.shipped() if folder is None else golden.files_in(folder)
    width = max(len(file.name) for file in files)
    replays = []
    for file in files:
        replay = golden.replay(golden.load(file))
        replays.append(replay)
        console.say(
            f"{file.name:<{width}}  {replay.golden.episodes:>5} games  "
            f"{replay.equal:>8} of {replay.steps:>8} steps equal"
        )
        if replay.difference is not None:
            console.say(f"  {replay.place}, {replay.difference}", style="red")
    steps, equal = sum(r.steps for r in replays), sum(r.equal for r in replays)
    return _conclude(steps, equal, all(r.difference is None for r in replays), watch)


# --- CybORG itself


def _plan(
    folder: Path, rules: str | None, red: str | None, policy: str | None,
    episodes: int | None, horizon: int | None, seed: int | None,
) -> Plan:  # fmt: skip
    """What was asked for, checked, with what was left open filled in."""
    from fixfirst.envs import options  # noqa: PLC0415 - loads the compiler
    from fixfirst.game.state import MAX_HORIZON  # noqa: PLC0415
    from fixfirst.parity.policies import POLICIES  # noqa: PLC0415

    if rules is not None:
        options.one_of("rules", rules, RULES)
    policies = tuple(POLICIES)
    return Plan(
        folder=folder,
        rules=rules,
        reds=_one_or_all("red", red, REDS),
        policies=_one_or_all("policy", policy, policies),
        episodes=options.whole("episodes", 4 if episodes is None else episodes, 1, None),
        horizon=options.whole("horizon", 100 if horizon is None else horizon, 1, MAX_HORIZON),
        seed=0 if seed is None else seed,
    )


def _one_or_all(what: str, value: str | None, values: Sequence[str]) -> Sequence[str]:
    from fixfirst.envs import options  # noqa: PLC0415 - loads the compiler

    if value is None or value == ALL:
        return values
    return (options.one_of(what, value, (*values, ALL)),)


def _play(plan: Plan) -> bool:
    """Play CybORG and fixfirst side by side, a line for each policy and red; stop at the first
    difference. Whether there was none.
    """
    from fixfirst.envs.cyborg import CyborgGame  # noqa: PLC0415 - loads the compiler
    from fixfirst.parity import live  # noqa: PLC0415

    games = {red: CyborgGame(plan.folder, red, plan.rules) for red in plan.reds}
    rules = games[plan.reds[0]].rules
    console.say(f"CybORG in {games[plan.reds[0]].folder}, rules {rules}")
    seeds = range(plan.seed, plan.seed + plan.episodes)
    tallies = []
    watch = console.clock()
    lines = len(plan.reds) * len(plan.policies)
    with _steps_bar(lines * plan.episodes * plan.horizon) as (on_step, label):
        for red, game in games.items():
            match = live.Match(game, plan.horizon)
            for policy in plan.policies:
                label(f"{policy} against {red}")
                tally = live.play(match, policy, seeds, plan.horizon, on_step)
                tallies.append(tally)
                console.say(_line(policy, red, tally, max(map(len, plan.policies))))
                if tally.found is not None:
                    console.say(f"  {tally.found.difference}", style="red")
                    command = live.command(plan.folder, rules, plan.horizon, tally.found)
                    console.say(f"  see it again: {shlex.join(command)}")
                    return _conclude(*_sums(tallies), False, watch)
    return _conclude(*_sums(tallies), True, watch)


def _line(policy: str, red: str, tally: "Tally", width: int) -> str:
    return (
        f"{policy:<{width}}  against {red:<7}  {tally.episodes:>4} games  "
        f"{tally.equal:>8} of {tally.steps:>8} steps equal"
    )


def _sums(tallies: "Sequence[Tally]") -> tuple[int, int]:
    return sum(tally.steps for tally in tallies), sum(tally.equal for tally in tallies)


def _conclude(steps: int, equal: int, same: bool, watch: Callable[[], float]) -> bool:
    """Print the total, and hand on whether all was the same."""
    verdict = "the game is CybORG's" if same else "this is not CybORG's game"
    console.say(
        f"{equal} of {steps} steps equal, in {watch():.1f} s: {verdict}",
        style="bold green" if same else "bold red",
    )
    return same


class _Speed(ProgressColumn):
    """Steps a second, of late."""

    def render(self, task: Task) -> Text:
        """The speed as text."""
        return Text("" if task.speed is None else f"{task.speed:,.0f} steps/s")


@contextmanager
def _steps_bar(total: int) -> Iterator[tuple[Callable[[], None], Callable[[str], None]]]:
    """A bar that counts steps, shown in a terminal only; how to count one, how to name them."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Speed())
    terminal = console.out.is_terminal
    with Progress(*columns, console=console.out, transient=True, disable=not terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task), lambda text: bar.update(task, description=text)
