"""The real CybORG as one game: found in a folder, seeded, stepped, and read.

CybORG is no dependency of this package. The user has a checkout of cage-challenge-2, and
names its folder.

CybORG draws from Python's process-wide `random`. A `CyborgGame` has a generator state of its
own: it is put in place for the length of a call, and what stood there before is put back.
So games do not disturb each other, and nobody else's draws. Threads are another matter: one
that draws from `random` while a call runs takes a draw of the game's.
"""

import contextlib
import importlib
import importlib.util
import os
import random
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fixfirst.envs import checks, seeding
from fixfirst.envs.cyborg_state import CyborgState
from fixfirst.game import facts
from fixfirst.game.tables import ACTIONS, HOST_NAMES, HOSTS, OBSERVATION_BITS

SCENARIO = "Shared/Scenarios/Scenario2.yaml"
RED_AGENTS = dict(zip(facts.REDS, ("B_lineAgent", "RedMeanderAgent", "SleepAgent"), strict=True))

# What CybORG imports beyond Python's own modules, as pip names it.
PIP_NAMES = {
    "gym": "gym==0.26.2",
    "numpy": "numpy",
    "paramiko": "paramiko",
    "prettytable": "prettytable",
    "yaml": "pyyaml",
}


class CyborgError(ValueError):
    """CybORG cannot be used: it is not there, not whole, or not the one asked for."""


# --- finding and loading it


def find_package(folder: str | os.PathLike[str]) -> Path:
    """The folder of the package `CybORG`, given it, its parent, or the checkout it is in."""
    given = Path(folder).expanduser().resolve()
    if not given.is_dir():
        what = "is not a folder" if given.exists() else "does not exist"
        raise CyborgError(f"{given} {what}; name the folder of a cage-challenge-2 checkout")
    for package in (given, given / "CybORG", given / "CybORG" / "CybORG"):
        if (package / "__init__.py").is_file() and (package / "CybORG.py").is_file():
            break
    else:
        raise CyborgError(
            f"there is no CybORG in {given}: neither it nor CybORG/ nor CybORG/CybORG/ in it "
            "holds __init__.py and CybORG.py; name the folder of a cage-challenge-2 checkout"
        )
    if not (package / SCENARIO).is_file():
        raise CyborgError(
            f"the CybORG in {package} has no {SCENARIO}, so it is not the one of CAGE "
            "Challenge 2 (version 2.1); check out cage-challenge-2"
        )
    return package


def load(folder: str | os.PathLike[str]) -> types.ModuleType:
    """Import CybORG from a folder. A process can hold one CybORG only."""
    package = find_package(folder)
    loaded = sys.modules.get("CybORG")
    if loaded is not None:
        here = Path(next(iter(loaded.__path__))).resolve()
        if here != package:
            raise CyborgError(
                f"this process has already loaded the CybORG in {here}; use another process "
                f"for the one in {package}"
            )
        return loaded
    try:
        with warnings.catch_warnings(), _quiet_gym():
            warnings.simplefilter("ignore")
            return _import_from(package)
    except ModuleNotFoundError as problem:
        raise CyborgError(_missing(str(problem.name), package)) from problem
    except (ImportError, SyntaxError, AttributeError) as problem:
        raise CyborgError(
            f"the CybORG in {package} does not load under Python "
            f"{sys.version.split()[0]}: {type(problem).__name__}: {problem}"
        ) from problem


