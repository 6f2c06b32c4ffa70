"""What a rollout keeps is what was played."""

import numpy as np
import pytest
import torch

from fixfirst.learn.rollout import sample
from fixfirst.learn.setup import Setup
from fixfirst.learn.training import Training

ORDERS = ("balanced", "reverse", "user-priority")


def training(**options):
    setup = Setup(n_envs=12, horizon=20, episodes=10_000, **options)
    setup = Setup.from_dict(setup.as_dict() | {"ppo": {"steps": 30, "minibatch": 100}})
    return Training(setup)


def collect(training):
    with torch.no_grad():
        return training.rollout.collect(training.batch, training.policy, training.generator, 0.1)


def test_sampling_follows_the_probabilities():
    logits = torch.tensor([[0.0, 1.0, 2.0, -1e9]]).repeat(30_000, 1)
    dice = torch.rand(30_000, generator=torch.Generator().manual_seed(0))
    counts = torch.bincount(sample(logits, dice), minlength=4) / 30_000
    expected = torch.softmax(logits[0], 0)
    assert (counts - expected).abs().max() < 0.015
    assert counts[3] == 0


@pytest.mark.parametrize("dice", [0.0, 1.0 - 2**-24])
def test_extreme_dice_draw_only_actions_that_have_a_chance(dice):
    logits = torch.full((1, 145), -1e9)
    logits[0, 3] = 0.0
    assert sample(logits, torch.tensor([dice])).item() == 3


@pytest.mark.parametrize("options", [{}, {"memory": True}, {"orders": ORDERS}])
def test_the_kept_observation_is_the_one_the_action_was_chosen_from(options):
    """A second batch that is given the kept actions shows the kept observations and rewards."""
    trained = training(**options)
    episodes = collect(trained)
    rollout, twin = trained.rollout, trained.setup.batch()
    twin.reset()
    width = rollout.inputs - (25 if options.get("orders") else 0)
    for t in range(rollout.steps):
        seen = twin.observation if twin.recalling is None else twin.recalling.rows
        assert np.array_equal(rollout.observations[t, :, :width].numpy(), seen)
        twin.step(rollout.actions[t].numpy())
        assert np.allclose(rollout.rewards[t].numpy(), 0.1 * twin.rewards, atol=1e-6)
        assert np.array_equal(rollout.truncated[t].numpy(), twin.results.truncated)
    assert len(episodes.environment) == 12
    assert episodes.environment.tolist() == twin.final_state.episode_return.tolist()


def test_every_game_sees_its_own_order():
    trained = training(orders=ORDERS)
    collect(trained)
    workflows = trained.setup.workflows
    for game in range(12):
        expected = workflows[game % 3].one_hot.reshape(-1)
        kept = trained.rollout.observations[:, game, -25:].numpy()
        assert (kept == expected).all()


def test_kept_log_probabilities_are_those_of_the_policy():
    trained = training()
    collect(trained)
    rollout, actor = trained.rollout, trained.policy.actor
    for t in (0, 17):
        logits = actor.forward(rollout.observations[t], actor.memory(12, torch.device("cpu")))
        expected = torch.distributions.Categorical(logits=logits).log_prob(rollout.actions[t])
        assert torch.allclose(rollout.log_probs[t], expected, atol=1e-5)


def test_masked_actions_are_never_drawn():
    trained = training(memory=True, mask=True)
    collect(trained)
    rollout = trained.rollout
    allowed = rollout.masks.gather(2, rollout.actions[:, :, None])
    assert allowed.all()
    assert not rollout.masks.all()


def test_masks_go_with_plain_observations():
    """The bits alone are shown; a batch that remembers says the same masks."""
    trained = training(mask=True)
    assert trained.rollout.inputs == 52
    collect(trained)
    rollout, twin = trained.rollout, training(memory=True, mask=True).setup.batch()
    twin.reset()
    for t in range(rollout.steps):
        assert np.array_equal(rollout.observations[t].numpy(), twin.observation)
        assert np.array_equal(rollout.masks[t].numpy(), twin.recalling.masks)
        twin.step(rollout.actions[t].numpy())
    assert rollout.masks.gather(2, rollout.actions[:, :, None]).all()
    assert not rollout.masks.all()
