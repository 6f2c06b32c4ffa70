"""`fixfirst evaluate`: what a defender scores."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fixfirst.cli import console, sheets
from fixfirst.cli.options import RNGS
from fixfirst.game.facts import REDS, RULES
from fixfirst.version import VERSION

if TYPE_CHECKING:
    from fixfirst.judge.play import Played
    from fixfirst.judge.protocol import Scored
    from fixfirst.judge.report import Sheet
    from fixfirst.workflow.orders import Workflow

EXAMPLES = console.examples(
    "fixfirst evaluate react-restore             against bline, 100 steps",
    "fixfirst evaluate runs/first                what fixfirst train has trained there",
    "fixfirst evaluate runs/all@reverse          the same, of a policy of many orders",
    "fixfirst evaluate greedy --order reverse    how it keeps to an order",
    "fixfirst evaluate mine:act --json it.json   the function act of mine.py",
    "fixfirst evaluate random --leaderboard      under the published board",
    "fixfirst evaluate sleep --on cyborg:DIR     on the real CybORG",
)
OFFICIAL = "official"

What = Annotated[
    str,
    typer.Argument(
        help="Who defends: a script such as react-restore, greedy:ORDER, the folder of a training "
        "(RUN, RUN@ORDER, or drawn:RUN to draw its actions), or module:function.",
        metavar="WHAT",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Asked:
    """What a single evaluation leaves open; a protocol has most of it settled."""

    red: str | None
    horizon: int | None
    order: str | None
    groups: str | None
    seed: int | None
    rng: str | None


def evaluate(
    what: What,
    red: Annotated[
        str | None,
        typer.Option(
            help="Who attacks. [dim]\\[default: bline][/dim]",
            metavar="|".join(REDS),
            show_default=False,
        ),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            help="Steps in an episode. [dim]\\[default: 100][/dim]",
            metavar="STEPS",
            show_default=False,
        ),
    ] = None,
    episodes: Annotated[
        int, typer.Option(help="Episodes; of a protocol, in each cell.", metavar="NUMBER")
    ] = 1000,
    rules: Annotated[
        str | None,
        typer.Option(
            help="Which version of the game. [dim]\\[default: latest; with the board, the board's; "
            "on CybORG, its own][/dim]",
            metavar="|".join(RULES),
            show_default=False,
        ),
    ] = None,
    rng: Annotated[
        str | None,
        typer.Option(
            help="Where the dice come from. [dim]\\[default: fast; cpython are CybORG's][/dim]",
            metavar="|".join(RNGS),
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of the first episode; the next has the next. "
            "[dim]\\[default: 0; official: 153][/dim]",
            metavar="NUMBER",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="Also say how the fixes keep to this order.", metavar="ORDER", show_default=False
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="The groups that the order is of. [dim]\\[default: default][/dim]",
            metavar="default|hosts|FILE.toml",
            show_default=False,
        ),
    ] = None,
    leaderboard: Annotated[
        bool,
        typer.Option("--leaderboard", help="Play the nine cells of the challenge, each by seeds."),
    ] = False,
    protocol: Annotated[
        str | None,
        typer.Option(
            help="Replay CybORG's evaluation.py after random.seed(153), draw for draw.",
            metavar=OFFICIAL,
            show_default=False,
        ),
    ] = None,
    on: sheets.On = "fixfirst",
    json: sheets.Json = None,
    csv: sheets.Csv = None,
    markdown: sheets.Markdown = None,
) -> None:
    """Play a defender, and print what it scores, how sure that is, and where it is lost."""
    from fixfirst.judge import report  # noqa: PLC0415 - loads the compiler

    asked = Asked(red, horizon, order, groups, seed, rng)
    if leaderboard or protocol is not None:
        _check_protocol(leaderboard, protocol, asked, on)
    workflow = _workflow(order, groups)
    sheets.must_differ(json, csv, markdown)
    if leaderboard or protocol is not None:
        scored = _score(what, asked, rules, episodes, on, official=protocol is not None)
        shown = [report.under_the_board(scored)]
        figures, played = _board_figures(scored), [(cell, None) for cell in scored.cells]
    else:
        done = _evaluate(what, asked, rules, episodes, on, workflow)
        shown = report.evaluation(done)
        figures, played = {"fixfirst": VERSION, **done.summary()}, [(done.played, done.kept)]
    _hand_out(shown, figures, played, (json, csv, markdown))


def _check_protocol(leaderboard: bool, protocol: str | None, asked: Asked, on: str) -> None:
    """Raise if something is asked for that the protocol has settled."""
    from fixfirst.envs import options  # noqa: PLC0415 - loads the compiler

    if protocol is not None:
        options.one_of("protocol", protocol, (OFFICIAL,))
    if leaderboard and protocol is not None:
        raise ValueError("--leaderboard and --protocol official are two protocols; choose one")
    name = "--leaderboard" if leaderboard else "--protocol official"
    fixed = {**asdict(asked), "seed": None}
    if leaderboard:
        fixed["rng"] = None
    for option, value in fixed.items():
        if value is not None:
            raise ValueError(f"--{option} cannot be chosen with {name}; leave one of them out")
    if protocol is not None and on != "fixfirst":
        raise ValueError(
            "--protocol official replays what CybORG's evaluation.py does there, in the built-in "
            "game; leave out --on, or play --leaderboard on CybORG"
        )


def _workflow(order: str | None, groups: str | None) -> "Workflow | None":
    from fixfirst.workflow.groups import groups_from  # noqa: PLC0415 - loads the compiler
    from fixfirst.workflow.orders import Workflow  # noqa: PLC0415

    if order is None:
        if groups is not None:
            raise ValueError("--groups says what an order is made of, so it needs --order ORDER")
        return None
    return Workflow(order, groups_from(groups))


def _evaluate(
    what: str, asked: Asked, rules: str | None, episodes: int, on: str, order: "Workflow | None"
) -> Any:
    from fixfirst.judge.evaluate import evaluate as play  # noqa: PLC0415 - loads the compiler

    red = REDS[0] if asked.red is None else asked.red
    horizon = 100 if asked.horizon is None else asked.horizon
    with console.progress("Playing", episodes * horizon) as more:
        return play(
            what, red, rules=rules, horizon=horizon, episodes=episodes,
            seed=asked.seed or 0, rng=asked.rng, order=order, on=on, on_step=more,
        )  # fmt: skip


def _score(
    what: str, asked: Asked, rules: str | None, episodes: int, on: str, *, official: bool
) -> "Scored":
    from fixfirst.judge import board  # noqa: PLC0415 - loads the compiler
    from fixfirst.judge import protocol as play  # noqa: PLC0415

    if rules is None and on == "fixfirst":
        rules = board.RULES
    with console.progress("Playing", play.steps_of(episodes)) as more:
        if official:
            seed = play.OFFICIAL_SEED if asked.seed is None else asked.seed
            return play.official(what, rules=str(rules), episodes=episodes, seed=seed, on_step=more)
        return play.leaderboard(
            what, rules=rules, episodes=episodes, seed=asked.seed or 0, rng=asked.rng, on=on,
            on_step=more,
        )  # fmt: skip


def _board_figures(scored: "Scored") -> dict[str, Any]:
    from fixfirst.judge import board  # noqa: PLC0415 - loads the compiler

    published = {
        "rules": board.RULES,
        "seed": board.SEED,
        "episodes": board.EPISODES,
        "rows": [entry._asdict() for entry in board.BOARD],
    }
    return {"fixfirst": VERSION, **scored.summary(), "board": published}


def _hand_out(
    shown: "list[Sheet]", figures: dict[str, Any], played: "Sequence[tuple[Played, Any]]",
    files: Sequence[Any],
) -> None:  # fmt: skip
    """Print the results, and write the files that were asked for."""
    from fixfirst.judge import report  # noqa: PLC0415 - loads the compiler

    json, csv, markdown = files
    sheets.show(shown)
    sheets.write(figures, json, "All figures are")
    sheets.write(report.episodes_csv(played), csv, "All episodes are")
    sheets.write(report.markdown(shown), markdown, "The tables are")
