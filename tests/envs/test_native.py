"""The native vector environment keeps Gymnasium's contract."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import fixfirst
from fixfirst.game import tables

MODES = [mode.name.lower() for mode in AutoresetMode]
RNGS = ["fast", "cpython"]


def actions_for(env, steps, seed=0):
    return np.random.default_rng(seed).integers(0, tables.ACTIONS, (steps, env.num_envs))


def test_spaces_and_declarations():
    env = fixfirst.make_vec(3, autoreset="same_step")
    assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert env.single_observation_space == gym.spaces.MultiBinary(52)
    assert env.single_action_space == gym.spaces.Discrete(145)
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert info == {}
    assert not observation.any()
    for actions in actions_for(env, 5):
        assert env.action_space.contains(actions)
        observation, reward, terminated, truncated, info = env.step(actions)
        assert env.observation_space.contains(observation)
        assert (reward.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
        assert info == {}


@pytest.mark.parametrize("rng", RNGS)
def test_next_step_mode_resets_in_the_step_after_the_end(rng):
    env = fixfirst.make_vec(4, horizon=5, rng=rng, red="meander", seed=0)
    env.reset()
    for episode in range(3):
        for step in range(1, 6):
            observation, _, terminated, truncated, _ = env.step(np.full(4, 142))
            assert truncated.all() == (step == 5)
            assert not terminated.any()
        assert (env.true_state.step == 5).all()
        observation, reward, _, truncated, _ = env.step(np.full(4, 142))
        assert not observation.any()
        assert not reward.any(), "the action of the resetting step is not played"
        assert not truncated.any()
        assert (env.true_state.step == 0).all()
        assert (env.batch.games.episode == episode + 2).all()


@pytest.mark.parametrize("rng", RNGS)
def test_same_step_mode_returns_the_new_episode_and_keeps_the_end(rng):
    options = {"horizon": 6, "rng": rng, "red": "bline", "seed": 3}
    env = fixfirst.make_vec(5, autoreset="same_step", episode_stats=True, **options)
    twin = fixfirst.make_vec(5, autoreset="disabled", episode_stats=True, **options)
    env.reset()
    twin.reset()
    for step, actions in enumerate(actions_for(env, 18), start=1):
        observation, reward, _, truncated, info = env.step(actions)
        expected, twin_reward, _, twin_truncated, twin_info = twin.step(actions)
        assert (reward == twin_reward).all()
        assert (truncated == twin_truncated).all()
        assert truncated.all() == (step % 6 == 0)
        if step % 6:
            assert info == {}
            assert (observation == expected).all()
            continue
        assert (info["final_obs"] == expected).all()
        assert info["_final_obs"].all()
        assert (info["episode"]["r"] == twin_info["episode"]["r"]).all()
        assert (info["final_info"]["episode"]["l"] == 6).all()
        assert (env.final_state.level == twin.true_state.level).all()
        assert (env.final_state.reward == reward).all()
        assert not observation.any()
        twin.reset()


def test_disabled_mode_refuses_a_step_after_the_end_and_resets_by_mask():
    env = fixfirst.make_vec(3, horizon=2, autoreset="disabled")
    env.reset(seed=0)
    env.step([0, 0, 0])
    env.reset(options={"reset_mask": np.array([False, True, False])})
    assert env.true_state.step.tolist() == [1, 0, 1]
    _, _, _, truncated, _ = env.step([0, 0, 0])
    assert truncated.tolist() == [True, False, True]
    before = env.batch.games.copy()
    with pytest.raises(gym.error.ResetNeeded, match=r"game 0 .* 2 steps.*reset_mask"):
        env.step([0, 0, 0])
    assert (env.batch.games == before).all()
    env.reset(options={"reset_mask": truncated})
    env.step([0, 0, 0])
    assert env.true_state.step.tolist() == [1, 2, 1]


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_reset_of_some_games_leaves_the_others_to_the_autoreset(mode):
    env = fixfirst.make_vec(2, horizon=3, autoreset=mode, seed=0)
    env.reset()
    for _ in range(3):
        env.step([0, 0])
    env.reset(options={"reset_mask": np.array([True, False])})
    env.step([0, 0])
    assert env.true_state.step.tolist() == [1, 0 if mode == "next_step" else 1]


@pytest.mark.parametrize("mode", MODES)
def test_a_step_before_the_first_reset_is_refused(mode):
    env = fixfirst.make_vec(2, autoreset=mode)
    with pytest.raises(gym.error.ResetNeeded, match="game 0 was never reset"):
        env.step([0, 0])
    env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(gym.error.ResetNeeded, match="game 1 was never reset"):
        env.step([0, 0])


def test_episode_stats_sum_the_rewards_of_games_that_ended():
    env = fixfirst.make_vec(6, horizon=7, episode_stats=True, seed=1)
    env.reset()
    total = np.zeros(6)
    for actions in actions_for(env, 7):
        _, reward, _, _, info = env.step(actions)
        total += reward
    assert np.allclose(info["episode"]["r"], total)
    assert (info["episode"]["l"] == 7).all()
    assert info["_episode"].all()


@pytest.mark.parametrize("rng", RNGS)
def test_results_depend_on_seed_and_game_alone(rng):
    """Not on the batch's size, the threads, or what the other games do."""
    steps = 130
    wide = fixfirst.make_vec(600, rng=rng, red="meander", threads=1, horizon=50)
    threaded = fixfirst.make_vec(600, rng=rng, red="meander", threads=2, horizon=50)
    narrow = fixfirst.make_vec(1, rng=rng, red="meander", horizon=50)
    observations = [
        env.reset(seed=s)[0] for env, s in ((wide, 7), (threaded, 7), (narrow, 7 + 123))
    ]
    plan = actions_for(wide, steps)
    other = actions_for(wide, steps, seed=9)
    other[:, 123] = plan[:, 123]
    for mine, theirs in zip(plan, other, strict=True):
        results = wide.step(mine), threaded.step(theirs), narrow.step(mine[123:124])
        observations = [r[0][i].tolist() for r, i in zip(results, (123, 123, 0), strict=True)]
        rewards = [r[1][i] for r, i in zip(results, (123, 123, 0), strict=True)]
        assert observations[0] == observations[1] == observations[2]
        assert rewards[0] == rewards[1] == rewards[2]


