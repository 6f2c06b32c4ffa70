"""Where games are played: the built-in game, or the real CybORG in a folder."""

import os

BUILT_IN = "fixfirst"
ON_CYBORG = "cyborg:"


def cyborg_folder_in(on: str | os.PathLike[str]) -> str | None:
    """The folder in "cyborg:DIR"; None for the built-in game."""
    where = os.fspath(on)
    if where == BUILT_IN:
        return None
    if not where.startswith(ON_CYBORG) or where == ON_CYBORG:
        raise ValueError(
            f"on={where!r} is not known; it is {BUILT_IN}, or {ON_CYBORG}DIR for the CybORG in a "
            "checkout of cage-challenge-2"
        )
    return where.removeprefix(ON_CYBORG)
