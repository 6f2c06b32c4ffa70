"""Trials as plain data: what their files and the study hold."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from fixfirst.search.history import RUNNING, Guess, Proposal, Trial
from fixfirst.workflow.groups import Groups
from fixfirst.workflow.orders import Workflow

_OF_TRIAL = tuple(f.name for f in fields(Trial) if f.name not in ("order", "proposal"))


def trial_as_dict(trial: Trial) -> dict[str, Any]:
    """A trial as JSON can hold it; what is not finite is None."""
    plain = {name: _finite(getattr(trial, name)) for name in _OF_TRIAL}
    proposal = trial.proposal
    chosen = {
        "why": proposal.why,
        "kind": proposal.kind,
        "top": [_guess(guess) for guess in proposal.top],
        "guess": None if proposal.guess is None else _guess(proposal.guess),
        "episodes": proposal.episodes,
        "continues": proposal.continues,
    }
    return {"order": str(trial.order), **plain, "proposal": chosen}


def trial_from(plain: Mapping[str, Any], groups: Groups) -> Trial:
    """The trial that was written so."""
    order = Workflow(plain["order"], groups)
    chosen = dict(plain["proposal"])
    guess = chosen.pop("guess")
    proposal = Proposal(
        order,
        top=_guesses(chosen.pop("top"), groups),
        guess=None if guess is None else _guesses([guess], groups)[0],
        **chosen,
    )
    given = {name: plain[name] for name in _OF_TRIAL if name in plain}
    return Trial(order=order, proposal=proposal, **given)


def as_running(trial: Trial) -> Trial:
    """The trial as it was before there was a result."""
    return replace(
        trial, state=RUNNING, reward=None, error=None, compliance=None, fixes=None, episodes=0,
        why=None, seconds=0.0, checkpoint=None, judged=0,
    )  # fmt: skip


def _guess(guess: Guess) -> dict[str, Any]:
    return {
        "order": str(guess.order),
        "mean": _finite(guess.mean),
        "deviation": _finite(guess.deviation),
    }


def _guesses(plain: Sequence[Mapping[str, Any]], groups: Groups) -> tuple[Guess, ...]:
    return tuple(
        Guess(Workflow(one["order"], groups), _number(one["mean"]), _number(one["deviation"]))
        for one in plain
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _finite(value: Any) -> Any:
    if isinstance(value, float):  # NumPy's floats are floats, too, but not for JSON
        return float(value) if math.isfinite(value) else None
    return value
