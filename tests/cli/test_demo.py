"""`fixfirst demo`: a search with its report."""

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

from fixfirst.cli import demo


def test_the_demo_searches_and_names_its_report(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "N_ENVS", 8)
    done = cli("demo", str(tmp_path / "run"), "--n-workflows", "2", "--max-episodes", "8")
    assert done.code == 0
    assert "2 trials" in done.out
    page = tmp_path / "run" / "report.html"
    assert f"Report: {page}" in done.out.replace("\n", "")
    assert page.read_text().lower().startswith("<!doctype html>")


def test_the_demo_has_settings_that_a_machine_of_two_cores_can_bear():
    assert demo.N_WORKFLOWS * demo.MAX_EPISODES * 100 <= 4_000_000  # steps
