"""`fixfirst compare`: two defenders in the same games."""

import json

import pytest

from fixfirst.judge.compare import compare


def test_compare_prints_the_difference_and_which_is_better(cli, tmp_path):
    file, page = tmp_path / "it.json", tmp_path / "it.md"
    done = cli(
        "compare", "react-restore", "sleep", "--red", "meander", "--episodes", "40", "--seed", "2",
        "--json", str(file), "--markdown", str(page),
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    expected = compare("react-restore", "sleep", "meander", episodes=40, seed=2)
    assert f"{expected.mean:.1f} ± {expected.half_width:.2f}" in done.out
    assert "react-restore is better than sleep by the sign-flip test" in done.out
    assert done.out.count("rules latest, seeds 2 to 41, draws fast.") == 2
    figures = json.loads(file.read_text())
    assert figures["difference"]["mean"] == pytest.approx(expected.mean)
    assert (figures["first"]["policy"], figures["second"]["policy"]) == ("react-restore", "sleep")
    assert page.read_text().startswith("## react-restore and sleep in the same games")


def test_two_that_are_alike_are_not_told_apart(cli):
    done = cli("compare", "sleep", "monitor", "--episodes", "20")
    assert done.code == 0
    assert "No difference is shown" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sleep"], "Missing argument"),
        (["sleep", "nobody"], "policy='nobody' is not known"),
        (["nobody", "sleep"], "policy='nobody' is not known"),
        (["sleep", "random", "--episodes", "0"], "episodes=0"),
        (["sleep", "random", "--red", "green"], "red='green'"),
        (["sleep", "random", "--on", "there"], "on='there'"),
        (["sleep", "random", "--json", "f", "--markdown", "f"], "cannot hold two results"),
    ],
)
def test_bad_usage_is_refused_in_one_line(cli, arguments, words):
    done = cli("compare", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1
