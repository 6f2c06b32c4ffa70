"""The command as a whole: help, version, errors, exit codes."""

import subprocess
import sys

import pytest

from fixfirst.cli import console, main
from fixfirst.version import VERSION

COMMANDS = ["demo", "search", "runs", "baselines", "play", "watch", "verify", "bench game"]


def python(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def test_python_m_fixfirst_is_the_command():
    done = python("-m", "fixfirst", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"fixfirst {VERSION}\n", "")


def test_help_loads_neither_the_compiler_nor_the_prompt():
    code = (
        "import sys; from fixfirst.cli.main import run; run(['--help']); run(['play', '--help']);"
        "print('loaded:', {'numba', 'prompt_toolkit'} & set(sys.modules))"
    )
    assert python("-c", code).stdout.endswith("loaded: set()\n")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_all_commands(cli, arguments):
    done = cli(*arguments)
    assert (done.code, done.err) == (0, "")
    for command in COMMANDS:
        assert f" {command.split()[0]} " in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(cli, command):
    done = cli(*command.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert "Examples" in done.out
    assert done.out.count(f"fixfirst {command}") >= 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["baselines", "--nonsense"], "--nonsense"),
        (["baselines", "--episodes", "many"], "'many'"),
        (["baselines", "--episodes=many"], "Invalid value for '--episodes'"),
        (["baselines", "--horizon"], "--horizon"),
        (["watch", "--delay", "soon"], "'soon'"),
        (["baselines", "--episodes", "0"], "episodes=0 makes no sense here; it is 1 or more"),
        (
            ["baselines", "--rules", "new"],
            "rules='new' is not known; it is one of latest, leaderboard",
        ),
        (["baselines", "--json", "/no/such/folder/f.json"], "/no/such/folder/f.json: No such file"),
        (["watch", "--policy", "slep"], "did you mean sleep"),
        (["watch", "--red", "green"], "red='green' is not known"),
        (["watch", "--horizon", "0"], "horizon=0"),
        (["watch", "--delay", "-1"], "delay=-1.0"),
        (["watch", "--delay", "nan"], "delay=nan"),
        (["watch", "--steps", "x"], "steps='x' is not a step such as 20"),
        (["watch", "--steps", "5-"], "steps='5-'"),
        (["watch", "--steps", "0"], "steps='0' makes no sense here; steps are 1 to 100"),
        (["watch", "--steps", "9-5"], "steps='9-5' makes no sense"),
        (["watch", "--steps", "5-101"], "steps are 1 to 100"),
        (["play", "--rng", "dice"], "rng='dice' is not known; it is one of fast, cpython"),
    ],
)
def test_bad_usage_is_one_line_on_stderr_and_exit_code_2(cli, arguments, words):
    done = cli(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.startswith("fixfirst: ")
    assert done.err.count("\n") == 1


def test_a_group_without_a_command_shows_its_help(cli):
    done = cli("bench")
    assert (done.code, done.err) == (2, "")
    assert "game" in done.out


def test_bad_usage_says_where_the_good_one_is_described(cli):
    assert "See fixfirst baselines --help" in cli("baselines", "--nonsense").err


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (ValueError("a=1 is wrong"), "fixfirst: a=1 is wrong\n"),
        (ValueError("two\nlines"), "fixfirst: two lines\n"),
        (TypeError("no number"), "fixfirst: no number\n"),
        (FileNotFoundError(2, "No such file", "x.json"), "fixfirst: x.json: No such file\n"),
        (KeyError("k"), "fixfirst: KeyError: 'k' (fixfirst --debug ... shows"),
        (ModuleNotFoundError("No module named 'q'"), "ModuleNotFoundError: No module named 'q' ("),
    ],
)
def test_an_error_is_one_line_and_debug_shows_where_it_comes_from(cli, monkeypatch, raised, words):
    def fail(name):
        raise raised

    monkeypatch.setattr(console, "must_be_writable", fail)
    done = cli("baselines")
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    for arguments in (["--debug", "baselines"], ["baselines", "--debug"]):
        traced = cli(*arguments)
        assert traced.code == 2
        assert "Traceback" in traced.err
        assert "test_main.py" in traced.err


def test_control_c_is_a_clean_stop(cli, monkeypatch):
    def interrupt(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(console, "must_be_writable", interrupt)
    done = cli("baselines")
    assert (done.code, done.err.strip()) == (130, "stopped")


def test_the_exit_code_of_a_command_is_handed_on(monkeypatch, cli):
    def different(watch):
        raise main.typer.Exit(1)

    monkeypatch.setattr(console, "must_be_writable", different)
    assert cli("baselines").code == 1
