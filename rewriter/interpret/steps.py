"""Scalars as trees of steps in JSON, which something without SQL evaluates exactly as here.

A step is a list: an operation, the kind of its values, and steps or constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.interpret.compile import ARITHMETIC, called, case_branches, compiled
from rewriter.interpret.vector import FailedError, UninterpretableError, Vector, from_arrow, unify
from rewriter.scalars.comparable import COMPARISONS
from rewriter.scalars.text import scalar

_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
}

Plain: TypeAlias = Callable[[Any], Any]
"""Writes a constant."""

_FUNCTIONS = ("abs", "sqrt", "floor", "ceil", "ceiling", "round")
_NUMBERS = ("int", "decimal", "double", "float")


def steps(
    text: str, columns: Sequence[tuple[str, str]], types: Sequence[pa.DataType], plain: Plain
) -> Any | None:
    """Return a scalar as steps over numbered operands, or None if they do not express it.

    Parameters
    ----------
    text
        The scalar in Spark SQL.
    columns, types
        The columns that it reads, in the order of the operands, and their types.
    plain
        Writes a constant.
    """
    try:
        return _Steps(columns, types, plain).of(scalar(text))
    except (UninterpretableError, FailedError):
        return None


def kind(of: pa.DataType) -> dict[str, Any]:
    """Return the kind of values of a type.

    Raises
    ------
    UninterpretableError
        For types whose values the steps do not calculate with.
    """
    if pa.types.is_signed_integer(of):
        return {"sort": "int", "scale": 0, "bits": of.bit_width}
    if pa.types.is_decimal128(of):
        return {"sort": "decimal", "scale": of.scale, "digits": of.precision}
    tests = {
        "double": pa.types.is_float64,
        "float": pa.types.is_float32,
        "truth": pa.types.is_boolean,
        "text": pa.types.is_string,
        "date": pa.types.is_date32,
        "null": pa.types.is_null,
    }
    for sort, test in tests.items():
        if test(of):
            return {"sort": sort}
    raise UninterpretableError(f"values of type {of}")


class _Steps:
    def __init__(
        self, columns: Sequence[tuple[str, str]], types: Sequence[pa.DataType], plain: Plain
    ) -> None:
        self._types = dict(zip(columns, types, strict=True))
        self._columns = list(columns)
        self._plain = plain

    def _type(self, node: Scalar) -> pa.DataType:
        def nothing(alias: str, name: str) -> Vector:
            return from_arrow(pa.array([], self._types[alias, name]))

        return compiled(node)(nothing).type

    def of(self, node: Scalar) -> list[Any]:
        """Return the steps of a scalar."""
        node = node.unnest()
        shown = kind(self._type(node))
        if isinstance(node, exp.Column):
            return ["column", shown, self._columns.index((node.table, node.name))]
        if not any(node.find_all(exp.Column)):
            (value,) = compiled(node)(_no_column).to_arrow(1).to_pylist()
            return ["plain", shown, self._plain(value)]
        if type(node) in ARITHMETIC:
            return self._numeric(_OPERATIONS[type(node)], shown, node.this, node.expression)
        if isinstance(node, exp.Neg):
            return self._numeric("neg", shown, node.this)
        if isinstance(node, exp.Cast):
            return self._cast(node, shown)
        if type(node) in COMPARISONS:
            return self._compared(COMPARISONS[type(node)], node.this, node.expression)
        return self._logical(node, shown)

    def _numeric(self, operation: str, shown: dict[str, Any], *operands: Scalar) -> list[Any]:
        parts = [self.of(operand) for operand in operands]
        if any(part[1]["sort"] not in _NUMBERS for part in parts):
            raise UninterpretableError(operation)
        return [operation, shown, *parts]

    def _cast(self, node: exp.Cast, shown: dict[str, Any]) -> list[Any]:
        part = self.of(node.this)
        sorts = (part[1]["sort"], shown["sort"])
        numeric = all(sort in _NUMBERS for sort in sorts)
        if (
            not numeric
            and sorts[0] != sorts[1]
            and sorts not in (("int", "text"), ("truth", "text"))
        ):
            raise UninterpretableError("a cast")
        return ["as", shown, part]

    def _compared(self, op: str, left: Scalar, right: Scalar) -> list[Any]:
        # What is compared as numbers of one kind: doubles, where one of them is.
        together = kind(unify(self._type(left), self._type(right)))
        return [op, together, self.of(left), self.of(right)]

    def _logical(self, node: Scalar, shown: dict[str, Any]) -> list[Any]:
        if isinstance(node, exp.NullSafeEQ):
            return ["<=>", *self._compared("=", node.this, node.expression)[1:]]
        if isinstance(node, exp.And | exp.Or):
            name = "and" if isinstance(node, exp.And) else "or"
            return [name, shown, self.of(node.this), self.of(node.expression)]
        if isinstance(node, exp.Not):
            return ["not", shown, self.of(node.this)]
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null | exp.Boolean):
            wanted = None if isinstance(node.expression, exp.Null) else bool(node.expression.this)
            return ["is", shown, self.of(node.this), wanted]
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            bounds = [(">=", node.args["low"]), ("<=", node.args["high"])]
            return ["and", shown, *(self._compared(op, node.this, end) for op, end in bounds)]
        if isinstance(node, exp.In) and node.expressions and not node.args.get("query"):
            equal = [self._compared("=", node.this, item) for item in node.expressions]
            return ["or", shown, *equal]
        if isinstance(node, exp.Nullif):
            same = self._compared("=", node.this, node.expression)
            return ["case", shown, [same], [["plain", shown, None]], self.of(node.this)]
        if isinstance(node, exp.If):
            return self._case(shown, [node.this], [node.args["true"]], node.args.get("false"))
        if isinstance(node, exp.Case):
            return self._case(shown, *case_branches(node), node.args.get("default"))
        name, arguments = called(node)
        if isinstance(node, exp.Coalesce) or name in ("ifnull", "nvl"):
            return ["first", shown, *map(self.of, arguments)]
        if name in ("greatest", "least"):
            kind(unify(*map(self._type, arguments)))
            return [name, shown, *map(self.of, arguments)]
        if name in _FUNCTIONS:
            # The number of digits of ROUND is the scale of its kind, or of doubles a constant.
            return self._numeric(name, shown, *arguments)
        raise UninterpretableError(name)

    def _case(
        self, shown: dict[str, Any], tests: list[Scalar], values: list[Scalar], other: Scalar | None
    ) -> list[Any]:
        otherwise = ["plain", shown, None] if other is None else self.of(other)
        return ["case", shown, [*map(self.of, tests)], [*map(self.of, values)], otherwise]


def _no_column(alias: str, name: str) -> Vector:
    raise UninterpretableError(name)
