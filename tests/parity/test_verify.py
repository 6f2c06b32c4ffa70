"""`fixfirst verify`: what it prints, and its exit codes."""

import numpy as np
import pytest

from fixfirst.cli.main import run
from fixfirst.parity import golden


@pytest.fixture
def verify(capsys, monkeypatch):
    """Run the command: exit code, standard output, standard error."""
    monkeypatch.setenv("FIXFIRST_QUIET", "1")

    def call(*arguments):
        capsys.readouterr()
        code = run(["verify", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


def write(folder, recorded, damage=None, name="latest-meander"):
    data = dict(recorded(name).data)
    for key in data:
        if key not in ("hosts", "red_actions"):
            data[key] = data[key][:4].copy()
    if damage:
        damage(data)
    np.savez(folder / f"{name}.npz", **data)


def test_the_shipped_games_are_equal(verify):
    code, out, err = verify()
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 7
    assert "latest-meander.npz         280 games     28000 of    28000 steps equal" in out
    assert "168000 of 168000 steps equal" in out.splitlines()[-1]
    assert "the game is CybORG's" in out


def test_a_folder_of_ones_own_is_replayed(verify, tmp_path, recorded):
    write(tmp_path, recorded)
    (tmp_path / "README.md").write_text("not a game")
    code, out, _ = verify("--golden", tmp_path)
    assert code == 0
    assert "400 of 400 steps equal" in out


def test_a_difference_is_told_with_its_place_and_exits_1(verify, tmp_path, recorded):
    def damage(data):
        data["reward"][2, 30] = np.float32(-7.0)

    write(tmp_path, recorded, damage)
    write(tmp_path, recorded, name="latest-sleep")
    code, out, _ = verify("--golden", tmp_path)
    assert code == 1
    seed, policy = (recorded("latest-meander").data[key][2] for key in ("seed", "policy"))
    assert (
        f"latest-meander.npz, episode 2 (seed {seed}, policy {policy}), step 31: "
        "reward is -7.0 in CybORG, "
    ) in out
    assert "799 of 800 steps equal" in out
    assert "this is not CybORG's game" in out


def test_a_damaged_file_could_not_be_replayed_and_exits_2(verify, tmp_path, recorded):
    write(tmp_path, recorded, lambda data: data.pop("level"))
    code, _, err = verify("--golden", tmp_path)
    assert code == 2
    assert f"{tmp_path}/latest-meander.npz: key 'level' is missing" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--golden", "nowhere"), "nowhere does not exist"),
        (("--cyborg", "nowhere"), "nowhere does not exist"),
        (("--golden", "a", "--cyborg", "b"), "two different proofs"),
        (("--rules", "latest"), "--rules says how to play CybORG, so it needs --cyborg DIR"),
        (("--golden", "a", "--seed", 0), "--seed says how to play CybORG"),
        (("--policy", "random"), "needs --cyborg DIR"),
        (("--red", "bline"), "needs --cyborg DIR"),
        (("--episodes", 0), "needs --cyborg DIR"),
        (("--horizon", 5), "needs --cyborg DIR"),
        (("--cyborg", "a", "--rules", "new"), "rules='new' is not known; it is one of latest"),
        (("--cyborg", "a", "--red", "blue"), "it is one of bline, meander, sleep, all"),
        (("--cyborg", "a", "--policy", "x"), "it is one of random, decoy, react"),
        (("--cyborg", "a", "--episodes", 0), "episodes=0 makes no sense here; it is 1 or more"),
        (("--cyborg", "a", "--horizon", 65_536), "it is from 1 to 65535"),
        (("--cyborg", "a", "--horizon", "x"), "horizon"),
        (("--what",), "--what"),
    ],
)
def test_what_cannot_be_run_exits_2_and_says_why(verify, arguments, words):
    code, out, err = verify(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_folder_without_cyborg_is_refused(verify, tmp_path):
    code, _, err = verify("--cyborg", tmp_path)
    assert code == 2
    assert f"there is no CybORG in {tmp_path}" in err


def test_the_help_has_examples_and_tells_the_exit_codes(verify):
    code, out, _ = verify("--help")
    assert code == 0
    assert "fixfirst verify --cyborg DIR --red meander" in out
    assert "Exit code 0" in out


# --- side by side, with a stand-in for CybORG


def test_equal_games_side_by_side_exit_0(verify, stand_in):
    code, out, err = verify("--cyborg", "a", "--episodes", 1, "--horizon", 20)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 1 + 3 * 11 + 1
    assert "restore-storm  against meander" in out
    assert "660 of 660 steps equal" in out


def test_policies_and_reds_can_be_chosen(verify, stand_in):
    arguments = ("--policy", "react", "--red", "meander", "--episodes", 3, "--horizon", 10)
    code, out, _ = verify("--cyborg", "a", *arguments, "--seed", -2)
    assert code == 0
    assert "react  against meander     3 games        30 of       30 steps equal" in out


def test_a_difference_side_by_side_is_told_with_how_to_see_it_again(verify, stand_in, monkeypatch):
    def tamper(game):
        if game.steps == 17 and game.red == "meander":
            game.readings = {"knows_ot": True}

    monkeypatch.setattr(stand_in, "tamper", tamper)
    code, out, _ = verify("--cyborg", "a b", "--seed", 3, "--episodes", 2, "--horizon", 40)
    assert code == 1
    assert "step 17: knows_ot is True in CybORG, False in fixfirst" in out
    assert (
        "see it again: fixfirst verify --cyborg 'a b' --rules latest --red meander "
        "--policy random --seed 3 --episodes 1 --horizon 40"
    ) in out
    assert "896 of 897 steps equal" in out


def test_ctrl_c_stops_cleanly(verify, monkeypatch):
    def interrupted(file):
        raise KeyboardInterrupt

    monkeypatch.setattr(golden, "load", interrupted)
    code, _, err = verify()
    assert code == 130
    assert err == "stopped\n"
