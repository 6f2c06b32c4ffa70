"""Training as a whole: it learns, stops for a reason, and goes on as if never stopped."""

import json
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from fixfirst.learn import checkpoint
from fixfirst.learn.checkpoint import CheckpointError
from fixfirst.learn.options import PPO
from fixfirst.learn.policy import Policy
from fixfirst.learn.rollout import Episodes
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import latest_checkpoint, train
from fixfirst.learn.training import Training, passes_gate
from fixfirst.runs.folder import read_rows

FAST = PPO(steps=20, minibatch=640, hidden=(16,))


def setup(**options):
    given = {"n_envs": 64, "horizon": 20, "episodes": 64 * 6, "ppo": FAST} | options
    return Setup(**given)


def weights(path):
    return checkpoint.weights_of(latest_checkpoint(path))


def same(a, b):
    return set(a) == set(b) and all(torch.equal(a[name], b[name]) for name in a)


def told(path):
    """The rows, less the clock's."""
    return [
        {name: value for name, value in row.items() if not name.endswith("_seconds")}
        for row in read_rows(path / "metrics.jsonl")
    ]


def test_a_policy_learns():
    trained = Training(
        Setup(n_envs=256, horizon=25, episodes=256 * 24, ppo=PPO(steps=25, minibatch=1600))
    )
    rows = [trained.update() for _ in range(24)]
    assert rows[-1].environment_reward > 0.6 * rows[0].environment_reward


def test_a_policy_learns_to_keep_to_its_order():
    trained = Training(
        Setup(
            n_envs=256, horizon=25, episodes=256 * 40, orders=("critical-first",),
            stop_at_gate=False, ppo=PPO(steps=25, minibatch=1600),
        )
    )  # fmt: skip
    rows = [trained.update() for _ in range(25)]
    assert rows[-1].compliance > rows[0].compliance + 0.1
    assert rows[-1].total_reward > rows[0].total_reward


def test_the_same_seed_gives_the_same_policy_bit_for_bit(tmp_path):
    for name in ("a", "b"):
        train(tmp_path / name, setup(seed=3))
    train(tmp_path / "c", setup(seed=4))
    assert same(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert told(tmp_path / "a") == told(tmp_path / "b")
    assert not same(weights(tmp_path / "a"), weights(tmp_path / "c"))


PROGRAM = """
import sys, time, torch
from fixfirst.learn.options import PPO
from fixfirst.learn.setup import Setup
from fixfirst.learn.train import train
torch.set_num_threads(1)
def slowly(row):
    print(row.update, flush=True)
    time.sleep(0.05)
train(sys.argv[1], Setup(**{options}, ppo=PPO(**{ppo})), checkpoint_every=2, on_update=slowly)
"""


def start(path, **options):
    plain = {"n_envs": 64, "horizon": 20, "episodes": 64 * 12} | options
    program = PROGRAM.format(options=plain, ppo={"steps": 20, "minibatch": 640, "hidden": (16,)})
    return subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("options", [{}, {"orders": ("balanced",), "memory": True}])
def test_a_killed_run_resumes_and_ends_as_if_it_had_not_been_killed(tmp_path, options):
    whole = setup(episodes=64 * 12, stop_at_gate=False, **options)
    train(tmp_path / "whole", whole)
    process = start(tmp_path / "killed", stop_at_gate=False, **options)
    for line in process.stdout:
        if int(line) == 5:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    process.stdout.close()
    assert 4 <= len(read_rows(tmp_path / "killed" / "metrics.jsonl")) < 12
    train(tmp_path / "killed", resume=True)
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "killed"))
    assert told(tmp_path / "whole") == told(tmp_path / "killed")


def test_ctrl_c_ends_after_the_update_and_loses_nothing(tmp_path):
    process = start(tmp_path / "run")
    for line in process.stdout:
        if int(line) == 3:
            process.send_signal(signal.SIGINT)
            break
    rest = process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0
    done = 3 + len(rest.split())
    assert done < 12
    assert checkpoint.resume(latest_checkpoint(tmp_path / "run")).updates == done
    assert len(told(tmp_path / "run")) == done


