"""Every function of Spark's registry, called in data frames as Spark's own examples call it.

What the session understands as SQL it understands as a data frame, with the same rows; and what it
refuses in both is refused by an error of ours. The examples are those of Spark's documentation of
its functions, with columns of a tracked relation in place of their literals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlglot import exp

import lipstick
from lipstick.errors import LipstickError, TrackingError
from rewriter.dialect import SparkSQL, parse
from rewriter.errors import QueryError
from rewriter.scalars.functions import DRAWN
from tests.support_page.functions import SPARK_FUNCTIONS

CHUNKS: Final = 72
EXAMPLES: Final = 2
_EXAMPLE: Final = re.compile(r"^\s*> (SELECT .*?);\s*$", re.MULTILINE)
_CLAUSES: Final = ("distinct", "group", "joins", "laterals", "limit", "order", "where", "with_")
_OF_THE_MOMENT: Final = frozenset(
    ["current_time", "current_timestamp", "localtime", "localtimestamp", "now", "unix_timestamp"]
)
_VARYING: Final = (
    DRAWN
    | _OF_THE_MOMENT
    | frozenset(["aes_encrypt", "any_value", "first", "first_value", "last", "last_value", "mode"])
)
"""Functions whose values may be others each time."""
_WITHOUT_SEED: Final = frozenset(["rand", "randn", "random"])
"""Functions that draw others in each reading of a text that has no seed; F.rand() has one."""
_DISABLED: Final = "UNSUPPORTED_TIME_TYPE"


@dataclass(frozen=True)
class Call:
    """An example: an expression over literals, or over the columns of rows that it comes with."""

    name: str
    item: exp.Expr
    rows: str | None

    def varies(self) -> bool:
        """Tell whether another call may have another value."""
        names = {str(node.this).lower() for node in self.item.walk() if _is_call(node)}
        return self.name in _VARYING or bool(names & _VARYING)


@dataclass(frozen=True)
class Tried:
    """A call over a relation: as a column, and as SQL."""

    call: Call
    rows: str
    text: str
    column: Callable[[], Column]


def _is_call(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous | exp.AnonymousAggFunc)


def _examples(spark: SparkSession, name: str) -> Iterator[Call]:
    described = spark.sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect()
    documentation = "\n".join(row[0] for row in described)
    for text in _EXAMPLE.findall(documentation)[:EXAMPLES]:
        try:
            query = parse(text)
        except QueryError:
            continue
        plain = isinstance(query, exp.Select) and not any(map(query.args.get, _CLAUSES))
        if plain and len(query.expressions) == 1:
            rows = query.args.get("from_")
            item = query.expressions[0].unalias()
            yield Call(name, item, rows.sql(dialect=SparkSQL) if rows else None)


def _with_columns(item: exp.Expr, *, all_of_them: bool) -> tuple[exp.Expr, dict[str, str]]:
    """Return an expression with columns in place of its literals, and what they stand for.

    Those in which Spark wants a literal are not known: either all, or the first argument.
    """
    columns: dict[str, str] = {}

    def visit(node: exp.Expr, first: bool) -> exp.Expr:
        if isinstance(node, exp.Literal) and (all_of_them or first):
            name = columns.setdefault(node.sql(dialect=SparkSQL), f"c{len(columns)}")
            return exp.column(name)
        if _is_call(node):
            node.set(
                "expressions",
                [visit(part, first and at == 0) for at, part in enumerate(node.expressions)],
            )
        return node

    return visit(item.copy(), True), columns


def _column(node: exp.Expr, *, by_name: bool) -> Column:
    """Return the column of an expression; ``by_name``: by PySpark's function, if it has one."""
    if isinstance(node, exp.Column) and not node.table:
        return F.col(node.name)
    if not _is_call(node):
        return F.expr(node.sql(dialect=SparkSQL))
    arguments = [_column(part, by_name=by_name) for part in node.expressions]
    function = getattr(F, str(node.this).lower(), None) if by_name else None
    if function is None:
        return F.call_function(str(node.this), *arguments)
    column = function(*arguments)
    assert isinstance(column, Column)
    return column


