import numpy as np
import pytest

from fixfirst.workflow.alignment import (
    Compliance,
    checked_terms,
    first_wrong_field,
    follow,
    new_alignments,
)
from fixfirst.workflow.groups import DEFAULT_GROUPS, HOST_GROUPS
from fixfirst.workflow.orders import Workflow


@pytest.fixture
def four():
    """Four games: no fix, all compliant, one in four compliant, none compliant."""
    alignments = new_alignments(4)
    alignments.fixes = [0, 3, 4, 2]
    alignments.compliant = [0, 3, 1, 0]
    alignments.compliance = [0.5, 1.0, 0.25, 0.0]
    alignments.reward = [0.0, 0.5, -0.25, -0.5]
    return alignments


def test_compliance_is_the_share_of_compliant_fixes_and_a_half_without_any(four):
    account = Compliance(four)
    assert account.compliance.tolist() == [0.5, 1.0, 0.25, 0.0]
    assert account.fixes.tolist() == [0, 3, 4, 2]
    assert account.compliant.tolist() == [0, 3, 1, 0]
    assert account.violations.tolist() == [0, 0, 3, 2]
    assert account.alignment_reward.tolist() == [0.0, 0.5, -0.25, -0.5]


def test_a_frozen_account_outlives_later_steps(four):
    window, kept = Compliance(four), Compliance(four).frozen()
    four.fixes[0] = 8
    assert window.fixes[0] == 8
    assert kept.fixes[0] == 0


def masks_of(workflow):
    """For each host: the mask of hosts in earlier groups, and that of its own group."""
    place = workflow.places.tolist()
    earlier = [sum(1 << h for h in range(13) if place[h] < mine) for mine in place]
    peers = [sum(1 << h for h in range(13) if place[h] == mine) for mine in place]
    return earlier, peers


def test_all_games_may_follow_one_order():
    alignments = new_alignments(3)
    follow(alignments, Workflow("reverse"))
    earlier, peers = masks_of(Workflow("reverse"))
    assert alignments.earlier.tolist() == [earlier] * 3
    assert alignments.peers.tolist() == [peers] * 3


@pytest.mark.parametrize("groups", [DEFAULT_GROUPS, HOST_GROUPS])
def test_each_game_may_follow_its_own_order(groups):
    some = Workflow.sample(np.random.default_rng(1), 7, groups)
    alignments = new_alignments(7)
    follow(alignments, some)
    masks = [masks_of(workflow) for workflow in some]
    assert alignments.earlier.tolist() == [earlier for earlier, _ in masks]
    assert alignments.peers.tolist() == [peers for _, peers in masks]


def test_following_leaves_the_counts_alone(four):
    follow(four, Workflow("reverse"))
    assert four.fixes.tolist() == [0, 3, 4, 2]


def test_the_number_of_orders_must_fit_the_games():
    with pytest.raises(
        ValueError, match="2 orders were given for 3 games; give one, or one a game"
    ):
        follow(new_alignments(3), [Workflow("reverse")] * 2)


def test_no_games_follow_no_orders():
    alignments = new_alignments(0)
    follow(alignments, [])
    assert Compliance(alignments).compliance.shape == (0,)


# --- terms


def test_terms_are_floats_whatever_numbers_are_given():
    terms = checked_terms(30, "attempted", np.float32(0.5), np.int64(1))
    assert terms == (1, 30.0, 0.5, 1.0)
    assert [type(value) for value in terms] == [int, float, float, float]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"rule": "strict"}, "compliance rule 'strict' is not known; it is one of held, attempted"),
        ({"alignment_lambda": -1}, "alignment_lambda=-1 makes no sense here; it is a number, 0"),
        ({"alignment_lambda": float("nan")}, "alignment_lambda=nan makes no sense"),
        ({"bonus": float("inf")}, "bonus=inf makes no sense"),
        ({"penalty": -0.5}, "penalty=-0.5 makes no sense"),
    ],
)
def test_bad_terms_are_refused(given, complaint):
    with pytest.raises(ValueError, match=complaint):
        checked_terms(**({"alignment_lambda": 1.0} | given))


@pytest.mark.parametrize("value", ["30", None, True, 1j])
def test_terms_that_are_no_numbers_are_refused(value):
    with pytest.raises(TypeError, match=r"alignment_lambda=.* it is a number"):
        checked_terms(value)


# --- state from outside


def test_states_that_games_can_have_pass(four):
    follow(four, Workflow("reverse"))
    four.attempted = 2**13 - 1
    assert first_wrong_field(four) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("earlier", 2**13),
        ("peers", 2**13),
        ("compliant", 9),
        ("compliance", 1.5),
        ("compliance", np.nan),
        ("attempted", 2**13),
        ("reward", np.nan),
    ],
)
def test_states_that_no_game_can_have_are_named(four, field, value):
    four[field][2] = value
    assert first_wrong_field(four) == field
