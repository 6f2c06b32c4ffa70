"""What docs/workflows.md shows is so."""

import re
from pathlib import Path

import pytest

from fixfirst.workflow.groups import Groups
from fixfirst.workflow.orders import WELL_KNOWN, Workflow

PAGE = (Path(__file__).parents[2] / "docs" / "workflows.md").read_text(encoding="utf-8")


def test_the_groups_file_on_the_page_can_be_read(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "mine.toml"
    path.write_text(text)
    assert Groups.from_toml(path).names == ("servers", "clients", "others")


def test_the_page_lists_the_well_known_orders():
    listed = dict(re.findall(r"^\| ([a-z-]+) \| (.* > .*) \|$", PAGE, re.MULTILINE))
    assert listed == WELL_KNOWN


def test_the_example_on_the_page_gives_what_it_says():
    (text,) = re.findall(r'order = Workflow\("(.*)"\)', PAGE)
    order = Workflow(text)
    (index,) = re.findall(r"order\.index +# (\d+)", PAGE)
    (distance,) = re.findall(r"order\.kendall.* # ([\d.]+)", PAGE)
    assert order.index == int(index)
    assert order.kendall(Workflow("critical-first")) == pytest.approx(float(distance))
