"""docs/rules.md cannot drift: its tables that repeat facts are compared with the code."""

import ast
import itertools
import re
from fractions import Fraction
from pathlib import Path

import pytest

from fixfirst.game import draws, facts, state, step, tables
from fixfirst.game import table as blue_table

PAGE = (Path(__file__).parents[1] / "docs" / "rules.md").read_text(encoding="utf-8")
LINES = PAGE.splitlines()
_NAME = re.compile(r"`([A-Za-z_][\w.]*)`")


def table(*head: str) -> list[dict[str, str]]:
    """The rows of the one table of docs/rules.md whose head begins with these words."""
    found = []
    for at, line in enumerate(LINES):
        cells = _cells(line)
        if tuple(cells[: len(head)]) != head:
            continue
        rows: list[dict[str, str]] = []
        for row in LINES[at + 2 :]:
            if not row.startswith("|"):
                break
            rows.append(dict(zip(cells, _cells(row), strict=True)))
        found.append(rows)
    (only,) = found
    return only


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []


def spread(text: str) -> list[str]:
    """Host names: "User0-2, Defender" is User0, User1, User2 and Defender."""
    names = []
    for part in text.split(", "):
        start, _, last = part.partition("-")
        stem, first = start[:-1], start[-1]
        names += [f"{stem}{k}" for k in range(int(first), int(last) + 1)] if last else [part]
    return names


def yes(flag: bool) -> str:
    return "yes" if flag else "-"


def test_hosts():
    for number, (row, host) in enumerate(zip(table("#", "host"), facts.HOSTS, strict=True)):
        assert list(row.values()) == [
            str(number), host.name, host.subnet, host.image, str(host.confidentiality),
            str(host.availability), host.blue_user, str(host.blue_sessions), yes(host.green),
            host.shows or "-",
        ]  # fmt: skip


def test_subnets():
    assert [list(row.values()) for row in table("subnet")] == [
        [subnet.name, ", ".join(subnet.hosts), yes(subnet.guarded)] for subnet in facts.SUBNETS
    ]


def test_images():
    rows = table("image", "system")
    assert [row["image"] for row in rows] == list(facts.IMAGES)
    for row, image in zip(rows, facts.IMAGES.values(), strict=True):
        listening = [process for process in image.processes if process.ports]
        shown = "; ".join(
            " ".join([p.kind, *map(str, p.ports)] + ["p"] * p.privileged) for p in listening
        )
        hidden = str(len(image.processes) - len(listening))
        assert list(row.values()) == [row["image"], image.os, shown, hidden]


def test_phases_of_a_step():
    (function,) = [
        node
        for node in ast.parse(Path(step.__file__).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == "step"
    ]
    called = [
        ast.unparse(statement.value.func)
        for statement in function.body
        if isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call)
    ]
    assert [_NAME.findall(row["function"])[0] for row in table("phase")] == called


def test_action_numbers():
    numbered = {row["action"]: row["numbers"] for row in table("action", "numbers")}
    numbered |= {row["decoy"]: row["numbers"] for row in table("decoy")}
    kinds = [name.partition(" ")[0] for name in tables.ACTION_NAMES]
    spans = {kind: [n for n, k in enumerate(kinds) if k == kind] for kind in kinds}
    decoys = [n for decoy in facts.DECOYS for n in spans[decoy.name]]
    assert numbered == {
        kind: "-".join(map(str, dict.fromkeys([min(span), max(span)])))
        for kind, span in [*spans.items(), ("Decoy...", decoys)]
    }


def test_decoys():
    rows = table("decoy")
    for k, (row, decoy) in enumerate(zip(rows, facts.DECOYS, strict=True)):
        assert [row[key] for key in ("decoy", "system", "port checked", "port opened", "kind")] == [
            decoy.name, decoy.os or "any", str(decoy.checked), str(decoy.opened), decoy.kind,
        ]  # fmt: skip
        assert row["runs as"] == ("SYSTEM" if decoy.privileged else "blue there")
        assert spread(row["hosts on which it fits at the start"]) == [
            name
            for host, name in enumerate(tables.HOST_NAMES)
            if tables.DECOY_FITS_OS[k, host]
            and not tables.IMAGE_PORTS[host] & tables.DECOY_CHECKED[k]
        ]


