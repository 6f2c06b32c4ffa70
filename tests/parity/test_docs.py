"""docs/differences.md and docs/parity.md leave nothing out. Their links have a test elsewhere."""

import re
from pathlib import Path

from fixfirst.parity.live import READINGS
from fixfirst.parity.policies import POLICIES

DOCS = Path(__file__).parents[2] / "docs"
DIFFERENCES, PARITY = ((DOCS / name).read_text() for name in ("differences.md", "parity.md"))


def test_all_quirks_are_listed_in_order_with_a_test_each():
    ledger, _, _ = DIFFERENCES.partition("## The two rule versions")
    rows = re.findall(r"^\| (\d+) \|.*\|(.*)\|$", ledger, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 27))
    assert all("`test_" in tests for _, tests in rows)


def test_all_policies_are_described():
    _, _, section = PARITY.partition("## Who defends")
    section, _, _ = section.partition("\n## ")
    described = re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)
    assert described == list(POLICIES)


def test_all_readings_are_named():
    (listed,) = re.findall(r"<!-- readings -->(.*?)<!-- end -->", PARITY, re.DOTALL)
    assert re.findall(r"`([a-z_]+)`", listed) == list(READINGS)
