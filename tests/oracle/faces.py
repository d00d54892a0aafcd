"""The faces oracle: every number that a person is shown of a value is what the engine answers.

``python -m tests.oracle.faces 0-200`` makes captures of queries of all kinds of roots, over
relations with various keys, and holds what the explorer, ``lipstick rows``, files of rows, saved
pages under Node and the sentences say of values without some input against ``what_if`` of the same
deletion. With ``--output FILE`` results are written as they come, and a run that was stopped goes
on where it was.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import duckdb
import pyarrow as pa
import sqlglot
from click.testing import CliRunner

from lipstick import Session
from lipstick.capture.capture import Capture, open_capture
from lipstick.engines.memory import aggregates, window_rows, window_value
from lipstick.errors import CaptureError
from lipstick.explorer import Explorer
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.cells import cell, parsed
from lipstick.explorer.page import script
from lipstick.explorer.saved import Holding, _capture
from lipstick.explorer.server import export
from lipstick.frame import AnnotatedFrame
from lipstick.questions.why.measure import difference
from semiring.errors import LipstickError
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

FACES: Final = (
    "explorer",
    "comparison",
    "rows",
    "csv",
    "saved page",
    "sentence",
    "contributions",
    "top",
)
"""What shows numbers."""

# -- queries -----------------------------------------------------------------------------------

ROOTS: Final[Mapping[str, tuple[str, ...]]] = {
    "grouping": (
        "SELECT {g}, sum({n}) AS v, count(*) AS n FROM s GROUP BY {g}",
        "SELECT {g}, avg({n}) AS a, min({n}) AS l, max({n}) AS m FROM s GROUP BY {g}",
        "SELECT {g}, count(DISTINCT {h}) AS d, sum(DISTINCT {n}) AS e FROM s GROUP BY {g}",
        "SELECT {g}, sum({n}) / count(*) AS q FROM s GROUP BY {g}",
        "SELECT count({n}) AS c, sum({n}) AS v FROM s",
        "SELECT {g}, sum({n} * w) AS v FROM s JOIN p ON s.h = p.h GROUP BY {g}",
    ),
    "share of a total": (
        "SELECT {g}, sum({n}) / sum(sum({n})) OVER () AS share FROM s GROUP BY {g}",
        "SELECT {k}, {n} / sum({n}) OVER (PARTITION BY {g}) AS share FROM s",
        "SELECT {g}, sum({n}) / (SELECT sum({n}) FROM s) AS share FROM s GROUP BY {g}",
    ),
    "difference of named queries": (
        "WITH a AS (SELECT {g} AS g, sum({n}) AS x FROM s WHERE {h} = 'x' GROUP BY {g}), b AS"
        " (SELECT {g} AS g, sum({n}) AS y FROM s WHERE {h} <> 'x' GROUP BY {g})"
        " SELECT a.g, x, y, x - y AS gap FROM a JOIN b ON a.g = b.g",
        "WITH a AS (SELECT {g} AS g, sum({n}) AS x FROM s GROUP BY {g}), b AS"
        " (SELECT {g} AS g, count(*) AS y FROM s WHERE {h} = 'x' GROUP BY {g})"
        " SELECT a.g, x / coalesce(y, 1) AS q FROM a LEFT JOIN b ON a.g = b.g",
    ),
    "scalar subquery": (
        "SELECT {k}, {n} - (SELECT avg({n}) FROM s) AS off FROM s",
        "SELECT {k}, (SELECT max(w) FROM p WHERE p.h = s.h) - {n} AS d FROM s",
        "SELECT {g}, sum({n}) AS v FROM s WHERE {n} > (SELECT avg({n}) FROM s) GROUP BY {g}",
    ),
    "lag": (
        "SELECT {k}, {n} - lag({n}) OVER (ORDER BY t, {k}) AS d FROM s",
        "SELECT {k}, lead({n}, 2, 0) OVER (PARTITION BY {g} ORDER BY t, {k}) AS d FROM s",
    ),
    "running sum": (
        "SELECT {k}, sum({n}) OVER (PARTITION BY {g} ORDER BY t, {k}) AS run FROM s",
        "SELECT {k}, avg({n}) OVER (ORDER BY t) AS run FROM s",
        "SELECT {k}, sum({n}) OVER (ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m"
        " FROM s",
        "SELECT {k}, max({n}) OVER (ORDER BY t, {k} ROWS UNBOUNDED PRECEDING) AS m,"
        " count(*) OVER (PARTITION BY {g}) AS c FROM s",
    ),
    "rank": (
        "SELECT {k}, rank() OVER (PARTITION BY {g} ORDER BY {n} DESC) AS r FROM s",
        "SELECT {k}, row_number() OVER (ORDER BY {n}, {k}) AS r,"
        " dense_rank() OVER (ORDER BY {n}) AS d FROM s",
        "SELECT {k}, percent_rank() OVER (ORDER BY {n}) AS p, ntile(3) OVER (ORDER BY {k}) AS b"
        " FROM s",
        "SELECT {g}, rank() OVER (ORDER BY sum({n}) DESC) AS r FROM s GROUP BY {g}",
    ),
    "rollup": (
        "SELECT {g}, {h}, sum({n}) AS v FROM s GROUP BY ROLLUP({g}, {h})",
        "SELECT {g}, {h}, count(*) AS c FROM s GROUP BY GROUPING SETS(({g}), ({h}), ())",
    ),
    "having": (
        "SELECT {g}, sum({n}) AS v, count(*) AS c FROM s GROUP BY {g} HAVING count(*) > 2",
        "SELECT {g}, max({n}) AS m FROM s GROUP BY {g} HAVING sum({n}) > 20",
    ),
    "limit": (
        "SELECT {k}, {n} * 2 AS v, (SELECT count(*) FROM s) AS c FROM s ORDER BY {n}, {k} LIMIT 4",
        "SELECT {g}, sum({n}) AS v FROM s GROUP BY {g} ORDER BY v DESC, {g} LIMIT 2",
    ),
    "union": (
        "SELECT {g}, {n} AS v FROM s UNION ALL SELECT {g}, sum({n}) FROM s GROUP BY {g}",
        "SELECT {g}, sum({n}) AS v FROM (SELECT {g}, {n} FROM s UNION ALL SELECT h, w FROM p)"
        " GROUP BY {g}",
    ),
    "set operation": (
        "SELECT q.g, count(*) AS c FROM (SELECT {g} AS g, {h} AS h FROM s EXCEPT SELECT {g}, {h}"
        " FROM s WHERE t > 3) q GROUP BY q.g",
        "SELECT q.h, count(*) AS c FROM (SELECT h FROM s INTERSECT SELECT h FROM p) q GROUP BY q.h",
    ),
    "distinct": (
        "SELECT DISTINCT {g}, count(*) OVER (PARTITION BY {g}) AS c FROM s",
        "SELECT sum(x) AS v FROM (SELECT DISTINCT {g}, {n} AS x FROM s)",
    ),
    "groups of groups": (
        "SELECT c, count(*) AS n FROM (SELECT {g}, {h}, count(*) AS c FROM s GROUP BY {g}, {h})"
        " GROUP BY c",
        "SELECT p.h, count(*) AS c, sum(x) AS v FROM p LEFT JOIN (SELECT h, sum({n}) AS x FROM s"
        " GROUP BY h) q ON p.h = q.h GROUP BY p.h",
    ),
    "exists": (
        "SELECT h, sum(w) AS v FROM p WHERE EXISTS (SELECT 1 FROM s WHERE s.h = p.h) GROUP BY h",
        "SELECT {g}, sum({n}) AS v FROM s WHERE h IN (SELECT h FROM p WHERE w > 2) GROUP BY {g}",
    ),
}
"""Queries by the kind of their last block: ``{g}``, ``{h}`` to group by, ``{n}`` numbers."""

KEYS: Final[Mapping[str, tuple[str, pa.DataType, Callable[[int], Any]]]] = {
    "int": ("int", pa.int32(), lambda n: n + 1),
    "text": ("string", pa.string(), lambda n: ("a'b", "x,y", '"q"', "ä", "", " ")[n % 6] + str(n)),
    "date": ("date", pa.date32(), lambda n: date(2024, 1, 1 + n)),
    "decimal": ("decimal(9,2)", pa.decimal128(9, 2), lambda n: Decimal(n) / 4),
    "bigint": ("bigint", pa.int64(), lambda n: 2**53 + n),
}
"""Keys that rows are named by: their type in Spark and in Arrow, and values."""


@dataclass(frozen=True, slots=True)
class FacesCase:
    """A query with the kind of its root, over a database with a kind of key."""

    seed: int
    root: str
    key: str
    sql: str
    database: Database


def case_of(seed: int, *, by_spark: bool = False) -> FacesCase:
    """Return the case of a seed.

    DuckDB divides decimals as doubles, in averages too, and windows of a capture that it writes
    then have doubles: only where Spark writes the capture are decimals divided.
    """
    chance = random.Random(seed)
    kinds = list(ROOTS)
    root = kinds[seed % len(kinds)]
    template = ROOTS[root][(seed // len(kinds)) % len(ROOTS[root])]
    key = list(KEYS)[chance.randrange(len(KEYS))]
    divides = " / " in template or ("avg(" in template and " OVER " in template)
    sql = template.format(
        g=chance.choice(("g", "g", "h")) if "{h}" not in template else "g",
        h="h",
        n=chance.choice(("n", "f") if divides and not by_spark else ("n", "d", "f")),
        k="k",
    )
    return FacesCase(seed, root, key, sql, _database(chance, key))


def _database(chance: random.Random, key: str) -> Database:
    count = chance.randrange(6, 15)
    spark, arrow, value = KEYS[key]
    null = lambda made: None if chance.random() < 0.1 else made  # noqa: E731
    table = pa.table(
        {
            "k": pa.array([value(n) for n in range(count)], arrow),
            "g": pa.array([null(chance.choice("abc")) for _ in range(count)], pa.string()),
            "h": pa.array([null(chance.choice("xyz")) for _ in range(count)], pa.string()),
            "t": pa.array([chance.randrange(6) for _ in range(count)], pa.int32()),
            "n": pa.array([null(chance.randrange(-4, 30)) for _ in range(count)], pa.int32()),
            "d": pa.array(
                [null(Decimal(chance.randrange(-999, 99999)) / 100) for _ in range(count)],
                pa.decimal128(12, 2),
            ),
            "f": pa.array([chance.uniform(-5, 5000) for _ in range(count)], pa.float64()),
        }
    )
    other = pa.table(
        {
            "k": pa.array([value(n) for n in range(4)], arrow),
            "h": pa.array(["x", "y", "z", "x"], pa.string()),
            "w": pa.array([chance.randrange(1, 5) for _ in range(4)], pa.int32()),
        }
    )
    columns = f"k {spark}, g string, h string, t int, n int, d decimal(12,2), f double"
    return Database(
        {
            "s": Relation("s", ("k",), columns, table),
            "p": Relation("p", ("k",), f"k {spark}, h string, w int", other),
        }
    )


# -- what is held ------------------------------------------------------------------------------


@dataclass(slots=True)
class Compared:
    """The numbers that were compared.

    Attributes
    ----------
    numbers, unknown, wrong
        By face and kind of root, as ``face: root``.
    problems
        The first wrong numbers, in words.
    """

    numbers: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def add(self, other: Compared) -> None:
        """Count another comparison in."""
        self.numbers += other.numbers
        self.unknown += other.unknown
        self.wrong += other.wrong
        self.outcomes += other.outcomes
        self.problems += other.problems

    def document(self) -> dict[str, Any]:
        """Return it as plain values."""
        names = ("numbers", "unknown", "wrong", "outcomes")
        return {name: dict(getattr(self, name)) for name in names} | {"problems": self.problems}

    @staticmethod
    def read(document: Mapping[str, Any]) -> Compared:
        """Return what was written."""
        names = ("numbers", "unknown", "wrong", "outcomes")
        counters = [Counter(document[name]) for name in names]
        return Compared(*counters, list(document["problems"]))

    def __str__(self) -> str:
        lines = [
            f"{self.numbers.total():,} numbers compared, {self.wrong.total():,} wrong;"
            f" {self.unknown.total():,} unknown; {dict(self.outcomes)}"
        ]
        for title, place in (("by face", 0), ("by kind of root", 1)):
            parts = [Counter[str](), Counter[str](), Counter[str]()]
            counters = (self.numbers, self.wrong, self.unknown)
            for part, counter in zip(parts, counters, strict=True):
                for name, count in counter.items():
                    part[name.split(": ")[place]] += count
            lines.append(f"{title}: numbers, wrong, unknown")
            names = dict.fromkeys([*parts[0], *parts[2]])
            lines += [f"{p:30} {' '.join(f'{c[p]:7,}' for c in parts)}" for p in names]
        return "\n".join([*lines, *self.problems[:20]])


@dataclass(frozen=True, slots=True)
class Truth:
    """A value of a row without some input, as `what_if` has it; None as state: it has no answer."""

    state: str | None
    value: Any = None


@contextmanager
def as_large(large: bool) -> Iterator[None]:
    """Have the engine take the ways that it takes over many rows."""
    with ExitStack() as stack:
        if large:
            stack.enter_context(patch.object(window_rows, "FOLLOWED", 0))
            stack.enter_context(patch.object(window_value, "FLOATS", 0))
            stack.enter_context(patch.object(aggregates, "MANY", 0))
        yield


class Holder:
    """The values of one capture, held on every face.

    Every other case is computed as if it had many rows, and compared with the ordinary way.
    """

    def __init__(
        self, case: FacesCase, capture: Capture, folder: Path, live: AnnotatedFrame | None = None
    ) -> None:
        self.case = case
        self.capture = capture
        self._asked = capture if live is None else live
        self.folder = folder
        self.large = case.seed % 2 == 1
        self.compared = Compared()
        self.source = CaptureSource("capture", capture)
        self._explorer = Explorer([self.source])
        self._changes: dict[tuple[str, tuple[str, ...]], Any] = {}

    def hold(self) -> Compared:
        """Hold the numbers of all values of the answer."""
        about = self.ask("about")
        for place in about["explained"]:
            column = about["columns"][place]["name"]
            for row in range(about["rows"]):
                self._value(row, place, column)
        self._comparison(about)
        self._saved(about)
        return self.compared

    def ask(self, view: str, **params: Any) -> Any:
        """Return the explorer's answer, which must be one."""
        with as_large(self.large):
            reply = self._explorer.ask({"source": 0, "view": view, "params": params})
        if "error" in reply:
            raise AssertionError(f"{self.case.sql}\n{view} {params}: {reply['error']}")
        return reply["answer"]

    # -- the engine, asked directly ---------------------------------------------------------

    def truth(self, relation: str, key: Sequence[str | None], row: int, place: int) -> Truth:
        """Return a value without an input row."""
        schema = self.capture._token_types()[relation]
        tokens = pa.table([parsed(key, f.type) for f in schema], schema=schema)
        return self.without({relation: tokens}, row, place, (relation, tuple(map(str, key))))

    def without(
        self, tokens: Mapping[str, pa.Table], row: int, place: int, name: Any = None
    ) -> Truth:
        """Return a value without some input rows."""
        if name is None or name not in self._changes:
            try:
                changes = self._asked.what_if(dict(tokens)).changes
                if isinstance(changes, pa.Table):
                    found = changes.column("new").to_pylist()
                else:
                    found = self._in_order(changes.toArrow())
            except LipstickError:
                found = None
            if name is None:
                return self._truth(found, row, place)
            self._changes[name] = found
        return self._truth(self._changes[name], row, place)

    def _in_order(self, changes: pa.Table) -> list[Any]:
        """Return the new rows of changes that Spark lists, in the order of the answer."""
        new: dict[str, list[Any]] = {}
        for row in changes.to_pylist():
            if row["old"] is not None:
                new.setdefault(repr(list(row["old"].values())), []).append(row["new"])
        answer = self.capture.memory.answer().to_pylist()
        return [new[repr(list(row.values()))].pop(0) for row in answer]

    def _truth(self, found: Any, row: int, place: int) -> Truth:
        if found is None:
            return Truth(None)
        new = found[row]
        return Truth("gone") if new is None else Truth("there", list(new.values())[place])

    # -- the faces --------------------------------------------------------------------------

    def _value(self, row: int, place: int, column: str) -> None:
        value = self.ask("value", row=row, column=column)
        now = self.capture.memory.answer().column(place)[row].as_py()
        if not value["axes"]:
            return
        if value["additive"]:
            self._adds_up(value, now)
        relation = value["axes"][value["by"]["axis"]]["relation"]
        for bar in value["bars"]:
            if bar["key"] is not None:
                truth = self.truth(relation, bar["key"], row, place)
                self._bar("explorer", bar, truth, now, value)
        self._file(value, row, place, column)
        self._sentence(value, row, place, now)
        self._groups(value, row, place, column, now)
        self._rows(row, place, column, value, now)
        self._public(row, place, column, value, now)

    def _bar(self, face: str, bar: Any, truth: Truth, now: Any, value: Any) -> None:
        distinct = "alone" in value["measure"]
        if bar["state"] == "unknown":
            self.compared.unknown[f"{face}: {self.case.root}"] += 1
            return
        self._same(face, bar["state"], truth.state, bar)
        if truth.state == "there":
            self._same(face, bar["without"], cell(truth.value), bar)
        if truth.value is not None and now is not None and bar["text"] is not None:
            self._same(face, bar["text"], cell(now - truth.value), bar)
        elif truth.state == "gone" and distinct:
            # Its row is gone with all of its inputs: all that is in them is in them alone.
            self._same(face, bar["text"], cell(now), bar)
        elif not (distinct or value["additive"]):
            self._same(face, bar["text"], None, bar)

    def _file(self, value: Any, row: int, place: int, column: str) -> None:
        """Hold the file that the explorer saves of the inputs that it lists."""
        params = {"row": row, "column": column, "numbers": True}
        question = {"source": 0, "view": "listed", "params": params, "format": "csv"}
        lines = csv.reader(io.StringIO(export(self._explorer, question).decode(), newline=""))
        head, *rows = lines
        relation = value["axes"][value["by"]["axis"]]["relation"]
        for bar, line in zip(value["bars"], rows, strict=True):
            if bar["key"] is None:
                continue
            truth = self.truth(relation, bar["key"], row, place)
            shown = line[head.index("without it")]
            if shown == "unknown":
                self.compared.unknown[f"csv: {self.case.root}"] += 1
                continue
            expected = "row gone" if truth.state == "gone" else cell(truth.value) or ""
            self._same("csv", shown, expected, (line, params))

    def _adds_up(self, value: Any, now: Any) -> None:
        parts = [bar["text"] for bar in value["bars"]]
        if now is None or None in parts or "rest" in value:
            return
        self._same("explorer", cell(sum(Decimal(part) for part in parts)), cell(now), parts)

    def _groups(self, value: Any, row: int, place: int, column: str, now: Any) -> None:
        """Hold the groups by a column of the relation."""
        number = value["by"]["axis"]
        axis = value["axes"][number]
        relation = self.case.database.relations[axis["relation"]]
        names = [each["name"] for each in axis["columns"] if each["name"] in ("g", "h", "t", "k")]
        if not names:
            return
        by = {"axis": number, "column": names[0]}
        grouped = self.ask("value", row=row, column=column, by=by)
        self._same_in_python(grouped)
        keys = {tuple(bar["key"]) for bar in value["bars"] if bar["key"]}
        if "rest" in value or len(keys) < len(value["bars"]):
            return
        types = self.capture._token_types()[relation.name]
        columns = [relation.data.column(name).to_pylist() for name in (*relation.key, names[0])]
        for bar in grouped["bars"]:
            inside = [
                each[:-1]
                for each in zip(*columns, strict=True)
                if cell(each[-1]) == bar["label"] and tuple(map(cell, each[:-1])) in keys
            ]
            arrays = zip(*inside, strict=True)
            tokens = [pa.array(a, f.type) for a, f in zip(arrays, types, strict=True)]
            truth = self.without({relation.name: pa.table(tokens, schema=types)}, row, place)
            self._bar("explorer", bar, truth, now, value)

    def _same_in_python(self, grouped: Any) -> None:
        """Hold the bars against the question in Python that the explorer copies."""
        call = grouped["python"].splitlines()[-1]
        found = eval(call, {"capture": self.capture}).to_pylist()
        name = grouped["by"]["column"]
        left = {cell(row[name]): (cell(row["_after"]), row["_gone"]) for row in found}
        gone = {"there": False, "gone": True, "unknown": None}
        for bar in grouped["bars"]:
            shown = (bar["without"], gone[bar["state"]])
            self._same("contributions", left[bar["label"]], shown, call)

    def _sentence(self, value: Any, row: int, place: int, now: Any) -> None:
        """Hold the sentence: its value, and what it says of the most important input."""
        text = value["sentence"]
        if now is not None and not isinstance(now, str):
            said = re.search(rf"{re.escape(value['column'])} (-?[\d,.]+|NULL)", text)
            self._near(text, said and said[1], now)
        relation = value["axes"][value["by"]["axis"]]["relation"]
        bars = {bar["label"]: bar for bar in value["bars"] if bar["key"] is not None}
        even = re.search(r"Without any one of them it is ([\d,.]+) (more|less)", text)
        for bar in bars.values() if even else ():
            change = Decimal(str(self.truth(relation, bar["key"], row, place).value))
            change -= Decimal(str(now))
            self._near(text, even and even[1], abs(change))
            self._same("sentence", even and even[2], "more" if change > 0 else "less", text)
        found = re.search(r"Without \w+ (.*?) (?:it is ([\d,.]+) (more|less)|the row would)", text)
        if found is None or found[1] not in bars:
            return
        truth = self.truth(relation, bars[found[1]]["key"], row, place)
        if found[2] is None:
            self._same("sentence", truth.state, "gone", text)
            return
        change = Decimal(str(truth.value)) - Decimal(str(now))
        self._near(text, found[2], abs(change))
        self._same("sentence", found[3], "more" if change > 0 else "less", text)
        biggest = 0.0
        for bar in bars.values():
            other = self.truth(relation, bar["key"], row, place)
            if other.state == "there" and other.value is not None:
                biggest = max(biggest, abs(float(other.value) - float(now)))
        self._same("sentence", abs(float(change)) >= biggest * (1 - 1e-9), True, text)

    def _near(self, text: str, said: str | None, number: Any) -> None:
        """Hold a number in words against one: it has all of its digits or six of them."""
        given = None if said in (None, "NULL") else float(str(said).rstrip(".").replace(",", ""))
        near = given is not None and abs(given - float(number)) <= 1e-5 * max(
            abs(float(number)), 0.0
        ) + (0.005 if abs(float(number)) >= 1000 else 0)
        self._same("sentence", near, True, f"{text}: {number}")

    def _rows(self, row: int, place: int, column: str, value: Any, now: Any) -> None:
        """Hold the command's rows and its document."""
        from lipstick.cli import captures

        table = self.capture.memory.answer()
        names = [n for n in table.column_names if table.column_names.count(n) == 1]
        chosen = []
        for name in names:
            one = table.column(name)[row].as_py()
            if isinstance(one, float):
                continue
            text = str(cell(one, None)).replace("'", "''")
            chosen.append(f"`{name}` is null" if one is None else f"`{name}` = '{text}'")
        condition = " and ".join(chosen)
        arguments = [str(self.capture.directory), condition, "--of", column, "--limit", "50"]
        ran = CliRunner().invoke(captures.rows, [*arguments, "--format", "json"])
        if ran.exit_code:
            self.compared.outcomes["rows: " + ran.output.strip()[:40]] += 1
            return
        said = json.loads(ran.output)
        if "numbers" in said:
            self.compared.outcomes["rows: several are alike, and are compared"] += 1
            return
        relation = value["axes"][value["by"]["axis"]]["relation"]
        for bar in said["bars"]:
            if bar["key"] is not None:
                truth = self.truth(relation, bar["key"], row, place)
                self._bar("rows", bar, truth, now, value)

    def _public(self, row: int, place: int, column: str, value: Any, now: Any) -> None:
        """Hold the question in Python, written as CSV and read, and the most important rows."""
        import pyarrow.csv

        axis = value["axes"][value["by"]["axis"]]
        # The rows of a live frame may be in another order than those of its capture.
        asked: int | dict[str, Any] = row
        if self._asked is not self.capture:  # sums of doubles depend on the order, too
            values = self._values_of(row)
            asked = {name: each for name, each in values.items() if not isinstance(each, float)}
        try:
            with as_large(self.large):
                found = self._asked.contributions(column, asked)
        except CaptureError as error:
            if "rows of the answer are meant" not in str(error):
                raise
            self.compared.unknown[f"contributions: {self.case.root}"] += 1
            return
        path = self.folder / "values.csv"
        keys = list(self.case.database.relations[axis["relation"]].key)
        pyarrow.csv.write_csv(found.select([*keys, "_after", "_effect", "_gone"]), path)
        texts = pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys([*keys, "_after", "_effect", "_gone"], pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        read = pyarrow.csv.read_csv(path, convert_options=texts).to_pylist()
        rows = zip(found.to_pylist(), read, strict=True)
        for each, text in rows:
            key = [cell(each[name], None) for name in keys]
            if None in key:
                continue
            truth = self.truth(axis["relation"], key, row, place)
            if each["_gone"] is None:
                self.compared.unknown[f"contributions: {self.case.root}"] += 1
                continue
            state = "gone" if each["_gone"] else "there"
            self._same("contributions", state, truth.state, each)
            self._same("csv", text["_gone"], str(truth.state == "gone").lower(), each)
            if truth.state == "there":
                self._same("contributions", cell(each["_after"]), cell(truth.value), each)
                self._same("csv", text["_after"], cell(truth.value), each)
                if truth.value is not None and now is not None:
                    difference = cell(truth.value - now)
                    self._same("contributions", cell(each["_effect"]), difference, each)
        self._top(row, place, column, axis["relation"], now)

    def _values_of(self, row: int) -> dict[str, Any]:
        table = self.capture.memory.answer()
        return {n: table.column(n)[row].as_py() for n in dict.fromkeys(table.column_names)}

    def _top(self, row: int, place: int, column: str, relation: str, now: Any) -> None:
        where = self._values_of(row)
        if now is None or any(isinstance(each, float) for each in where.values()):
            return
        try:
            top = self._asked.top(column, 5, where, relation=relation)
        except LipstickError:
            self.compared.unknown[f"top: {self.case.root}"] += 1
            return
        for each in top.to_pylist():
            keys = [cell(each[n], None) for n in self.case.database.relations[relation].key]
            truth = self.truth(relation, keys, row, place)
            if truth.state is not None:
                after = truth.value if truth.state == "there" else None
                self._same("top", cell(each["_after"]), cell(after), each)

    def _comparison(self, about: Any) -> None:
        """Hold numbers of the first and the last row beside each other, without each input."""
        places = about["explained"][:3]
        asked = [
            (row, place) for row in {0, about["rows"] - 1} for place in places if about["rows"]
        ]
        names = [about["columns"][place]["name"] for _, place in asked]
        numbers = [
            {"row": row, "column": name} for (row, _), name in zip(asked, names, strict=True)
        ]
        axes = self.ask("comparison", numbers=numbers)["axes"] if len(asked) > 1 else []
        for axis in range(len(axes)):
            answer = self.ask("comparison", numbers=numbers, by={"axis": axis})
            for bar in answer["bars"]:
                truths = [self.truth(axes[axis]["relation"], bar["key"], *each) for each in asked]
                for own, truth in zip(bar["numbers"], truths, strict=True):
                    self._compared(own, truth, truth.value)
                for own, truth in zip(bar["differences"], truths[1:], strict=True):
                    states = (truth.state, truths[0].state)
                    state = "gone" if "gone" in states else truth.state
                    values = truth.value, truths[0].value
                    gap = None if None in values else difference(*values)
                    self._compared({**own, "without": own["text"]}, Truth(state), gap)

    def _compared(self, own: Any, truth: Truth, value: Any) -> None:
        if own["state"] == "unknown":
            self.compared.unknown[f"comparison: {self.case.root}"] += 1
            return
        self._same("comparison", own["state"], truth.state, own)
        self._same("comparison", own["without"], cell(value), own)

    def _saved(self, about: Any) -> None:
        """Hold what a saved page has, and what its JavaScript answers without each row."""
        if shutil.which("node") is None:
            self.compared.outcomes["no node: saved pages are skipped"] += 1
            return
        held = Holding(self._explorer, 10_000_000)
        held.hold_circuit(0, self.source)
        _capture(held, 0, self.source, 20)
        circuit = held.circuits[0]
        tables = {name: self.capture.memory.tokens(name) for name in self.capture._token_types()}
        deletions = [
            (name, [cell(value.as_py(), None) for value in row])
            for name, table in tables.items()
            for row in zip(*table.columns, strict=True)
        ][:12]
        questions = [
            ["rows", {"scenario": {"delete": {name: [key]}}, "limit": 1000}]
            for name, key in deletions
        ]
        (replies,) = answers_of_page([{"circuits": {"0": circuit}, "questions": questions}])
        rows = len(self.capture.memory.answer())
        for (name, key), reply in zip(deletions, replies, strict=True):
            if "error" in reply:
                self.compared.unknown[f"saved page: {self.case.root}"] += rows
                continue
            window = reply["answer"]
            places = {place: at for at, place in enumerate(window["places"])}
            for row in range(rows):
                after = window["after"][places[row]]
                for place in about["explained"]:
                    truth = self.truth(name, key, row, place)
                    gone = after is not None and after["cells"] is None
                    state = "gone" if gone else "there"
                    self._same("saved page", state, truth.state, (name, key, row, place))
                    if truth.state == "there" and not gone:
                        shown = window["rows"][places[row]] if after is None else after["cells"]
                        self._same("saved page", shown[place], cell(truth.value), (name, key, row))

    def _same(self, face: str, shown: Any, expected: Any, told: Any) -> None:
        name = f"{face}: {self.case.root}"
        self.compared.numbers[name] += 1
        if not _equal(shown, expected):
            self.compared.wrong[name] += 1
            self.compared.problems.append(
                f"{name}, seed {self.case.seed}: shown {shown!r}, is {expected!r}, {told}\n"
                f"    {self.case.sql}"
            )


def _equal(shown: Any, expected: Any) -> bool:
    """Return True if two cells are the same; doubles may be rounded otherwise in a last digit."""
    if shown == expected:
        return True
    try:
        left, right = float(shown), float(expected)
    except (TypeError, ValueError):
        return False
    doubles = any("." in text or "e" in text for text in (str(shown), str(expected)))
    return doubles and abs(left - right) <= 1e-9 * max(1.0, abs(left), abs(right))


_RUN: Final = """
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { circuits, questions } = JSON.parse(line);
  const answers = heldAnswers({}, circuits);
  const found = [];
  for (const [view, params] of questions) {
    found.push(await answers({ source: 0, view, params }, ""));
  }
  console.log(JSON.stringify(found));
}
"""
_MODULES: Final = (
    "asking.js",
    "conditions.js",
    "scalars.js",
    "windows.js",
    "changes.js",
    "evaluator.js",
)


class _Node:
    """A process of Node that runs the page's modules, for as long as this one."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="faces-node-")
        path = Path(self._folder.name) / "run.mjs"
        path.write_text(script(_MODULES) + _RUN, encoding="utf-8")
        self.process = subprocess.Popen(
            ["node", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, line: Any) -> Any:
        """Return the answers to a line of questions."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self._folder.cleanup()


_node: list[_Node] = []


def answers_of_page(lines: Sequence[Any]) -> list[Any]:
    """Return what a saved page's modules answer to lines of questions."""
    if not _node:
        _node.append(_Node())
    return [_node[0].ask(line) for line in lines]


def close_node() -> None:
    """End the process that runs the page's modules."""
    while _node:
        _node.pop().close()


def held(case: FacesCase) -> Compared:
    """Hold a case over a capture that DuckDB writes; what DuckDB does not know is counted."""
    with tempfile.TemporaryDirectory(prefix="faces-") as directory:
        folder = Path(directory)
        try:
            capture = write_capture(case.sql, case.database, folder / "capture")
        except (duckdb.Error, sqlglot.errors.SqlglotError, LipstickError) as error:
            name = type(error).__name__
            return Compared(outcomes=Counter({f"not captured: {name}": 1}))
        compared = Holder(case, capture, folder).hold()
        compared.outcomes["held"] += 1
        return compared


def held_live(case: FacesCase, ls: Session, folder: Path) -> Compared:
    """Hold a case over a frame of a session, whose hypothetical answers Spark computes."""
    names = {}
    for name, relation in case.database.relations.items():
        names[name] = f"{name}_{case.seed}"
        ls.track(names[name], relation.frame(ls.spark), key=list(relation.key))
    sql = re.sub(r"\b(FROM|JOIN) ([sp])\b", lambda m: f"{m[1]} {names[m[2]]} {m[2]}", case.sql)
    sql = re.sub(r"\b([sp])_(\d+) \1 \1\b", r"\1_\2 \1", sql)
    frame = ls.sql(sql)
    frame.save(folder / "capture")
    relations = {names[n]: replace(r, name=names[n]) for n, r in case.database.relations.items()}
    renamed = replace(case, sql=sql, database=Database(relations))
    compared = Holder(renamed, open_capture(folder / "capture"), folder, frame).hold()
    compared.outcomes["held live"] += 1
    return compared


def cases(first: int, last: int) -> Iterator[FacesCase]:
    """Yield the cases of seeds."""
    for seed in range(first, last):
        yield case_of(seed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold cases, print what was compared, and return 1 if a number was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="?", default="0-100")
    parser.add_argument("--output", type=Path, help="a file of results, to go on from")
    given = parser.parse_args(arguments)
    first, _, last = given.seeds.partition("-")
    done: dict[int, Compared] = {}
    if given.output is not None and given.output.exists():
        for line in given.output.read_text().splitlines():
            document = json.loads(line)
            done[document["seed"]] = Compared.read(document)
    total = Compared()
    for case in cases(int(first), int(last or int(first) + 1)):
        if case.seed not in done:
            done[case.seed] = held(case)
            if given.output is not None:
                with given.output.open("a") as file:
                    document = done[case.seed].document()
                    file.write(json.dumps({"seed": case.seed, **document}) + "\n")
        total.add(done[case.seed])
    close_node()
    print(total)
    return int(bool(total.wrong))


if __name__ == "__main__":
    raise SystemExit(main())
