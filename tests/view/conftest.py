"""Pages of searches that never ran, each made once."""

import functools
from dataclasses import replace

import pytest

from fixfirst.view.facts import Facts
from fixfirst.view.page import page
from fixfirst.workflow.groups import HOST_GROUPS
from tests.view import fabricated

RECORDS = {
    "finished": fabricated.record,
    "running": lambda: fabricated.record(state="running"),
    "no pass": fabricated.without_a_pass,
    "new": fabricated.empty,
    "one trial": lambda: fabricated.record(count=2),
    "custom groups": lambda: fabricated.record(fabricated.CUSTOM_GROUPS, 6),
    "13 groups": lambda: fabricated.record(
        HOST_GROUPS, 14, listed=fabricated.near(HOST_GROUPS, 14), red_agent="bline,meander"
    ),
}


@functools.cache
def record_of(name):
    return RECORDS[name]()


@functools.cache
def page_of(name):
    return page(Facts(record_of(name)))


@pytest.fixture(params=list(RECORDS))
def any_name(request):
    """Each of the searches in turn."""
    return request.param


@pytest.fixture
def finished():
    """A search that is over."""
    return record_of("finished")


@pytest.fixture
def hostile():
    """A search in which every text that came from outside is an attack on the page."""
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x00\ud800"
    full = fabricated.record(count=4)
    trials = tuple(
        replace(trial, why=attack, worker=attack, proposal=replace(trial.proposal, why=attack, kind=attack))
        for trial in full.history.trials
    )  # fmt: skip
    return attack, replace(
        full, why=attack, state=attack, folder=full.folder / attack.replace("\x00", ""),
        settings={**full.settings, "rules": attack, attack: attack, "ppo": {attack: [attack]}},
        history=replace(full.history, trials=trials),
    )  # fmt: skip
