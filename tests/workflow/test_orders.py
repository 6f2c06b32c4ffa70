import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixfirst.workflow.groups import DEFAULT_GROUPS, HOST_GROUPS, Groups
from fixfirst.workflow.orders import WELL_KNOWN, Workflow, places, ranks_of, well_known

HALVES = Groups(
    {
        "b": ["Defender", "Enterprise0", "Enterprise1", "Enterprise2", "Op_Server0", "User0"],
        "a": ["Op_Host0", "Op_Host1", "Op_Host2", "User1", "User2", "User3", "User4"],
    }
)
ORDER = "op_server > enterprise > defender > op_host > user"
partitions = st.sampled_from([DEFAULT_GROUPS, HOST_GROUPS, HALVES])
workflows = partitions.flatmap(
    lambda groups: st.permutations(groups.names).map(lambda names: Workflow(names, groups))
)


# --- reading and writing


@pytest.mark.parametrize(
    "text",
    [
        ORDER,
        "op_server,enterprise,defender,op_host,user",
        "  OP_SERVER>Enterprise >defender,\top_host > User\n",
        ["op_server", "Enterprise", "defender", "op_host", "user"],
    ],
)
def test_an_order_is_read_in_many_ways(text):
    workflow = Workflow(text)
    assert workflow.names == ("op_server", "enterprise", "defender", "op_host", "user")
    assert str(workflow) == ORDER


@settings(deadline=None)
@given(workflows)
def test_what_is_written_reads_as_the_same(workflow):
    assert Workflow(str(workflow), workflow.groups) == workflow
    assert Workflow(str(workflow).upper().replace(" > ", ","), workflow.groups) == workflow
    assert eval(repr(workflow)) == workflow


@pytest.mark.parametrize(
    ("order", "complaint"),
    [
        ("user > defender", "leaves out enterprise, op_server, op_host; an order names every"),
        (ORDER + " > user", "names 'user' twice; each group stands once"),
        (ORDER + " > printer", "names 'printer', which is no group; the groups are defender, ent"),
        (ORDER + " >", "has an empty place"),
        ("", "the order '' is empty"),
        (" ", "the order ' ' is empty"),
        ([], "leaves out defender, enterprise"),
        ("sideways", "'sideways', which is no group; .*; orders with a name are critical-first"),
        (ORDER.replace(" > ", " "), "which is no group"),
        (["op_server > enterprise", "defender", "op_host", "user"], "which is no group"),
    ],
)
def test_a_bad_order_is_refused(order, complaint):
    with pytest.raises(ValueError, match=complaint):
        Workflow(order)


@pytest.mark.parametrize("order", [3, None, ["user", 3], {"user"}])
def test_what_is_no_order_at_all_is_refused(order):
    with pytest.raises(TypeError, match="give a text or a list of group names"):
        Workflow(order)


def test_groups_of_another_partition_are_refused():
    with pytest.raises(
        ValueError, match="names 'op_server', which is no group; the groups are b, a"
    ):
        Workflow(ORDER, HALVES)


# --- a value


def test_workflows_are_values():
    again = Workflow(ORDER)
    assert again == Workflow(ORDER)
    assert len({again, Workflow(ORDER), Workflow("reverse")}) == 2
    assert again != ORDER
    with pytest.raises(AttributeError):
        again.numbers = (0, 1, 2, 3, 4)


def test_orders_of_other_groups_are_other_workflows():
    renamed = Groups({("x" + n): h for n, h in DEFAULT_GROUPS.as_mapping().items()})
    assert Workflow.from_index(7) != Workflow.from_index(7, renamed)


@settings(deadline=None, max_examples=10)
@given(workflows)
def test_copies_are_equal(workflow):
    assert copy.deepcopy(workflow) == workflow
    assert pickle.loads(pickle.dumps(workflow)) == workflow


