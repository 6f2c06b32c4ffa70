"""Stored machine code is found again, and is never stale."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fixfirst
from fixfirst.game import compile as compiling

pytestmark = pytest.mark.skipif(compiling.INTERPRETED, reason="nothing is compiled here")

PACKAGE = Path(fixfirst.__file__).parent
# Compiles in a moment, and shows a fact: the word that means "believed Privileged".
PROGRAM = """
import numpy as np
from fixfirst.envs import kernel
from fixfirst.game import state
games = state.new_games(1)
games.belief[:] = 3
games.event_host = 255
words = np.zeros((1, 13), np.uint32)
kernel.look(games, None, 100, np.arange(1), words)
print(words.view(np.uint8)[0, :4])
"""


def run(source, cache, **environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(source), "FIXFIRST_CACHE_DIR": str(cache)}
        | {"PYTHONDONTWRITEBYTECODE": "1"}
        | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr


@pytest.fixture
def source(tmp_path):
    shutil.copytree(
        PACKAGE,
        tmp_path / "source" / "fixfirst",
        ignore=shutil.ignore_patterns("*.npz", "__pycache__"),
    )
    return tmp_path / "source"


def test_the_second_process_loads_what_the_first_compiled(source, tmp_path):
    first, second = (run(source, tmp_path / "cache") for _ in range(2))
    assert first[0] == second[0] == "[0 0 1 1]"
    assert "compiling the game" in first[1]
    assert str(tmp_path / "cache") in first[1]
    assert second[1] == ""


def test_an_edit_of_a_fact_in_another_file_is_never_served_old_code(source, tmp_path):
    run(source, tmp_path / "cache")
    facts = source / "fixfirst" / "game" / "facts.py"
    before = facts.stat()
    text = facts.read_text()
    assert '"Privileged": (1, 1)' in text
    facts.write_text(text.replace('"Privileged": (1, 1)', '"Privileged": (0, 1)'))
    os.utime(facts, (before.st_atime, before.st_mtime))  # same time, same size
    assert facts.stat().st_size == before.st_size
    assert run(source, tmp_path / "cache")[0] == "[0 0 0 1]"
    facts.write_text(text)
    printed, said = run(source, tmp_path / "cache")
    assert (printed, said) == ("[0 0 1 1]", ""), "the code of the old source is still there"


def test_the_digest_covers_every_file_that_is_compiled():
    covered = {p for pattern in compiling._COMPILED for p in PACKAGE.glob(pattern)}
    compiled = {p for p in PACKAGE.rglob("*.py") if "import entry" in p.read_text()}
    compiled |= {p for p in PACKAGE.rglob("*.py") if "import rule" in p.read_text()}
    compiled |= {p for p in PACKAGE.rglob("*.py") if "import entry, rule" in p.read_text()}
    assert PACKAGE / "envs" / "kernel.py" in compiled
    assert compiled <= covered


def test_the_cache_is_private_to_the_user(source, tmp_path):
    run(source, tmp_path / "cache")
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


def test_a_cache_that_cannot_be_written_does_not_stop_the_game(source, tmp_path):
    (tmp_path / "file").write_text("")
    printed, _ = run(source, tmp_path / "file", TMPDIR=str(tmp_path))
    assert printed == "[0 0 1 1]"


def test_quiet_is_quiet(source, tmp_path):
    assert run(source, tmp_path / "cache", FIXFIRST_QUIET="1")[1] == ""


def test_code_that_nobody_used_for_a_month_is_dropped(tmp_path):
    current, old, recent = (tmp_path / (c * 32) for c in "abc")
    for folder, age in ((current, 0), (old, 40), (recent, 3)):
        folder.mkdir()
        (folder / "code").write_text("")
        when = tmp_path.stat().st_mtime - age * 86400
        os.utime(folder / "code", (when, when))
    (tmp_path / "notes").mkdir()
    compiling._drop_unused(current)
    assert {p.name[0] for p in tmp_path.iterdir()} == {"a", "c", "n"}


def test_plain_and_threaded_code_are_kept_apart(tmp_path):
    from fixfirst.envs import kernel

    paths = {
        kernel.play._cache._cache_file._index_name,
        kernel.play_threaded._cache._cache_file._index_name,
    }
    assert len(paths) == 2
    assert np.all([name.endswith(".nbi") for name in paths])
