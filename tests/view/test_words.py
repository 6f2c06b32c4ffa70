"""Figures, orders and settings in words; HTML that is safe."""

import tomllib

import pytest

from fixfirst.search.settings import Settings
from fixfirst.view import words
from fixfirst.view.markup import Html, joined, tag
from fixfirst.view.reproduce import as_toml, shown_settings
from fixfirst.workflow.groups import HOST_GROUPS
from fixfirst.workflow.orders import Workflow
from tests.view import fabricated


def plain(text):
    return text.replace("\xa0", " ").replace("\N{MINUS SIGN}", "-")


@pytest.mark.parametrize(
    ("value", "deviation", "text"),
    [
        (-17.344, 0.3, "-17.34 ± 0.59"),
        (-17.344, 3.0, "-17.3 ± 5.9"),
        (-1234.4, 40.0, "-1,234 ± 78"),
        (2.0, 0.0001, "2.000 ± 0.000"),
        (-17.344, None, "-17.3"),
        (-17.344, float("nan"), "-17.3"),
        (None, 1.0, "\N{EN DASH}"),
        (float("inf"), 1.0, "\N{EN DASH}"),
        (-0.04, 1.0, "0.0 ± 2.0"),
    ],
)
def test_an_interval_has_the_decimals_that_say_something(value, deviation, text):
    assert plain(words.interval(value, deviation)) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (0.001, "< 1 %"), (0.62, "62 %"), (0.9999, "> 99 %"), (1.0, "100 %"),
     (float("nan"), "\N{EN DASH}"), (None, "\N{EN DASH}")],
)  # fmt: skip
def test_a_chance_is_never_certain_unless_it_is(share, text):
    assert plain(words.percent(share)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (99.9, "99.9 s"), (100, "1 min 40 s"), (5999, "99 min 59 s"),
     (6000, "1 h 40 min"), (100_000, "27 h 47 min")],
)  # fmt: skip
def test_times_are_said_as_people_do(seconds, text):
    assert plain(words.duration(seconds)) == text


def test_an_order_is_shortened_by_its_long_names_first_then_by_its_end():
    order = Workflow("op_server > enterprise > defender > op_host > user")
    assert words.short_order(order, 99) == str(order)
    assert words.short_order(order, 49) == "op_server > enterpri… > defender > op_host > user"
    assert words.short_order(order, 40) == "op_server > enterpri… > defender > …"
    long = Workflow.from_index(0, HOST_GROUPS)
    assert words.short_order(long, 40).endswith("> …")
    assert len(words.short_order(long, 40)) <= 40
    custom = Workflow.from_index(0, fabricated.CUSTOM_GROUPS)
    assert words.short_order(custom, 52) == "servers-of-the-oper… > defender > rest"


def test_settings_are_a_file_that_a_search_reads():
    given = fabricated.settings(
        groups=fabricated.CUSTOM_GROUPS.as_mapping(), red_agent={"bline": 0.25, "meander": 0.75},
        gp_beta="srinivas \\ \"quoted\" \x7f ü", ppo={"hidden": [64, 64], "odd key": True},
        time=2.5, storage="sqlite:///x.db", checkpoint_dir="elsewhere",
    )  # fmt: skip
    read = tomllib.loads(as_toml(given))
    assert Settings.from_dict(read) == Settings.from_dict(
        given | {"storage": None, "checkpoint_dir": None}
    )


def test_databases_keep_their_passwords():
    shown = shown_settings({"storage": "mysql://me:p@ss@there/db", "red_agent": "bline"})
    assert shown == {"storage": "mysql://…@there/db", "red_agent": "bline"}


def test_texts_are_escaped_and_html_is_not():
    inside = tag("b", "1 < 2")
    assert inside == "<b>1 &lt; 2</b>"
    assert tag("p", inside, " & more", class_="x", aria_label='"', hidden=True, id=None) == (
        '<p class="x" aria-label="&quot;" hidden><b>1 &lt; 2</b> &amp; more</p>'
    )
    assert tag("input", type_="search") == '<input type="search">'
    assert joined(["<", Html("<i>")], ",") == "&lt;,<i>"
    assert tag("p", "a\x00\x9fb\ud800\n") == "<p>a��b�\n</p>"
