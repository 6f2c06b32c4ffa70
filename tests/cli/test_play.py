"""`fixfirst play`: a person's game, by pipe and by keyboard."""

import re

import pytest

import fixfirst
from fixfirst.game.tables import HOST_NAMES

GAME = ("play", "--seed", "3", "--horizon", "4")


def rewards_of(actions, seed=3, **options):
    env = fixfirst.Cage2Env(horizon=len(actions), **options)
    env.reset(seed=seed)
    return [env.step(fixfirst.action_index(action))[1] for action in actions]


def told_rewards(out):
    return [float(text) for text in re.findall(r"^Step .* reward ([+-][0-9.]+)", out, re.MULTILINE)]


def lines_after(out, title):
    return out.partition(title)[2].splitlines()


@pytest.mark.parametrize("rng", ["fast", "cpython"])
def test_a_piped_game_is_the_game_of_the_library(cli, rng):
    actions = ["Sleep", "Restore User1", "Analyse User2", "DecoyApache Defender"]
    done = cli(*GAME, "--rng", rng, "--red", "meander", stdin="\n".join(actions))
    assert (done.code, done.err) == (0, "")
    expected = rewards_of(actions, red="meander", rng=rng)
    assert told_rewards(done.out) == pytest.approx(expected)
    assert f"Your score after 4 steps: {sum(expected):.1f}\n" in done.out


def test_the_rules_are_the_ones_asked_for(cli):
    """Restored Haraka is invulnerable on the leaderboard's rules alone."""
    lines = "restore user4\n" + "sleep\n" * 49
    game = ("play", "--horizon", "50", "--seed", "3")  # red goes for User4
    latest = cli(*game, "--rules", "latest", stdin=lines)
    leaderboard = cli(*game, "--rules", "leaderboard", stdin=lines)
    assert latest.code == leaderboard.code == 0
    assert told_rewards(latest.out) != told_rewards(leaderboard.out)


def test_blue_sees_its_table_and_not_the_truth(cli):
    done = cli(*GAME, stdin="sleep\nsleep\n")
    during = done.out.partition("What happened")[0]
    assert during.count("Compromised") == 3
    for hidden in ("Access", "Known", "sweep", "scan"):
        assert hidden not in during


def test_the_end_shows_what_red_did_and_what_others_score(cli):
    done = cli(*GAME, stdin="sleep\nmonitor\n0\n1\n")
    moves = lines_after(done.out, "What happened\n")
    assert [line.split()[:2] for line in moves[1:5]] == [
        ["1", "Sleep"], ["2", "Monitor"], ["3", "Sleep"], ["4", "Monitor"]
    ]  # fmt: skip
    for line, word in zip(moves[1:5], ["sweep User", "scan", "exploit", "escalate"], strict=True):
        assert word in line
    scores = done.out.partition("Others in 1,000 such games")[2]
    for name in ("sleep", "react-restore", "you"):
        assert name in scores


@pytest.mark.parametrize("stdin", ["sleep\nsleep\n", "sleep\nsleep\nquit\nsleep\n", "sleep\nsl\nq"])
def test_leaving_early_still_gives_an_account(cli, stdin):
    done = cli(*GAME, stdin=stdin)
    assert done.code == 0
    assert "Your score after 2 of 4 steps: " in done.out
    assert "sweep User" in done.out
    assert "Others" not in done.out  # scores of other lengths say nothing


def test_leaving_at_once_is_fine(cli):
    done = cli(*GAME, stdin="")
    assert (done.code, done.err) == (0, "")
    assert "Your score after 0 of 4 steps: 0.0" in done.out


def test_lines_after_the_end_are_not_read(cli):
    assert cli(*GAME, stdin="sleep\n" * 4 + "nonsense\n").code == 0


def test_undo_takes_back_the_step_and_its_dice(cli):
    plain = cli(*GAME, stdin="sleep\nsleep\nsleep\nsleep\n")
    undone = cli(
        *GAME, stdin="sleep\nsleep\nrestore user3\nundo\nsleep\nundo\nundo\nsleep\nsleep\nsleep\n"
    )
    assert undone.code == 0
    title = "What happened\n"
    assert lines_after(undone.out, title)[:5] == lines_after(plain.out, title)[:5]
    assert "(3 taken back)" in undone.out


def test_truth_shows_the_true_table_and_is_counted(cli):
    done = cli(*GAME, stdin="sleep\ntruth\n")
    assert "Access" in done.out.partition("Step 1")[2]
    assert "Privileged" in done.out
    assert "(1 look at the truth)" in done.out
    assert "(2 looks at the truth)" in cli(*GAME, stdin="truth\ntruth\n").out


def test_help_and_describe_tell_more(cli):
    done = cli(*GAME, stdin="help\ndescribe rest u1\ndescribe 132\ntable\n\n   \n")
    assert done.code == 0
    assert fixfirst.describe(fixfirst.action_index("Restore User1")) in done.out
    assert "132  Restore Defender: put Defender back" in done.out
    assert "take the last step back" in done.out
    assert told_rewards(done.out) == []


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        ("nonsense\n", "line 1: no action or command is named 'nonsense'"),
        ("sleep\n\nrest xyz\nsleep\n", "line 3: no host is named 'xyz'"),
        ("145\n", "line 1: action 145 does not exist"),
        ("undo\n", "line 1: there is no step to take back"),
        ("truth now\n", "line 1: truth stands alone, so 'now' has no meaning"),
        ("describe\n", "line 1: no action was named"),
        ("-1\n", "line 1: no action or command is named '-1'"),
    ],
)
def test_a_piped_line_that_cannot_be_played_stops_the_game(cli, stdin, words):
    done = cli(*GAME, stdin=stdin)
    assert done.code == 2
    assert words in done.err
    assert "Your score" not in done.out


def test_without_a_seed_one_is_drawn_and_told(cli):
    out = cli("play", "--horizon", "30", stdin="sleep\n" * 30).out
    (seed,) = re.findall(r"seed (\d+)\.", out)
    again = cli("play", "--horizon", "30", "--seed", seed, stdin="sleep\n" * 30).out
    assert out == again


def test_addresses_are_shown_where_they_are_drawn(cli):
    assert "10.0." in cli(*GAME, "--rng", "cpython").out
    assert "10.0." not in cli(*GAME, "--rng", "fast").out


# --- at a keyboard


def test_a_game_at_the_keyboard(terminal):
    screen = terminal("play", "--seed", "3", "--horizon", "2")
    screen.wait_for("step 1 of 2>")
    screen.type("nonsense\r")
    screen.wait_for("no action or command is named 'nonsense'")
    screen.wait_for("step 1 of 2>")
    screen.type("anl")
    screen.wait_for("look for files")  # the menu is there
    screen.type("\tent2")  # Tab completes the verb and leaves room for the host
    screen.wait_for("Enterprise2")
    screen.type("\t\r")
    screen.wait_for("Step 1 of 2   Analyse Enterprise2")
    screen.wait_for("step 2 of 2>")
    screen.type("mon\r")
    written, code = screen.end()
    assert "Your score after 2 steps: 0.0" in written
    assert all(host in written for host in HOST_NAMES)
    assert code == 0


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 0)])
def test_control_c_stops_and_control_d_leaves(terminal, key, code):
    screen = terminal("play", "--seed", "3", "--horizon", "2")
    screen.wait_for("step 1 of 2>")
    screen.type(key)
    written, ended = screen.end()
    assert ended == code
    assert "Traceback" not in written
    assert ("stopped" in written) == (code == 130)
