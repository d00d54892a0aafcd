"""Scalars of blocks compiled to functions of columns; scalars that need Spark are refused.

Scalars are compiled once each, since the same blocks are asked many questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, wraps
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.dialect.nodes import InNumbers
from rewriter.interpret import arithmetic, arrays, casts, dates, lambdas, logic, texts, times
from rewriter.interpret.functions import function
from rewriter.interpret.vector import UninterpretableError, Vector, constant, from_arrow
from rewriter.scalars.comparable import COMPARISONS
from rewriter.scalars.text import scalar, text

Made = TypeVar("Made")

_KEPT = 4096


@dataclass(frozen=True, eq=False)
class _Same:
    """A scalar, equal to itself only: to compare trees takes as long as to read them."""

    __slots__ = ("scalar",)

    scalar: Scalar

    def __hash__(self) -> int:
        return id(self.scalar)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.scalar is other.scalar


def once(make: Callable[[Scalar], Made]) -> Callable[[Scalar], Made]:
    """Keep what a function makes of the scalars that it was given last.

    A scalar must not be changed in place once it was given.
    """
    kept = lru_cache(maxsize=_KEPT)(lambda same: make(same.scalar))

    @wraps(make)
    def cached(scalar: Scalar) -> Made:
        return kept(_Same(scalar))

    return cached


def digits_of(node: Scalar) -> str | None:
    """The digits of a numeric literal, with its sign."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return str(node.this)
    if isinstance(node, exp.Neg):
        digits = digits_of(node.this.unnest())
        return None if digits is None or digits.startswith("-") else f"-{digits}"
    return None


def literal(node: Scalar) -> Vector:
    """The value of a literal, of the type that Spark gives it."""
    if isinstance(node, exp.Null):
        return constant(pa.null(), None)
    if isinstance(node, exp.Boolean):
        return constant(pa.bool_(), bool(node.this))
    digits = digits_of(node)
    if digits is None:
        return constant(pa.string(), str(node.this))
    if "e" in digits.lower():
        return constant(pa.float64(), float(digits))
    if "." in digits:
        return decimal_of(Decimal(digits))
    number = int(digits)
    if -(2**31) <= number < 2**31:
        return constant(pa.int32(), number)
    if -(2**63) <= number < 2**63:
        return constant(pa.int64(), number)
    return decimal_of(Decimal(number))


def decimal_of(number: Decimal) -> Vector:
    """The value of a decimal literal: with no more digits than are written."""
    _, digits, exponent = number.as_tuple()
    scale = max(0, -int(exponent))
    precision = max(len(digits) + max(0, int(exponent)), scale, 1)
    if precision > arithmetic.MAX_DIGITS:
        raise UninterpretableError(str(number))
    return constant(pa.decimal128(precision, scale), number)


_MARK = "\x00"


