"""The plots: what they show is what the record holds, and they are files as well."""

import xml.etree.ElementTree as Xml
from dataclasses import replace

import numpy as np
import pytest

from fixfirst.search.history import FAILED, PASSED
from fixfirst.view import model_plots, trial_plots
from fixfirst.view.drawing import Drawing, style
from fixfirst.view.facts import Facts
from fixfirst.view.plots import TITLES, Plot, plots_of
from fixfirst.view.report import write_figures
from tests.view import fabricated
from tests.view.conftest import record_of


def drawn(draw, *given):
    """The hints of a drawing, and the data of the mark that each stands at."""
    drawing = Drawing(600, 400)
    with style():
        draw(drawing, *given)
    marks = {}
    for axes in drawing.figure.axes:
        for line in axes.lines:
            if line.get_gid():
                marks[drawing.hints[line.get_gid()]] = line.get_xydata()
    return drawing, marks


def test_reward_by_trial_shows_every_measured_reward_in_its_place(finished):
    drawing, marks = drawn(trial_plots.reward_by_trial, Facts(finished), False)
    assert len(marks) == len(finished.history.trials)
    low = drawing.figure.axes[0].get_ylim()[0]
    for trial in finished.history.trials:
        (text,) = [text for text in marks if text.startswith(f"trial {trial.number}:")]
        ((x, y),) = marks[text]
        assert x == trial.number
        assert y == (trial.reward if trial.state == PASSED or trial.reward > low else low)


def test_the_best_so_far_never_falls_and_ends_at_the_best_that_passed(finished):
    steps = Facts(finished).best_so_far
    assert [number for number, _ in steps] == [
        trial.number for trial in finished.history.trials if trial.state == PASSED
    ]
    values = [value for _, value in steps]
    assert values == sorted(values)
    rewards = [trial.reward for trial in finished.history.trials if trial.state == PASSED]
    assert (values[0], values[-1]) == (rewards[0], max(rewards))


def test_a_failed_trial_far_below_does_not_squeeze_the_others(finished):
    low, high = trial_plots._limits(Facts(finished))
    passed = [trial.reward for trial in finished.history.trials if trial.state == PASSED]
    failed = [trial.reward for trial in finished.history.trials if trial.state == FAILED]
    assert min(failed) < low < min(passed) <= max(passed) < high
    assert high - low < 2 * (max(passed) - min(passed))


def test_compliance_is_shown_against_reward_with_the_gate(finished):
    drawing, marks = drawn(trial_plots.compliance_and_reward, Facts(finished), True)
    xs = sorted(float(points[0, 0]) for points in marks.values())
    assert xs == sorted(trial.compliance for trial in finished.history.trials)
    gate = [line for line in drawing.figure.axes[0].lines if line.get_label() == "gate"]
    assert gate[0].get_xdata()[0] == fabricated.THRESHOLD


def test_learning_curves_show_the_rows_and_leave_out_what_is_no_number(finished):
    drawing = Drawing(600, 400)
    with style():
        trial_plots.learning_curves(drawing, Facts(finished), True)
    above = {}
    for line in drawing.figure.axes[0].lines:
        if line.get_gid():
            above[int(drawing.hints[line.get_gid()].split()[1].rstrip(":"))] = line.get_xydata()
    assert set(above) == set(finished.updates)
    hinted = [line for line in drawing.figure.axes[0].lines if line.get_gid()]
    assert {line.get_marker() for line in hinted} == {"o"}  # one update makes no line
    for number, rows in finished.updates.items():
        finite = [row for row in rows if np.isfinite(row["environment_reward"])]
        assert above[number].tolist() == [[r["episodes"], r["environment_reward"]] for r in finite]
    assert len(above[2]) == len(finished.updates[2]) - 1


def test_the_bold_curve_is_that_of_the_best_order_that_was_trained(finished):
    facts = Facts(finished)
    bold = facts.best_trial
    assert bold.order == facts.best_trained.order
    drawing = Drawing(600, 400)
    with style():
        trial_plots.learning_curves(drawing, facts, True)
    thick = {line.get_gid() for line in drawing.figure.axes[0].lines if line.get_lw() > 2}
    said = [drawing.hints[gid] for gid in thick if gid]
    assert said == [f"trial {bold.number}: {bold.order}"]


def test_the_best_orders_stand_at_their_posterior_means(finished):
    known = finished.knowledge
    _, marks = drawn(model_plots.top_orders, Facts(finished), False)
    expected = np.sort(known.mean)[::-1][: model_plots.TOP]
    found = [points[0] for text, points in marks.items() if text[0].isdigit()]
    assert sorted(x for x, _ in found) == sorted(expected)
    assert [x for x, _ in sorted(found, key=lambda point: point[1])] == expected.tolist()


def test_all_orders_are_one_falling_curve(finished):
    drawing, _ = drawn(model_plots.all_orders, Facts(finished), False)
    (line,) = [x for x in drawing.figure.axes[0].lines if x.get_label() == "posterior mean"]
    assert line.get_ydata().tolist() == sorted(finished.knowledge.mean, reverse=True)
    assert line.get_xdata().tolist() == list(range(1, 121))


def test_the_time_adds_up(finished):
    parts = Facts(finished).time_parts
    assert sum(part.seconds for part in parts) == pytest.approx(finished.seconds)
    rows = [row for rows in finished.updates.values() for row in rows]
    updates = {part.name: part.seconds for part in parts}["updates of the policy"]
    assert updates == pytest.approx(sum(row["update_seconds"] for row in rows))
    assert all(part.seconds >= 0 for part in parts)


def test_a_worker_that_was_resumed_is_not_two(finished):
    trials = tuple(
        replace(trial, worker=f"life-{trial.number}") for trial in finished.history.trials
    )
    facts = Facts(replace(finished, history=replace(finished.history, trials=trials)))
    assert facts.workers == 1
    assert sum(part.seconds for part in facts.time_parts) == pytest.approx(finished.seconds)


def test_two_workers_have_twice_the_time(finished):
    facts = Facts(replace(finished, worker_seconds=2 * finished.seconds))
    assert facts.workers == 2
    assert sum(part.seconds for part in facts.time_parts) == pytest.approx(2 * finished.seconds)


# --- as files


def test_each_plot_is_written_as_svg_and_as_png(tmp_path):
    record = record_of("one trial")
    written = write_figures(record, tmp_path / "new" / "figures")
    names = {path.name for path in written}
    assert names == {f"{name}.{kind}" for name in TITLES for kind in ("svg", "png")}
    assert names == {path.name for path in (tmp_path / "new" / "figures").iterdir()}
    for path in written:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG")
        else:
            assert Xml.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
            assert b"<dc:date>" not in content


def test_plots_that_cannot_be_drawn_are_not_written(tmp_path):
    names = {path.stem for path in write_figures(record_of("no pass"), tmp_path)}
    assert names == {"reward-by-trial", "compliance", "learning-curves", "time-split"}
    assert write_figures(record_of("new"), tmp_path / "empty") != []  # its time is known


def test_the_same_record_gives_the_same_files():
    for name in ("place-map", "compliance"):
        first, second = (
            next(p for p in plots_of(Facts(fabricated.record())) if p.name == name)
            for _ in range(2)
        )
        assert isinstance(first, Plot)
        assert first.files() == second.files()
