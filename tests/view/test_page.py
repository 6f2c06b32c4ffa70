"""The page of a report."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from fixfirst.search.history import FAILED, PASSED
from fixfirst.view.facts import Facts
from fixfirst.view.page import page
from fixfirst.view.palette import PALETTE
from fixfirst.view.plots import TITLES, Absent, plots_of
from tests.view import fabricated
from tests.view.conftest import page_of, record_of

VOID = {"meta", "input", "br"}


class Reader(HTMLParser):
    """A page's elements, its text, and the rows of its tables."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.tables, self.rows = [], [], [], {}, None
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.rows = self.tables.setdefault(given.get("id"), [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows is not None:
            self.rows[-1].append(["", given.get("data-value")])

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)
            if {"td", "th"} & set(self.open):
                self.rows[-1][-1][0] += data

    @property
    def text(self):
        return " ".join("".join(self.words).replace("\xa0", " ").split())


def read(name):
    return Reader(page_of(name))


@pytest.fixture
def without_plots(monkeypatch):
    """Pages that are quick to make, for what is said beside the plots."""
    monkeypatch.setattr("fixfirst.view.page.plots_of", lambda facts: [])


# --- the answer


def test_the_answer_comes_first_with_its_interval_and_its_chance(finished):
    known = finished.knowledge
    best = int(np.argmax(known.mean))
    order = known.orders[best]
    half = 1.959964 * known.deviation[best]
    score = f"\N{MINUS SIGN}{-known.mean[best]:.1f} ± {half:.1f}"
    text = read("finished").text
    assert f"Fix {order.names[0]} first" in text
    assert (
        f"The best order is {order}. The model puts its mean reward at {score} an episode" in text
    )
    assert (
        f"{100 * known.best_chance[best]:.0f} % sure that no other of all 120 orders is better"
        in text
    )
    assert text.index(f"Fix {order.names[0]} first") < text.index("Plots")


def test_scores_stand_beside_their_rules_seed_and_red_whatever_the_search(any_name):
    text = read(any_name).text
    assert "Rules latest, red " in text
    assert "seed 7; scores are means of 1,000 fresh episodes" in text


def test_scores_of_the_training_are_called_so():
    record = replace(record_of("new"), settings=fabricated.settings(score="training"))
    assert "scores are those of the last training episodes" in page(Facts(record))


def test_what_is_not_recorded_is_said_to_be_so():
    text = Reader(page(Facts(replace(record_of("new"), settings={})))).text
    assert "Rules not recorded, red an unrecorded red" in text
    assert "seed not recorded; the number of evaluation episodes is not recorded" in text


def test_a_mixture_of_reds_is_named():
    assert "red 50 % bline and 50 % meander" in read("13 groups").text


@pytest.mark.usefixtures("without_plots")
def test_an_answer_whose_first_group_is_not_likely_is_called_open(finished):
    known = finished.knowledge
    name = known.orders[int(np.argmax(known.mean))].names[0]
    first = np.array([order.names[0] == name for order in known.orders])
    assert first.sum() == 24
    for chance, headline in (
        (0.48, f"Still open; so far, {name} first"),
        (0.72, f"Fix {name} first"),
    ):
        chances = np.where(first, chance / 24, (1 - chance) / 96)
        record = replace(finished, knowledge=replace(known, best_chance=chances))
        text = Reader(page(Facts(record))).text
        assert headline in text
        assert f"{100 * chance:.0f} % that the best one begins with {name}" in text


def test_the_best_order_that_was_trained_is_named_beside_one_that_was_not(finished):
    facts = Facts(finished)
    assert not facts.best.trials  # or this test would show nothing
    trained = facts.best_trained
    assert trained.mean == max(
        mean
        for order, mean in zip(finished.knowledge.orders, finished.knowledge.mean, strict=True)
        if order in {trial.order for trial in finished.history.passed}
    )
    text = read("finished").text
    assert "No policy was trained for it yet" in text
    assert f"The best order that was trained is {trained.order}" in text
    for trial in trained.passed:
        assert f"{-trial.reward:.2f} ± {1.959964 * trial.error:.2f} in trial {trial.number}" in text


@pytest.mark.usefixtures("without_plots")
def test_what_was_measured_of_the_best_order_is_said(finished):
    known, trial = finished.knowledge, finished.history.passed[0]
    mean = np.where([order == trial.order for order in known.orders], 0.0, known.mean)
    text = Reader(page(Facts(replace(finished, knowledge=replace(known, mean=mean))))).text
    assert f"A policy trained for it scored \N{MINUS SIGN}{-trial.reward:.2f}" in text
    assert "No policy was trained" not in text


def test_a_running_search_says_so_and_how_to_see_it_anew():
    text = read("running").text
    assert "The search is still running" in text
    assert "fixfirst report runs/fabricated makes it anew" in text
    assert "running" in [row[2][0] for row in read("running").tables["trials-table"][1:]]


def test_a_search_without_a_pass_says_that_nothing_is_known():
    reader = read("no pass")
    assert "No order has passed the gate yet" in reader.text
    assert "Nothing is known of any order's reward: 4 trials failed, 0 running." in reader.text
    assert "orders-table" not in reader.tables


def test_a_search_that_has_just_begun_has_a_page():
    text = read("new").text
    assert "No trial has ended yet" in text
    assert "There is none yet." in text


# --- the figures


def test_the_table_of_orders_holds_the_figures_of_the_record(finished):
    known = finished.knowledge
    rows = read("finished").tables["orders-table"][1:]
    assert len(rows) == 120
    means = [float(row[2][1]) for row in rows]
    assert means == sorted(known.mean.tolist(), reverse=True)
    by_order = {row[1][0]: row for row in rows}
    for i, order in enumerate(known.orders):
        row = by_order[str(order)]
        expected = (known.mean[i], known.best_chance[i], known.gate_chance[i])
        assert [float(row[column][1]) for column in (2, 3, 4)] == list(expected)


def test_the_table_of_trials_holds_the_figures_of_the_record(any_name):
    trials = record_of(any_name).history.trials
    rows = read(any_name).tables.get("trials-table", [[]])[1:]
    assert len(rows) == len(trials)
    for row, trial in zip(rows, trials, strict=True):
        assert row[0][0] == str(trial.number)
        assert [row[1][0], row[2][0]] == [str(trial.order), trial.state]
        for column, value in ((3, trial.reward), (4, trial.compliance), (7, trial.episodes)):
            assert row[column][1] == ("" if value is None else repr(value))


def test_budget_and_trials_are_counted(finished):
    text = read("finished").text
    passed = sum(trial.state == PASSED for trial in finished.history.trials)
    failed = sum(trial.state == FAILED for trial in finished.history.trials)
    assert f"{passed} passed, {failed} failed" in text
    assert f"{finished.history.episodes:,}" in text


def test_every_plot_or_the_reason_why_it_is_not_there_is_on_every_page(any_name):
    reader = read(any_name)
    figures = [given["id"] for tag, given in reader.tags if tag == "figure"]
    assert figures == list(TITLES)
    drawn = [given["id"] for tag, given in reader.tags if tag == "svg"]
    expected = []
    for plot in plots_of(Facts(record_of(any_name))):
        if isinstance(plot, Absent):
            assert plot.why in reader.text
        else:
            wide_and_narrow = plot.narrow_height is not None
            expected += [f"{plot.name}-svg"] + wide_and_narrow * [f"{plot.name}-narrow-svg"]
    assert drawn == expected
    if any_name == "finished":
        assert len({name.removesuffix("-svg") for name in drawn if "narrow" not in name}) == 8


def test_every_plot_is_described_for_those_who_do_not_see_it(any_name):
    for tag, given in read(any_name).tags:
        if tag == "svg":
            assert given["role"] == "img"
            assert len(given["aria-label"]) > 20


def test_drawings_take_their_colours_from_the_page():
    for tag, given in read("finished").tags:
        style = given.get("style", "") if tag != "svg" else ""
        for shade in PALETTE.values():
            assert shade.light not in style or shade.light == "#ffffff"
    assert "prefers-color-scheme:dark" in page_of("finished")


# --- one file, safe


def test_nothing_is_loaded_from_elsewhere(any_name):
    text = page_of(any_name)
    assert "http" not in text.replace("http-equiv", "")
    for tag, given in Reader(text).tags:
        assert tag not in ("link", "iframe", "object", "embed", "img", "image", "base")
        assert "src" not in given
        assert given.get("href", "#").startswith("#")
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))
    assert "@import" not in text


