"""How a policy is found by its name."""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fixfirst.judge.custom import as_blue, load
from fixfirst.judge.scripts import Always, Greedy, Random, React
from fixfirst.judge.view import Blue
from fixfirst.workflow.groups import groups_from
from fixfirst.workflow.orders import Workflow


class Script(NamedTuple):
    """A blue that comes with the package."""

    make: Callable[[int], Blue]  # from a seed
    about: str


SCRIPTS = {
    "sleep": Script(lambda seed: Always("Sleep"), "does nothing"),
    "monitor": Script(lambda seed: Always("Monitor"), "looks and does nothing"),
    "random": Script(Random, "draws each action, all 145 alike"),
    "react-remove": Script(
        lambda seed: React("Remove"), "CybORG's BlueReactRemoveAgent: removes the shells it sees"
    ),
    "react-restore": Script(
        lambda seed: React("Restore"), "CybORG's BlueReactRestoreAgent: restores where it sees one"
    ),
}
DRAWN = "drawn:"  # before a trained policy that is to draw its actions, as in training
GREEDY = "greedy"
GREEDY_ORDER = "critical-first"  # where none is given


class Kind(NamedTuple):
    """A kind of policies that have names."""

    form: str  # what their names look like, for people
    # From a name and a seed to a blue or a function; None for a name that is not of this kind.
    find: Callable[[str, int], Any]


def _script(name: str, seed: int) -> Any:
    return SCRIPTS[name].make(seed) if name in SCRIPTS else None


def _greedy(name: str, seed: int) -> Any:
    script, colon, rest = name.partition(":")
    if script != GREEDY:
        return None
    groups, _, order = rest.rpartition(":")
    return Greedy(Workflow(order if colon else GREEDY_ORDER, groups_from(groups or None)))


def _trained(name: str, seed: int) -> Any:
    drawn = name.startswith(DRAWN)
    run, _, order = name.removeprefix(DRAWN).partition("@")
    if not run or not Path(run).is_dir():
        if not drawn:
            return None
        raise ValueError(f"policy={name!r}: there is no folder {run!r} with a trained policy")
    try:
        from fixfirst.judge.trained import Trained  # noqa: PLC0415 - loads PyTorch
        from fixfirst.learn.policy import Policy  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise ValueError(
            f"policy={name!r}: a trained policy needs {missing.name}; "
            "install it with: pip install 'fixfirst[learn]'"
        ) from missing
    return Trained(Policy(run, order or None), seed if drawn else None)


def _function(name: str, seed: int) -> Any:
    return load(name) if ":" in name else None


# The kinds, in the order in which a name is tried on them. `add_kind` adds to them.
KINDS = [
    Kind(", ".join(SCRIPTS), _script),
    Kind("greedy:ORDER, greedy:GROUPS:ORDER", _greedy),
    Kind("the folder of a training (RUN, RUN@ORDER or drawn:RUN)", _trained),
    Kind("module:function for one of your own", _function),
]


def add_kind(kind: Kind) -> None:
    """Have `find_blue`, and so every command, find policies of one more kind.

    It is asked before `module:function`, so its names may have a colon. What `find` returns is
    a `Blue`, or a function from observations [N, 52] to actions [N]. It should load what is
    slow to load only once it knows the name for one of its own.
    """
    KINDS.insert(-1, kind)


def find_blue(policy: Any, seed: int = 0) -> Blue:
    """A policy that can play.

    policy   a name of one of the `KINDS`: a script (see `SCRIPTS`), "greedy:ORDER", the folder
             of a training (see `Trained`), "module:function" for a function from observations
             [N, 52] to actions [N]; or such a function itself; or a `Blue`
    seed     of a script that draws
    """
    if not isinstance(policy, str):
        return as_blue(policy, type(policy).__name__)
    for kind in KINDS:
        found = kind.find(policy, seed)
        if found is not None:
            return as_blue(found, policy)
    near = difflib.get_close_matches(policy.lower(), [*SCRIPTS, GREEDY], n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    forms = ", ".join(kind.form for kind in KINDS[:-1])
    raise ValueError(
        f"policy={policy!r} is not known{hint} Policies are {forms}, or {KINDS[-1].form}"
    )


# The same under the name by which `fixfirst watch` has it.
blue = find_blue