@pytest.mark.parametrize("rng", RNGS)
@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize(
    "extras",
    [{}, {"orders": "balanced", "alignment_lambda": 30.0}, {"memory": True}]
    + [{"orders": "reverse", "alignment_lambda": 3.0, "violation_penalty": 0.5, "memory": True}],
)
def test_threads_change_nothing_in_any_mode_with_any_extras(rng, autoreset, extras):
    options = {"red": {"bline": 0.5, "meander": 0.5}, "horizon": 12, "rng": rng, "seed": 6}
    options |= {"autoreset": autoreset, "episode_stats": True, **extras}
    one, two = (fixfirst.make_vec(40, threads=count, **options) for count in (1, 2))
    one.reset()
    two.reset()
    infos = 0
    for actions in actions_for(one, 40):
        first, second = one.step(actions), two.step(actions)
        for mine, theirs in zip(first[:4], second[:4], strict=True):
            assert np.array_equal(mine, theirs)
        assert_same_info(first[4], second[4])
        infos += "episode" in first[4]
        if "orders" in extras:
            assert np.array_equal(one.alignment_reward, two.alignment_reward)
        if "memory" in extras:
            assert np.array_equal(one.action_mask, two.action_mask)
        if autoreset == "disabled" and first[3].all():
            one.reset()
            two.reset()
    assert infos == 3
    for name in one.batch.games.dtype.names:
        assert np.array_equal(one.batch.games[name], two.batch.games[name])


def assert_same_info(mine, theirs):
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        if isinstance(value, dict):
            assert_same_info(value, theirs[name])
        else:
            assert np.array_equal(value, theirs[name]), name


