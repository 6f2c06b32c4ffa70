"""What is said of a folder in which there is no usable CybORG. None of it needs one."""

import os
import sys

import pytest

from fixfirst.envs.cyborg import (
    SCENARIO,
    CyborgError,
    CyborgGame,
    find_package,
    load,
    rules_of,
)

pytestmark = pytest.mark.usefixtures("no_cyborg_loaded")


def checkout(folder, init="", rules=("is_kept", "forgets")):
    """A folder that looks like cage-challenge-2 as far as it is looked at."""
    package = folder / "CybORG" / "CybORG"
    for sub in ("Agents/Wrappers", "Shared/Scenarios", "Simulator"):
        (package / sub).mkdir(parents=True)
    for sub in (".", "Agents", "Agents/Wrappers", "Shared", "Simulator"):
        (package / sub / "__init__.py").touch()
    (package / "__init__.py").write_text(init)
    (package / "CybORG.py").touch()
    (package / SCENARIO).touch()
    version = "v" if "is_kept" in rules else "None"
    (package / "Shared/Enums.py").write_text(
        "class ProcessVersion:\n    HARAKA_2_7_0 = 'haraka'\n"
        f"    parse_string = staticmethod(lambda v: {version})\n"
    )
    method = "clearports" if "forgets" in rules else "other"
    (package / "Simulator/Session.py").write_text(
        f"class RedAbstractSession:\n    {method} = None\n"
    )
    return package


@pytest.mark.parametrize("inner", [".", "CybORG", "CybORG/CybORG"])
def test_checkout_its_subfolder_and_the_package_are_all_found(tmp_path, inner):
    package = checkout(tmp_path)
    assert find_package(tmp_path / inner) == package
    assert find_package(os.path.relpath(tmp_path / inner)) == package


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(CyborgError, match=f"{tmp_path}/nowhere does not exist; name the folder"):
        find_package(tmp_path / "nowhere")


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CyborgError, match="is not a folder"):
        find_package(tmp_path / "file")


def test_a_folder_without_cyborg_is_named(tmp_path):
    with pytest.raises(CyborgError, match=f"there is no CybORG in {tmp_path}"):
        find_package(tmp_path)


def test_another_challenge_is_refused(tmp_path):
    (checkout(tmp_path) / SCENARIO).unlink()
    with pytest.raises(CyborgError, match=r"has no Shared/Scenarios/Scenario2\.yaml"):
        find_package(tmp_path)


def test_a_missing_module_is_named_with_the_line_that_installs_it(tmp_path):
    checkout(tmp_path, "import not_to_be_found.anywhere")
    with pytest.raises(CyborgError) as refused:
        load(tmp_path)
    assert "needs the module 'not_to_be_found'" in str(refused.value)
    assert f"{sys.executable} -m pip install not_to_be_found" in str(refused.value)
    assert "CybORG" not in sys.modules


def test_pip_names_are_told_where_they_are_other_names(tmp_path):
    checkout(tmp_path, "raise ModuleNotFoundError('No module named yaml', name='yaml')")
    with pytest.raises(CyborgError, match=r"module 'yaml'.* pyyaml"):
        load(tmp_path)


def test_a_part_of_cyborg_that_is_missing_is_no_missing_dependency(tmp_path):
    checkout(tmp_path, "import CybORG.Nothing")
    with pytest.raises(CyborgError, match=r"is not whole: it has no CybORG\.Nothing"):
        load(tmp_path)


def test_code_that_this_python_cannot_read_is_named(tmp_path):
    checkout(tmp_path, "print 'for Python 2'")
    with pytest.raises(CyborgError, match=r"does not load under Python 3\.\d+\.\d+: SyntaxError"):
        load(tmp_path)


def test_a_second_cyborg_in_one_process_is_refused(tmp_path):
    checkout(tmp_path / "one")
    checkout(tmp_path / "two")
    assert load(tmp_path / "one") is load(tmp_path / "one")
    with pytest.raises(
        CyborgError, match=r"already loaded the CybORG in .*one.*for the one in .*two"
    ):
        load(tmp_path / "two")


def test_loading_leaves_the_search_path_alone(tmp_path):
    before = list(sys.path)
    checkout(tmp_path)
    load(tmp_path)
    assert sys.path == before


@pytest.mark.parametrize(
    ("facts", "rules"), [(("is_kept", "forgets"), "latest"), ((), "leaderboard")]
)
def test_the_rules_are_told_by_what_the_code_does(tmp_path, facts, rules):
    checkout(tmp_path, rules=facts)
    assert rules_of(tmp_path) == rules


@pytest.mark.parametrize("facts", [("is_kept",), ("forgets",)])
def test_code_between_the_two_rules_is_refused(tmp_path, facts):
    checkout(tmp_path, rules=facts)
    with pytest.raises(CyborgError, match="plays neither rules"):
        rules_of(tmp_path)


def test_code_without_what_tells_the_rules_apart_is_refused(tmp_path):
    (checkout(tmp_path) / "Shared/Enums.py").write_text("")
    with pytest.raises(CyborgError, match=r"is of another version: .*ProcessVersion"):
        rules_of(tmp_path)


def test_other_rules_than_those_asked_for_are_refused(tmp_path):
    checkout(tmp_path)
    with pytest.raises(CyborgError, match="plays rules='latest', not 'leaderboard'"):
        CyborgGame(tmp_path, rules="leaderboard")


def test_a_checkout_without_its_agents_is_refused(tmp_path):
    checkout(tmp_path)
    with pytest.raises(CyborgError, match=r"is not whole: .*B_lineAgent"):
        CyborgGame(tmp_path)


@pytest.mark.parametrize(("what", "value"), [("red", "blue"), ("rules", "newest")])
def test_unknown_words_are_refused(tmp_path, what, value):
    checkout(tmp_path)
    with pytest.raises(ValueError, match=f"{what}='{value}' is not known; it is one of"):
        CyborgGame(tmp_path, **{what: value})
