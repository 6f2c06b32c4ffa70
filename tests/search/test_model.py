"""The model of the reward: by the book, honest, and fitted whatever the rewards are."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="the extra `search` is not installed")
pytest.importorskip("botorch", reason="the extra `search` is not installed")

import torch

from fixfirst.bench import search_checks
from fixfirst.search import model
from fixfirst.search.gaussian import Hyperparameters, Posterior, chance_of_best, mallows
from fixfirst.workflow import distances
from fixfirst.workflow.permutations import all_ranks, random_ranks

RANKS = all_ranks(5)
GIVEN = Hyperparameters(length=0.4, spread=5.0, variation=1.0, centre=-20.0)


def draw(seed, count, length=0.5, spread=10.0, noise=1.0):
    """Orders, rewards drawn from the model, and the true means of all orders."""
    random = np.random.default_rng(seed)
    root = np.linalg.cholesky(mallows(RANKS, RANKS, length) + 1e-10 * np.eye(len(RANKS)))
    truth = -40 + spread * root @ random.standard_normal(len(RANKS))
    at = random.permutation(len(RANKS))[:count]
    return RANKS[at], truth[at] + noise * random.standard_normal(count), truth, at


# --- the kernel


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 13), st.floats(0.01, 20.0))
def test_the_kernel_is_positive_definite(seed, groups, length):
    ranks = np.unique(random_ranks(np.random.default_rng(seed), 40, groups), axis=0)
    kernel = mallows(ranks, ranks, length)
    assert np.linalg.eigvalsh(kernel).min() > -1e-10
    assert (np.diag(kernel) == 1).all()
    np.testing.assert_array_equal(kernel, kernel.T)


def test_gpytorchs_kernel_is_the_same_one_in_batches_too():
    kernel = model.MallowsKernel().double()
    kernel.lengthscale = 0.25
    a = torch.tensor(RANKS[:6], dtype=torch.float64).reshape(2, 3, 5)
    b = torch.tensor(RANKS[6:10], dtype=torch.float64)
    with torch.no_grad():
        got = kernel(a, b).to_dense().numpy()
        diagonal = kernel(b, diag=True).numpy()
    expected = [np.exp(-distances.kendall(RANKS[i : i + 3], RANKS[6:10]) / 0.25) for i in (0, 3)]
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    np.testing.assert_array_equal(diagonal, 1.0)


# --- the posterior


def test_the_posterior_is_that_of_the_textbook_and_of_gpytorch():
    assert search_checks.textbook() < 1e-9
    assert search_checks.library() < 1e-9


def test_a_repeated_measurement_is_worth_as_much_as_one_that_is_surer():
    x, other = RANKS[[3]], RANKS[[50]]
    twice = Posterior(GIVEN, np.concatenate([x, x, other]), np.array([-15.0, -17.0, -30.0]),
                      np.array([2.0, 2.0, 1.0]))  # fmt: skip
    once = Posterior(GIVEN, np.concatenate([x, other]), np.array([-16.0, -30.0]),
                     np.array([1.0, 1.0]))  # fmt: skip
    for got, expected in zip(twice.predict(RANKS), once.predict(RANKS), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9)


def test_what_is_awaited_lowers_deviations_and_leaves_means():
    posterior = Posterior(GIVEN, RANKS[:4], np.array([-20.0, -25, -18, -30]), np.full(4, 1.5))
    mean, deviation = posterior.predict(RANKS)
    later_mean, later = posterior.awaiting(RANKS[[60, 61]]).predict(RANKS)
    np.testing.assert_allclose(later_mean, mean, atol=1e-9)
    assert (later <= deviation + 1e-12).all()
    assert later[60] < 0.5 * deviation[60]
    assert posterior.awaiting(RANKS[:0]) is posterior


def test_the_chance_of_best_is_that_of_a_known_case():
    # Of two independent normal numbers the first is higher with chance Phi(1 / sqrt(2)).
    expected = 0.5 * (1 + math.erf(1 / math.sqrt(2) / math.sqrt(2)))
    random = np.random.default_rng(0)
    got = chance_of_best(np.array([1.0, 0.0]), np.eye(2), random, draws=200_000)
    assert got.sum() == pytest.approx(1)
    assert got[0] == pytest.approx(expected, abs=0.004)
    together = chance_of_best(np.array([0.01, 0.0]), np.ones((2, 2)), random)
    assert together.tolist() == [1.0, 0.0]  # they move together, so the first always wins


# --- the fit


def test_what_is_minimised_is_what_gpytorch_says():
    ranks, rewards, *_ = draw(0, 25)
    made = model.gaussian_process(ranks, (rewards + 40) / 10, np.full(25, 0.02))
    objective = model.ExactMarginalLogLikelihood(made.likelihood, made)
    made.covar_module.base_kernel.lengthscale = 0.8
    made.likelihood.second_noise = 0.07
    made.mean_module.constant = torch.tensor(0.3, dtype=torch.float64)
    ours = made.compute_custom_loss().item()
    priors = sum(prior.log_prob(value(module)).sum().item()
                 for _, module, prior, value, _ in made.named_priors())  # fmt: skip
    made.likelihood.second_noise_covar._priors.clear()  # GPyTorch meets these twice
    for part in (made.covar_module, made.covar_module.base_kernel, made.mean_module):
        part._priors.clear()
    likelihood = objective(made(*made.train_inputs), made.train_targets).item()
    assert ours == pytest.approx(-(likelihood + priors / 25), rel=1e-9)


def test_the_fit_ends_where_no_small_step_is_likelier():
    ranks, rewards, *_ = draw(1, 30)
    noise = np.full(30, 0.01)
    standard = (rewards - rewards.mean()) / rewards.std()
    made = model.gaussian_process(ranks, standard, noise)
    found = model._likeliest(ranks, standard, noise)

    def loss(length, spread, variation, centre):
        made.covar_module.base_kernel.lengthscale = length
        made.covar_module.outputscale = spread**2
        made.likelihood.second_noise = variation**2
        made.mean_module.constant = torch.tensor(centre, dtype=torch.float64)
        return made.compute_custom_loss().item()

    best = (found.length, found.spread, found.variation, found.centre)
    least = loss(*best)
    for i in range(4):
        for step in (0.97, 1.03):
            moved = [value * (step if i == j else 1) for j, value in enumerate(best)]
            assert loss(*moved) > least


def test_known_hyperparameters_are_found_again():
    found = search_checks.recovery(6)
    for one in found.values():
        assert one["quartiles"][1] == pytest.approx(one["true"], rel=0.35)


def test_the_variation_between_trainings_is_learnt_beside_the_known_errors():
    """Each order is trained twice and measured with the same error: only the luck differs."""
    for luck in (0.2, 4.0):
        ranks, _, truth, at = draw(2, 40)
        twice = np.tile(truth[at], 2) + luck * np.random.default_rng(0).standard_normal(80)
        variation = model.fit(np.tile(ranks, (2, 1)), twice, np.full(80, 0.1)).given.variation
        assert variation == pytest.approx(luck, rel=0.3)


def test_intervals_hold_what_they_promise_on_orders_never_tried():
    inside, count = 0, 0
    for seed in range(12):
        ranks, rewards, truth, at = draw(seed, 25)
        mean, deviation = model.fit(ranks, rewards, np.full(25, 0.5)).predict(RANKS)
        others = np.setdiff1d(np.arange(len(RANKS)), at)
        inside += (np.abs(truth - mean) < 1.96 * deviation)[others].sum()
        count += len(others)
    assert 0.88 < inside / count < 0.99


@pytest.mark.parametrize("rewards", [[-30.0], [-30.0, -20.0], [-30.0, -20.0, -25.0], [-30.0] * 6,
                                     [0.0], [0.0] * 4, [-1e6, -1e6 + 1], [-1e-9, 1e-9]])  # fmt: skip
@pytest.mark.parametrize("error", [0.0, 0.5])
def test_few_or_equal_rewards_make_a_model_all_the_same(rewards, error):
    count = len(rewards)
    posterior = model.fit(RANKS[:count], np.array(rewards), np.full(count, error))
    mean, deviation = posterior.predict(RANKS)
    assert np.isfinite(mean).all()
    assert np.isfinite(deviation).all()
    assert deviation[-1] > 0
    assert abs(mean.mean() - np.mean(rewards)) <= 1.5 * max(deviation.max(), np.ptp(rewards))


def test_one_order_measured_many_times_is_known_better_each_time():
    deviations = [
        model.fit(RANKS[[7] * n], -20 + np.resize([0.5, -0.5], n), np.full(n, 0.5)).predict(
            RANKS[[7]]
        )[1][0]
        for n in (1, 4, 16)
    ]
    assert deviations[0] > deviations[1] > deviations[2]


def test_the_fit_is_the_same_each_time_and_leaves_threads_and_draws_alone():
    ranks, rewards, *_ = draw(3, 20)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    fits = [model.fit(ranks, rewards, np.full(20, 0.5)).given for _ in range(2)]
    assert fits[0] == fits[1]
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads


def test_rewards_in_other_units_give_the_same_model_in_other_units():
    ranks, rewards, *_ = draw(4, 20)
    one = model.fit(ranks, rewards, np.full(20, 0.5)).given
    ten = model.fit(ranks, 10 * rewards, np.full(20, 5.0)).given
    assert ten.length == pytest.approx(one.length, rel=1e-6)
    assert ten.spread == pytest.approx(10 * one.spread, rel=1e-6)


@pytest.mark.parametrize(
    ("rewards", "errors", "complaint"),
    [
        ([-1.0], [0.1, 0.2], "1 orders, 1 rewards and 2 errors"),
        ([math.nan], [0.1], "reward nan"),
        ([-1.0], [math.inf], "error inf"),
        ([-1.0], [-0.1], "error -0.1 is negative"),
    ],
)
def test_what_makes_no_model_is_refused(rewards, errors, complaint):
    with pytest.raises(ValueError, match=complaint):
        model.fit(RANKS[: len(rewards)], np.array(rewards), np.array(errors))