@pytest.mark.parametrize("rng", RNGS)
def test_the_same_seed_gives_the_same_games_and_another_one_others(rng):
    runs = []
    for seed in (5, 5, 6):
        env = fixfirst.make_vec(50, rng=rng, red="meander", seed=seed)
        env.reset()
        runs.append(np.array([env.step(a)[1] for a in actions_for(env, 60)]))
    assert (runs[0] == runs[1]).all()
    assert (runs[0] != runs[2]).any()
    assert (runs[0][:, 1:] == runs[2][:, :-1]).mean() < 1 or rng == "fast"


def test_seed_s_gives_game_i_the_seed_s_plus_i():
    env = fixfirst.make_vec(3, rng="cpython")
    env.reset(seed=10)
    by_one = env.batch.next_random().copy()
    env.reset(seed=[12, 10, 11])
    assert env.batch.next_random().tolist() == [by_one[2], by_one[0], by_one[1]]


def test_a_reset_without_seed_goes_on_with_the_generator():
    env = fixfirst.make_vec(2, rng="cpython", seed=4)
    env.reset()
    first = env.batch.next_random().copy()
    env.reset()
    assert (env.batch.next_random() != first).all()
    env.reset(seed=4)
    assert (env.batch.next_random() == first).all()


def test_unseeded_environments_differ():
    environments = [fixfirst.make_vec(1, rng="cpython") for _ in range(2)]
    for env in environments:
        env.reset()
    assert environments[0].batch.next_random() != environments[1].batch.next_random()


def test_returned_arrays_last_until_the_next_step_but_one():
    env = fixfirst.make_vec(64, red="meander", seed=0)
    env.reset()
    previous = None
    for actions in actions_for(env, 30):
        current = env.step(actions)[0]
        if previous is not None:
            assert (previous[0] == previous[1]).all()
        previous = (current, current.copy())


@pytest.mark.parametrize("mask", [None, [False, True, False]])
@pytest.mark.parametrize("memory", [False, True])
def test_a_reset_leaves_what_the_last_step_returned_alone(memory, mask):
    options = None if mask is None else {"reset_mask": np.array(mask)}
    env = fixfirst.make_vec(3, seed=0, memory=memory)
    copying = fixfirst.make_vec(3, seed=0, memory=memory, copy=True)
    plan = actions_for(env, 12)
    pairs = [(env.reset(), copying.reset())]
    for actions in plan[:-1]:
        pairs.append((env.step(actions), copying.step(actions)))
    pairs.append((env.reset(options=options), copying.reset(options=options)))
    assert same_arrays(pairs[-2:])
    assert memory or (env.batch.observation[1] == 0).all()
    if memory:
        assert (env.action_mask == copying.action_mask).all()
    pairs.append((env.step(plan[-1]), copying.step(plan[-1])))
    assert same_arrays(pairs[-2:])


def same_arrays(pairs):
    return all(
        np.array_equal(mine, theirs)
        for one, other in pairs
        for mine, theirs in zip(one[:-1], other[:-1], strict=True)
    )


def test_copy_makes_the_returned_arrays_the_callers_own():
    env = fixfirst.make_vec(64, red="meander", seed=0, copy=True)
    kept = [env.reset()[0]]
    copies = [kept[0].copy()]
    for actions in actions_for(env, 10):
        observation, reward, _, truncated, _ = env.step(actions)
        kept += [observation, reward, truncated]
        copies += [observation.copy(), reward.copy(), truncated.copy()]
    assert all((a == b).all() for a, b in zip(kept, copies, strict=True))


def test_one_red_for_all_or_one_for_each():
    env = fixfirst.make_vec(3, red=["sleep", "bline", "meander"])
    env.reset()
    assert env.true_state.red.tolist() == [2, 0, 1]
    env.step([0, 0, 0])
    assert env.true_state.red_action.tolist()[0] == 0
    assert env.true_state.red_subnet.tolist()[1:] == [2, 2]


