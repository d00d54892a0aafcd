"""Scalars whose evaluation may fail, and variants that are NULL instead.

In ANSI mode a division by zero, an overflow or a bad cast ends the query, wherever it is computed.
So such scalars must not be computed for a row that the plain query does not have.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.dialect.nodes import TypedLiteral

_NAMES = """
array array_contains array_distinct array_size ascii base64 bit_length boolean cardinality ceil
ceiling char_length character_length coalesce collate concat concat_ws contains crc32 current_date
current_timestamp date_add date_diff date_sub date_trunc dateadd datediff day dayname dayofmonth
dayofweek dayofyear endswith equal_null exists filter floor forall get greatest hash hex hour if
ifnull ilike in initcap instr isnan isnotnull isnull lcase least left len length like localtimestamp
locate lower lpad ltrim map_keys map_values md5 minute month monthname named_struct nanvl now nullif
nullifzero nvl nvl2 octet_length position quarter regexp_like replace reverse right rlike round
rpad rtrim second sha1 sha2 sign signum size soundex split startswith string struct substr substring
substring_index translate trim trunc try_add try_cast try_divide try_element_at try_mod
try_multiply try_subtract try_to_binary try_to_number try_to_timestamp typeof ucase upper
weekday weekofyear xxhash64 year zeroifnull
"""

_TOTAL_FUNCTIONS = frozenset(_NAMES.split())
"""Functions with a value for every argument of their types, except for absurd lengths."""

_TOTAL = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Var,
    exp.DataType,
    exp.DataTypeParam,
    exp.Interval,
    exp.Connector,
    exp.Not,
    exp.Paren,
    exp.Tuple,
    exp.Alias,
    exp.Predicate,
    exp.DPipe,
    exp.Dot,
    exp.Case,
    exp.If,
    exp.Coalesce,
    exp.Nullif,
    exp.Trim,
    exp.StrPosition,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
    exp.BitwiseNot,
    exp.BitwiseLeftShift,
    exp.BitwiseRightShift,
    exp.Escape,
    exp.Extract,
    exp.Lambda,
    exp.Window,
    exp.WindowSpec,
    exp.Order,
    exp.Ordered,
)
"""Nodes that raise no errors of their own."""

_STRICT = (exp.Binary, exp.Unary, exp.Cast, exp.Column, exp.Identifier, exp.Literal, exp.DataType)
"""Nodes that are NULL if an operand is, before anything can fail."""
_NOT_STRICT = (exp.Connector, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ)

_OVERFLOWS = (exp.Add, exp.Sub, exp.Mul, exp.Neg)

_TRIED: dict[type[exp.Expr], str] = {
    exp.Add: "try_add",
    exp.Sub: "try_subtract",
    exp.Mul: "try_multiply",
    exp.Div: "try_divide",
    exp.Mod: "try_mod",
}
_TRIED_FUNCTIONS = {
    name: f"try_{name}"
    for name in ("element_at", "make_timestamp", "to_binary", "to_number", "to_timestamp")
}


def may_raise(scalar: Scalar, *, overflows: bool = True) -> bool:
    """Return True if evaluating a scalar over columns may raise an error for some row.

    A scalar without columns may fail too, but then for all rows alike. False is certain, True is
    not.

    Parameters
    ----------
    overflows
        Whether overflows of sums, differences, products and negations count.
    """
    return any(overflows or not isinstance(node, _OVERFLOWS) for node in _raising(scalar))


def may_raise_of_nulls(scalar: Scalar, aliases: frozenset[str]) -> bool:
    """Return True if a scalar may raise an error when the columns of some aliases are NULL.

    Most scalars that may fail are NULL on NULLs; a part over other columns fails for the same rows
    as without the NULLs.
    """
    for node in _raising(scalar):
        read = {column.table for column in node.find_all(exp.Column)}
        if read & aliases and not all(map(_is_strict, node.walk())):
            return True
    return False


def without_errors(scalar: Scalar) -> Scalar:
    """Return a scalar that is NULL where this one fails, as far as Spark has functions for it."""
    copy = scalar.copy()
    for node in reversed(list(copy.walk())):  # what is inside comes first
        tried = _tried(node)
        if node is copy:
            copy = tried
        elif tried is not node:
            node.replace(tried)
    return copy


def _raising(scalar: Scalar) -> Iterator[exp.Expr]:
    for node in scalar.walk(prune=lambda part: isinstance(part, TypedLiteral)):
        if _raises(node) and node.find(exp.Column):
            yield node


def _raises(node: exp.Expr) -> bool:
    match node:
        case TypedLiteral():
            return False
        case exp.Div() | exp.Mod() | exp.IntDiv():
            return not _is_number(node.expression)
        case exp.Cast():
            return not node.args.get("safe") and not node.to.is_type("string")
        case exp.Anonymous():
            return node.name.lower() not in _TOTAL_FUNCTIONS
    return not isinstance(node, _TOTAL)


def _is_number(divisor: exp.Expr) -> bool:
    """Return True if a divisor is a literal that is not zero."""
    bare = divisor.unnest()
    return isinstance(bare, exp.Literal) and not bare.is_string and float(bare.this) != 0


def _is_strict(node: exp.Expr) -> bool:
    return isinstance(node, _STRICT) and not isinstance(node, _NOT_STRICT)


def _tried(node: exp.Expr) -> exp.Expr:
    if isinstance(node, TypedLiteral):
        return node
    if type(node) in _TRIED:
        operands = [node.this.unnest(), node.expression.unnest()]
        return exp.Anonymous(this=_TRIED[type(node)], expressions=operands)
    if isinstance(node, exp.Cast) and _raises(node):
        return exp.TryCast(this=node.this, to=node.to, safe=True)
    if isinstance(node, exp.Anonymous) and node.name.lower() in _TRIED_FUNCTIONS:
        name = _TRIED_FUNCTIONS[node.name.lower()]
        return exp.Anonymous(this=name, expressions=node.expressions)
    return node