def test_red_actions():
    named = [(row["#"], row["action"]) for row in table("#", "action")]
    assert named == [(str(n), name) for n, name in enumerate(facts.RED_ACTIONS)]


def test_exploits():
    assert [list(row.values()) for row in table("exploit")] == [
        [
            e.name, str(e.port), ", ".join(map(str, e.also)) or "-", str(e.weight), e.kind,
            "login" if e.brute_force else "shell",
        ]
        for e in facts.EXPLOITS
    ]  # fmt: skip


def odds(host: int) -> str:
    """What a break-in brings on a fresh, scanned host, as the page writes it."""
    ports = tables.IMAGE_PORTS[host]
    options = [int(e) for e in tables.OPTIONS[ports, : tables.OPTION_COUNT[ports]]]
    heaviest = Fraction(facts.HEAVIEST_CHANCE) if len(options) > 1 else Fraction(1)
    told = []
    for e in options:
        share = heaviest if e == options[-1] else (1 - heaviest) / (len(options) - 1)
        level = ("none", "user", "privileged")[tables.IMAGE_SERVICE[host, e]]
        if tables.BRUTE_FORCE[e]:
            level = "none" if host == tables.UNGUESSABLE else "user"
        told.append(f"{facts.EXPLOITS[e].name} {share} {level}")
    return "; ".join(told)


def test_odds_on_a_fresh_host():
    told = {
        host: row["exploits, with chance and outcome"]
        for row in table("hosts", "exploits, with chance and outcome")
        for host in spread(row["hosts"])
    }
    assert told == {name: odds(host) for host, name in enumerate(tables.HOST_NAMES)}


def test_the_plan_of_bline():
    assert [list(row.values()) for row in table("entry", "action")] == [
        [str(entry), action, target, str(back)]
        for entry, ((action, target), back) in enumerate(
            zip(facts.BLINE_PLAN, facts.BLINE_ON_FAILURE, strict=True)
        )
    ]


def test_bits():
    rows = table("entry", "values, with their bits")
    for row, bits in zip(rows, (facts.ACTIVITY_BITS, facts.BELIEF_BITS), strict=True):
        told = ", ".join(f"{name} {a}{b}" for name, (a, b) in bits.items())
        assert row["values, with their bits"] == told


def test_rewards():
    values = sorted({host.confidentiality for host in facts.HOSTS})
    assert [row["tenths"] for row in table("for")] == [
        f"{', '.join(map(str, values[:-1]))} or {values[-1]}",
        str(sum(host.availability for host in facts.HOSTS)),
        str(facts.RESTORE_COST),
    ]
    worst = sum(h.confidentiality + h.availability for h in facts.HOSTS) + facts.RESTORE_COST
    assert f"0 to {worst / 10} points" in PAGE
    assert f"{worst} tenths a step at most" in PAGE


def test_rule_versions():
    (row, _) = table("rule", "latest")
    assert tuple(row)[1:3] == facts.RULES


