"""The command line, run in this process or in a terminal of its own."""

import io
import os
import re
import select
import subprocess
import sys
import time
from typing import NamedTuple

import pytest

from fixfirst.cli.main import run


@pytest.fixture(autouse=True)
def no_word_of_compiling(monkeypatch):
    """Whether the game must be compiled depends on what ran before, so nothing is said of it."""
    monkeypatch.setenv("FIXFIRST_QUIET", "1")


class Result(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys, monkeypatch):
    """Run a command line; standard input is a pipe."""

    def call(*arguments, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = run(arguments)
        return Result(code, *capsys.readouterr())

    return call


# Runs a command in a pseudo terminal, and hands its exit code on.
_IN_TERMINAL = """
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.executable, "-m", "fixfirst", *sys.argv[1:]])))
"""
_PATIENCE = 120.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>]|\r")


class Terminal:
    """A command in a terminal of 80 columns, and what it has written so far."""

    def __init__(self, arguments, **environment):
        size = {"COLUMNS": "80", "LINES": "24", "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _IN_TERMINAL, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **size, **environment},
        )
        self.written = ""

    def type(self, keys):
        """Press keys."""
        self.process.stdin.write(keys.encode())
        self.process.stdin.flush()

    def wait_for(self, text):
        """Read on until the text is there; what was read up to its end is done with."""
        until = time.monotonic() + _PATIENCE
        while text not in self.written:
            assert time.monotonic() < until, f"no {text!r} in {self.written!r}"
            assert self._read(), f"ended without {text!r}: {self.written!r}"
        before, _, self.written = self.written.partition(text)
        return before

    def end(self):
        """Read to the end; what was written, and the exit code."""
        while self._read():
            pass
        return self.written, self.process.wait(_PATIENCE)

    def _read(self):
        ready, _, _ = select.select([self.process.stdout], [], [], 1.0)
        if not ready:
            return True
        more = os.read(self.process.stdout.fileno(), 65536).decode(errors="replace")
        self.written += _ESCAPES.sub("", more)
        return bool(more)


@pytest.fixture
def terminal():
    """Start commands in terminals; they are gone when the test is over."""
    started = []

    def start(*arguments, **environment):
        started.append(Terminal(arguments, **environment))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.stdin.close()
        one.process.stdout.close()
        one.process.wait()
