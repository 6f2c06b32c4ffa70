"""Bad input is refused at the door, by name, and leaves the games as they were."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fixfirst
from fixfirst.game import state, tables
from fixfirst.game.facts import REDS, RULES


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"red": "blue"}, r"red='blue' .* bline, meander, sleep"),
        ({"red": ["bline"]}, "1 reds were given for 2 games"),
        ({"red": ["bline", "x"]}, "red='x'"),
        ({"red": {"bline": 0.5}}, "sum 1"),
        ({"red": {"bline": 1.5, "sleep": -0.5}}, "0 or more"),
        ({"red": {"b": 1.0}}, "red='b'"),
        ({"red": 3}, "red=3"),
        ({"rules": "newest"}, "rules='newest' .* latest, leaderboard"),
        ({"rng": "mt"}, "rng='mt' .* fast, cpython"),
        ({"horizon": 0}, "horizon=0 .* 1 to 65535"),
        ({"horizon": 65536}, "horizon=65536"),
        ({"horizon": 10.0}, r"horizon=10\.0 .* float"),
        ({"horizon": True}, "horizon=True"),
        ({"threads": 0}, "threads=0"),
        ({"threads": 10_000}, "threads=10000 .* from 1 to"),
        ({"autoreset": "sometimes"}, "autoreset='sometimes' .* next_step, same_step, disabled"),
        ({"render_mode": "rgb"}, "render_mode='rgb' .* ansi, human"),
        ({"seed": 1.5}, r"seed 1\.5 .* float"),
        ({"seed": [1]}, "1 seeds were given for 2 games"),
        ({"seed": True}, "truth value"),
        ({"red": {"bline": "half"}}, r"red=\{'bline': 'half'\} gives no probabilities"),
        ({"autoreset": 1}, "autoreset=1 is not known"),
        ({"orders": 3}, "orders=3 is of type int"),
        ({"memory": "yes"}, "memory='yes' is of type str; it is True or False"),
        ({"copy": 1}, "copy=1"),
        ({"episode_stats": "no"}, "episode_stats='no'"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fixfirst.make_vec(2, **options)


@pytest.mark.parametrize(
    ("count", "words"), [(0, "num_envs=0"), (-3, "num_envs=-3"), (2.0, "float")]
)
def test_numbers_of_games_that_make_no_sense(count, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fixfirst.make_vec(count)


def test_more_games_than_memory_holds_are_refused_before_anything_is_allocated():
    with pytest.raises(ValueError, match=r"num_envs=1000000000000 takes .* GiB .* fewer games"):
        fixfirst.make_vec(10**12)


BAD_ACTIONS = [
    ([0, 145], ValueError, "action 145 of game 1 .* 0 to 144"),
    ([-1, 0], ValueError, "action -1 of game 0"),
    ([2**63 - 1, 0], ValueError, "action 9223372036854775807 of game 0"),
    (np.array([2**64 - 1, 0], dtype=np.uint64), ValueError, "action 18446744073709551615"),
    ([0.0, 1.0], TypeError, "float64"),
    ([True, False], TypeError, "bool"),
    (["a", "b"], TypeError, "U1"),
    ([0], ValueError, r"shape \(1,\); 2 games"),
    ([0, 0, 0], ValueError, r"shape \(3,\)"),
    ([[0, 0]], ValueError, r"shape \(1, 2\)"),
    (0, ValueError, r"shape \(\)"),
    (None, TypeError, "actions None are of dtype object; .* from 0 to 144"),
    ([[0], [1, 2]], TypeError, r"actions \[\[0\], \[1, 2\]\] are of dtype object"),
    ([], ValueError, r"shape \(0,\)"),
]


@pytest.mark.parametrize(("actions", "error", "words"), BAD_ACTIONS)
def test_bad_actions_leave_the_games_as_they_were(actions, error, words):
    env = fixfirst.make_vec(2, seed=0)
    env.reset()
    env.step([3, 4])
    before, seen = env.batch.games.copy(), env.observation.copy()
    with pytest.raises(error, match=words):
        env.step(actions)
    assert (env.batch.games == before).all()
    assert (env.observation == seen).all()


@pytest.mark.parametrize("action", [145, -1, 1.0, "Sleep", None, [0]])
def test_bad_actions_of_the_single_environment(action):
    env = fixfirst.Cage2Env()
    env.reset()
    with pytest.raises((ValueError, TypeError), match="action"):
        env.step(action)
    assert env.true_state.step[0] == 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, ">i8"])
def test_whole_numbers_of_any_width_are_actions(dtype):
    env = fixfirst.make_vec(3, seed=0)
    env.reset()
    env.step(np.array([0, 5, 120], dtype=dtype))
    assert env.true_state.blue_action.tolist() == [0, 5, 120]


def test_actions_may_be_views_and_read_only():
    env = fixfirst.make_vec(3, seed=0)
    env.reset()
    actions = np.arange(12).reshape(3, 4)[:, 1]
    actions.flags.writeable = False
    env.step(actions)
    assert env.true_state.blue_action.tolist() == [1, 5, 9]


@pytest.mark.parametrize(
    "options",
    [{"mask": 1}, {"reset_mask": [1, 0]}, {"reset_mask": np.ones(3, bool)}, {"reset_mask": None}]
    + ["reset_mask", ["reset_mask"]],
)
def test_bad_reset_options(options):
    env = fixfirst.make_vec(2)
    with pytest.raises((ValueError, TypeError), match=r"reset_mask"):
        env.reset(options=options)


def test_the_final_state_needs_same_step_reset():
    with pytest.raises(ValueError, match=r"same_step.*next_step"):
        fixfirst.make_vec(1).final_state  # noqa: B018


def test_the_fast_source_has_no_python_generator():
    with pytest.raises(ValueError, match="rng='cpython'"):
        fixfirst.make_vec(1).batch.next_random()


def assert_sound(env, observation, reward):
    """What is so after any step of any game."""
    games, now = env.batch.games, env.true_state
    assert state.first_wrong_field(games, env.batch.ids, env.horizon) is None
    assert env.observation_space.contains(observation)
    assert ((reward > -15.9) & (reward <= 0)).all()
    assert (reward == np.round(reward, 1)).all()
    assert (now.sessions[:, tables.ENTRY] >= 1).all()
    assert ((now.sessions > 0) == (now.level > 0)).all()
    # Proven in the rules: without privilege red holds at most one session on a host.
    assert (games.user[games.root == 0] <= 1).all()
    assert (now.known_addresses >= now.known_names).all()
    assert (now.known_addresses >= now.scanned).all()
    assert (now.known_names >= (now.level > 0)).all()
    decoys = now.decoys[:, :, : tables.STACKABLE]
    assert (decoys <= tables.DECOY_FITS_OS.T[:, : tables.STACKABLE]).all()


# Blue keeps to a few hosts for a while, so that its actions meet.
HOSTS_AT_ONCE = st.lists(st.integers(0, tables.HOSTS - 1), min_size=1, max_size=3)
KINDS = st.integers(tables.ANALYSE, tables.RESTORE)
AIMED = st.builds(lambda kind, host: 2 + (kind - 2) * tables.HOSTS + host, KINDS, st.just(0))
SPELLS = HOSTS_AT_ONCE.flatmap(
    lambda hosts: st.lists(
        st.one_of(
            st.integers(0, 1),
            st.builds(lambda first, host: first + host, AIMED, st.sampled_from(hosts)),
        ),
        max_size=40,
    )
)
PLANS = st.one_of(
    st.lists(st.integers(0, tables.ACTIONS - 1), min_size=1, max_size=120),
    st.lists(SPELLS, min_size=1, max_size=4).map(lambda spells: sum(spells, [0])),
)


@settings(max_examples=150, deadline=None)
@given(
    red=st.sampled_from(REDS),
    rules=st.sampled_from(RULES),
    rng=st.sampled_from(["fast", "cpython"]),
    seed=st.integers(),
    plan=PLANS,
)
def test_whatever_blue_does_the_game_stays_sound(red, rules, rng, seed, plan):
    env = fixfirst.make_vec(1, red=red, rules=rules, rng=rng, seed=seed, horizon=len(plan))
    env.reset()
    for step, action in enumerate(plan, start=1):
        observation, reward, _, truncated, _ = env.step([action])
        assert_sound(env, observation, reward)
        assert truncated[0] == (step == len(plan))


@pytest.mark.parametrize("rng", ["fast", "cpython"])
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("red", REDS)
def test_every_action_is_taken_in_many_states_and_leaves_the_games_sound(red, rules, rng):
    """Each of 60 games takes all 145 actions, in an order of its own, twice over."""
    env = fixfirst.make_vec(60, red=red, rules=rules, rng=rng, seed=3, horizon=2 * tables.ACTIONS)
    env.reset()
    draw = np.random.default_rng(5)
    every = np.tile(np.arange(tables.ACTIONS), (60, 1))
    for _ in range(2):
        for actions in draw.permuted(every, axis=1).T:
            observation, reward, *_ = env.step(actions)
            assert_sound(env, observation, reward)