# --- well-known orders


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("critical-first", "defender > op_server > enterprise > op_host > user"),
        ("enterprise-focus", "enterprise > defender > op_server > op_host > user"),
        ("user-priority", "user > defender > enterprise > op_server > op_host"),
        ("operational-focus", "op_server > op_host > defender > enterprise > user"),
        ("balanced", "defender > enterprise > op_server > user > op_host"),
        ("reverse", "user > op_host > enterprise > op_server > defender"),
    ],
)
def test_well_known_orders_go_by_their_names(name, order):
    assert well_known(name) == Workflow(name) == Workflow(order)
    assert Workflow(name.upper().replace("-", "_") + " ") == Workflow(order)


def test_there_are_six_well_known_orders():
    assert len({Workflow(name) for name in WELL_KNOWN}) == 6


def test_reverse_is_the_farthest_from_critical_first():
    assert well_known("reverse").kendall(well_known("critical-first")) == 1.0


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no well-known order is named 'best'; the names are crit"):
        well_known("best")


def test_well_known_orders_are_of_the_default_groups():
    with pytest.raises(
        ValueError, match="is an order of the default groups; the groups here are b"
    ):
        Workflow("critical-first", HALVES)


# --- index, ranks, one-hot


def test_indices_run_through_all_orders():
    assert Workflow("defender > enterprise > op_server > op_host > user").index == 0
    assert Workflow("user > op_host > op_server > enterprise > defender").index == 119
    assert [w.index for w in Workflow.every()] == list(range(120))
    assert [w.names for w in Workflow.every()] == list(itertools.permutations(DEFAULT_GROUPS.names))


def test_orders_of_13_are_enumerated_lazily():
    first = list(itertools.islice(Workflow.every(HOST_GROUPS), 3))
    assert [w.index for w in first] == [0, 1, 2]
    last = Workflow.from_index(math.factorial(13) - 1, HOST_GROUPS)
    assert last.names == HOST_GROUPS.names[::-1]


@settings(deadline=None)
@given(workflows)
def test_every_form_leads_back_to_the_workflow(workflow):
    groups = workflow.groups
    assert Workflow.from_index(workflow.index, groups) == workflow
    assert Workflow.from_ranks(workflow.ranks, groups) == workflow
    assert Workflow.from_ranks(workflow.ranks.tolist(), groups) == workflow
    assert Workflow.from_one_hot(workflow.one_hot, groups) == workflow
    assert Workflow.from_one_hot(workflow.one_hot.ravel(), groups) == workflow


def test_the_forms_of_one_order():
    workflow = Workflow(ORDER)
    assert workflow.numbers == (2, 1, 0, 3, 4)
    assert workflow.index == 2 * 24 + 1 * 6
    assert workflow.ranks.tolist() == [2, 1, 0, 3, 4]
    workflow = Workflow("operational-focus")
    assert workflow.numbers == (2, 3, 0, 1, 4)
    assert workflow.ranks.tolist() == [2, 3, 0, 1, 4]
    workflow = Workflow("user, defender, enterprise, op_server, op_host")
    assert workflow.ranks.tolist() == [1, 2, 3, 4, 0]
    assert workflow.one_hot.tolist() == [
        [0, 0, 0, 0, 1],
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 1, 0],
    ]


def test_places_are_those_of_each_hosts_group():
    workflow = Workflow("user, defender, enterprise, op_server, op_host")
    assert workflow.places.tolist() == [1, 2, 2, 2, 4, 4, 4, 3, 0, 0, 0, 0, 0]
    assert workflow.places.dtype == np.uint8


@pytest.mark.parametrize("index", [-1, 120])
def test_an_index_beyond_the_last_order_is_refused(index):
    with pytest.raises(ValueError, match=f"no order has index {index}; 5 groups have 120 orders"):
        Workflow.from_index(index)


@pytest.mark.parametrize("index", [1.0, "1", True])
def test_an_index_that_is_no_whole_number_is_refused(index):
    with pytest.raises(TypeError):
        Workflow.from_index(index)


