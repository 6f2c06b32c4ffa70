"""The bench of the search: landscapes, replays, summaries, and what is printed of them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("botorch", reason="the extra `search` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

from typer.testing import CliRunner

from fixfirst.bench import landscapes, search, search_checks, search_report
from fixfirst.bench.replay import replay
from fixfirst.cli import bench_search
from fixfirst.search.strategies import make_strategy
from fixfirst.workflow.orders import Workflow

TINY = search.Size(seeds=2, shown=4, most=6, draws=1, workflows=1, episodes=200)


def table(path, change=lambda rows: rows):
    orders = list(Workflow.every())
    rows = [
        f"{order},{-20 - order.index / 10},0.5,0.95,3,{order.index != 0},{1000 + order.index},1.5"
        for order in reversed(orders)
    ]
    path.write_text("\n".join([",".join(landscapes.HEADER), *change(rows)]) + "\n")
    return path


# --- landscapes


def test_a_table_is_read_by_index_whatever_its_order(tmp_path):
    read = landscapes.read(table(tmp_path / "t.csv"), "T")
    assert read.reward.tolist() == [-20 - i / 10 for i in range(120)]
    assert read.passed.tolist() == [False] + [True] * 119
    assert read.best == 1  # the first one did not pass
    assert np.flatnonzero(read.good).tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda rows: rows[1:], "119 rows for 119 orders.*each of the 120"),
        (lambda rows: [rows[1], *rows[1:]], "120 rows for 119 orders"),
        (lambda rows: [], "no rows; its columns are order,"),
        (lambda rows: [rows[0].replace("-31.9", "good"), *rows[1:]], "column reward.*good"),
        (lambda rows: [rows[0].replace("True", "maybe"), *rows[1:]], "'maybe' is not true or"),
        (lambda rows: [rows[0].replace("user", "users"), *rows[1:]], "users"),
    ],
)
def test_a_table_that_is_not_whole_is_refused(tmp_path, change, complaint):
    with pytest.raises(ValueError, match=complaint):
        landscapes.read(table(tmp_path / "t.csv", change), "T")


def test_trainings_of_the_same_orders_tell_how_much_is_luck(tmp_path):
    random = np.random.default_rng(0)
    base = landscapes.read(table(tmp_path / "t.csv"), "T")
    true = 5 * random.standard_normal(120)
    luck, error = 2.0, 0.5
    tables = [
        replace(
            base, reward=true + np.hypot(luck, error) * random.standard_normal(120),
            passed=np.full(120, number < 2), episodes=np.full(120, 100.0 * number),
        )
        for number in range(3)
    ]  # fmt: skip
    one = landscapes.combined(tables)
    assert one.variation == pytest.approx(luck, rel=0.15)
    assert (one.error == error).all()
    np.testing.assert_allclose(one.reward, np.mean([t.reward for t in tables], axis=0))
    off = one.reward - true
    assert np.std(off) == pytest.approx(one.unsure[0], rel=0.2)
    assert one.passed.all()  # two of three did
    assert not landscapes.combined([tables[0], tables[2]]).passed.any()
    assert (one.episodes == 100).all()
    # Within what is known of the best, not within what one judgement is off by.
    assert one.good.sum() == (one.reward >= one.reward.max() - one.unsure[one.best]).sum()


def test_a_second_table_may_be_of_some_orders(tmp_path):
    base = landscapes.read(table(tmp_path / "t.csv"), "T")
    some = table(
        tmp_path / "some.csv", lambda rows: [r.replace(",0.5,", ",0.1,") for r in rows[:60]]
    )
    with pytest.raises(ValueError, match="60 rows for 60 orders"):
        landscapes.read(some, "T")
    second = landscapes.read(some, "T", whole=False)
    second = replace(second, reward=second.reward + 4.0)
    one = landscapes.combined([base, second])
    again = np.isfinite(second.reward)
    assert again.sum() == 60
    np.testing.assert_allclose(one.reward, base.reward + np.where(again, 2.0, 0.0))
    luck = 8.0 - (0.5**2 + 0.1**2) / 2  # the variance of two that differ by four
    assert one.variation == pytest.approx(luck**0.5)
    assert one.unsure[again][0] == pytest.approx(2.0)
    assert one.unsure[~again][0] == pytest.approx((luck + 0.5**2) ** 0.5)
    assert one.passed.tolist() == [False] + [True] * 119


def test_one_training_of_each_order_tells_nothing_of_luck(tmp_path):
    base = landscapes.read(table(tmp_path / "t.csv"), "T")
    alone = landscapes.combined([base])
    assert alone.variation == 0
    np.testing.assert_array_equal(alone.reward, base.reward)
    np.testing.assert_array_equal(alone.good, base.good)


def test_a_landscape_is_described_by_what_there_is_to_find():
    smooth = landscapes.smooth(np.random.default_rng(0))
    told = landscapes.described(smooth)
    assert told["passed"] == 120
    assert told["good"] == smooth.good.sum()
    assert told["spread"] == told["spread_of_orders"] == pytest.approx(smooth.reward.std())
    assert told["luck"] == 1.0
    rugged = landscapes.described(landscapes.rugged(np.random.default_rng(0)))
    assert told["neighbours"] > rugged["neighbours"] + 0.2


def test_tables_that_come_with_the_package_are_read():
    assert [one.name for one in landscapes.measured()] == list(landscapes.MEASURED)
    for one in landscapes.measured():
        assert len(one.reward) == 120
        assert one.passed.any()
        assert (one.error > 0).all()


@pytest.mark.parametrize("name", landscapes.MADE)
def test_a_made_landscape_is_another_one_for_each_seed_and_has_a_best_order(name):
    one, same, other = (landscapes.MADE[name](np.random.default_rng(s)) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.reward, same.reward)
    assert (one.reward != other.reward).any()
    assert one.passed[one.best]
    assert one.good[one.best]
    assert one.reward[one.best] == one.reward[one.passed].max()


def test_neighbours_are_alike_where_it_is_smooth_and_not_where_it_is_rugged():
    def alike(name):
        pairs = []
        for seed in range(10):
            land = landscapes.MADE[name](np.random.default_rng(seed))
            for i, order in enumerate(Workflow.every()):
                j = order.neighbours("adjacent")[0].index
                pairs.append((land.reward[i], land.reward[j]))
        return np.corrcoef(np.array(pairs).T)[0, 1]

    assert alike("smooth") > 0.8
    assert alike("rugged") < 0.6


def test_a_third_of_the_gated_orders_never_pass_and_a_needle_stands_alone():
    assert (~landscapes.gated(np.random.default_rng(0)).passed).sum() == 40
    needle = landscapes.needle(np.random.default_rng(0))
    assert needle.good.sum() == 1
    assert len(np.unique(needle.reward)) == 2


# --- replays


def test_an_exhaustive_replay_meets_every_order_and_ends_with_next_to_no_regret():
    land = landscapes.smooth(np.random.default_rng(0))
    done = replay(land, make_strategy("exhaustive"), 200, seed=0)
    assert done.order.tolist() == list(range(120))
    assert done.spent.tolist() == list(range(1, 121))
    assert done.reached == 1 + np.flatnonzero(land.good)[0]
    assert done.regret[-1] < 4 * math.hypot(land.variation, land.error[0])
    after = done.regret_after(np.array([0, 1, 120, 500]))
    assert after.tolist() == [math.inf, done.regret[0], done.regret[-1], done.regret[-1]]


def test_orders_that_never_reach_the_gate_are_never_the_leader():
    land = landscapes.gated(np.random.default_rng(1))
    done = replay(land, make_strategy("exhaustive"), 200, seed=0)
    first = np.flatnonzero(land.passed)[0]
    assert np.isinf(done.regret[:first]).all()
    assert (done.regret[first:] >= 0).all()


def test_a_replay_ends_early_only_once_enough_is_shown_and_the_best_is_found():
    land = landscapes.smooth(np.random.default_rng(0))
    done = replay(land, make_strategy("random"), 120, seed=0, enough=5)
    assert done.spent[-1] == max(5, done.reached)


def test_short_trainings_pass_once_all_they_go_on_with_reaches_the_gate():
    land = landscapes.smooth(np.random.default_rng(0))
    done = replay(land, make_strategy("successive-halving", max_episodes=10_000), 20, seed=0)
    # The first rung has 370 episodes, and no gate is nearer than 1,000.
    assert np.isinf(done.regret[0])
    assert done.spent[0] == pytest.approx(370 / land.episodes[done.order[0]])
    assert np.isfinite(done.regret[-1])
    for order in np.unique(done.order):
        paid = np.diff(done.spent, prepend=0)[done.order == order].sum()
        assert paid < 1.1  # never much more than one whole training


def test_gp_ucb_needs_at_most_half_of_what_random_search_needs_where_it_is_smooth():
    reached = {
        name: [
            replay(landscapes.smooth(np.random.default_rng([seed, 0])), make_strategy(name), 60,
                   seed, enough=1).reached
            for seed in range(6)
        ]
        for name in ("gp-ucb", "random")
    }  # fmt: skip
    assert np.median(reached["gp-ucb"]) <= 20
    assert np.median(reached["gp-ucb"]) <= np.median(reached["random"]) / 2


def test_an_informed_search_has_the_hyperparameters_of_the_whole_landscape():
    land = landscapes.rugged(np.random.default_rng(0))
    ranks = landscapes.ranks_by_index(land)
    few = slice(0, 3)
    told = search.informed(land).fitted(ranks[few], land.reward[few], land.error[few])
    assert told.given.variation == land.variation
    assert told.given.length < 0.3  # rugged, which three rewards do not tell
    assert told.given.spread == pytest.approx(land.reward.std(), rel=0.5)
    np.testing.assert_allclose(told.noise, land.error[few] ** 2 + land.variation**2)


# --- figures


def test_quartiles_are_values_that_occurred_and_the_infinite_is_none():
    made = search.summary(
        [(r, np.array([g, 0.0])) for r, g in ((3.0, math.inf), (5.0, 2.0), (math.inf, math.inf))]
    )
    assert made["reached"] == [3.0, 5.0, None]
    assert made["regret"] == [[2.0, None, None], [0.0, 0.0, 0.0]]
    assert made["mean_regret"] == [None, 0.0]


def test_the_share_is_that_of_the_medians():
    def strategies(ours, base):
        return {"gp-ucb": {"reached": [1, ours, 9]}, "random": {"reached": [1, base, 9]}}

    assert search.ratio(strategies(10, 40)) == 0.25
    assert search.ratio(strategies(None, 40)) is None
    assert search.ratio(strategies(10, None)) is None


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(search, "QUICK", TINY)
    monkeypatch.setattr(search_checks, "SEEN", (5,))


def test_all_that_is_measured_is_printed_written_and_drawn(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(search.os, "sched_getaffinity", lambda _: {0})  # no processes
    files = [tmp_path / "s.json", tmp_path / "s.md"]
    app = bench_search.typer.Typer()
    app.command()(bench_search.search)
    done = CliRunner().invoke(
        app,
        ["--quick", "--json", str(files[0]), "--markdown", str(files[1]),
         "--figures", str(tmp_path / "plots")],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads(files[0].read_text())
    assert set(found["landscapes"]) >= set(landscapes.MADE)
    for strategies in found["landscapes"].values():
        assert tuple(strategies) == search.COMPARED
        assert len(strategies["random"]["regret"]) == TINY.shown
    assert found["model"]["textbook"] < 1e-9
    assert set(found["tables"]) == set(landscapes.MEASURED)
    assert (found["end_to_end"]["workflows"], found["end_to_end"]["episodes"]) == (1, 200)
    assert found["end_to_end"]["seconds"] > 0
    for land in landscapes.MADE:
        assert f"| {land} |" in files[1].read_text()
        for kind in ("png", "svg"):
            assert (tmp_path / "plots" / f"regret-{land}.{kind}").stat().st_size > 5_000


def test_the_bar_counts_all_the_work_and_nothing_else(tiny):
    counted = []
    search.run(quick=True, told=counted.append, workers=1)
    assert sum(counted) == search.parts(quick=True)


def test_processes_give_what_one_process_gives(monkeypatch):
    todo = [search.Task("smooth", name, 0, TINY) for name in ("random", "gp-ucb")]
    alone = dict(search._replayed(todo, 1, lambda more: None))
    shared = dict(search._replayed(todo, 2, lambda more: None))
    assert list(alone) == todo
    for task in todo:
        assert alone[task][0] == shared[task][0]
        np.testing.assert_array_equal(alone[task][1], shared[task][1])


def test_figures_that_never_came_to_an_end_are_shown_as_such():
    never = {"reached": [None, None, None], "regret": [[None] * 3] * 10, "mean_regret": [None] * 10}
    model = {"textbook": 0.0, "gpytorch": 0.0, "kernel": {"x": 1.0}, "recovery": {},
             "calibration": {"smooth": {"95 %": 0.95}}}  # fmt: skip
    figures = {"seeds": 1, "most": 40, "model": model, "tables": {},
               "end_to_end": dict.fromkeys(
                   ("workflows", "passed", "episodes", "seconds", "seconds_before"), 0
               ) | {"best": None},
               "landscapes": {"needle": dict.fromkeys(("gp-ucb", "random"), never)}}  # fmt: skip
    _, first, *_ = search_report.sheets(figures)
    assert first.rows[0] == ("gp-ucb", "> 40 (> 40-> 40)")
