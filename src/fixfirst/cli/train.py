"""`fixfirst train`: train a defender, in a run folder."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixfirst.cli import console, ppo_options
from fixfirst.cli.learning import must_have_torch
from fixfirst.cli.options import Horizon, Rules
from fixfirst.cli.training_display import Display
from fixfirst.game.facts import REDS

if TYPE_CHECKING:
    from fixfirst.learn.train import Trained

EXAMPLES = console.examples(
    "fixfirst train runs/first                                 against B_line, no order",
    "fixfirst train runs/mixed --red bline,meander --memory    two reds at once, with memory",
    "fixfirst train runs/kept --order critical-first           keep to an order, stop at the gate",
    "fixfirst train runs/all --orders all                      one policy for all 120 orders",
    "fixfirst train runs/first --resume                        go on where it was stopped",
    "fixfirst train runs/real --on cyborg:DIR --n-envs 20      on the real CybORG in a folder",
)

WHY = {
    "gate": "the policy keeps to its order: the gate is passed",
    "plateau": "no gain of 1 % for as many updates as `--patience` says",
    "episodes": "all episodes are played",
    "ctrl-c": "stopped by Ctrl-C",
}

# What may be said of a run that is resumed, and what says nothing without an order.
_WITH_RESUME = ("run", "resume", "checkpoint_every")
_OF_ORDERS = (
    "groups", "alignment_lambda", "compliant_bonus", "violation_penalty", "compliance_rule",
    "compliance_threshold", "stop_at_gate",
)  # fmt: skip


def train(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="The folder of the run.", metavar="RUN")],
    red: Annotated[
        str,
        typer.Option(help="Who attacks; several with commas share evenly.", metavar="|".join(REDS)),
    ] = "bline",
    order: Annotated[
        str | None,
        typer.Option(
            help="The order to keep to, or a well-known name.", metavar="ORDER", show_default=False
        ),
    ] = None,
    orders: Annotated[
        str | None,
        typer.Option(
            help="Many orders for one policy: all, or random:K.",
            metavar="all|random:K",
            show_default=False,
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="What orders are made of. [dim]\\[default: default][/dim]",
            metavar="default|hosts|FILE.toml",
            show_default=False,
        ),
    ] = None,
    episodes: Annotated[int, typer.Option(help="How many at most.", metavar="NUMBER")] = 50_000,
    n_envs: Annotated[int, typer.Option(help="Games side by side.", metavar="NUMBER")] = 200,
    horizon: Horizon = 100,
    rules: Rules = "latest",
    alignment_lambda: Annotated[
        float, typer.Option(help="Size of the reward for keeping to the order.", metavar="NUMBER")
    ] = 30.0,
    compliant_bonus: Annotated[
        float, typer.Option(help="Paid for a compliant fix, in lambdas.", metavar="NUMBER")
    ] = 0.0,
    violation_penalty: Annotated[
        float, typer.Option(help="Taken for any other fix, in lambdas.", metavar="NUMBER")
    ] = 0.0,
    compliance_rule: Annotated[
        str, typer.Option(help="When a fix is compliant.", metavar="held|attempted")
    ] = "held",
    compliance_threshold: Annotated[
        float, typer.Option(help="Compliance at which the gate opens.", metavar="0..1")
    ] = 0.90,
    stop_at_gate: Annotated[bool, typer.Option(help="Stop once the gate is passed.")] = True,
    patience: Annotated[
        int,
        typer.Option(help="Updates without a gain after which to stop; 0 never.", metavar="NUMBER"),
    ] = 0,
    memory: Annotated[bool, typer.Option(help="Show the policy what blue remembers.")] = False,
    mask: Annotated[bool, typer.Option(help="Bar actions known to be without effect.")] = False,
    seed: Annotated[
        int, typer.Option(help="The same seed gives the same policy.", metavar="NUMBER")
    ] = 0,
    start_from: Annotated[
        Path | None,
        typer.Option(help="Begin with the weights of this run.", metavar="RUN", show_default=False),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run.")] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            help="For the networks. [dim]\\[default: all][/dim]",
            metavar="NUMBER",
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(help="Where the networks are: cpu, cuda, cuda:1, ...", metavar="DEVICE")
    ] = "cpu",
    on: Annotated[
        str,
        typer.Option(
            help="Where games are played; cyborg:DIR is the real CybORG.",
            metavar="fixfirst|cyborg:DIR",
        ),
    ] = "fixfirst",
    backend: Annotated[
        str | None,
        typer.Option(
            help="What runs the games. [dim]\\[default: native, or shared on CybORG][/dim]",
            metavar="native|serial|pipe|queue|shared|async|ray",
            show_default=False,
        ),
    ] = None,
    checkpoint_every: Annotated[
        int, typer.Option(help="Updates between checkpoints.", metavar="NUMBER")
    ] = 20,
    ppo: ppo_options.File = None,
    hidden: ppo_options.Hidden = None,
    steps: ppo_options.Steps = None,
    minibatch: ppo_options.Minibatch = None,
    epochs: ppo_options.Epochs = None,
    gamma: ppo_options.Gamma = None,
    gae_lambda: ppo_options.GaeLambda = None,
    clip: ppo_options.Clip = None,
    value_coefficient: ppo_options.ValueCoefficient = None,
    entropy: ppo_options.Entropy = None,
    entropy_schedule: ppo_options.EntropySchedule = None,
    reward_scale: ppo_options.RewardScale = None,
    normalise_advantages: ppo_options.NormaliseAdvantages = None,
    normalise_values: ppo_options.NormaliseValues = None,
    learning_rate: ppo_options.LearningRate = None,
    learning_rate_schedule: ppo_options.LearningRateSchedule = None,
    max_gradient_norm: ppo_options.MaxGradientNorm = None,
    adam_epsilon: ppo_options.AdamEpsilon = None,
) -> None:
    """Train a defender with PPO; figures and checkpoints go to the folder RUN."""
    must_have_torch()
    from fixfirst.envs.options import whole  # noqa: PLC0415 - loads the compiler
    from fixfirst.learn.setup import Setup  # noqa: PLC0415
    from fixfirst.learn.train import train as train_in  # noqa: PLC0415

    _check_contradictions(context, run, with_order=order is not None or orders is not None)
    whole("checkpoint_every", checkpoint_every, 1, None)
    setup = None
    if not resume:
        setup = Setup(
            red=_red(red), rules=rules, horizon=horizon, n_envs=n_envs, episodes=episodes,
            orders=_orders(order, orders, groups, seed), groups=groups,
            alignment_lambda=alignment_lambda, compliant_bonus=compliant_bonus,
            violation_penalty=violation_penalty, compliance_rule=compliance_rule,
            compliance_threshold=compliance_threshold, stop_at_gate=stop_at_gate,
            patience=patience, memory=memory, mask=mask, seed=seed, device=device,
            threads=threads, on=on, backend=backend,
            ppo=ppo_options.chosen(ppo, {
                "hidden": hidden, "steps": steps, "minibatch": minibatch, "epochs": epochs,
                "gamma": gamma, "gae_lambda": gae_lambda, "clip": clip,
                "value_coefficient": value_coefficient, "entropy": entropy,
                "entropy_schedule": entropy_schedule, "reward_scale": reward_scale,
                "normalise_advantages": normalise_advantages, "normalise_values": normalise_values,
                "learning_rate": learning_rate, "learning_rate_schedule": learning_rate_schedule,
                "max_gradient_norm": max_gradient_norm, "adam_epsilon": adam_epsilon,
            }),
        )  # fmt: skip
    with Display(run) as show:
        ended = train_in(
            run, setup, resume=resume, start_from=start_from, checkpoint_every=checkpoint_every,
            on_update=show,
        )  # fmt: skip
    _report(ended)
    if ended.why == "ctrl-c":
        console.say(f"Go on with: fixfirst train {run} --resume")
        raise typer.Exit(130)


def _check_contradictions(context: typer.Context, run: Path, *, with_order: bool) -> None:
    """Raise if an option was given that cannot have the effect that it asks for."""
    given = [
        name for name in context.params
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]  # fmt: skip
    for name in given:
        option = f"--{name.replace('_', '-')}"
        if context.params["resume"] and name not in _WITH_RESUME:
            raise ValueError(
                f"{option} cannot be chosen with --resume: a run goes on with its own options, "
                f"which are in {run / 'config.json'}; leave it out, or begin a new run"
            )
        if name in _OF_ORDERS and not with_order:
            raise ValueError(
                f"{option} is about keeping to an order; give --order or --orders, or leave it out"
            )


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
    if kind == "random" and count.isdigit() and int(count) > 0:
        return tuple(
            str(one) for one in Workflow.sample(np.random.default_rng(seed), int(count), of)
        )
    raise ValueError(
        f"--orders {orders!r} is not understood; it is all (of at most 7 groups) or random:K"
    )


def _report(ended: "Trained") -> None:
    console.say(f"Ended because {WHY[ended.why]}.")
    if ended.rows:
        last = ended.last
        text = f"{last.episodes:,} episodes, {last.steps:,} steps"
        if not math.isnan(last.environment_reward):
            text += f"; in the last update the mean return was {last.environment_reward:.2f}"
        if last.fixes:
            text += f", compliance {last.compliance:.2f}"
        console.say(f"{text}.")
    console.say(f"Checkpoint: {ended.checkpoint}")
    console.say(f"Figures: {ended.run / 'metrics.csv'}, and tensorboard --logdir {ended.run}")