@pytest.mark.parametrize(
    ("read", "given_form", "complaint"),
    [
        (Workflow.from_ranks, [0, 1, 2, 3, 3], r"ranks \[0, 1, 2, 3, 3\] are no order"),
        (Workflow.from_ranks, [0, 1], "ranks have 2 columns; there are 5 groups"),
        (Workflow.from_one_hot, np.zeros((5, 5)), "not one-hot"),
        (Workflow.from_one_hot, np.eye(4), r"has shape \(4, 4\); for 5 groups it is \(5, 5\)"),
    ],
)
def test_a_form_of_no_order_is_refused(read, given_form, complaint):
    with pytest.raises(ValueError, match=complaint):
        read(given_form)


# --- drawing


@pytest.mark.parametrize("groups", [DEFAULT_GROUPS, HOST_GROUPS, HALVES])
def test_draws_repeat_with_their_seed(groups):
    def draws(seed):
        random = np.random.default_rng(seed)
        return [Workflow.random(random, groups) for _ in range(40)]

    assert draws(3) == draws(3)
    assert draws(3) != draws(4)


def test_draws_are_uniform():
    random = np.random.default_rng(8)
    counts = np.bincount([Workflow.random(random).index for _ in range(12_000)], minlength=120)
    chi_squared = ((counts - 100) ** 2 / 100).sum()
    assert 60 < chi_squared < 200  # 119 degrees of freedom


@pytest.mark.parametrize("groups", [DEFAULT_GROUPS, HOST_GROUPS])
def test_a_sample_holds_no_order_twice(groups):
    sample = Workflow.sample(np.random.default_rng(2), 100, groups)
    assert len(set(sample)) == 100


def test_a_sample_of_all_orders_holds_them_all():
    assert set(Workflow.sample(np.random.default_rng(2), 120)) == set(Workflow.every())


@pytest.mark.parametrize("count", [-1, 121])
def test_a_sample_larger_than_all_orders_is_refused(count):
    with pytest.raises(
        ValueError, match=f"{count} different orders cannot be drawn; 5 .* have 120"
    ):
        Workflow.sample(np.random.default_rng(2), count)


# --- among the others


@pytest.mark.parametrize(("kind", "count"), [("adjacent", 4), ("swaps", 10), ("insertions", 16)])
def test_neighbours_are_one_move_away(kind, count):
    workflow = Workflow(ORDER)
    neighbours = workflow.neighbours(kind)
    assert len(neighbours) == count
    assert all(workflow in neighbour.neighbours(kind) for neighbour in neighbours)


def test_adjacent_neighbours_are_all_orders_at_the_least_kendall_distance():
    workflow = Workflow(ORDER)
    nearest = {w for w in Workflow.every() if workflow.kendall(w, normalised=False) == 1}
    assert set(workflow.neighbours()) == nearest


def test_an_unknown_kind_of_neighbour_is_refused():
    with pytest.raises(
        ValueError, match="'near' are not known; they are one of adjacent, swaps, i"
    ):
        Workflow(ORDER).neighbours("near")


def test_distances_of_two_workflows():
    a, b = Workflow(ORDER), Workflow("user, op_server, enterprise, defender, op_host")
    assert a.kendall(b, normalised=False) == 4
    assert a.kendall(b) == pytest.approx(0.4)
    assert a.footrule(b, normalised=False) == 8
    assert a.footrule(b) == pytest.approx(8 / 12)


@pytest.mark.parametrize("distance", [Workflow.kendall, Workflow.footrule])
def test_orders_of_other_groups_have_no_distance(distance):
    with pytest.raises(ValueError, match="orders other groups than the rest"):
        distance(Workflow(ORDER), Workflow("a, b", HALVES))


def test_ranks_and_places_of_many():
    some = Workflow.sample(np.random.default_rng(6), 9)
    ranks = ranks_of(some)
    assert ranks.shape == (9, 5)
    assert (places(ranks, DEFAULT_GROUPS) == [w.places for w in some]).all()
    assert ranks_of([], DEFAULT_GROUPS).shape == (0, 5)


def test_workflows_of_different_groups_do_not_mix():
    with pytest.raises(ValueError, match="orders other groups than the rest: defender, enterprise"):
        ranks_of([Workflow(ORDER), Workflow("a, b", HALVES)])