def test_named_draws():
    """The page names each draw, and says which source makes it."""
    source = ast.parse(Path(draws.__file__).read_text(encoding="utf-8"))
    used = {
        node.name: {x.value.id for x in ast.walk(node) if _is_attribute_of_a_name(x)}
        for node in source.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    rows = {_NAME.findall(row["draw"])[0]: row for row in table("draw")}
    assert list(rows) == [*used, "processes.start"]
    for name, generators in used.items():
        assert ("xoshiro" in generators) == (rows[name]["fast"] != "-"), name
        exact = rows[name]["cpython"]
        assert ("twister" in generators) == ("draws nothing" not in exact and "fast" not in exact)


def _is_attribute_of_a_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def test_the_ledger_speaks_of_named_draws_only():
    named = {_NAME.findall(row["draw"])[0] for row in table("draw")}
    told = {
        name for row in table("when") for name in _NAME.findall(row["draws of `cpython`, in order"])
    }
    assert told <= named
    assert named - told == {"processes.start", "address_among", "name_among", "red_kind"}


def test_first_sessions_of_the_ledger():
    (told,) = [
        row["draws of `cpython`, in order"] for row in table("when") if row["when"] == "reset"
    ]
    groups = re.findall(r"'s (?:server )?on ([^;]+)", told.replace("clients ", ""))
    assert [spread(group) for group in groups] == [list(who) for who in facts.FIRST_SESSIONS]


def test_what_events_look_like():
    """The table of items, read as rules, says what `interpret` says."""
    said = [(row["if"].replace("one", "1"), row["activity"]) for row in table("#", "if")]
    (many, wide), (port,), (tries, one), _, _ = (
        [int(n) for n in re.findall(r"\d+", condition)] for condition, _ in said
    )
    assert (port, one) == (facts.SHELL_PORT, 1)
    game = state.new_games(1)[0]
    for events, ports, shell, placed in itertools.product(
        range(1, 12), range(1, 6), (0, 1), (0, 1)
    ):
        game.events, game.event_ports, game.event_shell = events, ports, shell
        game.event_host, game.placed = 3, 3 if placed else tables.NONE
        items = events + placed
        holds = [
            items >= many and ports >= wide,
            shell,
            items >= tries and ports == one,
            placed,
            True,
        ]
        expected = next(activity for (_, activity), true in zip(said, holds, strict=True) if true)
        assert facts.ACTIVITIES[blue_table.interpret(game)] == expected


def test_numbered_tables_count_on():
    numbered = 0
    for at, line in enumerate(LINES):
        if line.startswith(("| # |", "| phase |", "| entry | action")):
            rows = itertools.takewhile(lambda row: row.startswith("|"), LINES[at + 2 :])
            numbers = [int(_cells(row)[0]) for row in rows]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            assert numbers[0] in (0, 1)
            numbered += 1
    assert numbered == 8


@pytest.mark.parametrize(
    "fact",
    [
        f"drawn when entry {tables.PLAN_CHOOSES_FOOTHOLD} is first reached",
        f"`foothold`, when entry {tables.PLAN_CHOOSES_FOOTHOLD} is first reached",
        f"If entry {tables.PLAN_NEEDS_SCAN} is reached for the first time",
        f"with chance {facts.HEAVIEST_CHANCE}",
        f"With chance {facts.DETECTION_CHANCE}",
        f"random() < {facts.HEAVIEST_CHANCE} |",
        f"random() < {facts.DETECTION_CHANCE} |",
        f"the remote port {facts.SHELL_PORT}",
        f"{facts.BRUTE_FORCE_TRIES} on port 22",
        f"{facts.BRUTE_FORCE_TRIES + 1} on port 22",
        f"below({facts.NETWORKS})",
        f"below({facts.NETWORK_HOSTS})",
        f"below({facts.PID_RANGE})",
        f"below({facts.EPHEMERAL_RANGE})",
        "| below({0}) | below({0}) |".format(len(facts.BLINE_FOOTHOLDS)),
        f"[`address_order`][draws] | shuffle of {tables.HOSTS} |",
        f"[`name_order`][draws] | shuffle of {tables.HOSTS} |",
        f"| {8 * state.GAME['user'].base.itemsize} bits | each grows by at most one a step",
        f"image's ({tables.IMAGE_SOCKETS.max()} at most)",
        f"10.0.{facts.DEFENDER_SOCKET_ADDRESS >> 8}.{facts.DEFENDER_SOCKET_ADDRESS & 255}",
        f"{len(tables.FIRST_SESSIONS)} + 2 x horizon",
        f"horizons are at most {state.MAX_HORIZON:,}",
        "horizons up to {:,}, {:,} and {:,} steps".format(*state.HORIZON_SIZES),
        f"the {facts.EPHEMERAL_RANGE:,} ports",
    ],
)
def test_numbers_in_the_text(fact):
    assert fact in PAGE
