"""Where a person's lines come from: a prompt with completion, or a pipe."""

import sys
from collections.abc import Callable, Iterator, Mapping

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from fixfirst.cli import words
from fixfirst.game import facts, names
from fixfirst.game.tables import ACTION_NAMES, BLUE_KINDS, HOST_NAMES, SUBNET_NAMES, SUBNET_OF

# Lines kept free below the prompt: with blue's table they fit on a screen of 24.
MENU_LINES = 5

Reader = Callable[[str], str | None]


def reader(commands: Mapping[str, str]) -> Reader:
    """A function that asks for a line, and answers `None` when there are no more."""
    return typed(commands) if is_terminal() else piped


def is_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def typed(commands: Mapping[str, str]) -> Reader:
    """Lines from the keyboard, with completion and history."""
    session: PromptSession[str] = PromptSession(
        completer=ActionCompleter(commands), reserve_space_for_menu=MENU_LINES
    )

    def ask(prompt: str) -> str | None:
        try:
            return session.prompt(prompt)
        except EOFError:
            return None

    return ask


def piped(prompt: str) -> str | None:
    """Lines from standard input, without a prompt."""
    line = sys.stdin.readline()
    return line or None


class ActionCompleter(Completer):
    """Completes a verb or command, then what it takes; also numbers."""

    def __init__(self, commands: Mapping[str, str]) -> None:
        self._commands = commands

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        """What the word before the cursor can become."""
        *before, word = document.text_before_cursor.split(" ")
        before = [earlier for earlier in before if earlier]
        for text, about in self._candidates(before, word):
            yield Completion(
                text, start_position=-len(word), display=text.strip(), display_meta=about
            )

    def _candidates(self, before: list[str], word: str) -> Iterator[tuple[str, str]]:
        if before and before[0].lower() == "describe":
            before = before[1:]
        elif not before:
            yield from self._found(word, self._commands)
        if not before and word.isdecimal():
            for number, name in enumerate(ACTION_NAMES):
                if str(number).startswith(word):
                    yield str(number), name
        elif not before:
            yield from self._found(word, _VERBS)
        elif len(before) == 1 and _takes_host(before[0]):
            yield from self._found(word, _HOSTS)

    @staticmethod
    def _found(word: str, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for name in words.matches(word, list(known)):
            space = " " if name == "describe" or _takes_host(name) else ""
            yield name + space, known[name]


def _takes_host(word: str) -> bool:
    try:
        return words.one_of(word, BLUE_KINDS, "action") not in words.ALONE
    except ValueError:
        return False


def about_verb(verb: str) -> str:
    """What a verb does, in a line."""
    for decoy in facts.DECOYS:
        if decoy.name == verb:
            only = f", {decoy.os} only" if decoy.os else ""
            return f"place a false {decoy.kind} service on port {decoy.opened}{only}"
    host = "" if verb in words.ALONE else f" {HOST_NAMES[0]}"
    about = names.describe(names.action_index(verb + host)).partition(": ")[2]
    return about.replace(HOST_NAMES[0], "a host")


_VERBS = {verb: about_verb(verb) for verb in BLUE_KINDS}
_HOSTS = {
    name: f"subnet {SUBNET_NAMES[subnet]}"
    for name, subnet in zip(HOST_NAMES, SUBNET_OF, strict=True)
}
