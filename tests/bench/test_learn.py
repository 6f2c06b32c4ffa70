"""The learning results: made once, kept, and told as they are."""

from dataclasses import asdict

import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")

from fixfirst.bench import learn, learn_report
from fixfirst.judge import report
from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import train

TINY = PPO(steps=100, minibatch=500, hidden=(8,))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(learn, "EPISODES", 20)
    monkeypatch.setattr(learn, "ORDERS", 2)
    monkeypatch.setattr(learn, "ORDER_EPISODES", 40)


def tiny(name="plain-bline"):
    setup = Setup(n_envs=20, episodes=60, ppo=TINY)
    return learn.Result(name, "tiny", learn._plain(setup, ("bline", "sleep")))


def test_a_result_is_made_once_and_read_after_that(tmp_path, few):
    made = []
    found = learn.run(tmp_path, [tiny()], told=lambda name, run, row: made.append(row.update))
    assert made == [1, 2, 3]
    again = learn.run(tmp_path, [tiny()], told=lambda name, run, row: made.append(row.update))
    assert (again, made) == (found, [1, 2, 3])
    result = found["plain-bline"]
    assert [judged["red"] for judged in result["judged"]] == ["bline", "sleep"]
    assert result["judged"][0]["seeds"] == "seeds 10000000 to 10000019"
    assert (result["episodes"], result["steps"]) == (60, 6000)


def test_a_result_that_was_broken_off_goes_on_with_its_run(tmp_path, few):
    def stop(name, run, row):
        if row.update == 2:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        learn.run(tmp_path, [tiny()], told=stop)
    assert learn.read(tmp_path) == {}
    result = learn.run(tmp_path, [tiny()])["plain-bline"]
    whole = learn.run(tmp_path / "whole", [tiny()])["plain-bline"]
    assert result["judged"] == whole["judged"]


def test_thresholds_are_reached_when_the_mean_return_says_so(tmp_path):
    ended = train(tmp_path / "run", Setup(n_envs=20, episodes=60, ppo=TINY))
    returns = (-40.0, -24.0, -26.0)
    rows = [
        type(row)(**(asdict(row) | {"environment_reward": value}))
        for row, value in zip(ended.rows, returns, strict=True)
    ]
    reached = learn._first_reached(type(ended)(ended.run, ended.checkpoint, ended.why, rows))
    spent = [r.play_seconds + r.advantage_seconds + r.update_seconds for r in rows]
    assert reached["-30.0"] == reached["-25.0"] == {"steps": 4000, "seconds": sum(spent[:2])}
    assert reached["-20.0"] is None


def test_ten_orders_are_judged_beside_the_same_training_without_one(tmp_path, few):
    result = learn.Result("ten-orders", "tiny", learn._ten_orders)
    rows = learn.run(tmp_path, [result], 1.0)["ten-orders"]["orders"]
    assert len({row["order"] for row in rows}) == len(rows) == 2
    for row in rows:
        assert 0.0 <= row["compliance"] <= 1.0
        assert row["judged"]["mean"] != row["without_order"]["mean"]
        assert row["passes_gate"] is (row["compliance"] >= 0.9 and row["fixes"] >= 1)


def test_all_that_is_found_is_on_the_sheets(tmp_path, few):
    made = [tiny(), learn.Result("ten-orders", "tiny", learn._ten_orders)]
    found = learn.run(tmp_path, made)
    text = report.markdown(learn_report.sheets(found))
    judged = found["plain-bline"]["judged"][0]
    assert report.figure(judged["mean"]) in text
    for row in found["ten-orders"]["orders"]:
        assert row["order"] in text
    assert "0 of 2 reached the gate" in text


def test_names_of_results_are_all_different():
    names = [result.name for result in learn.results()]
    assert len(set(names)) == len(names) == 10
