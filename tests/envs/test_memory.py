"""Observations with memory show what blue can remember, and nothing else."""

import numpy as np
import pytest

import fixfirst
from fixfirst.envs import memory
from fixfirst.game import facts, tables

RNGS = ["fast", "cpython"]


class Recall:
    """An oracle: what one blue remembers, told only its own actions and its 52 bits."""

    def __init__(self):
        self.decoys = {host: set() for host in tables.HOST_NAMES}
        self.scanned, self.restored, self.last, self.alarmed = set(), set(), None, set()

    def ports(self, host):
        image = facts.IMAGES[next(h.image for h in facts.HOSTS if h.name == host)]
        used = {p for process in image.processes for p in process.ports}
        return image.os, used | {d.opened for d in facts.DECOYS if d.name in self.decoys[host]}

    def fits(self, decoy, host):
        system, used = self.ports(host)
        return decoy.os in ("", system) and decoy.checked not in used

    def take_in(self, action, bits):
        kind, _, host = tables.ACTION_NAMES[action].partition(" ")
        decoy = next((d for d in facts.DECOYS if d.name == kind), None)
        if decoy is not None and self.fits(decoy, host):
            self.decoys[host].add(decoy.name)
        if kind == "Restore":
            self.decoys[host] = set()
            self.restored.add(host)
        if kind in ("Restore", "Remove"):
            self.alarmed.discard(host)
        for name, (seen, exploited, *_) in zip(
            tables.HOST_NAMES, bits.reshape(tables.HOSTS, 4), strict=True
        ):
            if seen and not exploited:
                self.scanned.add(name)
                self.last = name
            elif seen:
                self.alarmed.add(name)

    def row(self, bits, left):
        hosts = tables.HOST_NAMES
        decoys = [d.name in self.decoys[h] for h in hosts for d in facts.DECOYS]
        scanned = [h in self.scanned for h in hosts]
        last = [h == self.last for h in hosts]
        return [*bits, *decoys, *scanned, *last, *(h in self.restored for h in hosts), left]

    def may_matter(self, action):
        kind, _, host = tables.ACTION_NAMES[action].partition(" ")
        decoy = next((d for d in facts.DECOYS if d.name == kind), None)
        if decoy is not None:
            return self.fits(decoy, host)
        return kind != "Monitor" and (kind != "Remove" or host in self.alarmed)


@pytest.mark.parametrize("rng", RNGS)
@pytest.mark.parametrize("red", facts.REDS)
def test_memory_is_made_of_blues_own_actions_and_bits(rng, red):
    games, horizon = 12, 40
    options = {"red": red, "rng": rng, "seed": 3, "horizon": horizon}
    env = fixfirst.make_vec(games, memory=True, autoreset="disabled", **options)
    plain = fixfirst.make_vec(games, autoreset="disabled", **options)
    draw = np.random.default_rng(0)
    for _ in range(2):
        env.reset()
        bits = plain.reset()[0]
        recalls = [Recall() for _ in range(games)]
        for step in range(horizon + 1):
            for i, recall in enumerate(recalls):
                expected = np.array(recall.row(bits[i], (horizon - step) / horizon), np.float32)
                assert np.array_equal(env.observation[i], expected)
                matters = [recall.may_matter(a) for a in range(tables.ACTIONS)]
                assert env.action_mask[i].tolist() == matters
            if step < horizon:
                actions = draw.integers(0, tables.ACTIONS, games)
                env.step(actions)
                bits = plain.step(actions)[0]
                for recall, action, row in zip(recalls, actions, bits, strict=True):
                    recall.take_in(action, row)


def test_same_step_reset_shows_the_last_memory_and_forgets():
    env = fixfirst.make_vec(2, memory=True, autoreset="same_step", horizon=3, seed=0)
    env.reset()
    decoy = env.action_index("DecoyTomcat User1")
    for _ in range(3):
        observation, _, _, _, info = env.step([decoy, 0])
    column = memory.column_names().index("DecoyTomcat on User1")
    assert info["final_obs"][:, column].tolist() == [1.0, 0.0]
    assert info["final_obs"][:, -1].tolist() == [0.0, 0.0]
    assert observation[:, -1].tolist() == [1.0, 1.0]
    assert not observation[:, :-1].any()


@pytest.mark.parametrize("red", ["bline", "meander"])
def test_masked_actions_change_nothing_but_what_blue_did(red):
    """Every masked action has the very future that Sleep has."""
    env = fixfirst.make_vec(60, memory=True, red=red, seed=5, horizon=200)
    env.reset()
    draw = np.random.default_rng(1)
    tried = 0
    for actions in draw.integers(0, tables.ACTIONS, (60, 60)):
        env.step(actions)
        masked = [draw.choice(np.flatnonzero(~row)) for row in env.action_mask]
        kept = env.save()
        futures = []
        for first in (masked, [0] * 60):
            env.load(kept)
            env.step(first)
            rewards = [env.step([0] * 60)[1] for _ in range(5)]
            futures.append((np.array(rewards), env.true_state.level, env.true_state.decoys))
        for mine, theirs in zip(*futures, strict=True):
            assert np.array_equal(mine, theirs)
        tried += 60
        env.load(kept)
    assert tried == 3600


def test_columns_have_names():
    names = memory.column_names()
    assert len(names) == memory.WIDTH == 196
    assert len(set(names)) == memory.WIDTH


def test_the_space_is_that_of_the_observation():
    env = fixfirst.make_vec(2, memory=True)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert env.observation_space.contains(env.step([5, 6])[0])


def test_the_mask_needs_memory():
    with pytest.raises(ValueError, match="memory=True"):
        fixfirst.make_vec(1).action_mask  # noqa: B018
