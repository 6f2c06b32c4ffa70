"""Saving, loading and copying single games inside a batch."""

import gymnasium as gym
import numpy as np
import pytest

import fixfirst
from fixfirst import Snapshot, SnapshotError

RNGS = ["fast", "cpython"]


def playing(rng="fast", n=8, **options):
    env = fixfirst.make_vec(n, rng=rng, red="meander", seed=1, **options)
    env.reset()
    run(env, 25)
    return env


def run(env, steps, seed=0):
    plan = np.random.default_rng(seed).integers(0, 145, (steps, env.num_envs))
    return np.array([env.step(actions)[1] for actions in plan])


def same(a, b):
    return all(np.array_equal(a[name], b[name]) for name in a.dtype.names)


@pytest.mark.parametrize("rng", RNGS)
def test_loaded_games_go_on_as_before(rng):
    env = playing(rng)
    kept = env.save()
    first = run(env, 40, seed=3)
    env.load(kept)
    assert (run(env, 40, seed=3) == first).all()


@pytest.mark.parametrize("rng", RNGS)
def test_loading_returns_the_observation_of_that_moment(rng):
    env = playing(rng)
    seen, kept = env.observation.copy(), env.save()
    run(env, 5)
    assert (env.observation != seen).any()
    assert (env.load(kept) == seen).all()


@pytest.mark.parametrize("rng", RNGS)
def test_a_copied_game_has_the_same_future(rng):
    env = playing(rng)
    env.copy_games([2, 2], [5, 6])
    plan = np.random.default_rng(0).integers(0, 145, 30)
    for action in plan:
        observation, reward, *_ = env.step(np.full(8, action))
        assert reward[2] == reward[5] == reward[6]
        assert (observation[2] == observation[5]).all()
    assert (observation[2] != observation[3]).any() or reward[2] != reward[3]


@pytest.mark.parametrize("rng", RNGS)
def test_single_games_are_saved_and_loaded_elsewhere(rng):
    env, other = playing(rng), fixfirst.make_vec(2, rng=rng, red="sleep", seed=9)
    other.reset()
    other.load(env.save([3]), [1])
    assert same(other.batch.games[1:2], env.batch.games[3:4])
    assert other.true_state.step.tolist() == [0, 25]


@pytest.mark.parametrize("rng", RNGS)
def test_bytes_and_files_carry_games_unchanged(rng, tmp_path):
    env = playing(rng)
    kept = env.save()
    data = kept.to_bytes()
    assert data == env.save().to_bytes()
    kept.write(tmp_path / "games")
    assert list(tmp_path.iterdir()) == [tmp_path / "games"]
    for back in (Snapshot.from_bytes(data), Snapshot.read(tmp_path / "games")):
        assert same(back.games, kept.games)
        if rng == "cpython":
            assert same(back.ids, kept.ids)
        future = run(env, 10)
        env.load(back)
        assert (run(env, 10) == future).all()
        env.load(back)


@pytest.mark.parametrize("how", ["load", "copy"])
def test_true_states_are_those_of_the_games_that_were_put_there(how):
    """And of the others those in which their episodes have just ended."""
    env = playing(horizon=10, autoreset="same_step", true_states="step")
    run(env, 3)
    kept = env.save([2])
    run(env, 2)
    ended = env.states.frozen()
    assert ended.step.tolist() == [10] * 8
    if how == "load":
        env.load(kept, [5])
    else:
        env.copy_games([0], [5])
    assert env.states_fresh.tolist() == [False] * 5 + [True] + [False] * 2
    there = 8 if how == "load" else 0
    assert env.states.step.tolist() == [10] * 5 + [there] + [10] * 2
    assert env.states_now.step.tolist() == [0] * 5 + [there] + [0] * 2
    assert (env.states.level[:5] == ended.level[:5]).all()
    env.load(env.save())
    assert env.states_fresh.all()
    assert (env.states.step == env.states_now.step).all()
    run(env, 1)
    assert env.states_fresh.all()
    assert (env.states.step == env.states_now.step).all()


def test_loading_reads_no_true_states_where_they_come_rarely():
    env = playing(true_states=5)
    assert env.states_fresh.all()
    read = env.states.frozen()
    env.load(env.save([0]), [1])
    assert not env.states_fresh.any()
    assert (env.states.step == read.step).all()


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    env = playing()
    env.save().write(tmp_path / "games")
    before = (tmp_path / "games").read_bytes()

    def broken(handle):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        env.save().write(tmp_path / "games")
    assert [p.name for p in tmp_path.iterdir()] == ["games"]
    assert (tmp_path / "games").read_bytes() == before


