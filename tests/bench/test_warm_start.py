"""The bench of warm starts: the same orders in the same turn, and what is told of them."""

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

import numpy as np

from fixfirst.bench import warm_start
from fixfirst.search.reading import read_run
from tests.search.small import small


@pytest.fixture
def tiny(monkeypatch):
    def settings(red, orders, episodes, start):
        stage = episodes if start == "all" else 0
        return small(
            warm_start=start, n_workflows=orders, max_episodes=episodes,
            total_episodes=orders * episodes + stage, stage_episodes=stage or None,
        )  # fmt: skip

    monkeypatch.setattr(warm_start, "settings_of", settings)


def test_each_kind_of_start_tries_the_same_orders_and_is_not_made_again(tmp_path, tiny):
    told = []
    found = warm_start.run(tmp_path, "sleep", 4, 16, told.append)
    assert sum(told) == 12
    orders = {
        start: [str(trial.order) for trial in read_run(tmp_path / start).history.trials]
        for start in warm_start.STARTS
    }
    assert orders["nearest"] == orders["all"] == orders["scratch"] == found["orders"]
    assert found["starts"]["scratch"]["gain"] == 0.0
    assert warm_start.run(tmp_path, "sleep", 4, 16) == found
    (sheet,) = warm_start.sheets(found)
    assert [row[0] for row in sheet.rows] == list(warm_start.STARTS)


def test_an_advantage_that_grows_with_the_turn_is_seen():
    scratch = np.array([-30.0, -20.0, -40.0, -25.0, -35.0, -22.0])
    told = warm_start._fairness(scratch + [0, 0, 3, 4, 9, 10], scratch, scratch)
    assert (told["early_gain"], told["late_gain"]) == (0.0, 9.5)
    assert (
        told["turn_correlation"] > warm_start._fairness(scratch, scratch, None)["turn_correlation"]
    )
    assert warm_start._fairness(scratch, scratch, scratch)["truth_correlation"] == 1.0
