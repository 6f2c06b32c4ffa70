"""The recorded games of CybORG: all equal, and what is not equal is found."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest

from fixfirst.game import facts
from fixfirst.parity import golden

EPISODES = 6


def few(recorded, name="latest-bline"):
    """Some episodes of a golden file, to be written again."""
    data = recorded(name).data
    whole = ("hosts", "red_actions")
    return {key: v.copy() if key in whole else v[:EPISODES].copy() for key, v in data.items()}


def written(folder, data, name="latest-bline.npz"):
    np.savez(folder / name, **data)
    return folder / name


def replayed(folder, data, name="latest-bline.npz"):
    return golden.replay(golden.load(written(folder, data, name)))


def test_all_recorded_games_are_played_again_exactly():
    replays = [golden.replay(golden.load(file)) for file in golden.shipped()]
    assert [replay.difference for replay in replays] == [None] * 6
    assert sum(replay.golden.episodes for replay in replays) == 1680
    assert sum(replay.steps for replay in replays) == 168_000
    assert sum(replay.equal for replay in replays) == 168_000


def test_both_rules_and_all_reds_are_among_the_shipped_files():
    loaded = [golden.load(file) for file in golden.shipped()]
    assert {(g.rules, g.red) for g in loaded} == {(r, a) for r in facts.RULES for a in facts.REDS}


def test_the_same_source_interpreted_plays_the_recorded_games():
    program = """
from fixfirst.game.compile import INTERPRETED
from fixfirst.parity import golden
assert INTERPRETED
for file in golden.shipped():
    games = golden.load(file)
    data = {k: v if k in ("hosts", "red_actions") else v[5::150] for k, v in games.data.items()}
    replay = golden.replay(golden.Golden(games.name, games.rules, games.red, data))
    print(replay.steps, replay.equal, replay.difference)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["200 200 None"] * 6


def test_a_file_of_many_episodes_is_replayed_in_portions(tmp_path, recorded, monkeypatch):
    monkeypatch.setattr(golden, "_REPLAY_BYTES", 1)
    data = few(recorded)
    data["level"][4, 7, 8] = 0
    replay = replayed(tmp_path, data)
    assert replay.episode == 4
    assert replay.difference.step == 7
    assert (replay.steps, replay.equal) == (600, 599)


# --- damage is found where it is


@pytest.mark.parametrize("step", [1, 42, 100])
@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("reward", np.float32(-3.3), "reward"),
        ("red_action", 6, "red_action"),
        ("red_target", 0, "red_target"),
        ("red_success", 2, "red_success"),
    ],
)
def test_a_damaged_value_is_found_at_its_step(tmp_path, recorded, key, value, field, step):
    data = few(recorded)
    data[key][2, step - 1] = value
    replay = replayed(tmp_path, data)
    assert replay.episode == 2
    assert (replay.difference.step, replay.difference.field) == (step, field)
    assert (replay.steps, replay.equal) == (600, 599)


@pytest.mark.parametrize("step", [0, 1, 42, 100])
@pytest.mark.parametrize(("key", "field"), [("obs", "bits"), ("level", "level")])
def test_a_damaged_state_is_found_at_its_step(tmp_path, recorded, key, field, step):
    data = few(recorded)
    flip = {"obs": lambda byte: byte ^ 1, "level": lambda level: (level + 1) % 3}[key]
    data[key][3, step, 2] = flip(data[key][3, step, 2])
    replay = replayed(tmp_path, data)
    assert replay.episode == 3
    assert (replay.difference.step, replay.difference.field) == (step, field)
    assert replay.equal == 599


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("reward", np.nan, "reward is nan in CybORG"),
        ("reward", np.inf, "reward is inf in CybORG"),
        ("level", 3, "level of Defender is 3 (none of None, User, Privileged) in CybORG"),
        ("red_action", 9, "red_action is 9 (none of Sleep, "),
        ("red_target", 13, "red_target is 13 (none of Defender, "),
        ("red_success", 200, "red_success is 200 (none of failure, success, unknown) in CybORG"),
        ("next_random", 2.0, "next_random is 2.0 in CybORG"),
        ("obs", 1, "bits beyond the observation of bit 55 is 1 in CybORG, 0 in fixfirst"),
    ],
)
def test_what_no_game_can_show_is_a_difference(tmp_path, recorded, key, value, words):
    data = few(recorded)
    last = {"obs": (2, -1, -1), "level": (2, -1, 0), "next_random": 2}.get(key, (2, -1))
    data[key][last] = data[key][last] | value if key == "obs" else value
    replay = replayed(tmp_path, data)
    assert (replay.episode, replay.difference.step, replay.equal) == (2, 100, 599)
    assert words in str(replay.difference)


