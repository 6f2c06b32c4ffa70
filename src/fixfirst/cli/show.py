"""A game on the screen: blue's table and the true one, in colour or as plain text."""

from typing import NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from fixfirst.cli import console
from fixfirst.cli.options import Setting
from fixfirst.envs import options, render
from fixfirst.envs.batch import Batch
from fixfirst.game import facts, tables

# How each word of the tables is coloured; words that are not here are left as they are.
STYLES = {
    "Scan": "yellow",
    "Exploit": "bold red",
    "Unknown": "yellow",
    "User": "red",
    "Privileged": "bold red",
    "None": "dim",
    "No": "dim",
    "True": "yellow",
    "False": "dim",
}

# From this width on there is room for subnets, addresses and the names of decoys.
WIDE = 118

PLACES = len(render.PLACE_TITLES)
HOSTNAME = render.PLACE_TITLES.index("Hostname")


# Red's actions in one word each, in the order of `facts.RED_ACTIONS`.
RED_WORDS = ("sleep", "sweep", "scan", "exploit", "escalate", "impact", "invalid action")


def new_game(setting: Setting) -> Batch:
    """One game, its first episode begun."""
    chosen = options.checked(
        1, setting.red, setting.rules, setting.horizon, setting.rng, 1, "disabled"
    )
    with console.spinner("Getting the game ready"):
        batch = Batch(chosen, setting.seed)
        batch.reset()
        before = batch.save()
        batch.step([0])  # so that all is compiled before the first step that counts
        batch.load(before)
    return batch


class Move(NamedTuple):
    """A step in few words."""

    step: int
    blue: str
    red: str
    reward: float
    total: float  # of the rewards up to this step

    def line(self) -> str:
        """The move as a line of columns."""
        return (
            f"{self.step:>4}  {self.blue:<27} {self.red:<27} {self.reward:>7.1f} {self.total:>9.1f}"
        )


MOVE_TITLES = f"{'step':>4}  {'blue':<27} {'red':<27} {'reward':>7} {'sum':>9}"


def last_move(batch: Batch) -> Move:
    """The last step of a game."""
    state = batch.true_state
    words = [RED_WORDS[state.red_action[0]]]
    if state.red_subnet[0] != tables.NONE:
        words.append(tables.SUBNET_NAMES[state.red_subnet[0]])
    elif state.red_target[0] != tables.NONE:
        words.append(tables.HOST_NAMES[state.red_target[0]])
    if state.red_success[0] == tables.FAILURE:
        words.append("failed")
    return Move(
        step=int(state.step[0]),
        blue=tables.ACTION_NAMES[state.blue_action[0]],
        red=" ".join(words),
        reward=float(state.reward[0]) + 0.0,  # no negative zero
        total=float(state.episode_return[0]) + 0.0,
    )


def step(batch: Batch) -> None:
    """Print the last step and the tables after it."""
    if not console.out.is_terminal:
        console.say(f"{render.tables_text(batch, 0)}\n")
        return
    move = last_move(batch)
    console.say(
        f"\nStep {move.step} of {batch.options.horizon}   reward {move.reward:+.1f}, "
        f"sum {move.total:+.1f}\nblue  {move.blue}\nred   {move.red}\n"
    )
    console.out.print(both_tables(batch))


def blue_table(batch: Batch) -> None:
    """Print what blue sees."""
    if not console.out.is_terminal:
        console.say(render.tables_of(batch, 0)[0])
        return
    rows, _ = render.rows_of(batch, 0)
    console.out.print(_table("", render.BLUE_TITLES, rows))


def true_table(batch: Batch) -> None:
    """Print what is so."""
    if not console.out.is_terminal:
        console.say(render.tables_of(batch, 0)[1])
        return
    _, rows = render.rows_of(batch, 0)
    titles, rows = _with_decoys(batch, render.TRUE_TITLES, rows, names=True)
    skipped = 0 if console.out.width >= WIDE else HOSTNAME
    console.out.print(
        _table("The truth (blue cannot see it)", titles[skipped:], [row[skipped:] for row in rows])
    )


def both_tables(batch: Batch) -> Table:
    """Both tables side by side; a host is a line across them."""
    wide = console.out.width >= WIDE
    blue_rows, true_rows = render.rows_of(batch, 0)
    first = 0 if wide else HOSTNAME
    titles, rows = _with_decoys(batch, render.TRUE_TITLES, true_rows, names=wide)
    pair = Table.grid(padding=(0, 2))
    pair.add_row(
        _table("Blue sees", render.BLUE_TITLES[first:], [row[first:] for row in blue_rows]),
        _table("The truth", titles[PLACES:], [row[PLACES:] for row in rows]),
    )
    return pair


def decoys_of(batch: Batch, host: int, names: bool) -> str:
    """The decoys that stand on a host, by name or by number."""
    counts = batch.true_state.decoys[0, host]
    if not names:
        return str(counts.sum()) if counts.any() else ""
    standing = []
    for decoy, count in zip(facts.DECOYS, counts, strict=True):
        if count:
            times = f" x{count}" if count > 1 else ""
            standing.append(decoy.name.removeprefix("Decoy") + times)
    return ", ".join(standing)


def _with_decoys(
    batch: Batch, titles: tuple[str, ...], rows: list[list[str]], names: bool
) -> tuple[tuple[str, ...], list[list[str]]]:
    decoys = [decoys_of(batch, host, names) for host in range(tables.HOSTS)]
    return (*titles, "Decoys"), [
        [*row, standing] for row, standing in zip(rows, decoys, strict=True)
    ]


def _table(title: str, titles: tuple[str, ...], rows: list[list[str]]) -> Table:
    # Without addresses (the fast source draws none) their column says nothing.
    kept = [k for k in range(len(titles)) if any(row[k] != "-" for row in rows)]
    table = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_edge=False,
        padding=(0, 2, 0, 0),
    )  # fmt: skip
    for k in kept:
        table.add_column(titles[k], no_wrap=titles[k] != "Decoys")
    for row in rows:
        table.add_row(*(Text(row[k], style=STYLES.get(row[k], "")) for k in kept))
    return table
