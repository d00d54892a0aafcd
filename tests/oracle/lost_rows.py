"""Lost rows of all kinds, and changes that bring them: ``python -m tests.oracle.lost_rows 0-72``.

A case is one lost row of one kind (a NULL key, a filter over padded rows, LIMIT, a window, ...) in
data drawn by a seed, with the operator that loses it and, where one change is nearest, this change.
Proposals are applied to the rows by Python, and the text is run over them by DuckDB. A run goes on
where ``--output FILE`` was left; ``--rows`` has larger relations.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from lipstick.questions.missing.changes import DataChange
from lipstick.questions.missing.proposals import Edits
from tests.oracle.duck import connected_duck, create_table
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.missing_rows import DuckQuestion

Tables = dict[str, pa.Table]
Cells = tuple[str, str, Any, dict[str, Any]]
"""Kind of an edit, relation, key and values."""
_WHERE, _JOIN, _LIMIT, _SEMI = "WHERE", "JOIN", "LIMIT", "IN or EXISTS"
_ANTI = "NOT IN, NOT EXISTS or EXCEPT"


@dataclass(frozen=True)
class LostRow:
    """A lost row, with the reason that is right.

    Attributes
    ----------
    relation, operator
        Of a reason.
    nearest
        The change that touches the fewest cells and is nearest; None: several are as good.
    words
        Texts that the reasons have in them.
    """

    sql: str
    tables: Tables
    pattern: Mapping[str, Any]
    relation: str
    operator: str
    nearest: Cells | None = None
    words: tuple[str, ...] = ()


Draw = Callable[[random.Random, int], LostRow]
KINDS: Final[dict[str, Draw]] = {}


def _kind(draw: Draw) -> Draw:
    KINDS[draw.__name__.removeprefix("_")] = draw
    return draw


def case(seed: int, rows: int) -> tuple[str, LostRow]:
    """Return a kind and a lost row of it; the kinds take turns."""
    name = list(KINDS)[seed % len(KINDS)]
    return name, KINDS[name](random.Random(seed), rows)


# -- data --------------------------------------------------------------------------------------

_REGIONS: Final = ("north", "south", "east", "west")


def _customers(chance: random.Random, rows: int) -> list[dict[str, Any]]:
    return [
        {
            "id": n,
            "name": f"customer {n}",
            "region": chance.choice(_REGIONS),
            "credit": chance.randint(0, 500),
        }
        for n in range(1, rows // 3 + 4)
    ]


def _orders(chance: random.Random, rows: int, customers: int) -> list[dict[str, Any]]:
    return [
        {
            "oid": 1000 + n,
            "cust": chance.randint(1, customers - 2),
            "status": chance.choice(("ok", "ok", "ok", "open")),
            "amount": Decimal(chance.randint(1000, 9000)) / 100,
            "pieces": chance.randint(1, 9),
            "at": dt.datetime(2024, 1, 1) + dt.timedelta(minutes=chance.randint(0, 44_000)),
        }
        for n in range(rows)
    ]


def _tables(**rows: list[dict[str, Any]]) -> Tables:
    types = {
        "amount": pa.decimal128(12, 2),
        "at": pa.timestamp("us"),
        "cust": pa.int64(),
        "status": pa.string(),
    }
    tables = {}
    for name, its in rows.items():
        table = pa.Table.from_pylist(its)
        for place, column in enumerate(table.column_names):
            if column in types:
                cast = table.column(column).cast(types[column])
                table = table.set_column(place, column, cast)
        tables[name] = table
    return tables


def _shop(
    chance: random.Random, rows: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """Return customers, orders and one of the orders; the last two customers have no order."""
    c = _customers(chance, rows)
    o = _orders(chance, rows, len(c))
    return c, o, chance.choice(o)


# -- kinds -------------------------------------------------------------------------------------


@_kind
def _null_key(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = None
    sql = "SELECT o.oid, c.name FROM o JOIN c ON o.cust = c.id"
    words = ("o.cust is NULL",)
    return LostRow(sql, _tables(c=c, o=o), {"oid": lost["oid"]}, "o", _JOIN, None, words)


@_kind
def _null_key_of_a_known_pair(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = None
    name = chance.choice(c)
    sql = "SELECT o.oid, c.name FROM o JOIN c ON o.cust = c.id"
    pattern = {"oid": lost["oid"], "name": name["name"]}
    nearest = ("set", "o", lost["oid"], {"cust": name["id"]})
    return LostRow(sql, _tables(c=c, o=o), pattern, "o", _JOIN, nearest)


@_kind
def _wrong_key(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = len(c) + 7
    sql = "SELECT o.oid, c.name FROM o JOIN c ON o.cust = c.id WHERE o.pieces > 0"
    nearest = ("set", "o", lost["oid"], {"cust": len(c)})
    return LostRow(sql, _tables(c=c, o=o), {"oid": lost["oid"]}, "o", _JOIN, nearest)


@_kind
def _padded(chance: random.Random, rows: int) -> LostRow:
    c, o, _ = _shop(chance, rows)
    alone = len(c)
    sql = "SELECT c.id, o.oid FROM c LEFT JOIN o ON o.cust = c.id WHERE o.pieces >= 1"
    words = ("no row of o matches `o.cust = c.id`", "o.pieces is NULL")
    return LostRow(sql, _tables(c=c, o=o), {"id": alone}, "c", _WHERE, None, words)


@_kind
def _padded_beside_an_orphan(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = None
    alone = len(c)
    sql = "SELECT c.id, o.oid FROM c LEFT JOIN o ON o.cust = c.id WHERE o.pieces >= 1"
    nearest = ("set", "o", lost["oid"], {"cust": alone})
    return LostRow(sql, _tables(c=c, o=o), {"id": alone}, "c", _WHERE, nearest)


@_kind
def _partner_unmet(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost |= {"cust": len(c), "pieces": -2}
    sql = "SELECT c.id, o.oid FROM c LEFT JOIN o ON o.cust = c.id WHERE o.pieces >= 1"
    nearest = ("set", "o", lost["oid"], {"pieces": 1})
    return LostRow(sql, _tables(c=c, o=o), {"id": len(c)}, "c", _WHERE, nearest)


@_kind
def _has_a_partner(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = len(c)
    sql = "SELECT c.id FROM c LEFT JOIN o ON o.cust = c.id WHERE o.oid IS NULL"
    words = ("o.oid is",)
    return LostRow(sql, _tables(c=c, o=o), {"id": len(c)}, "c", _WHERE, None, words)


@_kind
def _beyond_limit(chance: random.Random, rows: int) -> LostRow:
    _c, o, _ = _shop(chance, rows)
    count = chance.randint(2, 5)
    order = sorted(o, key=lambda row: (-row["amount"], row["oid"]))
    lost = order[chance.randint(count + 1, len(order) - 1)]
    sql = f"SELECT oid, amount FROM o ORDER BY amount DESC, oid LIMIT {count}"
    words = (f"LIMIT {count}",)
    return LostRow(sql, _tables(o=o), {"oid": lost["oid"]}, "o", _LIMIT, None, words)


@_kind
def _not_the_last(chance: random.Random, rows: int) -> LostRow:
    _c, o, lost = _shop(chance, rows)
    other = chance.choice([row for row in o if row is not lost])
    other["cust"] = lost["cust"]
    lost["at"] = dt.datetime(2023, 12, 31)
    sql = (
        "SELECT oid FROM (SELECT oid, row_number() OVER (PARTITION BY cust ORDER BY at DESC) AS n "
        "FROM o) t WHERE n = 1"
    )
    return LostRow(sql, _tables(o=o), {"oid": lost["oid"]}, "o", _WHERE)


@_kind
def _qualified(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    for other in chance.sample([row for row in o if row is not lost], 3):
        other |= {"status": lost["status"], "pieces": 5}
    lost["pieces"] = 9
    sql = (
        "SELECT o.oid, c.name FROM o JOIN c ON c.id = o.cust QUALIFY "
        "rank() OVER (PARTITION BY o.status ORDER BY o.pieces, o.amount) <= 2"
    )
    return LostRow(sql, _tables(c=c, o=o), {"oid": lost["oid"]}, "o", _WHERE)


@_kind
def _semi_second(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost |= {"cust": len(c), "status": "Ok"}
    form = chance.choice(("join", "exists"))
    sql = "SELECT c.id FROM c LEFT SEMI JOIN o ON o.cust = c.id AND o.status = 'ok'"
    if form == "exists":
        sql = "SELECT id FROM c WHERE EXISTS (SELECT 1 FROM o WHERE cust = c.id AND status = 'ok')"
    nearest = ("set", "o", lost["oid"], {"status": "ok"})
    return LostRow(sql, _tables(c=c, o=o), {"id": len(c)}, "c", _SEMI, nearest)


@_kind
def _membership(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    for row in o:
        row["pieces"] = min(row["pieces"], 8)
    lost |= {"cust": len(c), "pieces": 11}
    sql = "SELECT name FROM c WHERE id IN (SELECT cust FROM o WHERE pieces BETWEEN 1 AND 9)"
    nearest = ("set", "o", lost["oid"], {"pieces": 9})
    return LostRow(sql, _tables(c=c, o=o), {"name": f"customer {len(c)}"}, "c", _SEMI, nearest)


@_kind
def _above_average(chance: random.Random, rows: int) -> LostRow:
    _c, o, lost = _shop(chance, rows)
    lost["pieces"] = 0
    sql = "SELECT oid FROM o WHERE pieces > (SELECT avg(pieces) FROM o)"
    return LostRow(sql, _tables(o=o), {"oid": lost["oid"]}, "o", _WHERE)


@_kind
def _above_own_average(chance: random.Random, rows: int) -> LostRow:
    _c, o, lost = _shop(chance, rows)
    lost["amount"] = Decimal("1.00")
    other = chance.choice([row for row in o if row is not lost])
    other["cust"] = lost["cust"]
    sql = (
        "SELECT oid FROM o WHERE amount >= "
        "(SELECT max(p.amount) FROM o p WHERE p.cust = o.cust AND p.oid <> 5)"
    )
    return LostRow(sql, _tables(o=o), {"oid": lost["oid"]}, "o", _WHERE)


@_kind
def _outside_of_ranges(chance: random.Random, rows: int) -> LostRow:
    _c, o, lost = _shop(chance, rows)
    p = [
        {
            "pid": n,
            "first": dt.datetime(2024, 1, 1 + 7 * n),
            "last": dt.datetime(2024, 1, 7 + 7 * n),
        }
        for n in range(4)
    ]
    lost["at"] = dt.datetime(2024, 2, 2)
    sql = "SELECT o.oid, p.pid FROM o JOIN p ON o.at BETWEEN p.first AND p.last"
    nearest = ("set", "o", lost["oid"], {"at": p[-1]["last"]})
    return LostRow(sql, _tables(o=o, p=p), {"oid": lost["oid"]}, "o", _JOIN, nearest)


@_kind
def _between_bands(chance: random.Random, rows: int) -> LostRow:
    _c, o, lost = _shop(chance, rows)
    b = [{"bid": n, "low": 20 * n, "high": 20 * n + 19} for n in range(5)]
    b[2]["low"] = 45
    lost["pieces"] = 42
    sql = "SELECT o.oid, b.bid FROM o JOIN b ON o.pieces >= b.low AND o.pieces < b.high"
    nearest = ("set", "o", lost["oid"], {"pieces": 45})
    if chance.random() < 0.5:
        lost["pieces"] = 40
        nearest = ("set", "o", lost["oid"], {"pieces": 38})
    return LostRow(sql, _tables(o=o, b=b), {"oid": lost["oid"]}, "o", _JOIN, nearest)


@_kind
def _last_evening(chance: random.Random, rows: int) -> LostRow:
    _c, o, lost = _shop(chance, rows)
    lost["at"] = dt.datetime(2024, 1, 31, 23, 30)
    form = chance.choice(("'2024-01-01' AND '2024-01-31'", "DATE'2024-01-01' AND DATE'2024-01-31'"))
    sql = f"SELECT oid FROM o WHERE at BETWEEN {form}"
    nearest = ("set", "o", lost["oid"], {"at": dt.datetime(2024, 1, 31)})
    return LostRow(sql, _tables(o=o), {"oid": lost["oid"]}, "o", _WHERE, nearest)


@_kind
def _other_spelling(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost |= {"cust": len(c), "status": "OK"}
    condition = chance.choice(("status = 'ok'", "status IN ('open', 'ok')", "status LIKE 'o%'"))
    inner = f"(SELECT * FROM o WHERE {condition})"
    sql = f"SELECT c.id, o.oid FROM c JOIN {inner} o ON o.cust = c.id"
    nearest = ("set", "o", lost["oid"], {"status": "ok"})
    return LostRow(sql, _tables(c=c, o=o), {"id": len(c)}, "c", _JOIN, nearest)


@_kind
def _too_few(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = len(c)
    sql = "SELECT cust, count(*) AS n FROM o GROUP BY cust HAVING count(*) >= 2"
    return LostRow(sql, _tables(o=o), {"cust": len(c)}, "o", "HAVING")


@_kind
def _too_little(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = len(c)
    call = chance.choice(("sum", "max", "min", "avg"))
    sql = (
        f"SELECT c.name, {call}(o.pieces) AS n FROM o JOIN c ON c.id = o.cust GROUP BY c.name "
        f"HAVING {call}(o.pieces) > 99"
    )
    return LostRow(sql, _tables(c=c, o=o), {"name": f"customer {len(c)}"}, "c", "HAVING")


@_kind
def _null_in_a_list(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = None
    nearest = ("delete", "o", lost["oid"], {})
    sql = "SELECT name FROM c WHERE id NOT IN (SELECT cust FROM o)"
    pattern = {"name": f"customer {len(c)}"}
    return LostRow(sql, _tables(c=c, o=o), pattern, "c", _ANTI, nearest)


@_kind
def _excluded(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = len(c)
    form = chance.choice(
        (
            "SELECT id FROM c WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.cust = c.id)",
            "SELECT id FROM c LEFT ANTI JOIN o ON o.cust = c.id",
            "SELECT id FROM c EXCEPT SELECT cust FROM o",
        )
    )
    nearest = ("delete", "o", lost["oid"], {})
    return LostRow(form, _tables(c=c, o=o), {"id": len(c)}, "c", _ANTI, nearest)


@_kind
def _not_in_both(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost["cust"] = None
    sql = "SELECT id FROM c INTERSECT SELECT cust FROM o"
    nearest = ("set", "o", lost["oid"], {"cust": len(c)})
    return LostRow(sql, _tables(c=c, o=o), {"id": len(c)}, "c", _SEMI, nearest)


@_kind
def _pair_with_others(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    other = next(row for row in c if row["id"] != lost["cust"])
    sql = "SELECT o.oid, c.name FROM o JOIN c ON o.cust = c.id"
    pattern = {"oid": lost["oid"], "name": other["name"]}
    nearest = ("set", "o", lost["oid"], {"cust": other["id"]})
    words = ("JOIN", "`o.cust = c.id`")
    return LostRow(sql, _tables(c=c, o=o), pattern, "o", "the pattern", nearest, words)


@_kind
def _computed(chance: random.Random, rows: int) -> LostRow:
    _c, o, lost = _shop(chance, rows)
    lost |= {"status": " OK?", "pieces": 0, "amount": Decimal("5.00")}
    condition = chance.choice(
        ("upper(trim(status)) = 'OPEN'", "pieces * amount > 40", "status RLIKE '^o[pk]'")
    )
    sql = f"SELECT oid FROM o WHERE {condition}"
    return LostRow(sql, _tables(o=o), {"oid": lost["oid"]}, "o", _WHERE)


@_kind
def _no_such_row(chance: random.Random, rows: int) -> LostRow:
    c, _o, _ = _shop(chance, rows)
    c[1]["name"] = "Mueller"
    sql = "SELECT name, region FROM c WHERE credit >= 0"
    return LostRow(sql, _tables(c=c), {"name": "Müller"}, "c", "relation", None, ("Mueller",))


@_kind
def _two_reasons(chance: random.Random, rows: int) -> LostRow:
    c, o, lost = _shop(chance, rows)
    lost |= {"cust": None, "pieces": 0, "status": "ok"}
    sql = (
        "SELECT o.oid, c.name FROM o JOIN c ON o.cust = c.id "
        "WHERE o.pieces > 0 AND o.status = 'ok' AND c.credit >= 0"
    )
    return LostRow(sql, _tables(c=c, o=o), {"oid": lost["oid"]}, "o", _WHERE)


# -- the comparison ----------------------------------------------------------------------------


def edited(tables: Tables, edits: Edits) -> Tables:
    """Return the rows after edits, applied one by one."""
    after = {name: table.to_pylist() for name, table in tables.items()}
    for edit in edits:
        rows, (key,) = after[edit.relation], edit.key
        own = [row for row in rows if row[key] == edit.key[key]]
        assert len(own) == 1, edit
        if edit.kind == "set":
            own[0] |= edit.values
        elif edit.kind == "delete":
            rows.remove(own[0])
        else:
            last = max(row[key] for row in rows)
            new = [{**own[0], key: last + 1 + n, **edit.values} for n in range(edit.copies)]
            assert len({row[key] for row in new} | {row[key] for row in rows}) == (
                len(rows) + len(new)
            ), edit
            rows += new
    return {n: pa.Table.from_pylist(rows, tables[n].schema) for n, rows in after.items()}


def has_row(lost: LostRow, edits: Edits) -> bool:
    """Run the text over edited rows by DuckDB, and look for the row.

    Values that are not of a column's type bring nothing.
    """
    try:
        tables = edited(lost.tables, edits)
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return False
    with connected_duck() as connection:
        for name, table in tables.items():
            create_table(connection, name, table)
        rows = connection.execute(to_duckdb(lost.sql)).fetch_arrow_table().to_pylist()
    return any(all(row[name] == value for name, value in lost.pattern.items()) for row in rows)


@dataclass
class Verdict:
    """What became of one lost row."""

    kind: str
    operator: bool
    proposals: int
    brought: int
    nearest: bool | None
    said: bool
    text: str = field(default="")


def judged(kind: str, lost: LostRow) -> Verdict:
    """Hold the reason and the proposals of a lost row."""
    assert not has_row(lost, ()), f"{kind}: it is not lost\n{lost.sql}"
    question = DuckQuestion(lost.sql, lost.tables, lost.pattern)
    reasons = question.reasons()
    right = (lost.relation, lost.operator) in [(r.relation, r.operator) for r in reasons]
    found: Sequence[DataChange] = question.changes()
    brought = [has_row(lost, change.edits) for change in found]
    nearest = None
    if lost.nearest is not None:
        nearest = bool(found) and _cells(found[0]) == [lost.nearest]
    told = "\n".join(line for reason in reasons for line in reason.lines())
    said = all(word in told for word in lost.words)
    text = "\n".join([lost.sql, str(lost.pattern), told, *map(str, found), str(lost.nearest)])
    return Verdict(kind, right, len(found), sum(brought), nearest, said, text)


def _cells(change: DataChange) -> list[Cells]:
    return [
        (edit.kind, edit.relation, next(iter(edit.key.values())), dict(edit.values))
        for edit in change.edits
    ]


def shares(verdicts: Sequence[Verdict]) -> str:
    """Return how many lost rows have the right operator, and a change that brings them."""
    known = [each for each in verdicts if each.nearest is not None]
    lines = [
        f"{len(verdicts)} lost rows of {len({each.kind for each in verdicts})} kinds",
        f"operator right: {sum(each.operator for each in verdicts)}",
        f"a proposal brings the row: {sum(each.brought > 0 for each in verdicts)}",
        f"proposals that bring nothing: {sum(e.proposals - e.brought for e in verdicts)}",
        f"the nearest change comes first: {sum(map(bool, (e.nearest for e in known)))} "
        f"of {len(known)}",
        f"the whole reason is said: {sum(each.said for each in verdicts)}",
    ]
    return "\n".join(lines)


def main() -> None:
    """Judge a range of cases."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("cases", help="as 0-60")
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--output", type=Path, help="goes on where it was")
    options = parser.parse_args()
    first, last = map(int, options.cases.split("-"))
    known: dict[int, Verdict] = {}
    if options.output is not None and options.output.exists():
        for line in options.output.read_text().splitlines():
            seed, verdict = json.loads(line)
            known[seed] = Verdict(**verdict)
    for seed in range(first, last):
        if seed in known:
            continue
        verdict = known[seed] = judged(*case(seed, options.rows))
        good = verdict.operator and verdict.brought and verdict.nearest is not False
        if not good or not verdict.said or verdict.brought < verdict.proposals:
            print(f"{seed} {verdict.kind}: {verdict.text}\n{verdict.operator=}\n", flush=True)
        if options.output is not None:
            with options.output.open("a") as file:
                file.write(json.dumps([seed, vars(verdict)]) + "\n")
    print(shares([known[seed] for seed in range(first, last)]))


if __name__ == "__main__":
    main()