def _trials(call: Call, *, by_name: bool) -> Iterator[Tried]:
    """Yield a call in several ways, of which Spark may not accept the first."""
    if call.rows is not None:
        yield _tried(call, f"SELECT * {call.rows}", call.item, by_name)
        return
    for all_of_them in (True, False):
        item, columns = _with_columns(call.item, all_of_them=all_of_them)
        values, names = list(columns) or ["1"], list(columns.values()) or ["c0"]
        rows = f"SELECT * FROM VALUES ({', '.join(values)}) AS t({', '.join(names)})"
        yield _tried(call, rows, item, by_name)
    yield _tried(call, "SELECT * FROM VALUES (1) AS t(c0)", call.item, by_name)


def _tried(call: Call, rows: str, item: exp.Expr, by_name: bool) -> Tried:
    return Tried(
        call, rows, item.sql(dialect=SparkSQL), lambda: _column(item, by_name=by_name).alias("f")
    )


def _answer(frame: DataFrame) -> list[str] | None:
    """Return the rows; of types that Python has no values of, as Spark writes them."""
    try:
        rows: Sequence[Any] = frame.collect()
    except (PySparkException, NotImplementedError, TypeError, ValueError):
        try:
            rows = frame.select(F.col("f").cast("string")).collect()
        except PySparkException:
            return None
    return sorted(map(str, rows))


@cache
def _chunks() -> list[list[str]]:
    return [SPARK_FUNCTIONS[number::CHUNKS] for number in range(CHUNKS)]


@pytest.mark.many(72)
@pytest.mark.engines("spark")
@pytest.mark.parametrize("by_name", [False, True], ids=["call_function", "functions"])
@pytest.mark.parametrize("number", range(CHUNKS))
def test_functions(spark: SparkSession, number: int, by_name: bool) -> None:
    known = {function.name for function in spark.catalog.listFunctions()}
    failures, held = [], 0
    with lipstick.session(spark) as ls:
        for name in filter(known.__contains__, _chunks()[number]):
            for call in _examples(spark, name):
                problem = _hold(ls, call, by_name=by_name)
                held += problem == ""
                if problem:
                    failures.append(f"{call.item.sql(dialect=SparkSQL)}: {problem}")
    assert not failures, "\n\n".join(failures)
    assert held


def _hold(ls: lipstick.Session, call: Call, *, by_name: bool) -> str | None:
    """Return what is wrong with a call; "" if nothing is, None if Spark does not take it itself."""
    for tried in _trials(call, by_name=by_name):
        try:
            source = ls.spark.sql(tried.rows)
            frame = source.select(tried.column())
            frame.schema  # noqa: B018 - a client of Spark Connect asks for it now
        except (PySparkException, Py4JError, TypeError, ValueError, AssertionError, AttributeError):
            continue
        expected = _answer(frame)
        if expected is None:
            continue
        try:
            ls.track("r", source, key=source.columns[0], verify=False)
        except TrackingError:  # no key is of this type
            ls.track("r", source, key="*")
        try:
            return _compare(ls, frame, tried, expected)
        finally:
            ls.untrack("r")
    return None


def _compare(
    ls: lipstick.Session, frame: DataFrame, tried: Tried, expected: list[str]
) -> str | None:
    try:
        annotated = ls.annotate(frame).plan.annotated
    except LipstickError as error:
        try:
            ls.sql(f"SELECT {tried.text} AS f FROM r")
        except LipstickError:
            return None
        return "" if tried.call.name in _WITHOUT_SEED else f"refused as a frame alone: {error}"
    except PySparkException as error:
        return None if _DISABLED in str(error) else f"{error}"
    actual = _answer(annotated.drop("_prov"))
    if actual is None or (actual != expected and not tried.call.varies()):
        return f"{actual} instead of {expected}"
    return ""