def test_a_game_that_drew_once_more_is_found_at_its_end(tmp_path, recorded):
    data = few(recorded)
    data["next_random"][5] = np.nextafter(data["next_random"][5], 1)
    replay = replayed(tmp_path, data)
    assert (replay.difference.step, replay.difference.field) == (100, "next_random")
    assert replay.equal == 599


def test_the_difference_names_the_place_and_both_values(tmp_path, recorded):
    data = few(recorded)
    data["level"][1, 10, 8] = 0  # where red's first session is, which is never lost
    replay = replayed(tmp_path, data)
    seed, policy = data["seed"][1], data["policy"][1]
    assert replay.place == f"latest-bline.npz, episode 1 (seed {seed}, policy {policy})"
    assert str(replay.difference) == (
        "step 10: level of User0 is 0 (None) in CybORG, 2 (Privileged) in fixfirst"
    )


def test_the_first_of_several_differences_is_told(tmp_path, recorded):
    data = few(recorded)
    data["reward"][4, 5] = 1
    data["reward"][1, 70] = 1
    data["reward"][1, 60] = 1
    replay = replayed(tmp_path, data)
    assert (replay.episode, replay.difference.step) == (1, 61)
    assert replay.equal == 597


def test_games_of_other_rules_are_not_these_games(tmp_path, recorded):
    replay = replayed(tmp_path, few(recorded, "latest-meander"), "leaderboard-meander.npz")
    assert replay.golden.rules == "leaderboard"
    other = replayed(tmp_path, few(recorded), "latest-meander-again.npz")
    assert other.golden.red == "meander"
    assert other.difference is not None


# --- foreign files are refused


@pytest.mark.parametrize("episodes", [1, 5])
@pytest.mark.parametrize("length", [1, 7, 100])
def test_any_number_of_episodes_and_steps_will_do(tmp_path, recorded, episodes, length):
    data = few(recorded)
    for key in ("action", "reward", "red_action", "red_target", "red_success"):
        data[key] = data[key][:episodes, :length]
    for key in ("obs", "level"):
        data[key] = data[key][:episodes, : length + 1]
    for key in ("seed", "policy", "next_random"):
        data[key] = data[key][:episodes]
    replay = replayed(tmp_path, data)
    assert replay.steps == episodes * length
    if length == 100:
        assert replay.difference is None
    else:  # the draw at the end belongs to the longer game
        assert (replay.difference.step, replay.difference.field) == (length, "next_random")


@pytest.mark.parametrize("kind", [np.int64, np.uint16, ">i4"])
def test_whole_numbers_may_be_of_any_width(tmp_path, recorded, kind):
    data = few(recorded)
    for key in ("action", "level", "red_action", "red_target", "red_success"):
        data[key] = data[key].astype(kind)
    assert replayed(tmp_path, data).difference is None


