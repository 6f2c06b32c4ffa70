"""docs/ppo.md explains every option, with the default that it has."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup

PAGE = (Path(__file__).parents[2] / "docs" / "ppo.md").read_text(encoding="utf-8")
IN_WORDS = {True: "yes", False: "no", None: "the horizon"}


def table(title):
    """The options of the table below a title: their default and why, by name."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    explained = {}
    for row in re.findall(r"^\| (`.*?) \| (.*?) \| (.*) \|$", section, re.MULTILINE):
        names = re.findall(r"`(\w+)`", row[0])
        defaults = row[1].split(", ") if len(names) > 1 else [row[1]]
        for name, default in zip(names, defaults, strict=True):
            explained[name] = (default, row[2])
    return explained


@pytest.mark.parametrize("name", [field.name for field in fields(PPO)])
def test_every_option_of_ppo_is_explained_with_its_default(name):
    told, why = table("The options of PPO")[name]
    default = getattr(PPO(), name)
    if name == "hidden":
        default = ",".join(map(str, default))
    if isinstance(default, str) and name.endswith("schedule"):
        assert told.startswith(f"`{default}`")
    elif isinstance(default, float):
        assert float(told) == default
    else:
        assert told == str(IN_WORDS.get(default, default))
    assert len(why) > 10


def test_every_option_of_a_training_is_on_the_page():
    explained = table("The options of a training")
    told = {name: default for name, (default, _) in explained.items()}
    there = {field.name for field in fields(Setup)} - {"ppo"}
    assert there <= set(told) | {"memory", "mask"}
    setup = Setup()
    for name in ("red", "rules", "device", "compliance_rule"):
        assert told[name] == getattr(setup, name)
    numbers = ("horizon", "n_envs", "episodes", "alignment_lambda", "compliance_threshold")
    for name in (*numbers, "compliant_bonus", "violation_penalty", "patience", "seed"):
        assert float(told[name].replace(",", "")) == getattr(setup, name)
    assert told["stop_at_gate"] == IN_WORDS[setup.stop_at_gate]
