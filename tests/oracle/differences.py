"""Parts of differences between two versions of random data: ``python -m tests.oracle.differences
0-1000``.

DuckDB yields the combinations of rows behind each number in both versions; their shares are added
up here in fractions, row by row, by the rules of :mod:`lipstick.questions.diff`.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from lipstick.questions.diff.cells import rational
from lipstick.questions.diff.difference import AnswerDifference
from lipstick.questions.diff.parts import DifferenceParts
from lipstick.questions.diff.pipeline import Version, difference
from tests.oracle.database import Database, Relation
from tests.oracle.duck import Duck
from tests.oracle.written import written

Rows = dict[str, list[tuple[Any, ...]]]
Parts = dict[tuple[str, int], Fraction]
Members = dict[str, list[dict[Any, list[tuple[Any, ...]]]]]
"""By value and version, the members of each key."""

_SCHEMAS = {
    "r": (("id", pa.int32()), ("a", pa.int32()), ("b", pa.int32()), ("c", pa.string())),
    "s": (("id", pa.int32()), ("a", pa.int32()), ("d", pa.decimal128(9, 2))),
}
_SPARK = {pa.int32(): "int", pa.string(): "string", pa.decimal128(9, 2): "decimal(9,2)"}
_SOURCES = ("r", "r JOIN s ON r.a = s.a", "r LEFT JOIN s ON r.a = s.a AND s.d > 1")
_NUMBERS = {
    "sum(b)": ("sum", "b"),
    "count(*)": ("count", "1"),
    "count(b)": ("count", "b"),
    "avg(b)": ("ratio", "b", "b"),
    "sum(b) / count(*)": ("ratio", "b", "1"),
    "2 * sum(b) - count(*)": ("linear", "b", "1"),
    "min(b)": ("min", "b"),
    "max(b)": ("max", "b"),
    "count(DISTINCT b)": ("distinct", "b"),
    "sum(d)": ("sum", "d"),
    "avg(d)": ("ratio", "d", "d"),
    "100 * sum(b * d) / nullif(sum(d), 0)": ("weighted", "b * d", "d"),
    "count(DISTINCT d)": ("distinct", "d"),
}
"""Numbers of answers; the rule of each, and the values of members that it is about."""


@dataclass(frozen=True)
class Pair:
    """A query over two versions of a database."""

    source: str
    where: str
    key: str | None
    numbers: tuple[str, ...]
    versions: tuple[Rows, Rows]

    @property
    def sql(self) -> str:
        keys = [] if self.key is None else [f"{self.key} AS k"]
        items = keys + [f"{text} AS v{n}" for n, text in enumerate(self.numbers)]
        group = "" if self.key is None else f" GROUP BY {self.key}"
        return f"SELECT {', '.join(items)} FROM {self.source}{self.where}{group}"

    def members(self, duck: Duck, value: str) -> dict[Any, list[tuple[Any, ...]]]:
        """Return, by key, the rows and a value of each combination of rows."""
        other = "s.id" if " s " in self.source else "CAST(NULL AS INT)"
        text = f"SELECT {self.key or 0}, r.id, {other}, {value} FROM {self.source}{self.where}"
        members = defaultdict(list)
        for key, first, second, number in duck.answer(text).rows:
            members[key].append(((("r", first), ("s", second)), number))
        return members


def generate(seed: int) -> Pair:
    """Return a random pair: rows removed, added and changed, values that offset one another."""
    rng = random.Random(seed)

    def row(name: str, key: int) -> tuple[Any, ...]:
        if name == "r":
            return (
                key,
                rng.choice([1, 2, 3, None]),
                rng.choice([None, 1, 5, 10, -3]),
                rng.choice(["x", "y", None]),
            )
        return (key, rng.randint(1, 3), rng.choice([None, Decimal("1.25"), Decimal("-7.10")]))

    before = {"r": [row("r", n) for n in range(14)], "s": [row("s", n) for n in range(5)]}
    after = {}
    for name, rows in before.items():
        kept = [each for each in rows if rng.random() < 0.85]
        moved = [row(name, each[0]) if rng.random() < 0.3 else each for each in kept]
        if name == "r" and len(moved) > 1 and rng.random() < 0.3:
            # Two values change places: their sum stays.
            (k1, a1, b1, c1), (k2, a2, b2, c2) = moved[0], moved[1]
            moved[:2] = [(k1, a1, b2, c1), (k2, a2, b1, c2)]
        after[name] = moved + [row(name, 100 + n) for n in range(rng.randint(0, 3))]
    source = rng.choice(_SOURCES)
    joined = " s " in source
    known = [text for text, (_, *its) in _NUMBERS.items() if joined or "d" not in "".join(its)]
    where = rng.choice(["", " WHERE b > 0", " WHERE r.id < 8", " WHERE c = 'x' OR b IS NULL"])
    key = rng.choice(["r.a", "c", None])
    numbers = tuple(rng.sample(known, min(len(known), 5)))
    return Pair(source, where, key, numbers, (before, after))


def database(rows: Rows) -> Database:
    """Return rows as a database."""
    relations = {}
    for name, columns in _SCHEMAS.items():
        data = pa.table(
            {
                column: pa.array([row[n] for row in rows[name]], kind)
                for n, (column, kind) in enumerate(columns)
            }
        )
        schema = ", ".join(f"{column} {_SPARK[kind]}" for column, kind in columns)
        relations[name] = Relation(name, ("id",), schema, data)
    return Database(relations)


def compared(sql: str, versions: tuple[Database, Database], folder: Path) -> AnswerDifference:
    """Capture a query over two databases, and compare its answers."""
    runs = []
    for side, each in enumerate(versions):
        memory = written(sql, each, folder / str(side))
        tables = {name: relation.data for name, relation in each.relations.items()}
        read = {token.relation for block in memory.blocks for token in block.tokens}
        runs.append(Version(memory, None, {n: t for n, t in tables.items() if n in read}))
    before, after = runs
    return difference(before, after, after, None)


class Held:
    """What has been held of pairs."""

    def __init__(self) -> None:
        self.numbers: Counter[str] = Counter()

    def hold(self, pair: Pair) -> None:
        """Hold every number of every row that differs."""
        versions = (database(pair.versions[0]), database(pair.versions[1]))
        with tempfile.TemporaryDirectory(prefix="differences-") as folder:
            for side in "01":
                (Path(folder) / side).mkdir()
            found = compared(pair.sql, versions, Path(folder))
            ducks = [Duck(each) for each in versions]
            values = {v for text in pair.numbers for v in _NUMBERS[text][1:]}
            members = {v: [pair.members(duck, v) for duck in ducks] for v in values}
            answers = [_answer(pair, duck) for duck in ducks]
            keys = answers[0].keys() | answers[1].keys()
            expected = {key for key in keys if answers[0].get(key) != answers[1].get(key)}
            shown = found.rows().to_pylist()
            assert {row.get("c0") if pair.key else 0 for row in shown} == expected, pair.sql
            for place, text in enumerate(pair.numbers):
                column = f"c{place + (pair.key is not None)}"
                for key in expected:
                    where = {"c0": key} if pair.key else {}
                    parts = found.parts(column, where)
                    was, now = (rational(a[key][place] if key in a else None) for a in answers)
                    _check(pair, text, key, parts, now - was, members)
                    self.numbers[_NUMBERS[text][0]] += 1


def _answer(pair: Pair, duck: Duck) -> dict[Any, tuple[Any, ...]]:
    rows = duck.answer(pair.sql).rows
    return {(row[0] if pair.key else 0): row[1 if pair.key else 0 :] for row in rows}


def _check(
    pair: Pair,
    text: str,
    key: Any,
    parts: DifferenceParts,
    expected: Fraction,
    members: Members,
) -> None:
    what = f"{text} of {key}\n{pair.sql}\n{parts}"
    mine = _parts(pair, text, key, members)
    theirs: Parts = {}
    for relation, rows in parts.exact_rows().items():
        theirs |= {(relation, tokens[0]): part for tokens, part in rows.items() if part}
    wrong = {
        row: (mine.get(row, 0), theirs.get(row, 0))
        for row in mine.keys() | theirs.keys()
        if abs(mine.get(row, Fraction(0)) - theirs.get(row, Fraction(0))) > Fraction(1, 10**9)
    }
    assert not wrong, f"{wrong}\n{what}"
    total = sum(theirs.values(), Fraction(0)) + parts.code + parts.unchanged + parts.rest
    assert total == parts.difference, what
    assert abs(total - expected) < Fraction(1, 10**4), what  # DuckDB's averages are doubles.
    assert parts.code == parts.unchanged == 0, what
    missing = parts.before is None or parts.after is None
    assert missing or abs(parts.rest) < Fraction(1, 10**4), what


def _parts(pair: Pair, text: str, key: Any, members: Members) -> Parts:
    rule, *values = _NUMBERS[text]
    changed = _changed(pair)
    sides = [[side.get(key, []) for side in members[value]] for value in values]
    if rule in ("min", "max"):
        return _extreme(sides[0], changed, min if rule == "min" else max)
    if rule == "distinct":
        return _distinct(sides[0], changed)
    if rule == "sum":
        return _sum(sides[0], changed, rational)
    if rule == "count":
        return _sum(sides[0], changed, _one)
    if rule == "linear":
        first, second = _sum(sides[0], changed, rational), _sum(sides[1], changed, _one)
        return _added(first, Fraction(2), second, Fraction(-1))
    below = rational if rule == "weighted" else _one
    s = [sum((rational(v) for _, v in side), Fraction(0)) for side in sides[0]]
    c = [sum((below(v) for _, v in side), Fraction(0)) for side in sides[1]]
    factor = 100 if rule == "weighted" else 1
    first, second = _sum(sides[0], changed, rational), _sum(sides[1], changed, below)
    if not any(c):
        return {}
    if not all(c):
        return _added(first, Fraction(factor) / (c[0] or c[1]), second, Fraction(0))
    slope = -(s[0] + s[1]) / 2 / (c[0] * c[1])
    return _added(first, factor * (1 / c[0] + 1 / c[1]) / 2, second, factor * slope)


def _one(value: Any) -> Fraction:
    return Fraction(value is not None)


def _changed(pair: Pair) -> set[tuple[str, int]]:
    before, after = pair.versions
    changed = set()
    for name in before:
        old, new = ({row[0]: row for row in its[name]} for its in (before, after))
        changed |= {
            (name, key)
            for key in old.keys() | new.keys()
            if _differs(pair, name, old.get(key), new.get(key))
        }
    return changed


def _differs(pair: Pair, name: str, old: Any, new: Any) -> bool:
    if old is None or new is None:
        return True
    read = [n for n, (column, _) in enumerate(_SCHEMAS[name]) if _reads(pair, name, column)]
    return any(old[n] != new[n] for n in read)


def _reads(pair: Pair, name: str, column: str) -> bool:
    names = {"a": ("r.a", "s.a")[name == "s"], "b": "b", "c": "c", "d": "d", "id": f"{name}.id"}
    text = pair.sql.replace("DISTINCT", "").replace("AND", "").replace("SELECT", "")
    words = text.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return names[column] in words or (f"s.{column}" in words and name == "s")


def _sum(sides: list[Any], changed: set[Any], number: Callable[[Any], Fraction]) -> Parts:
    parts: Parts = defaultdict(Fraction)
    for sign, side, other in zip((-1, 1), sides, reversed(sides), strict=True):
        for rows, value in side:
            its = [row for row in rows if row in changed]
            first, second = rows
            if not its and second[1] is None:
                # Unmatched; in the other version it has partners.
                partners = {theirs[1] for theirs, _ in other if theirs[0] == first}
                its = [] if second in partners else [each for each in partners if each in changed]
            for row in its:
                parts[row] += sign * number(value) / len(its)
    return parts


def _added(
    one: Mapping[Any, Fraction], a: Fraction, two: Mapping[Any, Fraction], b: Fraction
) -> Parts:
    return {
        row: a * one.get(row, Fraction(0)) + b * two.get(row, Fraction(0))
        for row in one.keys() | two.keys()
    }


def _extreme(sides: list[Any], changed: set[Any], choose: Any) -> Parts:
    values = [[v for _, v in side if v is not None] for side in sides]
    before, after = (choose(its) if its else None for its in values)
    moved = rational(after) - rational(before)
    if before == after:
        return {}
    beyond = before is None or (after is not None and choose(before, after) == after)
    side, extreme = (sides[1], after) if beyond else (sides[0], before)
    having = {row for rows, value in side if value == extreme for row in rows if row in changed}
    return {row: moved / len(having) for row in having}


def _distinct(sides: list[Any], changed: set[Any]) -> Parts:
    parts: Parts = defaultdict(Fraction)
    values = [{v for _, v in side if v is not None} for side in sides]
    for sign, side, moved in (
        (-1, sides[0], values[0] - values[1]),
        (1, sides[1], values[1] - values[0]),
    ):
        for value in moved:
            having = {row for rows, v in side if v == value for row in rows if row in changed}
            for row in having:
                parts[row] += Fraction(sign, len(having))
    return parts


def pairs(first: int, last: int) -> Iterator[Pair]:
    """Yield random pairs."""
    for seed in range(first, last):
        yield generate(seed)


if __name__ == "__main__":
    start, stop = map(int, sys.argv[1].split("-"))
    held = Held()
    for each in pairs(start, stop):
        held.hold(each)
    print(f"{stop - start} pairs, numbers by rule: {dict(held.numbers)}")