@pytest.mark.parametrize("key", list(golden.KEYS))
def test_a_missing_key_is_named(tmp_path, recorded, key):
    data = few(recorded)
    del data[key]
    file = written(tmp_path, data)
    with pytest.raises(golden.GoldenError, match=f"{file}: key '{key}' is missing"):
        golden.load(file)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("hosts", lambda v: v[::-1]),
        ("red_actions", lambda v: v[:-1]),
        ("seed", lambda v: v.astype(float)),
        ("seed", lambda v: v[:-1]),
        ("action", lambda v: np.where(v == v[0, 0], 145, v)),
        ("action", lambda v: v.astype(np.int64) - 145),
        ("action", lambda v: v[0]),
        ("action", lambda v: v[:, :0]),
        ("action", lambda v: np.zeros((1, 65_536), np.uint8)),
        ("obs", lambda v: v[:, 1:]),
        ("obs", lambda v: v.astype(np.int64)),
        ("reward", lambda v: v.astype(int)),
        ("level", lambda v: v[..., :12]),
        ("next_random", lambda v: v.astype(np.float32)),
        ("policy", lambda v: np.zeros(len(v))),
    ],
)
def test_a_wrong_key_is_named(tmp_path, recorded, key, change):
    data = few(recorded)
    data[key] = change(data[key])
    file = written(tmp_path, data)
    with pytest.raises(golden.GoldenError, match=f"{file}: key '{key}'"):
        golden.load(file)


def test_pickled_values_are_never_loaded(tmp_path, recorded):
    data = few(recorded)
    data["seed"] = np.array([object()] * EPISODES)
    file = written(tmp_path, data)
    with pytest.raises(golden.GoldenError, match="key 'seed' cannot be read"):
        golden.load(file)


def test_keys_beyond_those_known_are_not_read(tmp_path, recorded):
    data = few(recorded)
    data["more"] = np.array([object()])
    assert replayed(tmp_path, data).difference is None


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut short"])
def test_a_file_that_is_no_archive_is_named(tmp_path, content):
    file = tmp_path / "latest-bline.npz"
    file.write_bytes(content)
    with pytest.raises(golden.GoldenError, match=f"{file}: it cannot be read"):
        golden.load(file)


def test_a_single_array_is_no_golden_file(tmp_path):
    file = tmp_path / "latest-bline.npz"
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    file.write_bytes(stream.getvalue())
    with pytest.raises(golden.GoldenError, match="single array"):
        golden.load(file)


def test_a_file_cut_short_or_with_a_flipped_byte_is_refused(tmp_path, recorded):
    whole = written(tmp_path, few(recorded)).read_bytes()
    flipped = bytearray(whole)
    flipped[whole.index(b"reward.npy") + 400] ^= 0xFF
    for content in (whole[: len(whole) // 2], bytes(flipped)):
        file = tmp_path / "latest-sleep.npz"
        file.write_bytes(content)
        with pytest.raises(golden.GoldenError, match=str(file)):
            golden.load(file)


@pytest.mark.parametrize(
    "name",
    ["games.npz", "newest-bline.npz", "latest-blinex.npz", "latest.npz", "bline-latest.npz"]
    + ["latest-500-bline-sleep.npz"],
)
def test_the_name_must_tell_rules_and_red(tmp_path, recorded, name):
    file = written(tmp_path, few(recorded), name)
    with pytest.raises(golden.GoldenError, match="the name does not tell its rules and red"):
        golden.load(file)


@pytest.mark.parametrize(
    "name",
    ["latest-bline-500.npz", "latest_bline.npz", "latest-bline-sleep.npz", "latest-500-bline.npz"],
)
def test_a_name_may_say_more(tmp_path, recorded, name):
    assert replayed(tmp_path, few(recorded), name).difference is None


@pytest.mark.parametrize(("seed", "dtype"), [(2**64 - 1, np.uint64), (-(2**63), np.int64)])
def test_seeds_may_be_as_large_as_whole_numbers_of_numpy(tmp_path, recorded, seed, dtype):
    data = few(recorded)
    data["seed"] = np.full(EPISODES, seed, dtype)
    assert golden.load(written(tmp_path, data)).data["seed"][0] == seed


def test_a_folder_without_golden_files_is_named(tmp_path):
    with pytest.raises(golden.GoldenError, match=f"no golden file in {tmp_path}"):
        golden.files_in(tmp_path)
    with pytest.raises(golden.GoldenError, match="does not exist"):
        golden.files_in(tmp_path / "nowhere")