def _import_from(package: Path) -> types.ModuleType:
    """Import the package from just this folder, leaving the search path alone."""
    spec = importlib.util.spec_from_file_location(
        "CybORG", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["CybORG"] = module
    try:
        spec.loader.exec_module(module)
        importlib.import_module("CybORG.Agents")
        importlib.import_module("CybORG.Agents.Wrappers")
    except BaseException:
        for name in [n for n in sys.modules if n == "CybORG" or n.startswith("CybORG.")]:
            del sys.modules[name]
        raise
    return module


@contextlib.contextmanager
def _quiet_gym() -> Iterator[None]:
    """Keep gym from printing its farewell while it is imported; nothing else is held back."""
    try:
        notices = importlib.import_module("gym_notices.notices").notices
    except (ImportError, AttributeError):
        yield
        return
    kept = dict(notices)
    notices.clear()
    try:
        yield
    finally:
        notices.update(kept)


def _missing(module: str, package: Path) -> str:
    root = module.partition(".")[0]
    if root == "CybORG":
        return f"the CybORG in {package} is not whole: it has no {module}; check it out again"
    needs = {root: root, **PIP_NAMES}
    return (
        f"the CybORG in {package} needs the module {module!r}, which this Python does not have; "
        f"install what it needs: {sys.executable} -m pip install "
        + " ".join(f'"{name}"' if "=" in name else name for name in needs.values())
    )


def rules_of(folder: str | os.PathLike[str]) -> str:
    """Which rules the CybORG in a folder plays, by what its code does in both places that differ."""
    package = next(iter(load(folder).__path__))
    try:
        version = importlib.import_module("CybORG.Shared.Enums").ProcessVersion
        session = importlib.import_module("CybORG.Simulator.Session").RedAbstractSession
        keeps_version = version.parse_string(version.HARAKA_2_7_0) is version.HARAKA_2_7_0
    except (ImportError, AttributeError) as problem:
        raise CyborgError(f"the CybORG in {package} is of another version: {problem}") from problem
    forgets_ports = hasattr(session, "clearports")
    if keeps_version != forgets_ports:
        raise CyborgError(
            f"the CybORG in {package} plays neither rules: it "
            f"{'keeps' if keeps_version else 'loses'} the version of a process that is rebuilt, "
            f"but {'forgets' if forgets_ports else 'adds up'} the ports of earlier scans. "
            "Check out commit 26ce1c1 (latest) or 606813b (leaderboard) of cage-challenge-2"
        )
    return "latest" if keeps_version else "leaderboard"


# --- playing it


class CyborgGame:
    """One game of the real CybORG, blue's side of it, through its own ChallengeWrapper."""

    def __init__(
        self, folder: str | os.PathLike[str], red: str = "bline", rules: str | None = None
    ) -> None:
        self.red = checks.one_of("red", red, facts.REDS)
        self.folder = find_package(folder)
        self.rules = rules_of(folder)
        if rules is not None and checks.one_of("rules", rules, facts.RULES) != self.rules:
            raise CyborgError(
                f"the CybORG in {self.folder} plays rules={self.rules!r}, not {rules!r}; ask for "
                f"{self.rules!r}, or check out the other commit of cage-challenge-2 "
                "(latest is 26ce1c1, leaderboard 606813b)"
            )
        self.steps = 0  # played in this episode
        self._draws = random.Random().getstate()
        try:
            with self._own_draws():
                self._env = _make_env(self.folder, red)
        except (AttributeError, OSError) as problem:
            raise CyborgError(f"the CybORG in {self.folder} is not whole: {problem}") from problem
        layers = list(_layers(self._env))
        self._table = next(layer for layer in layers if hasattr(layer, "blue_info"))
        self._controller = layers[-1].environment_controller
        self._check_size()

    def reset(self, seed: int | None = None) -> np.ndarray:
        """Begin an episode, after `random.seed(seed)` if one is given; returns the 52 bits."""
        (given,) = seeding.seeds_of(None if seed is None else [seed], 1)
        with self._own_draws():
            if given is not None:
                random.seed(given)
            bits = self._env.reset()
        self.steps = 0
        return np.asarray(bits, dtype=np.int8)

    def step(self, action: int) -> tuple[np.ndarray, float]:
        """Play one step; returns the 52 bits and blue's reward."""
        chosen = checks.whole("action", action, 0, ACTIONS - 1)
        with self._own_draws():
            bits, reward, _, _ = self._env.step(chosen)
        self.steps += 1
        return np.asarray(bits, dtype=np.int8), float(reward)

    @property
    def true_state(self) -> CyborgState:
        """What is so, whatever blue believes. Read what you need before the next step."""
        return CyborgState(self._controller, self._table, self.steps)

    @property
    def random_state(self) -> tuple[Any, ...]:
        """The state of the game's generator, as `random.getstate` gives it."""
        return self._draws

    @contextlib.contextmanager
    def _own_draws(self) -> Iterator[None]:
        theirs = random.getstate()
        random.setstate(self._draws)
        try:
            yield
        finally:
            self._draws = random.getstate()
            random.setstate(theirs)

    def _check_size(self) -> None:
        hosts = tuple(sorted(self._controller.state.hosts))
        size = int(self._env.action_space.n), self._env.observation_space.shape
        if hosts != HOST_NAMES or size != (ACTIONS, (OBSERVATION_BITS,)):
            raise CyborgError(
                f"the CybORG in {self.folder} plays another game: {len(hosts)} hosts, "
                f"{size[0]} actions, observations of shape {size[1]}; CAGE Challenge 2 has "
                f"{HOSTS} hosts, {ACTIONS} actions and {OBSERVATION_BITS} bits"
            )


def _make_env(package: Path, red: str) -> Any:
    """CybORG with this red, in the wrapper that the challenge gave to its entrants."""
    agent = getattr(importlib.import_module("CybORG.Agents"), RED_AGENTS[red])
    wrapper = importlib.import_module("CybORG.Agents.Wrappers").ChallengeWrapper
    cyborg = importlib.import_module("CybORG").CybORG
    scenario = str(package / SCENARIO)
    return wrapper(env=cyborg(scenario, "sim", agents={"Red": agent}), agent_name="Blue")


def _layers(env: Any) -> Iterator[Any]:
    """A wrapper, what it wraps, and so on down to CybORG itself."""
    while not hasattr(env, "environment_controller"):
        yield env
        env = env.env
    yield env