def test_no_two_elements_have_the_same_id_and_references_lead_to_one(any_name):
    tags = read(any_name).tags
    ids = [given["id"] for _, given in tags if "id" in given]
    assert len(ids) == len(set(ids))
    for _, given in tags:
        for reference in [given.get("href", ""), *re.findall(r"url\(([^)]*)\)", str(given))]:
            assert not reference or reference.removeprefix("#") in ids
        controlled = given.get("aria-controls")
        assert controlled is None or controlled in ids


def test_hostile_texts_stay_texts(hostile):
    _, record = hostile
    text = page(Facts(record))
    text.encode()  # no halves of characters
    reader = Reader(text)
    assert [tag for tag, _ in reader.tags].count("script") == 1
    assert "img" not in {tag for tag, _ in reader.tags}
    assert not any(name.startswith("on") for _, given in reader.tags for name in given)
    assert "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&" in reader.text
    assert "\x00" not in text


def test_passwords_of_databases_are_not_told(finished):
    settings = {**finished.settings, "storage": "postgresql://owner:se/c@ret@there/fixfirst"}
    text = page(Facts(replace(record_of("new"), settings=settings)))
    assert "there/fixfirst" in text
    for secret in ("owner", "se/c", "ret@"):
        assert secret not in text


def test_the_same_record_gives_the_same_page():
    assert page(Facts(fabricated.record())) == page_of("finished")


@pytest.mark.parametrize("name", ["trials-table", "orders-table"])
def test_tables_can_be_scrolled_with_the_keyboard(name):
    tags = read("finished").tags
    at = next(i for i, (tag, given) in enumerate(tags) if given.get("id") == name)
    box = tags[at - 1][1]
    assert (box["class"], box["tabindex"], box["role"]) == ("scroll", "0", "region")
    assert box["aria-label"]