@pytest.mark.parametrize("rng", RNGS)
def test_a_mixture_draws_the_red_at_each_reset(rng):
    env = fixfirst.make_vec(9000, red={"bline": 0.5, "meander": 0.2, "sleep": 0.3}, rng=rng, seed=0)
    env.reset()
    first = env.true_state.red.copy()
    env.reset()
    second = env.true_state.red
    for red, share in enumerate((0.5, 0.2, 0.3)):
        assert abs((first == red).mean() - share) < 5 * np.sqrt(share * (1 - share) / 9000)
    assert (first != second).mean() > 0.5


def test_a_mixture_never_draws_a_red_of_no_weight():
    env = fixfirst.make_vec(4000, red={"meander": 1 / 3, "bline": 2 / 3, "sleep": 0.0}, seed=0)
    for _ in range(5):
        env.reset()
        assert set(env.true_state.red.tolist()) == {0, 1}


def test_a_mixture_leaves_the_exact_draws_alone():
    mixed = fixfirst.make_vec(200, red={"bline": 0.5, "meander": 0.5}, rng="cpython", seed=0)
    mixed.reset()
    reds = mixed.true_state.red.copy()
    names = [("bline", "meander", "sleep")[r] for r in reds]
    plain = fixfirst.make_vec(200, red=names, rng="cpython", seed=0)
    plain.reset()
    for actions in actions_for(mixed, 40):
        a, b = mixed.step(actions), plain.step(actions)
        assert (a[0] == b[0]).all()
        assert (a[1] == b[1]).all()
    assert (mixed.batch.next_random() == plain.batch.next_random()).all()


@pytest.mark.parametrize("rng", RNGS)
def test_a_step_allocates_nothing(rng):
    """Numba wraps each array that is handed over, and that is all: more games need no more."""
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    allocations = []
    for games in (50, 500):
        env = fixfirst.make_vec(games, rng=rng, red="meander", threads=1, horizon=20, seed=0)
        env.reset()
        plan = actions_for(env, 60)
        env.step(plan[0])
        before = rtsys.get_allocation_stats()
        for actions in plan:
            env.batch.step(actions)
        after = rtsys.get_allocation_stats()
        assert after.alloc - before.alloc == after.free - before.free
        allocations.append(after.alloc - before.alloc)
    assert allocations[0] == allocations[1] < 15 * len(plan)


def test_a_hundred_thousand_games_fit_in_one_batch():
    env = fixfirst.make_vec(100_000, seed=0)
    env.reset()
    for actions in actions_for(env, 3):
        env.step(actions)
    assert (env.true_state.step == 3).all()


def test_long_horizons_need_no_more_than_their_records():
    env = fixfirst.make_vec(4, rng="cpython", red="bline", horizon=1500, seed=0)
    env.reset()
    vsftpd = env.action_index("DecoyVsftpd User3")
    for _ in range(1500):
        env.step(np.full(4, vsftpd))
    assert (env.true_state.decoys[:, env.host_index("User3"), 7] == 1500).all()


def test_rendering_shows_both_tables():
    env = fixfirst.make_vec(2, render_mode="ansi", rng="cpython", seed=0)
    env.reset()
    env.step([0, 1])
    texts = env.render()
    assert len(texts) == 2
    for word in ("Blue sees", "The truth", "Compromised", "Access", "Op_Server0", "10.0."):
        assert word in texts[0]


def test_human_rendering_prints_at_each_step(capsys):
    env = fixfirst.make_vec(1, render_mode="human", seed=0)
    env.reset()
    env.step([0])
    assert "Step 1 of 100" in capsys.readouterr().out


def test_names_lead_both_ways():
    env = fixfirst.make_vec(1)
    assert env.action_names[env.action_index("Restore User4")] == "Restore User4"
    assert env.host_names[env.host_index("user4")] == "User4"
    assert env.describe(144).startswith("Restore User4")


def test_a_closed_environment_refuses_work_and_closes_twice():
    env = fixfirst.make_vec(1)
    env.reset()
    env.close()
    env.close()
    for work in (lambda: env.step([0]), env.reset, env.save):
        with pytest.raises(gym.error.ClosedEnvironmentError, match="closed"):
            work()
