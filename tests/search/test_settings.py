"""The settings of a search: defaults, files, bad values."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from fixfirst.search.settings import Settings, read_config
from fixfirst.workflow.groups import HOST_GROUPS


def test_defaults_are_those_that_were_promised():
    settings = Settings().resolved(cores=2)
    assert (settings.n_envs, settings.total_episodes) == (200, 100_000)
    assert (settings.alignment_lambda, settings.compliance_threshold) == (30.0, 0.90)
    assert settings.gp_beta == 2.0
    assert (settings.n_workflows, settings.max_episodes) == (20, 5_000)
    assert (settings.update_steps, settings.threads) == (100, 2)


def test_an_exhaustive_search_tries_all_orders_with_an_equal_share_each():
    settings = Settings(strategy="exhaustive", total_episodes=480_000).resolved()
    assert (settings.n_workflows, settings.max_episodes) == (120, 4_000)


def test_one_policy_for_all_orders_has_half_of_the_budget():
    settings = Settings(warm_start="all").resolved()
    assert (settings.stage_episodes, settings.max_episodes) == (50_000, 2_500)
    settings = Settings(warm_start="all", stage_episodes=20_100).resolved()
    assert (settings.stage_episodes, settings.max_episodes) == (20_100, 4_000)  # whole updates
    assert Settings().resolved().stage_episodes is None
    with pytest.raises(ValueError, match="stage_episodes=7 is less than one update"):
        Settings(warm_start="all", stage_episodes=7).resolved()
    with pytest.raises(ValueError, match="stage_episodes=100000 leaves nothing of total_episodes"):
        Settings(warm_start="all", stage_episodes=100_000).resolved()


def test_workers_share_the_machine():
    assert Settings(workers=2).resolved(cores=4).threads == 2
    assert Settings(workers=8).resolved(cores=4).threads == 1
    assert Settings(workers=8, threads=3).resolved(cores=4).threads == 3


@pytest.mark.parametrize("steps", [1, 30, 50, 99, 100, 101, 130, 250, 400])
@pytest.mark.parametrize("episodes", [0, 7, 8, 40, 100])
def test_whole_updates_fill_a_budget_as_far_as_they_can(steps, episodes):
    settings = Settings(n_envs=8, max_steps=100, update_steps=steps)

    def after(updates):  # all games step together and restart when their 100 steps are over
        return 8 * sum((step + 1) % 100 == 0 for step in range(updates * steps))

    most = settings.most_within(episodes)
    reached = [after(updates) for updates in range(episodes * 100 // (8 * steps) + 102)]
    assert most == max(count for count in reached if count <= episodes)
    least = settings.most_within(episodes, at_least_one=True)
    assert least == max(most, next(count for count in reached if count > 0))


def test_a_red_is_one_or_an_even_mixture_or_shares():
    assert Settings(red_agent="meander").red_agent == "meander"
    assert Settings(red_agent="bline, meander").red_agent == {"bline": 0.5, "meander": 0.5}
    assert Settings(red_agent={"bline": 0.9, "sleep": 0.1}).red_agent == {
        "bline": 0.9, "sleep": 0.1,
    }  # fmt: skip


def test_settings_survive_a_file(tmp_path):
    settings = Settings(groups="hosts", red_agent="bline,sleep", seed=4, ppo={"epochs": 2})
    assert Settings.from_dict(settings.as_dict()) == settings
    assert settings.partition == HOST_GROUPS
    (tmp_path / "c.toml").write_text('seed = 4\ngroups = "hosts"\n[ppo]\nepochs = 2\n')
    given = read_config(tmp_path / "c.toml")
    assert Settings.from_dict(given) == Settings(seed=4, groups="hosts", ppo={"epochs": 2})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"red_agent": "green"}, "red_agent='green' is not known"),
        ({"red_agent": "bline,bline"}, "names a red twice"),
        ({"red_agent": {"green": 1.0}}, "red_agent='green'"),
        ({"rules": "new"}, "rules='new' is not known; it is one of latest, leaderboard"),
        ({"n_envs": 0}, "n_envs=0 makes no sense here; it is 1 or more"),
        ({"total_episodes": 0}, "total_episodes=0"),
        ({"n_workflows": 0}, "n_workflows=0"),
        ({"max_episodes": -5}, "max_episodes=-5"),
        ({"max_steps": 0}, "max_steps=0"),
        ({"update_steps": 0}, "update_steps=0"),
        ({"workers": 0}, "workers=0"),
        ({"threads": 0}, "threads=0"),
        ({"patience": -1}, "patience=-1"),
        ({"stage_episodes": 0, "warm_start": "all"}, "stage_episodes=0"),
        ({"stage_episodes": 400}, "stage_episodes=400 is for warm_start='all', and here it is"),
        ({"seed": -1}, "seed=-1"),
        ({"time": 0}, "time=0 makes no sense here; it is minutes, more than 0"),
        ({"time": float("nan")}, "time=nan"),
        ({"score": "best"}, "score='best' is not known; it is one of evaluation, training"),
        ({"warm_start": "hot"}, "warm_start='hot' is not known"),
        ({"evaluation_episodes": 1}, "evaluation_episodes=1"),
        ({"groups": "some"}, "groups='some' is not known"),
        ({"ppo": {"steps": 5}}, "ppo.steps is named update_steps here"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        Settings(**given)


@pytest.mark.parametrize(
    "given",
    [{"total_episodes": 7}, {"max_episodes": 7}, {"total_episodes": 100, "n_workflows": 20}],
)
def test_a_budget_below_one_update_is_refused(given):
    with pytest.raises(ValueError, match="is less than one update, which is 8 episodes"):
        Settings(n_envs=8, **given).resolved()


def test_unknown_settings_are_named_with_those_there_are(tmp_path):
    with pytest.raises(ValueError, match=r"no setting 'n_env'; it has .*n_envs"):
        Settings.from_dict({"n_env": 3})
    (tmp_path / "c.toml").write_text("n_env = 3\n")
    with pytest.raises(ValueError, match=r"c\.toml: a search has no setting 'n_env'"):
        read_config(tmp_path / "c.toml")
    (tmp_path / "c.toml").write_text("n_envs = = 3\n")
    with pytest.raises(ValueError, match=r"c\.toml is not TOML"):
        read_config(tmp_path / "c.toml")
    with pytest.raises(ValueError, match=r"none\.toml cannot be read: No such file"):
        read_config(tmp_path / "none.toml")


def test_every_setting_is_an_option_of_the_command():
    import inspect

    from fixfirst.cli.search import search

    options = set(inspect.signature(search).parameters) - {
        "context",
        "run",
        "resume",
        "join",
        "config",
    }
    assert options == {field.name for field in fields(Settings)}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stop_at_gate": "no"}, "stop_at_gate='no' is neither true nor false"),
        ({"storage": 5}, "storage=5 is no text"),
        ({"checkpoint_dir": Path("x")}, "is no text"),
        ({"red_agent": 5}, "red_agent=5 is neither a name nor shares"),
        ({"ppo": 5}, "ppo=5 is no table of options"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(given, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        Settings(**given)


def test_an_exhaustive_search_of_billions_is_refused_by_what_was_asked():
    with pytest.raises(ValueError, match=r"6,227,020,800 orders, too many for strategy='exhaus"):
        Settings(groups="hosts", strategy="exhaustive").resolved()