class Template:
    """A scalar's text, into which the texts of its columns are put.

    Parameters
    ----------
    interpreted
        The scalar. Its columns come in the order of ``interpreted.columns``.
    """

    def __init__(self, interpreted: Interpreted) -> None:
        places = {column: index for index, column in enumerate(interpreted.columns)}

        def marked(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            return exp.Var(this=f"{_MARK}{places[node.table, node.name]}{_MARK}")

        self._columns = len(places)
        self._parts = text(scalar(interpreted.text).transform(marked)).split(_MARK)

    def filled(self, columns: Sequence[str]) -> str:
        """Return the text over texts of the columns."""
        parts = list(self._parts)
        parts[1::2] = [columns[int(part)] for part in parts[1::2]]
        return "".join(parts)

    @property
    def numbered(self) -> str:
        """The text with numbers for names, which is the same whatever its columns are called."""
        return self.filled([f"${number}" for number in range(self._columns)])


Resolve: TypeAlias = Callable[[str, str], Vector]
"""From the alias and the name of a column to its values."""

Run: TypeAlias = Callable[[Resolve], Vector]

ARITHMETIC: dict[type[exp.Expr], Callable[[Vector, Vector], Vector]] = {
    exp.Add: arithmetic.plus,
    exp.Sub: arithmetic.minus,
    exp.Mul: arithmetic.times,
    exp.Div: arithmetic.divide,
    exp.Mod: arithmetic.remainder,
    exp.IntDiv: arithmetic.whole_quotient,
}
_TYPES: dict[Any, pa.DataType] = {
    exp.DataType.Type.TINYINT: pa.int8(),
    exp.DataType.Type.SMALLINT: pa.int16(),
    exp.DataType.Type.INT: pa.int32(),
    exp.DataType.Type.BIGINT: pa.int64(),
    exp.DataType.Type.FLOAT: pa.float32(),
    exp.DataType.Type.DOUBLE: pa.float64(),
    exp.DataType.Type.DATE: pa.date32(),
    exp.DataType.Type.TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    exp.DataType.Type.TIMESTAMPLTZ: pa.timestamp("us", "UTC"),
    exp.DataType.Type.TIMESTAMPNTZ: pa.timestamp("us"),
    exp.DataType.Type.BOOLEAN: pa.bool_(),
    exp.DataType.Type.VARCHAR: pa.string(),
    exp.DataType.Type.TEXT: pa.string(),
}


@dataclass(frozen=True, slots=True)
class Interpreted:
    """A scalar that may be evaluated over named columns.

    Attributes
    ----------
    text
        Its Spark SQL.
    columns
        The columns it reads, as (alias, name), each once.
    column
        The column that it is, if it is nothing else.
    run
        Its evaluation; None: only Spark can.
    """

    text: str
    columns: tuple[tuple[str, str], ...]
    column: tuple[str, str] | None
    run: Run | None

    def evaluate(self, resolve: Resolve) -> Vector:
        """The values over the rows that `resolve` gives; one value where no column is read.

        Raises
        ------
        UninterpretableError
            If only Spark can compute the scalar; the message is its text.
        """
        if self.run is None:
            raise UninterpretableError(self.text)
        try:
            return self.run(resolve)
        except UninterpretableError as error:
            raise UninterpretableError(self.text) from error


@once
def interpret(scalar: Scalar) -> Interpreted:
    """Compile a scalar; one that only Spark can compute has no `run`."""
    columns = dict.fromkeys((node.table, node.name) for node in scalar.find_all(exp.Column))
    bare = scalar.unnest()
    column = (bare.table, bare.name) if isinstance(bare, exp.Column) else None
    run: Run | None
    try:
        run = compiled(scalar)
    except UninterpretableError:
        run = None
    return Interpreted(text(scalar), tuple(columns), column, run)


def compiled(node: Scalar) -> Run:
    """Return the evaluation of a scalar; an UninterpretableError if only Spark can."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        alias, name = node.table, node.name
        return lambda resolve: resolve(alias, name)
    if isinstance(node, exp.Identifier):
        variable = node.name
        return lambda resolve: resolve(lambdas.VARIABLE, variable)
    if isinstance(node, (exp.Literal, exp.Boolean, exp.Null)) or digits_of(node) is not None:
        value = literal(node)
        return lambda _: value
    if type(node) in ARITHMETIC:
        return _arithmetic(node)
    if isinstance(node, exp.DPipe):
        return _binary(lambda a, b: texts.concat([a, b]), *_sides(node))
    if isinstance(node, exp.Like) and isinstance(node.expression, exp.Literal):
        return _binary(texts.like, *_sides(node))
    if isinstance(node, exp.Neg):
        return _unary(arithmetic.negative, node.this)
    if isinstance(node, exp.Cast):
        return _cast(node)
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        name = node.expression.name
        return _unary(lambda struct: arrays.field(struct, name), node.this)
    if isinstance(node, (exp.Extract, exp.Anonymous, exp.Func)) and not isinstance(
        node, (exp.Case, exp.If, exp.Coalesce, exp.Connector, exp.Nullif)
    ):
        return _function(node)
    return _logical(node)


def _unary(operation: Callable[[Vector], Vector], operand: Scalar) -> Run:
    inner = compiled(operand)
    return lambda resolve: operation(inner(resolve))


def _binary(operation: Callable[[Vector, Vector], Vector], a: Scalar, b: Scalar) -> Run:
    left, right = compiled(a), compiled(b)
    return lambda resolve: operation(left(resolve), right(resolve))


def _sides(node: Scalar) -> tuple[Scalar, Scalar]:
    return node.args["this"], node.args["expression"]


def _arithmetic(node: Scalar) -> Run:
    operation = ARITHMETIC[type(node)]
    sides = _sides(node)
    if isinstance(node, exp.Add | exp.Sub):
        moved = _moved(sides[1], 1 if isinstance(node, exp.Add) else -1)
        if moved is not None:
            return _unary(moved, sides[0])
    left, right = (compiled(side) for side in sides)
    literals = [_whole(side.unnest()) for side in sides]
    if literals == [None, None]:
        return lambda resolve: operation(left(resolve), right(resolve))

    def run(resolve: Resolve) -> Vector:
        # An integer literal beside a decimal is a decimal of just its digits.
        a, b = left(resolve), right(resolve)
        if literals[0] is not None and pa.types.is_decimal(b.type):
            a = literals[0]
        if literals[1] is not None and pa.types.is_decimal(a.type):
            b = literals[1]
        return operation(a, b)

    return run


def _moved(interval: Scalar, sign: int) -> Callable[[Vector], Vector] | None:
    """Return what moves times by an interval, forward or back; None for other scalars."""
    shift = times.shift_of(interval)
    if shift is not None:
        return lambda time: times.moved(time, sign * shift)
    number, unit = dates.step_of(interval) or (0, "")
    return (lambda time: dates.later(time, sign * number, unit)) if unit else None


def _whole(node: Scalar) -> Vector | None:
    digits = digits_of(node)
    if digits is None or not digits.lstrip("-").isdigit():
        return None
    return decimal_of(Decimal(digits))


def _cast(node: exp.Cast) -> Run:
    if node.args.get("suffix") == "BD":
        value = decimal_of(Decimal(node.this.this))
        return lambda _: value
    kind = _arrow_type(node.to)
    if node.args.get("safe"):
        raise UninterpretableError(text(node))
    inner = node.this.unnest()
    if isinstance(inner, exp.Literal) and inner.is_string and dates.is_time(kind):
        return lambda _: from_arrow(pa.array([dates.moment(inner.this, kind)], kind))
    return _unary(lambda vector: casts.cast(vector, kind), node.this)


def _arrow_type(kind: exp.DataType) -> pa.DataType:
    if kind.this == exp.DataType.Type.DECIMAL:
        sizes = [int(part.this.this) for part in kind.expressions]
        precision, scale = (*sizes, 0)[:2] if sizes else (10, 0)
        return pa.decimal128(precision, scale)
    if kind.this not in _TYPES or kind.expressions:
        raise UninterpretableError(text(kind))
    return _TYPES[kind.this]


def _logical(node: Scalar) -> Run:
    if type(node) in COMPARISONS:
        op = COMPARISONS[type(node)]
        return _binary(lambda a, b: logic.compare(op, a, b), *_sides(node))
    if isinstance(node, exp.NullSafeEQ):
        return _binary(logic.null_safe_equal, *_sides(node))
    if isinstance(node, exp.And):
        return _binary(logic.conjunction, *_sides(node))
    if isinstance(node, exp.Or):
        return _binary(logic.disjunction, *_sides(node))
    if isinstance(node, exp.Not):
        return _unary(logic.negation, node.this)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return _unary(logic.is_null, node.this)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean):
        wanted = bool(node.expression.this)
        return _unary(lambda value: logic.is_truth(value, wanted), node.this)
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        return _between(node)
    if isinstance(node, exp.In) and node.expressions and not node.args.get("query"):
        return _in_list(node)
    if isinstance(node, exp.Coalesce):
        parts = [compiled(part) for part in (node.this, *node.expressions)]
        return lambda resolve: logic.coalesce([part(resolve) for part in parts])
    if isinstance(node, exp.Nullif):
        same = exp.EQ(this=node.this.copy(), expression=node.expression.copy())
        return _choice([same], [exp.Null()], node.this)
    if isinstance(node, exp.If):
        default = node.args.get("false") or exp.Null()
        return _choice([node.this], [node.args["true"]], default)
    if isinstance(node, exp.Case):
        return _case(node)
    raise UninterpretableError(text(node))


def _in_list(node: exp.In) -> Run:
    value, items = compiled(node.this), [compiled(item) for item in node.expressions]

    def run(resolve: Resolve) -> Vector:
        tested, among = value(resolve), [item(resolve) for item in items]
        if isinstance(node, InNumbers) and pa.types.is_signed_integer(tested.type):
            kinds = {item.type for item in among}
            if kinds <= {pa.int32(), pa.int64()} and tested.values.dtype == np.int64:
                known = np.concatenate([item.values for item in among])
                return Vector(pa.bool_(), np.isin(tested.values, known), tested.null, tested.failed)
        return logic.member_of(tested, among)

    return run


def _between(node: exp.Between) -> Run:
    value, low, high = (compiled(node.args[part]) for part in ("this", "low", "high"))

    def run(resolve: Resolve) -> Vector:
        middle = value(resolve)
        return logic.conjunction(
            logic.compare(">=", middle, low(resolve)), logic.compare("<=", middle, high(resolve))
        )

    return run


def case_branches(node: exp.Case) -> tuple[list[Scalar], list[Scalar]]:
    """Return the conditions of a CASE, and the values of its branches."""
    conditions = [branch.this for branch in node.args["ifs"]]
    if node.this is not None:
        conditions = [exp.EQ(this=node.this.copy(), expression=c.copy()) for c in conditions]
    return conditions, [branch.args["true"] for branch in node.args["ifs"]]


def _case(node: exp.Case) -> Run:
    return _choice(*case_branches(node), node.args.get("default") or exp.Null())


def _choice(conditions: list[Scalar], values: list[Scalar], default: Scalar) -> Run:
    tests = [compiled(condition) for condition in conditions]
    results = [compiled(value) for value in values]
    otherwise = compiled(default)
    return lambda resolve: logic.choose(
        [run(resolve) for run in tests], [run(resolve) for run in results], otherwise(resolve)
    )


def called(node: Scalar) -> tuple[str, list[Scalar]]:
    """The name of a function in lower case, and its arguments."""
    if isinstance(node, exp.Extract):
        return str(node.this.name).lower(), [node.expression]
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower(), list(node.expressions)
    arguments = []
    for part in node.args.values():
        parts = part if isinstance(part, list) else [part]
        arguments += [item for item in parts if isinstance(item, exp.Expr)]
    return node.key, arguments


def _function(node: Scalar) -> Run:
    name, arguments = called(node)
    if isinstance(node, exp.Anonymous):
        if any(isinstance(argument, exp.Lambda) for argument in arguments):
            return lambdas.called(name, arguments, node, compiled)
        if name == "struct":
            name, arguments = "named_struct", arrays.named_fields(arguments)
    step = dates.step_of(arguments[2]) if name == "sequence" and len(arguments) == 3 else None
    if step is not None:
        number, unit = step
        return _binary(lambda a, b: arrays.dates_between(a, b, number, unit), *arguments[:2])
    rule = function(name, len(arguments))
    if rule is None:
        raise UninterpretableError(text(node))
    runs = [compiled(argument) for argument in arguments]
    return lambda resolve: rule([run(resolve) for run in runs])
