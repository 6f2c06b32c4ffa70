"""`fixfirst train`: train a defender, in a run folder."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.live import Live
from rich.table import Table

from fixfirst.cli import console
from fixfirst.cli.learning import must_have_torch
from fixfirst.cli.options import Horizon, Rules
from fixfirst.game.facts import REDS

if TYPE_CHECKING:
    from fixfirst.learn.setup import Setup
    from fixfirst.learn.train import Trained
    from fixfirst.learn.training import Row

EXAMPLES = console.examples(
    "fixfirst train runs/first                                 against B_line, no order",
    "fixfirst train runs/mixed --red bline,meander --memory    two reds at once, with memory",
    "fixfirst train runs/kept --order critical-first           keep to an order, stop at the gate",
    "fixfirst train runs/all --orders all                      one policy for all 120 orders",
    "fixfirst train runs/first --resume                        go on where it was stopped",
)

WHY = {
    "gate": "the policy keeps to its order: the gate is passed",
    "plateau": "no gain of 1 % for as many updates as `--patience` says",
    "episodes": "all episodes are played",
    "ctrl-c": "stopped by Ctrl-C",
}


def train(
    run: Annotated[Path, typer.Argument(help="The folder of the run.", metavar="RUN")],
    red: Annotated[
        str,
        typer.Option(help="Who attacks; several with commas share evenly.", metavar="|".join(REDS)),
    ] = "bline",
    order: Annotated[
        str | None,
        typer.Option(help="The order to keep to, or a well-known name.", metavar="ORDER"),
    ] = None,
    orders: Annotated[
        str | None,
        typer.Option(help="Many orders for one policy: all, or random:K.", metavar="all|random:K"),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="default, hosts, or a TOML file.", metavar="GROUPS")
    ] = None,
    episodes: Annotated[int, typer.Option(help="How many at most.", metavar="NUMBER")] = 50_000,
    n_envs: Annotated[int, typer.Option(help="Games side by side.", metavar="NUMBER")] = 200,
    horizon: Horizon = 100,
    rules: Rules = "latest",
    alignment_lambda: Annotated[
        float, typer.Option(help="Size of the reward for keeping to the order.", metavar="NUMBER")
    ] = 30.0,
    compliance_threshold: Annotated[
        float, typer.Option(help="Compliance at which the gate opens.", metavar="0..1")
    ] = 0.90,
    stop_at_gate: Annotated[bool, typer.Option(help="Stop once the gate is passed.")] = True,
    patience: Annotated[
        int, typer.Option(help="Updates without a gain after which to stop; 0 never.")
    ] = 0,
    memory: Annotated[bool, typer.Option(help="Show the policy what blue remembers.")] = False,
    mask: Annotated[bool, typer.Option(help="Bar actions known to be without effect.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same policy.")] = 0,
    ppo: Annotated[
        Path | None, typer.Option(help="A TOML file with options of PPO.", metavar="FILE")
    ] = None,
    start_from: Annotated[
        Path | None, typer.Option(help="Begin with the weights of this run.", metavar="RUN")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run.")] = False,
    threads: Annotated[int | None, typer.Option(help="For the networks; all by default.")] = None,
    device: Annotated[
        str, typer.Option(help="Where the networks are: cpu, cuda, cuda:1, ...", metavar="DEVICE")
    ] = "cpu",
    checkpoint_every: Annotated[int, typer.Option(help="Updates between checkpoints.")] = 20,
) -> None:
    """Train a defender with PPO; figures and checkpoints go to the folder RUN."""
    torch = must_have_torch()
    from fixfirst.envs.options import whole  # noqa: PLC0415 - loads the compiler
    from fixfirst.learn.setup import Setup  # noqa: PLC0415
    from fixfirst.learn.train import train as train_in  # noqa: PLC0415

    whole("checkpoint_every", checkpoint_every, 1, None)
    if threads is not None:
        torch.set_num_threads(whole("threads", threads, 1, None))
    setup = None
    if not resume:
        setup = Setup(
            red=_red(red), rules=rules, horizon=horizon, n_envs=n_envs, episodes=episodes,
            orders=_orders(order, orders, groups, seed), groups=_groups(groups),
            alignment_lambda=alignment_lambda, compliance_threshold=compliance_threshold,
            stop_at_gate=stop_at_gate, patience=patience, memory=memory, mask=mask, seed=seed, device=device,
            ppo=_ppo(ppo, horizon),
        )  # fmt: skip
    with Display(setup) as show:
        ended = train_in(
            run, setup, resume=resume, start_from=start_from, checkpoint_every=checkpoint_every,
            on_update=show,
        )  # fmt: skip
    _report(ended)
    if ended.why == "ctrl-c":
        console.say(f"Go on with: fixfirst train {run} --resume")
        raise typer.Exit(130)


def _red(red: str) -> str | dict[str, float]:
    names = [name.strip() for name in red.split(",")]
    if len(set(names)) < len(names):
        raise ValueError(f"--red {red!r} names a red twice")
    return red if len(names) == 1 else {name: 1 / len(names) for name in names}


def _orders(
    order: str | None, orders: str | None, groups: str | None, seed: int
) -> tuple[str, ...]:
    import numpy as np  # noqa: PLC0415

    from fixfirst.workflow.groups import groups_from  # noqa: PLC0415
    from fixfirst.workflow.orders import Workflow  # noqa: PLC0415

    if order is not None and orders is not None:
        raise ValueError("give --order for one order or --orders for many, not both")
    of = groups_from(groups)
    if order is not None:
        return (str(Workflow(order, of)),)
    if orders is None:
        return ()
    kind, _, count = orders.partition(":")
    if orders == "all" and len(of) <= 7:
        return tuple(str(one) for one in Workflow.every(of))
    if kind == "random" and count.isdigit():
        return tuple(
            str(one) for one in Workflow.sample(np.random.default_rng(seed), int(count), of)
        )
    raise ValueError(
        f"--orders {orders!r} is not understood; it is all (of at most 7 groups) or random:K"
    )


def _groups(groups: str | None) -> dict[str, list[str]] | None:
    """The groups written out, so that a run does not depend on a file elsewhere."""
    from fixfirst.game.tables import HOST_NAMES  # noqa: PLC0415
    from fixfirst.workflow.groups import DEFAULT_GROUPS, groups_from  # noqa: PLC0415

    of = groups_from(groups)
    if of == DEFAULT_GROUPS:
        return None
    return {
        name: [HOST_NAMES[host] for host in members]
        for name, members in zip(of.names, of.members, strict=True)
    }


def _ppo(file: Path | None, horizon: int) -> Any:
    from fixfirst.learn.options import PPO  # noqa: PLC0415

    given = {"steps": horizon} if file is None else tomllib.loads(file.read_text())
    return PPO.from_dict(given)


class Display:
    """Figures as they come: a table that is redrawn on a terminal, plain lines elsewhere."""

    def __init__(self, setup: "Setup | None") -> None:
        self._total = None if setup is None else setup.episodes
        self._live = Live(console=console.err, transient=True, refresh_per_second=4)
        self._terminal = console.err.is_terminal
        self._clock = console.clock()
        self._first = 0

    def __enter__(self) -> Any:
        if self._terminal:
            self._live.start()
        return self._show

    def __exit__(self, *error: object) -> None:
        if self._terminal:
            self._live.stop()

    def _show(self, row: "Row") -> None:
        rows = dict(self._lines(row))
        if self._terminal:
            table = Table.grid(padding=(0, 2))
            for name, value in rows.items():
                table.add_row(name, value)
            self._live.update(table)
        elif row.update % 10 == 1:
            console.err.print(
                ", ".join(f"{name} {value}" for name, value in rows.items()), soft_wrap=True
            )

    def _lines(self, row: "Row") -> list[tuple[str, str]]:
        seconds = self._clock()
        first = self._first = self._first or row.episodes
        speed = row.steps / row.episodes * (row.episodes - first) / max(seconds, 1e-9)
        busy = row.play_seconds + row.advantage_seconds + row.update_seconds
        total = "" if self._total is None else f" of {self._total:,}"
        left = "-"
        if self._total is not None and row.episodes > first:
            done = row.episodes - first
            left = f"{seconds * (self._total - row.episodes) / done:.0f} s"
        return [
            ("episodes", f"{row.episodes:,}{total}"),
            ("reward", f"{row.environment_reward:.2f}"),
            ("alignment", f"{row.alignment_reward:.2f}"),
            ("compliance", f"{row.compliance:.2f} of {row.fixes:.1f} fixes an episode"),
            ("steps/s", f"{speed:,.0f}"),
            ("play", f"{100 * row.play_seconds / busy:.0f} % of the time"),
            ("left", left),
        ]


def _report(ended: "Trained") -> None:
    console.say(f"Ended because {WHY[ended.why]}.")
    if ended.rows:
        last = ended.last
        console.say(
            f"{last.episodes:,} episodes, {last.steps:,} steps; in the last update the mean return "
            f"was {last.environment_reward:.2f}"
            + (f", compliance {last.compliance:.2f}" if last.fixes else "")
            + "."
        )
    console.say(f"Checkpoint: {ended.checkpoint}")
    console.say(f"Figures: {ended.run / 'metrics.csv'}, and tensorboard --logdir {ended.run}")
