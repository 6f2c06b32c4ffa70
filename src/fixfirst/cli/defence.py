"""A person's game: what is typed, what comes of it, and the account at the end."""

from collections.abc import Callable
from typing import NamedTuple

from rich.table import Table

from fixfirst.cli import console, prompt, show, words
from fixfirst.cli.options import Setting
from fixfirst.envs.snapshot import Snapshot
from fixfirst.game import names
from fixfirst.game.tables import BLUE_KINDS
from fixfirst.judge.blues import SCRIPTS
from fixfirst.judge.play import play

# Episodes of each scripted blue with which a person's score is compared.
COMPARED = 1000


def run(setting: Setting) -> None:
    """Play one episode by the lines that are typed or piped in."""
    defence = Defence(setting)
    at_terminal = prompt.is_terminal()
    read = prompt.reader({name: command.about for name, command in COMMANDS.items()})
    defence.greet()
    number = 0
    while not defence.over:
        line = read(f"step {defence.step + 1} of {setting.horizon}> ")
        if line is None:
            break
        number += 1
        try:
            defence.obey(line)
        except ValueError as problem:
            if not at_terminal:
                raise ValueError(f"line {number}: {problem}") from None
            console.complain(str(problem))
    defence.account()


class Defence:
    """One episode, its past, and the commands on it."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.batch = show.new_game(setting)
        self.moves: list[show.Move] = []
        self._before: list[Snapshot] = []
        self._left = False
        self._looks = 0
        self._taken_back = 0

    @property
    def step(self) -> int:
        """Steps played."""
        return len(self.moves)

    @property
    def over(self) -> bool:
        """Whether the horizon is reached, or the player has left."""
        return self._left or self.step >= self.setting.horizon

    def greet(self) -> None:
        """Print what the game is, and blue's table."""
        show.blue_table(self.batch)
        console.say(f"You defend against {self.setting}.")
        if prompt.is_terminal():
            console.say('Type an action such as "Analyse User1"; Tab completes, "help" tells more.')

    def obey(self, line: str) -> None:
        """Do what a line says: a command, or an action."""
        word, _, rest = line.strip().partition(" ")
        if not word:
            return
        if not word.isdecimal():
            word = words.one_of(word, (*BLUE_KINDS, *COMMANDS), "action or command")
        if word not in COMMANDS:
            self.act(words.action_of(f"{word} {rest}"))
            return
        command = COMMANDS[word]
        if rest.strip() and not command.takes_action:
            raise ValueError(f"{word} stands alone, so {rest.strip()!r} has no meaning")
        command.do(self, rest)

    def act(self, action: int) -> None:
        """Play an action."""
        before = self.batch.save()
        self.batch.step([action])
        self._before.append(before)
        move = show.last_move(self.batch)
        self.moves.append(move)
        show.blue_table(self.batch)
        console.say(
            f"Step {move.step} of {self.setting.horizon}   {move.blue}   "
            f"reward {move.reward:+.1f}, sum {move.total:+.1f}"
        )

    # --- commands

    def help(self, _: str) -> None:
        """Print what can be typed."""
        guide = Table.grid(padding=(0, 2))
        guide.add_row("[bold]Actions[/bold]", "shortened as you like: rest u1 is Restore User1")
        for verb in BLUE_KINDS:
            host = "" if verb in words.ALONE else " HOST"
            guide.add_row(f"  {verb}{host}", prompt.about_verb(verb))
        guide.add_row("  0 to 144", "the action of that number")
        guide.add_row("[bold]Commands[/bold]", "these, too")
        for name, command in COMMANDS.items():
            guide.add_row(f"  {name}{' ACTION' if command.takes_action else ''}", command.about)
        console.out.print(guide)

    def describe(self, rest: str) -> None:
        """Print what an action does."""
        action = words.action_of(rest)
        console.say(f"{action}  {names.describe(action)}")

    def table(self, _: str) -> None:
        """Print blue's table again."""
        show.blue_table(self.batch)

    def truth(self, _: str) -> None:
        """Print the true table."""
        self._looks += 1
        show.true_table(self.batch)

    def undo(self, _: str) -> None:
        """Take the last step back, dice and all."""
        if not self.moves:
            raise ValueError("there is no step to take back")
        self.batch.load(self._before.pop())
        self.moves.pop()
        self._taken_back += 1
        show.blue_table(self.batch)
        console.say(f"Back to step {self.step} of {self.setting.horizon}")

    def quit(self, _: str) -> None:
        """Leave before the end."""
        self._left = True

    # --- the end

    def account(self) -> None:
        """Print the score, what red did, and what scripts score."""
        score = self.moves[-1].total if self.moves else 0.0
        horizon = self.setting.horizon
        steps = f"{self.step} steps" if self.step == horizon else f"{self.step} of {horizon} steps"
        console.say("")
        if self.moves:
            console.say(f"What happened\n{show.MOVE_TITLES}")
            console.say("\n".join(move.line() for move in self.moves) + "\n")
        console.say(f"Your score after {steps}: {score:.1f}{self._aids()}")
        if self.step == horizon:
            self._compare(score)

    def _aids(self) -> str:
        """What helped the player, in brackets."""
        aids = []
        if self._taken_back:
            aids.append(f"{self._taken_back} taken back")
        if self._looks:
            aids.append(f"{self._looks} look{'' if self._looks == 1 else 's'} at the truth")
        return f" ({', '.join(aids)})" if aids else ""

    def _compare(self, score: float) -> None:
        setting = self.setting
        others = Table(title=f"Others in {COMPARED:,} such games", title_justify="left")
        others.add_column("blue")
        others.add_column("score", justify="right")
        with console.spinner("Letting others play"):
            for policy in SCRIPTS:
                played = play(
                    policy, setting.red, rules=setting.rules, horizon=setting.horizon,
                    episodes=COMPARED, rng=setting.rng, threads=1,
                )  # fmt: skip
                others.add_row(policy, console.score(played))
        others.add_row("you", f"{score:.1f}", style="bold")
        console.out.print(others)


class Command(NamedTuple):
    """Something to type that is no action."""

    do: Callable[[Defence, str], None]
    about: str
    takes_action: bool = False


COMMANDS = {
    "help": Command(Defence.help, "this list"),
    "describe": Command(Defence.describe, "what an action does", takes_action=True),
    "table": Command(Defence.table, "blue's table again"),
    "truth": Command(Defence.truth, "look at the true state, which blue cannot see"),
    "undo": Command(Defence.undo, "take the last step back, dice and all"),
    "quit": Command(Defence.quit, "leave; what red did is shown then"),
}