@pytest.mark.parametrize("place", [0, 20, 60, 100, 200, -1])
def test_any_damaged_byte_is_noticed(place):
    data = bytearray(playing().save().to_bytes())
    data[place] ^= 1
    with pytest.raises(SnapshotError):
        Snapshot.from_bytes(bytes(data))


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"fixfirst games 1\n", b"\x80\x04.", "fixfirst games 1\n", None]
)
def test_foreign_bytes_are_refused(data):
    with pytest.raises(SnapshotError):
        Snapshot.from_bytes(data)


def test_only_a_snapshot_is_loaded():
    env = playing()
    with pytest.raises(TypeError, match=r"bytes is no snapshot; .*from_bytes"):
        env.load(env.save().to_bytes())


def test_a_truncated_file_is_named(tmp_path):
    path = tmp_path / "games"
    path.write_bytes(playing().save().to_bytes()[:-10])
    with pytest.raises(SnapshotError, match=r"games: .*damaged"):
        Snapshot.read(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("red", 3), ("rules", 2), ("position", 15), ("belief", 4), ("event_host", 13), ("step", 101)]
    + [("ports", 4096), ("last_host", 77), ("foothold", 200)]
    + [("user", 27), ("root", 27), ("marked", 26), ("stacked", 26)],
)
def test_impossible_values_are_refused_even_with_a_good_checksum(field, value):
    kept = playing().save()
    kept.games.furthest = 5
    kept.games.foothold = 9
    kept.games[field] = value
    with pytest.raises(SnapshotError, match="user" if field == "root" else field):
        Snapshot.from_bytes(kept.to_bytes())


@pytest.mark.parametrize(
    ("field", "value"),
    [("processes", 10**6), ("suspects", 10**6), ("processes", 23 + 2 * 25 + 1), ("suspects", 26)],
)
def test_impossible_identities_are_refused(field, value):
    """Also those that would outgrow their record in the steps to come: 25 are played."""
    kept = playing("cpython").save()
    kept.ids[field] = value
    with pytest.raises(SnapshotError, match=field):
        Snapshot.from_bytes(kept.to_bytes())


@pytest.mark.parametrize(
    ("options", "words"),
    [({"rng": "cpython"}, "rng=fast, not cpython"), ({"rules": "leaderboard"}, "rules=latest")]
    + [({"horizon": 50}, "horizon=100, not 50"), ({"n": 3}, "8 games, not 3")],
)
def test_games_of_another_kind_are_refused_and_nothing_changes(options, words):
    kept = playing().save()
    env = playing(**options)
    before = env.batch.games.copy()
    with pytest.raises(SnapshotError, match=words):
        env.load(kept)
    assert same(env.batch.games, before)


@pytest.mark.parametrize("which", [[8], [-1], [0.5], "a", [[0]], []])
def test_games_that_are_not_there_are_refused(which):
    env = playing()
    with pytest.raises((TypeError, ValueError), match="games are 0 to 7"):
        env.save(which)
    with pytest.raises(ValueError, match="game 3 is named twice"):
        env.copy_games([0, 1], [3, 3])
    with pytest.raises(ValueError, match="game 3 is named twice"):
        env.load(env.save([0, 1]), [3, 3])
    with pytest.raises(ValueError, match="3 games cannot be copied onto 2"):
        env.copy_games([0, 1, 2], [3, 4])


@pytest.mark.parametrize("rng", RNGS)
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_game_that_is_over_begins_anew_where_it_is_loaded(mode, rng):
    """It is not played beyond its horizon, for which its record has no room."""
    ended = playing(rng, horizon=25, autoreset="disabled")
    assert ended.batch.games.over.all()
    env = playing(rng, horizon=25, autoreset=mode)
    env.load(ended.save())
    observation, reward, _, truncated, _ = env.step(np.full(8, 142))
    assert (env.true_state.step == 0).all()
    assert not observation.any()
    assert not reward.any()
    assert not truncated.any()
    env.step(np.full(8, 142))
    assert (env.true_state.step == 1).all()


def test_a_game_that_is_over_must_be_reset_where_that_is_left_to_the_caller():
    ended = playing(horizon=25, autoreset="disabled")
    env = playing(horizon=25, autoreset="disabled")
    env.reset()
    env.load(ended.save([0]), [3])
    with pytest.raises(gym.error.ResetNeeded, match="game 3 has reached its horizon"):
        env.step(np.zeros(8, np.int64))
