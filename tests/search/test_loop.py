"""The loop: budgets, seeds, where trainings begin, what is written, stopping and going on."""

import csv
import json
import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `learn` is not installed")
pytest.importorskip("optuna", reason="the extra `search` is not installed")

import fixfirst
from fixfirst.learn import checkpoint
from fixfirst.learn.train import latest_checkpoint
from fixfirst.search import loop
from fixfirst.search.episodes import EpisodeFile
from fixfirst.search.folder import SearchFolder
from fixfirst.search.reading import read_run
from fixfirst.search.run import search
from tests.search.small import Listener, outcome, passed, small


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A small search, and who listened to it."""
    listener = Listener()
    return search(tmp_path_factory.mktemp("runs") / "one", small(), spectator=listener), listener


def setup_of(found, number):
    """The training of a trial."""
    return checkpoint.setup_of(latest_checkpoint(found.folder / f"trials/{number:04d}/train"))


def weights(found, number, which=-1):
    """The policy of a trial: the last one, or with 0 the one that it began with."""
    there = checkpoint.finished(found.folder / f"trials/{number:04d}/train/checkpoints")
    return checkpoint.weights_of(there[which])


def same(these, those):
    return all(np.array_equal(these[name].numpy(), those[name].numpy()) for name in these)


def test_a_search_spends_its_budget_and_says_why_it_is_over(searched):
    found, _ = searched
    assert found.record.state == "finished"
    assert found.record.why == "as many workflows are tried as were asked for"
    assert [trial.episodes for trial in found.trials] == [48] * 5
    assert found.record.history.episodes == 240
    assert passed(found) >= 2


def test_episodes_are_counted_as_training_counts_them(searched):
    found, _ = searched
    for trial in found.trials:
        assert found.record.updates[trial.number][-1]["episodes"] == trial.episodes == trial.cap
        told = EpisodeFile.read(found.folder / f"trials/{trial.number:04d}/episodes.csv")
        assert len(told.environment) == trial.episodes


def test_the_last_trial_gets_what_is_left_in_whole_updates(tmp_path):
    found = search(tmp_path / "run", small(total_episodes=127, max_episodes=48, n_workflows=9))
    assert [trial.episodes for trial in found.trials] == [48, 48, 24]
    assert found.record.why == "the episode budget is used up"


def test_a_score_from_training_is_the_mean_of_the_last_three_episodes_of_each_game(searched):
    found, _ = searched
    for trial in found.trials:
        told = EpisodeFile.read(found.folder / f"trials/{trial.number:04d}/episodes.csv")
        last = np.concatenate([told.environment[told.game == game][-3:] for game in range(8)])
        assert trial.judged == len(last) == 24
        assert trial.reward == pytest.approx(last.mean())
        assert trial.error == pytest.approx(last.std(ddof=1) / math.sqrt(24))


def test_a_score_from_evaluation_is_of_fresh_games_which_all_trials_share(tmp_path, monkeypatch):
    from fixfirst.search import trial as trial_room

    seeds = []

    def watched(*arguments, **options):
        seeds.append(options["seed"])
        return evaluate(*arguments, **options)

    evaluate = trial_room.evaluate
    monkeypatch.setattr(trial_room, "evaluate", watched)
    found = search(tmp_path / "run", small(score="evaluation", n_workflows=2, seed=9))
    assert [trial.judged for trial in found.trials] == [20, 20]
    assert len(set(seeds)) == 1
    # Games of training have seeds below 2**64, and go on in their own streams.
    assert seeds[0] >= 2**64
    trial = found.trials[0]
    again = evaluate(str(found.folder / trial.checkpoint), horizon=10, episodes=20, seed=seeds[0])
    assert trial.reward == again.played.mean
    assert trial.fixes == again.kept.fixes.mean()


def test_a_policy_that_fixes_nothing_does_not_pass_the_gate(tmp_path):
    # Of one step nobody makes a fix an episode.
    found = search(tmp_path / "run", small(max_steps=1, n_workflows=2))
    assert [trial.state for trial in found.trials] == ["failed", "failed"]
    assert found.best is None
    assert found.knowledge is None
    with pytest.raises(ValueError, match=r"no trial in .* has passed the gate"):
        _ = found.policy
    assert "No trial has passed the gate" in (found.folder / "summary.md").read_text()


def test_the_gate_ends_a_training_if_it_shall(tmp_path):
    found = search(tmp_path / "run", small(n_workflows=2, stop_at_gate=True))
    assert {trial.why for trial in found.trials} == {"gate"}
    assert all(trial.episodes < trial.cap for trial in found.trials)


def test_the_same_seed_gives_the_same_search_and_another_one_another(tmp_path, searched):
    found, _ = searched
    again = search(tmp_path / "again", small())
    assert outcome(again) == outcome(found)
    assert same(weights(again, 4), weights(found, 4))
    other = search(tmp_path / "other", small(seed=1))
    assert outcome(other) != outcome(found)


def test_each_trial_has_a_seed_of_its_own(searched):
    found, _ = searched
    assert len({setup_of(found, number).seed for number in range(5)}) == 5


# --- where trainings begin


def test_a_trial_begins_with_the_weights_of_the_nearest_one_the_latest_if_there_are_more(tmp_path):
    found = search(tmp_path / "run", small(n_workflows=6, total_episodes=288))
    trials = found.trials
    assert trials[0].started_from is None
    for trial in trials[1:]:
        far = {one.number: one.order.kendall(trial.order, False) for one in trials[: trial.number]}
        nearest = [number for number, distance in far.items() if distance == min(far.values())]
        assert trial.started_from == max(nearest)
        assert same(weights(found, trial.number, 0), weights(found, trial.started_from))


def test_from_scratch_means_from_scratch(tmp_path):
    found = search(tmp_path / "run", small(warm_start="scratch", n_workflows=2))
    assert [trial.started_from for trial in found.trials] == [None, None]
    assert not same(weights(found, 1, 0), weights(found, 0))


def test_with_same_only_an_order_that_was_tried_goes_on_with_its_policy(tmp_path):
    two = {"all": ["Op_Server0"], "rest": [
        "Defender", "Enterprise0", "Enterprise1", "Enterprise2", "Op_Host0", "Op_Host1", "Op_Host2",
        "User0", "User1", "User2", "User3", "User4",
    ]}  # fmt: skip
    settings = small(warm_start="same", strategy="random", groups=two, n_workflows=4)
    found = search(tmp_path / "run", settings)
    orders = [str(trial.order) for trial in found.trials]
    for number, trial in enumerate(found.trials):
        earlier = [n for n in range(number) if orders[n] == orders[number]]
        assert trial.started_from == (max(earlier) if earlier else None)
    assert any(trial.started_from is not None for trial in found.trials)


def test_one_policy_for_all_orders_is_trained_first_and_paid_for(tmp_path):
    found = search(tmp_path / "run", small(
        warm_start="all", total_episodes=160, max_episodes=48, stage_episodes=50
    ))  # fmt: skip
    assert found.record.history.before == 48
    assert [trial.episodes for trial in found.trials] == [48, 48, 16]
    assert found.record.history.episodes == 160
    stage = found.folder / "trials/all/train"
    assert len(checkpoint.setup_of(latest_checkpoint(stage)).orders) == 8  # as there are games
    began = checkpoint.weights_of(latest_checkpoint(stage))
    assert all(same(weights(found, number, 0), began) for number in range(3))


def test_round_robin_goes_on_with_its_own_policies(tmp_path):
    groups = {"one": ["Op_Server0", "Defender"], "two": [
        "Enterprise0", "Enterprise1", "Enterprise2", "Op_Host0", "Op_Host1", "Op_Host2", "User0",
        "User1", "User2", "User3", "User4",
    ]}  # fmt: skip
    found = search(tmp_path / "run", small(strategy="round-robin", groups=groups, n_workflows=4))
    assert [trial.started_from for trial in found.trials[2:]] == [0, 1]


# --- what is found and written


def test_what_is_found_is_an_order_with_its_chance_and_its_policy(searched):
    found, _ = searched
    best, known = found.best, found.knowledge
    tried = {trial.order for trial in found.record.history.passed}
    means = dict(zip(known.orders, known.mean, strict=True))
    assert best.mean == max(means[order] for order in tried)
    assert best.trial.order == best.order
    assert 0 <= best.chance <= 1
    assert best.interval[0] < best.mean < best.interval[1]
    assert len(known.orders) == 120
    assert found.policy.order == best.order
    assert found.policy.act(np.zeros((3, 52), np.float32)).shape == (3,)


def test_the_run_folder_explains_itself(searched):
    found, _ = searched
    folder = found.folder
    config = json.loads((folder / "config.json").read_text())
    assert config["settings"]["max_episodes"] == 48
    choices = [json.loads(line) for line in (folder / "choices.jsonl").read_text().splitlines()]
    assert [choice["order"] for choice in choices] == [str(trial.order) for trial in found.trials]
    rows = list(csv.DictReader((folder / "trials.csv").read_text().splitlines()))
    assert [float(row["reward"]) for row in rows] == [trial.reward for trial in found.trials]
    text = (folder / "summary.md").read_text()
    assert "Finished: as many workflows are tried as were asked for." in text
    assert f"**{found.best.order}**" in text
    for trial in found.trials:
        assert (folder / trial.checkpoint / "weights.safetensors").is_file()
        assert (folder / f"trials/{trial.number:04d}/train/metrics.csv").is_file()


def test_a_record_is_read_without_the_database(searched):
    found, _ = searched
    (found.folder / "study.db").rename(found.folder / "away.db")
    try:
        assert outcome(fixfirst_found(read_run(found.folder))) == outcome(found)
    finally:
        (found.folder / "away.db").rename(found.folder / "study.db")


def fixfirst_found(record):
    from fixfirst.search.found import Found

    return Found(record)


def test_a_spectator_is_told_of_everything(searched):
    found, listener = searched
    assert listener.orders == [str(trial.order) for trial in found.trials]
    assert listener.rewards == [trial.reward for trial in found.trials]
    assert listener.updates == 5 * 6
    assert listener.notes == []


def test_the_package_itself_searches(tmp_path):
    found = fixfirst.search(tmp_path / "run", small(), n_workflows=1)
    assert len(found.trials) == 1
    from fixfirst.search.history import History  # the room is a room as ever

    assert isinstance(found.record.history, History)


def test_checkpoints_can_lie_elsewhere(tmp_path):
    found = search(tmp_path / "run", small(n_workflows=2, checkpoint_dir=str(tmp_path / "far")))
    assert (tmp_path / "far/0001/train/checkpoints").is_dir()
    assert found.trials[1].checkpoint.startswith(str(tmp_path / "far"))
    assert found.policy is not None
    with pytest.raises(ValueError, match="holds trials already"):
        search(tmp_path / "other", small(checkpoint_dir=str(tmp_path / "far")))


# --- stopping and going on


def stopping_after(updates):
    """A listener who presses Ctrl-C."""
    import signal

    listener = Listener()

    def press(trial, row):
        if listener.updates == updates:
            signal.raise_signal(signal.SIGINT)

    listener.on_update = press
    return listener


@pytest.mark.parametrize("updates", [1, 3, 6, 14])
def test_after_ctrl_c_the_search_goes_on_and_ends_as_if_nothing_had_happened(
    tmp_path, searched, updates
):
    stopped = search(tmp_path / "run", small(), spectator=stopping_after(updates))
    assert stopped.record.state == "stopped"
    assert f"fixfirst search --resume {tmp_path / 'run'}" in stopped.record.why
    assert len(stopped.record.history.over) < 5
    found = search(tmp_path / "run", resume=True)
    assert outcome(found) == outcome(searched[0])
    assert found.record.history.episodes == 240


def test_a_search_that_is_over_can_be_given_more(tmp_path):
    search(tmp_path / "run", small(n_workflows=2, max_episodes=48))
    again = search(tmp_path / "run", resume=True)
    assert len(again.trials) == 2
    more = search(tmp_path / "run", resume=True, n_workflows=3)
    assert outcome(more)[:2] == outcome(again)
    assert len(more.trials) == 3
    with pytest.raises(ValueError, match=r"n_envs cannot be given anew .* only total_episodes"):
        search(tmp_path / "run", resume=True, n_envs=4)


def test_when_the_time_is_up_the_trial_is_put_aside_and_goes_on_with_more_time(
    tmp_path, searched, monkeypatch
):
    listener, clock = Listener(), [0.0]
    listener.on_update = lambda trial, row: clock.__setitem__(0, 301.0 * listener.updates)
    monkeypatch.setattr(loop.time, "monotonic", lambda: clock[0])
    stopped = search(tmp_path / "run", small(time=10), spectator=listener)
    assert listener.updates == 2
    assert stopped.record.state == "stopped"
    assert "the time is used up" in stopped.record.why
    with monkeypatch.context() as patch:
        patch.setattr(SearchFolder, "seconds", 600.0)
        with pytest.raises(ValueError, match=r"the time of 10 minutes is used up; give more"):
            search(tmp_path / "run", resume=True)
    found = search(tmp_path / "run", resume=True, time=60)
    assert outcome(found) == outcome(searched[0])


def test_settings_for_a_resumed_search_are_refused(tmp_path):
    with pytest.raises(ValueError, match="has its own settings"):
        search(tmp_path, small(), resume=True)
