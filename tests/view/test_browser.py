"""The page in a real browser: at the width of a phone and of a desk, with its scripts."""

import html
import json
import re
import shutil
import subprocess

import pytest

from tests.view.conftest import page_of

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((found for found in map(shutil.which, NAMES) if found), None)

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason=f"needs a browser; none of {', '.join(NAMES)} is installed"
)

# Runs after the page's own script, uses the page as a reader would, and writes down what came.
_PROBE = """
<script>{
const told = {}, root = document.documentElement;
told.inner = innerWidth;
told.overflow = root.scrollWidth - root.clientWidth;
told.shown = [...document.querySelectorAll("figure svg")]
  .filter(svg => svg.getBoundingClientRect().width > 0).map(svg => svg.id);
told.dark = getComputedStyle(root).getPropertyValue("--ground");
const filter = document.querySelector("#filter");
if (filter) {
  const rows = [...document.querySelector("#orders-table").tBodies[0].rows];
  const button = document.querySelectorAll("#orders-table th button")[4];
  const order = () => [...document.querySelector("#orders-table").tBodies[0].rows]
    .map(row => Number(row.cells[4].dataset.value));
  button.click();
  told.up = order();
  button.click();
  told.down = order();
  told.sorted = button.parentNode.getAttribute("aria-sort");
  filter.value = "defender > user";
  filter.dispatchEvent(new Event("input"));
  told.left = rows.filter(row => !row.hidden).map(row => row.cells[1].textContent);
  told.count = document.querySelector(".filter output").textContent;
}
const marks = [...document.querySelectorAll("figure svg g")];
for (const one of marks) one.dispatchEvent(new PointerEvent("pointerenter", {clientX: 380}));
const box = document.querySelector("#hint");
told.hint = box.hidden ? "" : box.textContent;
told.titles = document.querySelectorAll("figure svg title").length;
root.dataset.told = JSON.stringify(told);
}</script>
"""


def visit(folder, name, width, *options):
    """What the probe tells of a page, and what the browser complains of."""
    file = folder / "page.html"
    file.write_text(page_of(name).replace("</body>", f"{_PROBE}</body>"), encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900", *options,
            "--dump-dom", file.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    told = re.search(r'data-told="([^"]*)"', done.stdout)
    assert told, done.stderr
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(told[1])), said


@pytest.mark.parametrize("name", ["finished", "13 groups", "custom groups", "new"])
def test_on_a_phone_nothing_overflows_and_nothing_goes_wrong(name, tmp_path):
    told, said = visit(tmp_path, name, 390)
    assert told["inner"] <= 500
    assert told["overflow"] <= 0
    assert said == []
    if name == "finished":
        assert "reward-by-trial-narrow-svg" in told["shown"]
        assert "reward-by-trial-svg" not in told["shown"]
        assert "place-map-svg" in told["shown"]


def test_at_a_desk_tables_sort_and_filter_and_marks_have_hints(tmp_path):
    told, said = visit(tmp_path, "finished", 1280)
    assert said == []
    assert told["overflow"] <= 0
    assert "reward-by-trial-svg" in told["shown"]
    assert "reward-by-trial-narrow-svg" not in told["shown"]
    assert told["up"] == sorted(told["up"])
    assert told["down"] == sorted(told["up"], reverse=True)
    assert told["up"] != told["down"]
    assert told["sorted"] == "descending"
    assert len(told["left"]) == 60
    for order in told["left"]:
        assert order.index("defender") < order.index("user")
    assert told["count"] == "60 of 120"
    assert told["hint"] != ""
    assert told["titles"] == 0  # the script shows them, so that none is shown twice


def test_dark_readers_get_a_dark_page(tmp_path):
    told, _ = visit(tmp_path, "new", 1280, "--blink-settings=preferredColorScheme=0")
    assert told["dark"] == "#15181c"
