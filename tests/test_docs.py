"""The links of the documentation lead where they say.

Every relative link of `docs/*.md` and `README.md` points at something that exists, and a
function or test that a link names is defined in the file it leads to.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md")) + [p for p in [ROOT / "README.md"] if p.exists()]

_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_INLINE = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
_REFERRED = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]+)\]")
_DEFINED = re.compile(r"^\[([^\[\]]+)\]: +(\S+)$", re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_NAME = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?`")


class Link(NamedTuple):
    """A link of a page: what it says, and where it leads."""

    page: Path
    text: str
    target: str

    @property
    def path(self) -> Path:
        """The file it leads to; the page itself if it names only an anchor."""
        named = self.target.partition("#")[0]
        return (self.page.parent / named).resolve() if named else self.page


@functools.cache
def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """The page without its blocks of code, and without code that has brackets of its own."""
    return _CODE.sub(lambda code: "" if "[" in code[0] else code[0], _FENCED.sub("", read(page)))


def links(page: Path) -> Iterator[Link]:
    """All links that do not leave the project."""
    text = prose(page)
    defined = dict(_DEFINED.findall(text))
    pairs = _INLINE.findall(text)
    pairs += [
        (said, defined.get(name, f"undefined:{name}")) for said, name in _REFERRED.findall(text)
    ]
    for said, target in pairs:
        if not re.match(r"(https?|mailto):", target):
            yield Link(page, said, target)


@functools.cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors that GitHub gives a page's headings."""
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(prose(page)))
    return frozenset(text.replace(" ", "-") for text in kept)


@functools.cache
def definitions(path: Path) -> frozenset[str]:
    """What a source file defines at its top, and in its classes as `Class.name`."""
    return frozenset(_defined(ast.parse(path.read_text(encoding="utf-8")).body))


def _defined(body: list[ast.stmt], within: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield within + node.name
        if isinstance(node, ast.ClassDef):
            yield from _defined(node.body, f"{within}{node.name}.")
            # A test of a class goes by its own name too.
            yield from (n for n in _defined(node.body) if n.startswith("test_"))
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for name in ast.walk(target) if target is not None else ():
                if isinstance(name, ast.Name):
                    yield within + name.id


def missing(link: Link) -> list[str]:
    """The names in a link's text that the source file it leads to does not define."""
    here, defined = link.path.stem, definitions(link.path)
    said = [name.removeprefix("fixfirst.") for name in _NAME.findall(link.text)]
    said = [name for name in said if not name.endswith(".py") and name != here]
    room = ".".join(link.path.parts[-2:]).removesuffix(".py")
    return [
        name
        for name in said
        if not {name, name.removeprefix(f"{room}."), name.removeprefix(f"{here}.")} & defined
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_something_that_exists(page):
    for link in links(page):
        assert link.path.exists(), f"{link.text} -> {link.target}"
        _, _, anchor = link.target.partition("#")
        if anchor and link.path.suffix == ".md":
            assert anchor in anchors(link.path), f"{link.text} -> {link.target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_function_and_test_that_a_link_names_is_in_its_file(page):
    wrong = [
        f"{link.path.name} has no {', '.join(missing(link))}"
        for link in links(page)
        if link.path.suffix == ".py" and missing(link)
    ]
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_reference_is_used(page):
    text = prose(page)
    assert {n for n, _ in _DEFINED.findall(text)} <= {n for _, n in _REFERRED.findall(text)}
