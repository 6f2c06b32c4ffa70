"""Sheets and lines: every score in them says how it came about."""

import csv
import io

import pytest

from fixfirst.judge import board, report
from fixfirst.judge.compare import compare
from fixfirst.judge.evaluate import evaluate
from fixfirst.judge.protocol import CELLS, leaderboard, official


def rows_of(sheet):
    return {row[0]: row[1:] for row in sheet.rows}


def test_an_evaluation_shows_all_its_figures():
    done = evaluate("react-restore", "meander", rules="leaderboard", episodes=20, order="reverse")
    returns, losses = report.evaluation(done)
    rows, played = rows_of(returns), done.played
    assert rows["mean, ± half of its 95 % interval"] == (
        f"{played.mean:.1f} ± {report.figure(played.half_width)}",
    )
    assert rows["median"] == (report.figure(done.quantiles["median"]),)
    assert rows["fixes an episode"] == (f"{done.kept.fixes.mean():.2f}",)
    assert rows["compliance"][0].startswith(f"{done.kept.mean:.2f} ± ")
    assert rows_of(losses)["all hosts"][-1] == report.figure(played.mean)
    assert rows_of(losses)["User1"][0] == report.figure(done.losses.confidentiality[9])
    assert returns.notes[1] == f"Order: {done.kept.order}."


def test_a_score_says_what_was_seen_and_played():
    done = evaluate("greedy", "meander", rules="leaderboard", episodes=20, horizon=30, seed=4)
    assert report.setting(done.played, done.on) == (
        "greedy sees the true state; against meander, 20 episodes of 30 steps, rules leaderboard, "
        "seeds 4 to 23, draws fast."
    )
    assert "on the real CybORG (cyborg:x)" in report.setting(done.played, "cyborg:x")


def test_hosts_that_cost_nothing_are_left_out():
    (_, losses) = report.evaluation(evaluate("sleep", "sleep", episodes=2, horizon=2))
    assert [row[0] for row in losses.rows] == ["all hosts"]


def test_one_episode_shows_no_interval():
    (returns, _) = report.evaluation(evaluate("random", episodes=1))
    assert not any("±" in row[1] or "standard" in row[0] for row in returns.rows)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.00"), (-0.0, "0.00"), (-5.123, "-5.12"), (-1134.56, "-1134.6")]
)
def test_figures_are_short(value, text):
    assert report.figure(value) == text


# --- under the board


def test_the_new_row_stands_under_the_published_ones():
    scored = leaderboard("sleep", rules="leaderboard", episodes=5)
    sheet = report.under_the_board(scored)
    assert len(sheet.columns) == len(CELLS) + 2
    assert sheet.columns[1:4] == ("B30", "M30", "S30")
    assert [row[0] for row in sheet.rows[: len(board.BOARD)]] == [
        f"{entry.team}, {entry.method}" for entry in board.BOARD
    ]
    assert sheet.rows[0][-1] == "-54.57 ± 0.43"
    mine, halves = sheet.rows[-2:]
    assert sheet.own == 2
    assert mine[0] == "sleep"
    assert mine[1] == report.figure(scored.cells[0].mean)
    assert mine[-1] == f"{scored.total:.0f} ± {report.figure(scored.half_width)}"
    assert halves[1] == report.figure(scored.cells[0].half_width)
    text = " ".join(sheet.notes)
    assert "The board: rules leaderboard, 1,000 episodes a cell after random.seed(153)" in text
    assert "rules leaderboard, 5 episodes a cell, seeds 0 to 44, draws fast" in text
    assert "cannot be compared" not in text


def test_a_score_by_other_rules_is_marked():
    notes = " ".join(report.under_the_board(leaderboard("greedy", episodes=2)).notes)
    assert "not the rules of the board" in notes
    assert "--rules leaderboard plays by them" in notes
    assert "the bits alone; greedy sees more" in notes


def test_the_official_protocol_names_its_stream():
    sheet = report.under_the_board(official("sleep", rules="leaderboard", episodes=1))
    assert "protocol official" in sheet.notes[1]
    assert "one stream from seed 153, draws cpython" in sheet.notes[1]
    assert (sheet.own, sheet.rows[-1][0]) == (1, "sleep")


# --- comparisons


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (("react-restore", "sleep"), "react-restore is better than sleep by the sign-flip test"),
        (("sleep", "react-restore"), "react-restore is better than sleep by the sign-flip test"),
        (("sleep", "monitor"), "No difference is shown by the sign-flip test (p = 1.000)"),
    ],
)
def test_a_comparison_names_the_better_one_and_its_test(pair, words):
    sheet = report.comparison(compare(*pair, episodes=30))
    assert words in sheet.notes[-1]
    assert [note.split()[0] for note in sheet.notes[:2]] == list(pair)
    rows = rows_of(sheet)
    assert rows["sign-flip test"][0].startswith("p ")
    assert "paired t-test" in rows


# --- files


def test_markdown_has_a_table_and_its_words():
    text = report.markdown(report.evaluation(evaluate("random", episodes=3, horizon=9)))
    lines = text.splitlines()
    assert lines[:4] == [
        "## What random scores", "", "| return | an episode |", "| --- | ---: |",
    ]  # fmt: skip
    assert text.count("\n## ") == 1
    assert "rules latest, seeds 0 to 2, draws fast." in text
    assert {line.count("|") for line in lines if line.startswith("|")} == {3, 6}


def test_a_line_of_csv_knows_its_episode():
    done = evaluate("random", "meander", episodes=4, seed=6, order="reverse")
    lines = list(csv.DictReader(io.StringIO(report.episodes_csv([(done.played, done.kept)]))))
    assert [line["seed"] for line in lines] == ["6", "7", "8", "9"]
    assert [float(line["return"]) for line in lines] == done.played.returns.tolist()
    assert [int(line["fixes"]) for line in lines] == done.kept.fixes.tolist()
    assert [float(line["compliance"]) for line in lines] == done.kept.compliance.tolist()
    assert {(line["policy"], line["red"], line["rules"], line["horizon"]) for line in lines} == {
        ("random", "meander", "latest", "100")
    }


def test_episodes_of_one_stream_have_its_seed():
    cells = official("sleep", episodes=2).cells
    text = report.episodes_csv([(cell, None) for cell in cells])
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 18
    assert {line["seed"] for line in lines} == {"153"}
    assert [line["episode"] for line in lines[:3]] == ["0", "1", "0"]
    assert {line["order"] for line in lines} == {""}
