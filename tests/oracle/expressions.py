"""Random scalar expressions and predicates that cannot raise an error under ANSI rules.

Numbers carry a bound so that arithmetic never overflows, and doubles carry whether they are exact
(multiples of a small power of two, so that sums do not depend on their order).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

INTEGERS: Final = frozenset({"int", "bigint"})
NUMBERS: Final = frozenset({"int", "bigint", "double", "decimal"})
KINDS: Final = ("int", "double", "decimal", "string", "date", "boolean")
STRINGS: Final = ("a", "b", "B", "ab", "", "x y", "ä")
_COMPARED: Final = frozenset({*KINDS, *INTEGERS})
_LIMITS: Final = {"int": 1e8, "bigint": 1e15, "double": 1e9, "decimal": 1e7}


@dataclass(frozen=True, slots=True)
class Term:
    """A scalar expression.

    ``aggregated`` depends on an aggregated value, ``inexact`` is a double that is rounded, and
    ``unstable`` is one whose rounding depends on the order of the rows: it may be an output and
    nothing else, never compared, grouped by or ordered by.
    """

    sql: str
    kind: str
    bound: float = 100.0
    aggregated: bool = False
    inexact: bool = False
    unstable: bool = False

    def derived(self, sql: str, *terms_beside: Term, kind: str = "", bound: float = 0.0) -> Term:
        """Return an expression over this term and others, marked as they are."""
        terms = (self, *terms_beside)
        return Term(
            sql,
            kind or self.kind,
            bound or max(term.bound for term in terms),
            any(term.aggregated for term in terms),
            any(term.inexact for term in terms),
            any(term.unstable for term in terms),
        )


@dataclass(frozen=True, slots=True)
class Column:
    """A named term of a scope; ``term.sql`` is how it is referred to."""

    name: str
    term: Term

    def referred(self, sql: str) -> Column:
        """Return the column under another reference."""
        return Column(self.name, replace(self.term, sql=sql))


def stable(scope: Sequence[Column], kinds: frozenset[str] | None = None) -> list[Term]:
    """Return the terms of a scope that may decide something, of these kinds."""
    return [
        column.term
        for column in scope
        if not column.term.unstable and (kinds is None or column.term.kind in kinds)
    ]


def literal(rng: random.Random, kind: str) -> Term:
    """Return a literal of this kind."""
    if kind in INTEGERS:
        value = rng.choice((0, 1, 1, 2, 2, 3, 4, 5, 7, -1, -2))
        return Term(str(value), kind, abs(value) + 1.0)
    if kind == "double":
        return Term(rng.choice(("0.5", "1.25", "-2.5", "4.0", "0.0")), kind, 5.0)
    if kind == "decimal":
        return Term(rng.choice(("0.50", "1.25", "-3.10", "7.00")), kind, 8.0)
    if kind == "date":
        return Term(f"DATE '2020-01-0{rng.randint(1, 9)}'", kind)
    if kind == "boolean":
        return Term(rng.choice(("TRUE", "FALSE")), kind)
    return Term(f"'{rng.choice(STRINGS)}'", "string")


def scalar(rng: random.Random, scope: Sequence[Column], kind: str, depth: int = 1) -> Term:
    """Return an expression of this kind (a bigint may stand for an int and the reverse)."""
    kinds = INTEGERS if kind in INTEGERS else frozenset({kind})
    columns = [column.term for column in scope if column.term.kind in kinds]
    if not columns:
        return _converted(rng, scope, kind)
    term = rng.choice(columns)
    if depth <= 0 or rng.random() < 0.45:
        return term
    roll = rng.random()
    if roll < 0.2:
        other = scalar(rng, scope, kind, depth - 1)
        default = other if other.kind == term.kind else literal(rng, term.kind)
        return term.derived(f"COALESCE({term.sql}, {default.sql})", default)
    if roll < 0.4:
        test = predicate(rng, scope, 0)
        default = literal(rng, term.kind)
        tail = rng.choice(("", f" ELSE {default.sql}"))
        return term.derived(f"CASE WHEN {test.sql} THEN {term.sql}{tail} END", test, default)
    if roll < 0.47:
        other = literal(rng, term.kind)
        return term.derived(f"NULLIF({term.sql}, {other.sql})")
    return _computed(rng, term, rng.choice(columns))


def _converted(rng: random.Random, scope: Sequence[Column], kind: str) -> Term:
    terms = [column.term for column in scope]
    dates = [term for term in terms if term.kind == "date"]
    strings = [term for term in terms if term.kind == "string"]
    integers = [term for term in terms if term.kind in INTEGERS]
    if kind in INTEGERS and strings and rng.random() < 0.5:
        return strings[0].derived(f"LENGTH({strings[0].sql})", kind="int", bound=10)
    if kind in INTEGERS and dates:
        return dates[0].derived(f"DAY({dates[0].sql})", kind="int", bound=31)
    if kind == "double" and integers:
        term = rng.choice(integers)
        return term.derived(f"CAST({term.sql} AS DOUBLE)", kind="double")
    if kind == "decimal" and any(term.bound < 1e6 for term in integers):
        term = rng.choice([term for term in integers if term.bound < 1e6])
        return term.derived(f"CAST({term.sql} AS DECIMAL(12, 2))", kind="decimal")
    if kind == "string" and integers:
        term = rng.choice(integers)
        return term.derived(f"CAST({term.sql} AS STRING)", kind="string")
    if kind == "boolean":
        return predicate(rng, scope, 0)
    return literal(rng, kind)


def _computed(rng: random.Random, term: Term, other: Term) -> Term:
    if term.kind in NUMBERS:
        return _number(rng, term, other)
    if term.kind == "string":
        sql = rng.choice(("UPPER({0})", "CONCAT({0}, 'z')", "SUBSTRING({0}, 1, 1)", "{0} || 'q'"))
        return term.derived(sql.format(term.sql))
    if term.kind == "date":
        return term.derived(f"DATE_ADD({term.sql}, {rng.randint(-3, 3)})")
    return term.derived(f"(NOT {term.sql})")


def _number(rng: random.Random, term: Term, other: Term) -> Term:
    limit = _LIMITS[term.kind]
    small = rng.choice((2, 3, -1))
    choices = [
        term.derived(f"({term.sql} * {small})", bound=term.bound * 3),
        term.derived(f"({term.sql} + {literal(rng, term.kind).sql})", bound=term.bound + 8),
        term.derived(f"(- {term.sql})"),
        term.derived(f"ABS({term.sql})"),
    ]
    if other.kind == term.kind:
        sign = rng.choice("+-")
        choices.append(
            term.derived(f"({term.sql} {sign} {other.sql})", other, bound=term.bound + other.bound)
        )
        if term.bound * other.bound < limit and term.kind != "decimal":
            choices.append(
                term.derived(f"({term.sql} * {other.sql})", other, bound=term.bound * other.bound)
            )
    if term.kind in INTEGERS:
        choices.append(term.derived(f"({term.sql} % {rng.choice((2, 3))})", bound=3))
    if term.kind == "double":
        choices.append(term.derived(f"({term.sql} / 4)"))
        if not other.unstable:
            quotient = f"({term.sql} / NULLIF({other.sql}, 0))"
            choices.append(replace(term.derived(quotient, other, bound=1e9), inexact=True))
    fitting = [choice for choice in choices if choice.bound < limit]
    return rng.choice(fitting) if fitting else term


def predicate(rng: random.Random, scope: Sequence[Column], depth: int = 1) -> Term:
    """Return a condition over the stable columns of a scope, NULL included in its outcomes."""
    terms = stable(scope, _COMPARED)
    if not terms:
        return Term("TRUE", "boolean")
    if depth > 0 and rng.random() < 0.3:
        left, right = predicate(rng, scope, depth - 1), predicate(rng, scope, depth - 1)
        if rng.random() < 0.2:
            return left.derived(f"(NOT ({left.sql} AND {right.sql}))", right, kind="boolean")
        word = rng.choice(("AND", "OR", "OR", "OR"))
        return left.derived(f"({left.sql} {word} {right.sql})", right, kind="boolean")
    return compared(rng, rng.choice(terms), terms)


def compared(rng: random.Random, term: Term, terms: Sequence[Term]) -> Term:
    """Return a condition on one term, against a literal or another term of its kind."""
    roll = rng.random()
    if roll < 0.12:
        return term.derived(f"({term.sql} IS NOT NULL)", kind="boolean")
    if roll < 0.14:
        return term.derived(f"({term.sql} IS NULL)", kind="boolean")
    if term.kind == "boolean":
        sql = rng.choice(("{0}", "(NOT {0})", "COALESCE({0}, TRUE)", "({0} IS NOT TRUE)"))
        return term.derived(sql.format(term.sql))
    if term.kind == "string" and roll < 0.4:
        pattern = rng.choice(("%a%", "_%", "%b", "%", "%"))
        word = "LIKE" if roll < 0.32 else "NOT LIKE"
        return term.derived(f"({term.sql} {word} '{pattern}')", kind="boolean")
    if roll < 0.2:
        values = ", ".join(literal(rng, term.kind).sql for _ in range(6))
        word = "IN" if roll < 0.18 else "NOT IN"
        return term.derived(f"({term.sql} {word} ({values}))", kind="boolean")
    alike = [other for other in terms if other.kind == term.kind and other.sql != term.sql]
    if alike and rng.random() < 0.35:
        other = rng.choice(alike)
        operator = rng.choice(("<=", ">=", "<>", "<>", ">=", "<=>", "<"))
        return term.derived(f"({term.sql} {operator} {other.sql})", other, kind="boolean")
    if rng.random() < 0.15:
        return term.derived(
            f"({term.sql} BETWEEN '' AND 'm')"
            if term.kind == "string"
            else f"({term.sql} BETWEEN -3 AND 4)"
            if term.kind in NUMBERS
            else f"({term.sql} BETWEEN DATE '2020-01-02' AND DATE '2020-01-07')",
            kind="boolean",
        )
    operator, value = _loose(rng, term.kind)
    return term.derived(f"({term.sql} {operator} {value})", kind="boolean")


def _loose(rng: random.Random, kind: str) -> tuple[str, str]:
    """Return an operator and a literal that most values of small relations satisfy."""
    if rng.random() < 0.12:
        return "=", literal(rng, kind).sql
    if rng.random() < 0.25:
        return "<>", literal(rng, kind).sql
    low, high = {
        "double": (("-2.5", "0.0", "0.5"), ("4.0", "10.75", "3.0")),
        "decimal": (("-3.10", "0.00", "0.50"), ("7.00", "1.25", "99.99")),
        "string": (("''", "'B'", "'a'"), ("'b'", "'x y'", "'k9'")),
        "date": (("DATE '2020-01-02'", "DATE '2020-01-04'"), ("DATE '2020-01-07'",) * 2),
    }.get(kind, (("-1", "0", "1", "2"), ("3", "5", "7", "20")))
    if rng.random() < 0.6:
        return rng.choice((">", ">=")), rng.choice(low)
    return rng.choice(("<", "<=")), rng.choice(high)
