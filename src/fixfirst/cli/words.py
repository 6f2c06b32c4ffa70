"""Actions as people type them: any case, shortened, or as numbers."""

import difflib
from collections.abc import Callable, Sequence

from fixfirst.game import names
from fixfirst.game.tables import ACTION_HOST, ACTION_NAMES, ACTIONS, BLUE_KINDS, HOST_NAMES, NONE

# The verbs that take no host.
ALONE = tuple(name for name, host in zip(ACTION_NAMES, ACTION_HOST, strict=True) if host == NONE)


def action_of(text: str) -> int:
    """The number of the action that was typed: `132`, `Restore Defender`, `rest def`."""
    words = text.split()
    if len(words) == 1 and words[0].isdecimal():
        number = int(words[0])
        if number >= ACTIONS:
            raise ValueError(f"action {number} does not exist; actions are 0 to {ACTIONS - 1}")
        return number
    if not words:
        raise ValueError("no action was named")
    verb = one_of(words[0], BLUE_KINDS, "action")
    if verb in ALONE:
        if len(words) > 1:
            raise ValueError(f"{verb} takes no host, so {' '.join(words[1:])!r} has no meaning")
        return names.action_index(verb)
    if len(words) != 2:
        raise ValueError(f"{verb} takes one host, as in {verb} User1; {len(words) - 1} were named")
    return names.action_index(f"{verb} {one_of(words[1], HOST_NAMES, 'host')}")


def one_of(word: str, known: Sequence[str], what: str) -> str:
    """The one known name that a word stands for, or an error that helps."""
    found = _closest(word, known)
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{word!r} could be {', '.join(found)}; type a little more")
    near = difflib.get_close_matches(word.lower(), [name.lower() for name in known], n=3)
    hint = [name for name in known if name.lower() in near] or known
    ask = "did you mean" if near else f"{what}s are"
    raise ValueError(f"no {what} is named {word!r}; {ask} {', '.join(hint)}")


def matches(word: str, known: Sequence[str]) -> list[str]:
    """All known names that a word could become, the likeliest first."""
    ranked: dict[str, None] = {}
    for fits in _WAYS:
        ranked.update((name, None) for name in known if fits(word.lower(), name.lower()))
    return list(ranked)


def _closest(word: str, known: Sequence[str]) -> list[str]:
    """The names that a word stands for in the strictest way in which it stands for any."""
    for fits in _WAYS:
        found = [name for name in known if fits(word.lower(), name.lower())]
        if found:
            return found
    return []


def _equal(word: str, name: str) -> bool:
    return word in (name, name.removeprefix("decoy"))


def _begins(word: str, name: str) -> bool:
    return name.startswith(word) or name.removeprefix("decoy").startswith(word)


def _within(word: str, name: str) -> bool:
    """Whether the letters of the word occur in the name, in that order."""
    letters = iter(name)
    return all(letter in letters for letter in word)


def _begins_and_within(word: str, name: str) -> bool:
    return word[:1] == name[:1] and _within(word, name)


# How a word can stand for a name, strictest first.
_WAYS: tuple[Callable[[str, str], bool], ...] = (_equal, _begins, _begins_and_within, _within)
