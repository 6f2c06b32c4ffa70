"""Drawings: figures of Matplotlib whose marks can carry a hint, as SVG and as PNG.

On a page a drawing takes the colours of the page, light or dark, and the page's typeface.
In a file it stands on white. The same drawing gives the same bytes.
"""

import io
import re
import xml.etree.ElementTree as Xml
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fixfirst.view.markup import Html
from fixfirst.view.palette import LIGHT, variable_of

UNITS = 72.0  # of an SVG in an inch
_DOTS = 220  # of a PNG in an inch
_SALT = "fixfirst"  # what Matplotlib derives its ids from, instead of chance

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "svg.hashsalt": _SALT,
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11.0,
    "axes.titlesize": 11.0,
    "axes.titlelocation": "left",
    "axes.labelcolor": LIGHT["muted"],
    "axes.edgecolor": LIGHT["muted"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": LIGHT["rule"],
    "grid.linewidth": 0.8,
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelcolor": LIGHT["muted"],
    "ytick.labelcolor": LIGHT["muted"],
    "legend.frameon": False,
    "legend.fontsize": 10.5,
    "lines.solid_capstyle": "butt",
}
_FONT = "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"


@contextmanager
def style() -> Iterator[None]:
    """The look of all drawings; they are made and written within it."""
    with rc_context(_STYLE):
        yield


class Drawing:
    """A figure, and the hints of its marks."""

    def __init__(self, width: float, height: float) -> None:
        """An empty drawing, in units of an SVG."""
        self.figure = Figure(figsize=(width / UNITS, height / UNITS), layout="constrained")
        self.hints: dict[str, str] = {}

    def axes(self, rows: int = 1) -> list[Axes]:
        """Empty axes below each other, which share what runs to the right."""
        made = self.figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
        for one in made:
            one.patch.set_alpha(0.0)
            one.tick_params(length=0)
        return list(made)

    def hint(self, mark: Artist, text: str) -> None:
        """Say more about a mark, where a reader points at it."""
        name = f"hint{len(self.hints)}"
        mark.set_gid(name)
        self.hints[name] = text

    # --- out of the house

    def png(self) -> bytes:
        """As a picture on white."""
        return self._written("png", facecolor="white", dpi=_DOTS)

    def svg(self) -> bytes:
        """As a file of its own on white."""
        return self._written("svg", facecolor="white")

    def inline(self, name: str, alt: str) -> Html:
        """As an element of a page, in the page's colours. `name` is unlike those of others."""
        root = Xml.fromstring(self._written("svg", transparent=True))  # noqa: S314
        _drop(root, ("metadata", "style"))
        for element in root.iter():
            _make_plain(element, name)
            hint = self.hints.get(element.get("id", "").removeprefix(f"{name}-"))
            if hint is not None:
                title = Xml.Element("title")
                title.text = hint
                element.insert(0, title)
        _drop_ids(root)
        box = root.attrib["viewBox"]
        root.attrib.clear()
        root.attrib.update({"viewBox": box, "role": "img", "aria-label": alt, "id": name})
        return Html(Xml.tostring(root, encoding="unicode", short_empty_elements=True))

    def _written(self, kind: str, **how: object) -> bytes:
        file = io.BytesIO()
        # No date, no program: the same record gives the same file.
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        self.figure.savefig(file, format=kind, metadata=metadata, **how)  # type: ignore[arg-type]
        return file.getvalue()


def _drop(root: Xml.Element, names: tuple[str, ...]) -> None:
    """Take out elements that a page has no use for."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.removeprefix(_SVG) in names:
                parent.remove(child)


def _make_plain(element: Xml.Element, name: str) -> None:
    """Names without namespaces, ids that no other drawing has, colours of the page."""
    element.tag = element.tag.removeprefix(_SVG)
    for key, value in list(element.attrib.items()):
        del element.attrib[key]
        new = value
        if key == "id":
            new = f"{name}-{value}"
        elif key.endswith("href"):
            new = f"#{name}-{value.removeprefix('#')}"
        elif key == "style":
            new = _COLOUR.sub(lambda colour: variable_of(colour[0]), value)
            new = new.replace("'DejaVu Sans'", _FONT)
        new = _REFERENCE.sub(rf"url(#{name}-\1)", new)
        element.set(key.removeprefix(_XLINK), new)


def _drop_ids(root: Xml.Element) -> None:
    """Take out the ids that nothing refers to."""
    used = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            used.update(_REFERENCE.findall(value))
            if key == "href":
                used.add(value.removeprefix("#"))
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