def test_a_run_stops_at_the_cap_the_gate_or_a_plateau(tmp_path):
    assert train(tmp_path / "cap", setup()).why == "episodes"
    easy = setup(orders=("balanced",), compliance_threshold=0.01)
    assert train(tmp_path / "gate", easy).why == "gate"
    flat = setup(red="sleep", patience=1, episodes=64 * 50)
    ended = train(tmp_path / "flat", flat)
    assert ended.why == "plateau"
    assert ended.last.episodes < 64 * 50


@pytest.mark.parametrize(
    ("fixes", "compliant", "passes"),
    [
        ([5, 5, 5], [5, 5, 4], True),
        ([5, 5, 5], [4, 4, 4], False),
        ([0, 0, 0], [0, 0, 0], False),  # never fixing anything is no compliance
        ([3, 3, 3], [3, 3, 3], False),  # fewer than ten in all
        ([10] + [0] * 19, [10] + [0] * 19, False),  # fewer than one an episode
    ],
)
def test_the_gate(fixes, compliant, passes):
    import numpy as np

    none = np.zeros(len(fixes))
    ended = Episodes(none, none, np.array(fixes), np.array(compliant), none)
    assert passes_gate(ended, 0.9) == passes


def test_a_run_folder_explains_itself(tmp_path):
    ended = train(tmp_path / "run", setup(orders=("balanced",), stop_at_gate=False))
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    asked = setup(orders=("balanced",), stop_at_gate=False, threads=1)  # as the tests have
    assert Setup.from_dict(config) == asked
    table = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    assert len(table) == 1 + len(ended.rows) == 7
    assert list((tmp_path / "run" / "tensorboard").iterdir())
    assert len(checkpoint.finished(tmp_path / "run" / "checkpoints")) == 2


def test_a_new_run_may_begin_with_the_weights_of_another(tmp_path):
    train(tmp_path / "first", setup())
    ended = train(tmp_path / "second", setup(red="meander"), start_from=tmp_path / "first")
    begun = checkpoint.finished(tmp_path / "second" / "checkpoints")[0]
    assert begun.name == "00000000"
    assert same(checkpoint.weights_of(begun), weights(tmp_path / "first"))
    assert ended.why == "episodes"


@pytest.mark.parametrize("reward_scale", [FAST.reward_scale, 3 * FAST.reward_scale])
def test_a_critic_that_begins_with_the_weights_of_another_knows_what_they_are_worth(
    tmp_path, reward_scale
):
    first = setup(episodes=64 * 40, stop_at_gate=False)
    train(tmp_path / "first", first)
    again = replace(first, seed=1, ppo=replace(FAST, reward_scale=reward_scale))
    told = []
    for start_from in (None, tmp_path / "first"):
        run = tmp_path / f"from-{start_from is not None}"
        told.append(train(run, again, start_from=start_from).rows[0].explained)
    assert told[1] > max(0.3, told[0] + 0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"memory": True}, "memory"), ({"orders": ("balanced",)}, "groups")]
    + [({"ppo": PPO(steps=20, hidden=(8,))}, "hidden layers")],
)
def test_weights_of_another_kind_are_refused(tmp_path, options, words):
    train(tmp_path / "first", setup())
    with pytest.raises(CheckpointError, match=f"was trained with {words}"):
        train(tmp_path / "second", setup(**options), start_from=tmp_path / "first")


@pytest.mark.parametrize("name", ["weights.safetensors", "training.safetensors", "games"])
def test_a_damaged_checkpoint_is_named(tmp_path, name):
    train(tmp_path / "run", setup())
    path = latest_checkpoint(tmp_path / "run") / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(CheckpointError, match=name):
        train(tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "damaged"), ('{"format": 99}', "format 99"), ("[]", "damaged")]
    + [('{"format": 2, "setup": {"redd": 1}}', "no option 'redd'")],
)
def test_a_foreign_checkpoint_is_refused(tmp_path, text, words):
    train(tmp_path / "run", setup())
    (latest_checkpoint(tmp_path / "run") / "checkpoint.json").write_text(text)
    with pytest.raises(CheckpointError, match=words):
        train(tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"red": "blue"}, "red='blue'"),
        ({"orders": ("user > user",)}, "user"),
        ({"threads": 0}, "threads"),
        ({"groups": "houses"}, "groups='houses'"),
        ({"compliance_rule": "often"}, "compliance rule 'often'"),
        ({"violation_penalty": -1.0}, "penalty=-1.0"),
        ({"compliance_threshold": 1.5}, "compliance_threshold"),
        ({"compliance_threshold": "0.9"}, "compliance_threshold='0.9'"),
        ({"n_envs": 2, "orders": ("balanced",) * 3}, "3 orders need a game each, and n_envs=2"),
        ({"episodes": 0}, "episodes"),
        ({"seed": -1}, "seed"),
    ],
)
def test_setups_that_make_no_sense(options, words):
    with pytest.raises(ValueError, match=words):
        setup(**options)


