"""A saved page answers by itself what the engine answers; node runs its evaluator."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sqlglot

from lipstick.capture.capture import Capture
from lipstick.capture.manifest import RelationRecord
from lipstick.engines.memory.memory import Memory
from lipstick.explorer.captures.portable import portable
from lipstick.explorer.captures.what_if import Hypothetical
from lipstick.explorer.cells import cells
from lipstick.explorer.conditions import column_mask, read_condition
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.page import script
from lipstick.explorer.params import Params
from lipstick.questions.what_if import WhatIf
from semiring.errors import LipstickError
from semiring.support.budget import call_within
from tests.oracle import conditions
from tests.oracle.database import Database
from tests.oracle.generator import generate
from tests.oracle.small import small
from tests.oracle.written import write_capture, written

MODULES = ("asking.js", "conditions.js", "scalars.js", "windows.js", "changes.js", "evaluator.js")

RUN = """
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { data, questions, table, texts } = JSON.parse(line);
  const found = [];
  if (data) {
    const answers = heldAnswers({}, { 0: { data } });
    for (const [view, params] of questions) {
      found.push(await answers({ source: 0, view, params }, ""));
    }
  }
  for (const [kind, name, text] of texts ?? []) {
    try {
      const condition = () => readCondition(text, "t", Object.keys(table));
      const filter = kind === "filter";
      found.push(filter ? filtered(text, name, table[name]) : mask(condition(), (c) => table[c]));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      found.push(error.message);
    }
  }
  console.log(JSON.stringify(found));
}
"""


def asked(lines: Sequence[dict[str, Any]], folder: Path) -> list[list[Any]]:
    """Return what the page's modules answer to some lines of questions."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node on the PATH")
    path = folder / "run.mjs"
    path.write_text(script(MODULES) + RUN, encoding="utf-8")
    text = "\n".join(map(json.dumps, lines))
    run = subprocess.run([node, str(path)], input=text, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


ROOM = 10_000_000
"""Characters of a circuit in a page at most."""

# -- removed rows ------------------------------------------------------------------------------


COMPUTED = (
    "SELECT k, sum(x) / count(*) AS mean, sum(x) % 3 AS rest, 100 * max(x) AS m, -min(x) AS l",
    "SELECT k, sum(CAST(x AS DECIMAL(10, 2))) / sum(id) AS d, sum(CAST(x AS DECIMAL(9, 3))) * 1.05"
    " AS e, round(sum(CAST(x AS DECIMAL(10, 2))) / 3, 1) AS f, sum(x) + 0.5 AS g",
    "SELECT k, round(avg(x), 1) AS a, floor(avg(x)) AS f, ceil(avg(x) / 3) AS c, abs(sum(x) - 9)"
    " AS d, sqrt(count(*)) AS q, CAST(avg(x) AS FLOAT) AS s",
    "SELECT k, CASE WHEN sum(x) > 4 THEN 'large' WHEN count(*) = 1 THEN 'one' ELSE k END AS c,"
    " coalesce(sum(x) FILTER (WHERE x > 2), 0) AS n, nullif(count(*), 2) AS u,"
    " greatest(max(x), 2.5) AS g, least(count(*), sum(x)) AS l",
    "SELECT k, sum(x) > 3 AND count(*) < 3 OR max(x) = 1 AS t, NOT sum(x) IN (1, 11) AS i,"
    " sum(x) BETWEEN 2 AND 4 AS b, CAST(sum(x) AS DECIMAL(12, 1)) / 7 AS q,"
    " CASE WHEN count(*) > 1 THEN 10 / (count(*) - 1) END AS guarded",
)
WINDOWS = (
    "SELECT id, row_number() OVER (PARTITION BY k ORDER BY x, id) AS n, rank() OVER (ORDER BY x)"
    " AS r, dense_rank() OVER (ORDER BY x DESC) AS d, percent_rank() OVER (ORDER BY x) AS p,"
    " cume_dist() OVER (ORDER BY x) AS c FROM r",
    "SELECT id, sum(x) OVER (PARTITION BY k) AS s, count(*) OVER () AS n, max(x) OVER (ORDER BY id"
    " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m, sum(x) OVER (ORDER BY x) AS run,"
    " min(x) OVER (PARTITION BY k ORDER BY id) AS l FROM r",
    "SELECT id, lag(x) OVER (ORDER BY id) AS before, lead(x, 2, 0) OVER (ORDER BY id) AS later,"
    " first_value(x) OVER (PARTITION BY k ORDER BY id DESC) AS f, last_value(x) OVER (PARTITION BY"
    " k ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l,"
    " x / sum(x) OVER (PARTITION BY k) AS share, avg(x) OVER (PARTITION BY k) AS a FROM r",
    "SELECT k, sum(x) AS t, rank() OVER (ORDER BY sum(x) DESC) AS r FROM r GROUP BY k",
    "SELECT id, k FROM (SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY x DESC, id) AS n"
    " FROM r) q WHERE n = 1",
)
"""Scalars of aggregates, and window functions: all of them are computed in a page."""


def some_cases() -> Iterator[tuple[str, Database]]:
    """Yield queries with conditions, and generated ones."""
    for sql in [*(f"{sql} FROM r GROUP BY k" for sql in COMPUTED), *WINDOWS]:
        yield sql, conditions.DATABASE
    for sql in list(conditions.QUERIES.values())[::15]:
        yield sql, conditions.DATABASE
    for seed in (*range(8), 133):  # the last has rows that come, and none beside them that go
        case = generate(seed)
        yield case.sql, case.database


def deletions(memory: Memory, seed: int) -> Iterator[dict[str, pa.Table]]:
    """Yield some tokens to remove, per relation."""
    chance = random.Random(seed)
    relations = memory.engine.manifest.relations.values()
    for share in (0.1, 0.3, 0.7):
        gone = {}
        for record in relations:
            tokens = memory.tokens(record.name)
            mask = [chance.random() < share for _ in range(tokens.num_rows)]
            gone[record.name] = tokens.filter(pa.array(mask, pa.bool_()))
        yield {name: tokens for name, tokens in gone.items() if tokens.num_rows}


def test_rows_removed_in_a_page_change_what_the_engine_says(tmp_path: Path) -> None:
    lines, expected = [], []
    for number, (sql, database) in enumerate(some_cases()):
        with suppress(duckdb.Error, sqlglot.errors.SqlglotError, LipstickError):
            memory = written(sql, database, tmp_path / str(number))
            manifest = memory.engine.manifest
            capture = cast(Capture, SimpleNamespace(memory=memory, manifest=manifest))
            data = call_within(1.0, partial(portable, capture, ROOM))
            found = [(gone, memory.what_if(gone)) for gone in deletions(memory, number)]
            scenarios = [{"delete": {n: cells(t, None) for n, t in g.items()}} for g, _ in found]
            questions = [["rows", {"scenario": each, "limit": 10_000}] for each in scenarios]
            lines.append({"data": data, "questions": questions})
            expected.append((sql, [answer for _, answer in found]))
    counts: Counter[str] = Counter()
    for (sql, answers), replies in zip(expected, asked(lines, tmp_path), strict=True):
        for answer, reply in zip(answers, replies, strict=True):
            if "error" in reply:
                assert "which a saved page does not compute" in reply["error"]["message"], sql
                assert not any(sql.startswith(each) for each in COMPUTED + WINDOWS), reply
                counts["refused"] += 1
                continue
            counts[assert_same(reply["answer"], answer, sql)] += 1
    assert counts["changed"] > 20, counts


def assert_same(window: dict[str, Any], answer: WhatIf[pa.Table], sql: str) -> str:
    """A window of a page has the rows of an answer; return whether any of them differs."""
    after = [each or {"change": "unchanged"} for each in window["after"]]
    kinds = Counter(each["change"] for each in after)
    assert kinds == Counter(answer.changes.column("_change").to_pylist()), sql
    shown = [
        row if each["change"] == "unchanged" else None if "place" in each else each["cells"]
        for row, each in zip(window["rows"], after, strict=True)
    ]
    assert answer.cut is not None
    cut = {at: each for at, each in zip(window["places"], after, strict=True) if "place" in each}
    assert list(cut) == answer.cut.column("_row").to_pylist(), sql
    assert [each["place"] for each in cut.values()] == answer.cut.column("_place").to_pylist(), sql
    columns = answer.cut.drop_columns(["_row", "_place"])
    assert_same_rows([each["cells"] for each in cut.values()], cells(columns, None), sql)
    table = answer.df.rename_columns([str(at) for at in range(answer.df.num_columns)])
    assert_same_rows([row for row in shown if row is not None], cells(table, None), sql)
    return "changed" if set(kinds) - {"unchanged"} else "unchanged"


def assert_same_rows(found: list[Any], expected: list[Any], sql: str) -> None:
    """Rows are the same bag; sums of doubles may be rounded otherwise."""
    assert len(found) == len(expected), sql
    for left, right in zip(sorted(found, key=str), sorted(expected, key=str), strict=True):
        for a, b in zip(left, right, strict=True):
            assert a == b or float(a) == pytest.approx(float(b), rel=1e-12), (
                f"{sql}\n{left} {right}"
            )


# -- changed values ----------------------------------------------------------------------------

MEASURED = Database(
    {
        relation.name: relation
        for relation in (
            small(
                "t",
                "id int, k string, n int, d decimal(10,2), f double, s string, day date",
                [
                    (1, "a", 10, Decimal("2.50"), 0.1, "x", date(2024, 1, 1)),
                    (2, "a", 10, Decimal("-7.25"), 0.2, "y", date(2024, 2, 1)),
                    (3, "b", None, None, 1e300, None, None),
                    (4, "b", 4, Decimal("2.50"), -0.0, "x", date(2023, 5, 6)),
                    (5, None, 7, Decimal("99999999.99"), None, "z", date(2024, 1, 1)),
                    (6, "c", None, Decimal("0.01"), 3.5, "", None),
                ],
            ),
            small("u", "id int, k string, y int", [(1, "a", 3), (2, "b", 5), (3, "a", 3)]),
        )
    }
)
_OF_T = (
    "sum(n) AS n, count(n) AS c, min(d) AS l, max(d) AS m, sum(d) AS e, avg(d) AS g",
    "avg(n) AS a, sum(f) AS f, count(*) AS c, count(DISTINCT n) AS u, sum(DISTINCT n) AS v",
    "max(f) AS m, avg(f) AS a, sum(n * d) AS p, sum(n + 1) / count(*) AS q, max(s) AS s",
    "sum(CASE WHEN n > 5 THEN d ELSE 0 END) AS c, sum(n) FILTER (WHERE s = 'x') AS x,"
    " min(day) AS first, coalesce(sum(n), -1) AS z",
    "stddev(n) AS s, sum(d) AS e",
)
CHANGED = (
    *(f"SELECT k, {items} FROM t GROUP BY k" for items in _OF_T),
    *(f"SELECT {items} FROM t" for items in _OF_T[:2]),
    "SELECT k, sum(n) AS n FROM t GROUP BY k HAVING sum(n) < 15 OR min(d) > 0",
    "SELECT k, sum(d) AS e FROM t GROUP BY k ORDER BY e DESC, k LIMIT 2",
    "SELECT t.k, sum(n * y) AS p, sum(y) AS y, count(*) AS c FROM t JOIN u ON t.k = u.k"
    " GROUP BY t.k",
    "SELECT k, s, sum(n) AS n, grouping(s) AS g FROM t GROUP BY ROLLUP (k, s)",
    "SELECT a.k, sum(a.n - b.n) AS n FROM t a JOIN t b ON a.k = b.k AND a.id < b.id GROUP BY a.k",
    "SELECT k, n FROM (SELECT k, sum(n) AS n FROM t GROUP BY k) q WHERE n > 3",
    "SELECT id, n FROM t WHERE n > 4",
)
_TYPED = {
    "n": ("n = 12", "n = n * 2", "n = n + 10 %", "n = null", "n = 3,000,000,000", "n = 1.5"),
    "d": ("d = 1,234.5", "d = d - 0.05", "d = d * 33 %", "d = d * 1000", "d = 1.239", "d = null"),
    "f": ("f = f * 3", "f = 0.3", "f = f - 5%", "f = -1"),
    "s": ("s = 'x'", "s = it", "s = s * 2", "s = ''"),
    "day": ("day = 2020-02-29", "day = soon", "day = null"),
    "k": ("k = a",),
    "id": ("id = 9",),
    "y": ("y = 0", "Y = y + 1"),
}
_WHERE = ("", " where id = 2", " WHERE n > 4 and d < 5", " where k = b", " where s is null")


def changes(chance: random.Random, sql: str) -> Iterator[tuple[str, str]]:
    """Yield relations of a query and new values of a column, as people type them."""
    words = set(re.findall(r"\w+", sql))
    for name in sorted(MEASURED.relations.keys() & words):
        columns = [c for c in MEASURED.relations[name].data.column_names if c in words | {"id"}]
        texts = [text for column in columns for text in _TYPED[column]]
        for text in chance.sample(texts, min(len(texts), 8)):
            yield name, text + chance.choice(_WHERE[:2] if name == "u" else _WHERE)


def test_values_changed_in_a_page_change_what_the_engine_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every question both have the same rows, or the page says that it does not answer."""

    def source(record: RelationRecord, names: list[str]) -> pa.Table:
        return MEASURED.relations[record.name].data.select(names)

    def looked_up(record: RelationRecord, keys: pa.Table) -> pa.Table:
        relation = MEASURED.relations[record.name]
        places = {key: place for place, key in enumerate(relation.row_keys())}
        rows = zip(*(column.to_pylist() for column in keys.columns), strict=True)
        return relation.data.take([places[row] for row in rows])

    monkeypatch.setattr("lipstick.explorer.captures.what_if.source_columns", source)
    monkeypatch.setattr("lipstick.explorer.captures.portable.looked_up", looked_up)
    chance, lines, expected = random.Random(7), [], []
    for number, sql in enumerate(CHANGED):
        capture = write_capture(sql, MEASURED, tmp_path / str(number))
        scenarios = [{"update": {name: text}} for name, text in changes(chance, sql)]
        questions = [["rows", {"scenario": each, "limit": 10_000}] for each in scenarios]
        lines.append({"data": portable(capture, ROOM), "questions": questions})
        expected.append((sql, scenarios, capture))
    counts: Counter[str] = Counter()
    for (sql, scenarios, capture), replies in zip(expected, asked(lines, tmp_path), strict=True):
        for scenario, reply in zip(scenarios, replies, strict=True):
            told = f"{sql}\n{scenario}"
            answer = None
            with suppress(LipstickError):
                answer = Hypothetical(capture, Params(scenario)).result
            if answer is None:
                # The page does not see that a row which no answer rests on would be too large.
                assert "error" in reply or "1000" in told, told
                counts["refused by both"] += 1
            elif "error" in reply:
                counts[reply["error"]["message"].split(".")[0]] += 1
            else:
                counts[assert_same(reply["answer"], answer, told)] += 1
    assert counts["changed"] > 30, counts


# -- conditions --------------------------------------------------------------------------------

VALUES: dict[str, tuple[str, pa.DataType, list[Any]]] = {
    "n": ("int", pa.int64(), [None, -3, 0, 7, 1000, 2**53 + 1]),
    "m": ("decimal", pa.decimal128(20, 2), [None, Decimal("-2.50"), Decimal("7.00")]),
    "d": ("double", pa.float64(), [None, float("nan"), -0.0, 0.1, 7.0, 1e300]),
    "f": ("float", pa.float32(), [None, float("nan"), 0.1, 0.5, 7.0, float("-inf")]),
    "s": ("text", pa.string(), [None, "", "a", "a%b", "B", "ﬀ", "é", "🙂", "7", "a_b", "x\ny"]),
    "t": ("date", pa.date32(), [None, date(1970, 1, 1), date(2024, 2, 29)]),
    "z": (
        "time",
        pa.timestamp("us"),
        [None, datetime(2024, 2, 29, 1, 2, 3, 4)],
    ),
    "b": ("truth", pa.bool_(), [None, True, False]),
}
REFUSED = ("LIKE does not compare it here", "is filtered by comparisons", "is no such value")
"""What the page says of doubles, times and numbers as truth values, whose texts it has not."""
LITERALS = ["7", "0", "-2.5", "1,000", "9007199254740993", "0.1", "a", "'a%b'", "B", "é", "'🙂'"]
LITERALS += [
    "2024-02-29",
    "'2024-02-29 01:02:03.000004'",
    "true",
    "x",
    "''",
    "1e300",
    "NaN",
    "-inf",
]


def typed(chance: random.Random, depth: int, implied: bool) -> str:
    """Return a condition as people might type it."""
    if depth and chance.random() < 0.4:
        parts = [typed(chance, depth - 1, implied) for _ in range(2)]
        return f"({parts[0]}) {chance.choice(['and', 'OR'])} not ({parts[1]})"
    column = "" if implied else chance.choice(list(VALUES))
    a, b = chance.choice(LITERALS), chance.choice(LITERALS)
    forms = [f"= {a}", f"<> {a}", f"< {a}", f">= {a}", f"in ({a}, {b})", f"not in ({a},{b})"]
    forms += [f"between {a} and {b}", f"= {a}..{b}", "is not null", "like '%a%'", "like '_'"]
    return f"{column} {chance.choice(forms)}".strip()


def test_conditions_of_a_page_mean_what_the_explorers_do(tmp_path: Path) -> None:
    chance = random.Random(13)
    rows = 40
    table = {
        name: pa.array([chance.choice(values) for _ in range(rows)], type_)
        for name, (_, type_, values) in VALUES.items()
    }
    shown = {
        name: {
            "sort": VALUES[name][0],
            "cells": [row[0] for row in cells(pa.table([column], [name]), None)],
        }
        for name, column in table.items()
    }
    texts = [("where", "", typed(chance, 2, False)) for _ in range(600)]
    for _ in range(400):
        text = typed(chance, 0, True) if chance.random() < 0.7 else chance.choice(LITERALS)
        texts.append(("filter", chance.choice(list(VALUES)), text))
    (found,) = asked([{"table": shown, "texts": texts}], tmp_path)
    held = refused = 0
    for (kind, name, text), mask in zip(texts, found, strict=True):
        try:
            if kind == "filter":
                expected = column_mask(table[name], text, name)
            else:
                expected = read_condition(text, "t", list(table)).mask(table.__getitem__)
        except ExploreError:
            assert isinstance(mask, str), (name, text)
            continue
        if isinstance(mask, str):
            refused += 1
            assert any(told in mask for told in REFUSED), (name, text, mask)
        else:
            assert mask == pc.cast(expected, pa.bool_()).to_pylist(), (name, text)
            held += 1
    assert held > 3 * refused, (held, refused)
