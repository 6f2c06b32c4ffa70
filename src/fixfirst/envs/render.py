"""The two tables of a game as text: what blue sees, and what is so."""

from collections.abc import Sequence

import numpy as np

from fixfirst.envs.batch import Batch
from fixfirst.game import facts, tables
from fixfirst.game.truth import TrueState

PLACE_TITLES = ("Subnet", "IP Address", "Hostname")
BLUE_TITLES = (*PLACE_TITLES, "Activity", "Compromised")
TRUE_TITLES = (*PLACE_TITLES, "Known", "Scanned", "Access")


def rows_of(batch: Batch, game: int) -> tuple[list[list[str]], list[list[str]]]:
    """The rows of blue's table and of the true table of one game, a host each."""
    state = TrueState(batch.games[game : game + 1])
    subnets, addresses = _addresses(batch, game)
    activity, belief, level = state.activity[0], state.belief[0], state.level[0]
    known, scanned = state.known_addresses[0], state.scanned[0]
    blue_rows, true_rows = [], []
    for host, name in enumerate(tables.HOST_NAMES):
        place = [subnets[tables.SUBNET_OF[host]], addresses[host], name]
        blue_rows.append([*place, facts.ACTIVITIES[activity[host]], facts.BELIEFS[belief[host]]])
        true_rows.append([*place, str(known[host]), str(scanned[host]), facts.LEVELS[level[host]]])
    return blue_rows, true_rows


def tables_of(batch: Batch, game: int) -> tuple[str, str]:
    """Blue's table and the true table of one game, as text."""
    blue_rows, true_rows = rows_of(batch, game)
    return grid(BLUE_TITLES, blue_rows), grid(TRUE_TITLES, true_rows)


def tables_text(batch: Batch, game: int) -> str:
    """Both tables, and what happened in the step."""
    blue, true = tables_of(batch, game)
    return f"{headline(batch, game)}\n\nBlue sees:\n{blue}\n\nThe truth:\n{true}"


def headline(batch: Batch, game: int) -> str:
    """One line on the last step: both actions, the reward, the sum."""
    state = TrueState(batch.games[game : game + 1])
    step = int(state.step[0])
    red = facts.REDS[state.red[0]]
    if step == 0:
        return f"Step 0 of {batch.options.horizon}, red is {red}"
    return (
        f"Step {step} of {batch.options.horizon}   "
        f"blue: {tables.ACTION_NAMES[state.blue_action[0]]}   red ({red}): {red_move(state)}   "
        f"reward {state.reward[0]:+.1f}, sum {state.episode_return[0]:+.1f}"
    )


def red_move(state: TrueState) -> str:
    """Red's last action in words."""
    action, target, subnet = (
        int(x[0]) for x in (state.red_action, state.red_target, state.red_subnet)
    )
    words = [facts.RED_ACTIONS[action]]
    if subnet != tables.NONE:
        words.append(tables.SUBNET_NAMES[subnet])
    elif target != tables.NONE:
        words.append(tables.HOST_NAMES[target])
    words.append(("failed", "succeeded", "")[int(state.red_success[0])])
    return " ".join(word for word in words if word)


def grid(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a frame of dashes, each cell in the middle of its column."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [
        "|" + "|".join(f" {cell:^{width}} " for cell, width in zip(row, widths, strict=True)) + "|"
        for row in (titles, *rows)
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def _addresses(batch: Batch, game: int) -> tuple[list[str], list[str]]:
    """Subnets and host addresses as text. The fast source draws none."""
    if batch.ids is None:
        return list(tables.SUBNET_NAMES), ["-"] * tables.HOSTS
    ids = batch.ids[game]
    networks = [
        f"{_dotted(facts.NETWORK_SIZE * int(network))}/28" for network in np.asarray(ids.network)
    ]
    return networks, [_dotted(int(address)) for address in np.asarray(ids.address)]


def _dotted(offset: int) -> str:
    return f"10.0.{offset >> 8}.{offset & 255}"