@pytest.mark.parametrize(
    "options",
    [{"clip": 0.0}, {"gamma": 1.1}, {"epochs": 0}, {"hidden": ()}, {"hidden": (0,)}]
    + [{"entropy": -1.0}, {"learning_rate": float("nan")}, {"entropy_schedule": "cosine"}]
    + [{"steps": 0}, {"minibatch": 2.5}, {"epochs": True}, {"clip": "0.2"}, {"gamma": None}]
    + [{"hidden": (8.0,)}, {"normalise_values": 1}],
)
def test_ppo_options_that_make_no_sense(options):
    (name,) = options
    with pytest.raises((ValueError, TypeError), match=name):
        PPO(**options)


def test_an_update_is_of_whole_episodes_unless_asked_otherwise():
    assert Setup(horizon=30).ppo.steps == Setup(horizon=30).steps == 30
    assert Setup(horizon=30, ppo=PPO(steps=20)).steps == 20


@pytest.mark.parametrize("name", ["nowhere", "cuda:99", "meta"])
def test_a_device_that_is_not_there_is_refused(name):
    with pytest.raises(ValueError, match=f"device='{name}' cannot be used here"):
        Training(setup(device=name))


def test_a_policy_acts_in_any_batch_and_follows_the_order_it_is_told(tmp_path):
    train(tmp_path / "run", setup(orders=("balanced", "reverse"), stop_at_gate=False))
    with pytest.raises(ValueError, match="several orders"):
        Policy(tmp_path / "run")
    policy = Policy(tmp_path / "run", "reverse")
    seen = np.random.default_rng(0).integers(0, 2, (9, 52), dtype=np.int8)
    likeliest = policy.act(seen)
    assert likeliest.tolist() == policy.logits(seen).argmax(dim=1).tolist()
    other = Policy(tmp_path / "run", "balanced").logits(seen)
    assert not torch.equal(policy.logits(seen), other)
    drawn = {tuple(policy.act(seen, dice=np.full(9, d)).tolist()) for d in (0.0, 0.5, 0.99)}
    assert len(drawn) == 3
    plain = train(tmp_path / "plain", setup())
    with pytest.raises(ValueError, match="without an order"):
        Policy(plain.run, "reverse")
    with pytest.raises(ValueError, match=r"\(9, 52\)"):
        Policy(plain.run).act(np.zeros((9, 196), np.float32))
    with pytest.raises(ValueError, match="without masks"):
        Policy(plain.run).act(seen, np.ones((9, 145), np.bool_))


def test_threads_share_a_minibatch_out_and_learn_the_same():
    """Sums fall in another order, so the last bits differ; nothing else does."""
    learnt = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        trained = Training(setup(orders=("balanced",), ppo=PPO(steps=20, minibatch=301)))
        first = trained.update()
        learnt.append((trained.policy.flat.clone(), first))
    for flat, row in learnt[1:]:
        assert torch.allclose(flat, learnt[0][0], atol=2e-4)
        assert row.policy_loss == pytest.approx(learnt[0][1].policy_loss, abs=1e-5)
        assert row.entropy == pytest.approx(learnt[0][1].entropy, rel=1e-5)
        assert row.gradient_norm == pytest.approx(learnt[0][1].gradient_norm, rel=1e-2)


def test_the_gradient_is_no_longer_than_allowed():
    for allowed, bound in ((1e-3, True), (1e3, False)):
        trained = Training(setup(ppo=PPO(steps=20, minibatch=640, max_gradient_norm=allowed)))
        row = trained.update()
        length = trained.updater.gradient.norm().item()
        assert length == pytest.approx(allowed, rel=1e-2) if bound else length < allowed
        assert row.gradient_norm > 2e-3  # what is told is the length before
