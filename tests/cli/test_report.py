"""`fixfirst report`: the page of a search."""

import json
import sys
import webbrowser

import pytest

from fixfirst.search.folder import Config, SearchFolder
from fixfirst.search.settings import Settings
from tests.view import fabricated


@pytest.fixture
def run(tmp_path):
    """A run folder with trials of which none has passed: quick to read."""
    folder = SearchFolder(tmp_path / "run")
    folder.path.mkdir()
    folder.write_config(Config("a study", Settings(seed=7).resolved()))
    for trial in fabricated.without_a_pass().history.trials:
        folder.write_trial(trial)
    return folder.path


def test_report_writes_a_page_into_the_run_folder(cli, run):
    done = cli("report", str(run))
    assert (done.code, done.err) == (0, "")
    assert done.out.split() == f"The report is in {run / 'report.html'}.".split()
    page = (run / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "No order has passed the gate yet" in page
    assert "4 trials failed" in page


def test_report_writes_elsewhere_and_each_plot_as_files(cli, run, tmp_path):
    done = cli(
        "report", str(run), "--out", str(tmp_path / "x.html"), "--figures", str(tmp_path / "f")
    )
    assert done.code == 0
    assert not (run / "report.html").exists()
    assert (tmp_path / "x.html").exists()
    assert {"compliance.svg", "compliance.png"} <= {
        file.name for file in (tmp_path / "f").iterdir()
    }
    assert f"{len(list((tmp_path / 'f').iterdir()))} files of plots are in" in done.out


def test_report_opens_the_page_if_asked(cli, run, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or len(opened) > 1)
    done = cli("report", str(run), "--open")
    assert "No browser could be started here" in done.out
    assert cli("report", str(run), "--open").out.count("browser") == 0
    assert opened == [(run / "report.html").resolve().as_uri()] * 2


def test_a_report_that_fails_leaves_the_old_one(cli, run, monkeypatch):
    cli("report", str(run))
    before = (run / "report.html").read_bytes()
    monkeypatch.setattr("fixfirst.files.os.fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    done = cli("report", str(run))
    assert (done.code, done.err) == (2, "fixfirst: full\n")
    assert (run / "report.html").read_bytes() == before
    assert [file for file in run.iterdir() if file.name.startswith(".")] == []


def test_what_is_no_search_is_refused_in_one_line(cli, tmp_path, run):
    training = tmp_path / "training"
    training.mkdir()
    (training / "config.json").write_text(json.dumps({"red": "bline"}))
    for arguments, words in (
        ([str(tmp_path / "nowhere")], "nowhere"),
        ([str(training)], "its config.json is that of a training"),
        ([str(run), "--out", str(tmp_path / "no" / "x.html")], "No such file or directory"),
        ([], "Missing argument"),
    ):
        done = cli("report", *arguments)
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert done.err.count("\n") == 1


def test_without_matplotlib_it_says_what_to_install(cli, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = cli("report", str(run))
    assert done.code == 2
    assert "pip install 'fixfirst[search]'" in done.err
