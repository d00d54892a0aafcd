"""Conditions on columns as people type them: read, and evaluated over Arrow columns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lipstick.explorer.cells import kind, parsed, sql_type
from lipstick.explorer.errors import ExploreError
from rewriter.emit.conditions import comparison_sql, equality_sql
from rewriter.interpret import on_clocks
from semiring.arrays.arrow import decoded

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<name>`(?:[^`]|``)+`)|(?P<op><=|>=|<>|!=|=|<|>)"
    r"|(?P<range>\.\.)|(?P<mark>[(),])|(?P<word>(?:(?!\.\.)[^\s<>=!'`(),])+(?:,\d{3}(?!\d))*))"
)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")

_COMPARED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "=": (pc.equal, "=="),
    "<>": (pc.not_equal, "!="),
    "<": (pc.less, "<"),
    "<=": (pc.less_equal, "<="),
    ">": (pc.greater, ">"),
    ">=": (pc.greater_equal, ">="),
}
_NAN = "float('nan')"
_KEYWORDS = ("and", "or", "not", "in", "between", "like", "is", "null")


@dataclass(frozen=True, slots=True)
class TypedCondition:
    """A condition on columns: a comparison, or others joined by AND, OR and NOT.

    Attributes
    ----------
    op
        ``and``, ``or``, ``not``, one of ``= <> < <= > >=``, ``in``, ``like`` or ``null``.
    values
        The texts of its literals.
    """

    op: str
    column: str = ""
    values: tuple[str, ...] = ()
    parts: tuple[TypedCondition, ...] = ()

    @property
    def columns(self) -> dict[str, None]:
        """The columns that are read, each once."""
        found = {self.column: None} if self.column else {}
        for part in self.parts:
            found |= part.columns
        return found

    def mask(self, column: Callable[[str], pa.Array]) -> pa.Array:
        """Return for each row whether it meets the condition; NULL where SQL does not know.

        Raises
        ------
        ExploreError
            For literals that are not values of their column's type.
        """
        if self.op in ("and", "or"):
            first, *others = (part.mask(column) for part in self.parts)
            for other in others:
                first = (pc.and_kleene if self.op == "and" else pc.or_kleene)(first, other)
            return first
        if self.op == "not":
            return pc.invert(self.parts[0].mask(column))
        values = column(self.column)
        values = decoded(values)
        if self.op == "null":
            return pc.is_null(values)
        own = values.type
        type_ = compared_type(self.column, own, self.op, self.values)
        if type_ != own:
            values = values.cast(type_)
        literals = literals_of(self.column, own, type_, self.values)
        if self.op == "like":
            return pc.match_like(values, literals[0].as_py())
        if self.op == "in":
            if pa.types.is_floating(type_):
                # Both zeros are one value, which sets do not know.
                values, literals = (
                    pc.add(each, pa.scalar(0, type_)) for each in (values, literals)
                )
            found = pc.is_in(values, literals.drop_null())
            return pc.if_else(pc.is_valid(values), found, pa.scalar(None, pa.bool_()))
        if pa.types.is_floating(type_):
            return self._of_doubles(values, literals[0])
        return _COMPARED[self.op][0](values, literals[0])

    def _of_doubles(self, values: pa.Array, literal: pa.Scalar) -> pa.Array:
        """Compare doubles as Spark does: NaN is equal to itself, and larger than all others."""
        if math.isnan(literal.as_py()):
            equal = pc.is_nan(values)
            less = pc.invert(equal)
        else:
            equal, less = pc.equal(values, literal), pc.less(values, literal)
        return _by_order(self.op, equal, less, pc.or_, pc.invert)

    def python(self, schema: pa.Schema) -> str:
        """Return the condition as a filter of PyArrow."""
        if self.op in ("and", "or"):
            sign = " & " if self.op == "and" else " | "
            return f"({sign.join(part.python(schema) for part in self.parts)})"
        if self.op == "not":
            return f"~{self.parts[0].python(schema)}"
        field = f"pc.field({self.column!r})"
        if self.op == "null":
            return f"{field}.is_null()"
        nan, literals = f"{field}.is_nan()", [_written(each) for each in self._literals(schema)]
        if self.op == "like":
            return f"pc.match_like({field}, {literals[0]})"
        if self.op == "in":
            # Values of a set are cast to the column, which must not round them.
            parts = [
                nan if literal == _NAN else f"({field} == pc.scalar({literal}))"
                for literal in literals
            ]
            return f"({' | '.join(parts)})"
        if literals[0] == _NAN:
            return str(_by_order(self.op, nan, f"~{nan}", "({} | {})".format, "~({})".format))
        found = f"({field} {_COMPARED[self.op][1]} pc.scalar({literals[0]}))"
        is_open = pa.types.is_floating(schema.field(self.column).type) and self.op in (">", ">=")
        return f"({found} | {nan})" if is_open else found

    def sql(self, schema: pa.Schema) -> str:
        """Return the condition as Spark SQL."""
        if self.op in ("and", "or"):
            return f" {self.op.upper()} ".join(f"({part.sql(schema)})" for part in self.parts)
        if self.op == "not":
            return f"NOT ({self.parts[0].sql(schema)})"
        if self.op == "null":
            return equality_sql(self.column, None)
        return comparison_sql(self.column, self.op, self._literals(schema))

    def _literals(self, schema: pa.Schema) -> list[Any]:
        """Return the values that the column is compared with."""
        own = schema.field(self.column).type
        type_ = compared_type(self.column, own, self.op, self.values)
        return [_value(literal) for literal in literals_of(self.column, own, type_, self.values)]


def _by_order(
    op: str, equal: Any, less: Any, either: Callable[[Any, Any], Any], no: Callable[[Any], Any]
) -> Any:
    """Return a comparison by whether values are equal to a literal, and whether they are less."""
    found = equal if op in ("=", "<>") else less if op in ("<", ">=") else either(less, equal)
    return no(found) if op in ("<>", ">=", ">") else found


def compared_type(name: str, own: pa.DataType, op: str, values: tuple[str, ...]) -> pa.DataType:
    """Return the type in which a column is compared with literals.

    Raises
    ------
    ExploreError
        For types that are not compared.
    """
    if kind(own) == "other":
        raise ExploreError(f"{name} is {sql_type(own)}, which is not compared.")
    if op == "like":
        return pa.string()
    if pa.types.is_decimal(own):
        # A literal may have more digits than the column: both are compared as wide decimals.
        return pa.decimal256(76, max(own.scale, 20))
    if pa.types.is_integer(own) and not all(re.fullmatch(r"[+-]?\d+", v) for v in values):
        return pa.decimal256(76, 20)
    return own


def literals_of(
    name: str, own: pa.DataType, type_: pa.DataType, values: tuple[str, ...]
) -> pa.Array:
    """Return literals as values of a type."""
    try:
        return parsed(values, type_)
    except ExploreError as error:
        shown = ", ".join(repr(value) for value in values[:3])
        raise ExploreError(f"{name} is {sql_type(own)}: {shown} is no such value.") from error


def _written(value: Any) -> str:
    """Return a value as Python writes it."""
    is_named = isinstance(value, float) and not math.isfinite(value)
    return f"float('{value}')" if is_named else repr(value)


def _value(literal: pa.Scalar) -> Any:
    """Return a value; decimals without the digits that their type adds."""
    value = literal.as_py()
    normalize = getattr(value, "normalize", None)
    return value if normalize is None else normalize()


class _Reader:
    """The tokens of a text, from left to right."""

    def __init__(self, text: str, relation: str, columns: Collection[str], implied: str) -> None:
        self.text = text
        self.relation = relation
        self.known = {name.lower(): name for name in columns}
        self.implied = implied
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.problem(f"{text[at:].strip()[:20]!r} cannot be read")
            self.tokens.append((str(match.lastgroup), match[match.lastgroup or 0]))
            at = match.end()
        self.at = 0

    def problem(self, what: str) -> ExploreError:
        known = ", ".join(self.known.values())
        return ExploreError(
            f"{self.text.strip()!r} is not a condition on {self.relation}: {what}.\nWrite a column "
            f"({known}), then =, <>, <, <=, >, >=, IN (…), BETWEEN … AND …, LIKE '…%' or IS NULL; "
            "join several by AND, OR and NOT."
        )

    def word(self, offset: int = 0) -> str:
        """Return a keyword or mark, in lower case; empty for anything else."""
        if self.at + offset >= len(self.tokens):
            return ""
        sort, value = self.tokens[self.at + offset]
        plain = value.lower()
        return plain if sort in ("op", "mark", "range") or plain in _KEYWORDS else ""

    def accept(self, *words: str) -> bool:
        if self.at < len(self.tokens) and self.word() in words:
            self.at += 1
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.problem(f"{word.upper()} is missing")

    def either(self) -> TypedCondition:
        return self.joined("or", self.both)

    def both(self) -> TypedCondition:
        return self.joined("and", self.negated)

    def joined(self, word: str, part: Callable[[], TypedCondition]) -> TypedCondition:
        parts = [part()]
        while self.accept(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else TypedCondition(word, parts=tuple(parts))

    def negated(self) -> TypedCondition:
        if self.word() == "not" and not (self.implied and self.word(1) in ("in", "null")):
            self.at += 1
            return TypedCondition("not", parts=(self.negated(),))
        if self.accept("("):
            inner = self.either()
            self.expect(")")
            return inner
        return self.comparison()

    def comparison(self) -> TypedCondition:
        column = self.implied or self.column()
        negated = self.accept("not")
        if self.accept("is"):
            negated = self.accept("not")
            self.expect("null")
            found = TypedCondition("null", column)
        elif self.implied and self.accept("null"):
            found = TypedCondition("null", column)
        elif self.accept("in"):
            self.expect("(")
            values = self.listed()
            while self.accept(","):
                values += self.listed()
            self.expect(")")
            found = TypedCondition("in", column, tuple(values))
        elif self.accept("between"):
            found = self.between(column, "and")
        elif self.accept("like"):
            found = TypedCondition("like", column, (self.value(),))
        elif self.word() in ("=", "<>", "!=", "<", "<=", ">", ">="):
            op = self.word().replace("!=", "<>")
            self.at += 1
            if op == "=" and self.word(1) == "..":
                found = self.between(column, "..")
            else:
                found = TypedCondition(op, column, (self.value(),))
        elif self.implied and self.word(1) == "..":
            found = self.between(column, "..")
        else:
            raise self.problem(f"{column} is compared with nothing")
        return TypedCondition("not", parts=(found,)) if negated else found

    def between(self, column: str, mark: str) -> TypedCondition:
        low = self.value()
        self.expect(mark)
        parts = (
            TypedCondition(">=", column, (low,)),
            TypedCondition("<=", column, (self.value(),)),
        )
        return TypedCondition("and", parts=parts)

    def column(self) -> str:
        if self.at >= len(self.tokens):
            raise self.problem("it ends too early")
        sort, value = self.tokens[self.at]
        name = value[1:-1].replace("``", "`") if sort == "name" else value
        if sort not in ("word", "name") or name.lower() not in self.known:
            raise self.problem(f"{value!r} is none of its columns")
        self.at += 1
        return self.known[name.lower()]

    def listed(self) -> list[str]:
        """Return the next values of a list, in which a comma always separates."""
        quoted = self.at < len(self.tokens) and self.tokens[self.at][0] == "text"
        first = self.at
        value = self.value()
        if quoted:
            return [value]
        return " ".join(token for _, token in self.tokens[first : self.at]).split(",")

    def value(self) -> str:
        """Return a literal: quoted, or words up to a keyword or mark."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "text":
            self.at += 1
            return self.tokens[self.at - 1][1][1:-1].replace("''", "'")
        words = []
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "word":
            if self.word() in _KEYWORDS:
                break
            words.append(self.tokens[self.at][1])
            self.at += 1
        if not words:
            raise self.problem("a value is missing")
        value = " ".join(words)
        return value.replace(",", "") if _GROUPED.fullmatch(value) else value


def read_condition(
    text: str, relation: str, columns: Collection[str], *, implied: str = ""
) -> TypedCondition:
    """Read a condition.

    Parameters
    ----------
    columns
        The columns that it may name, in any case.
    implied
        The column that all comparisons are of, in place of one that is named.

    Raises
    ------
    ExploreError
        Where it cannot be read; the message lists the forms that can.
    """
    reader = _Reader(text, relation, columns, implied)
    found = reader.either()
    if reader.at < len(reader.tokens):
        raise reader.problem(f"{reader.tokens[reader.at][1]!r} is not expected")
    return found


def rows_that(table: pa.Table, text: str, name: str) -> pa.Array:
    """Return for each row of a table whether it meets a condition as people type it.

    Raises
    ------
    ExploreError
        Where the condition cannot be read, or has literals that are not values of their columns.
    """
    condition = read_condition(text, name, table.column_names)
    mask = condition.mask(lambda column: table.column(column).combine_chunks())
    return pc.fill_null(mask, False)


_CHANGE = re.compile(
    r"\s*(?P<column>`[^`]+`|[^\s=`]+)\s*=\s*(?P<to>.+?)(\s+where\s+(?P<where>.+))?\s*", re.I | re.S
)
_SCALED = re.compile(r"(?P<column>\S+)\s*(?P<op>[-+*])\s*(?P<by>[\d.,]+)\s*(?P<percent>%?)")


@dataclass(frozen=True, slots=True)
class TypedChange:
    """New values of a column as people type them: ``price = price * 0.9 where model = 'Civic'``.

    Attributes
    ----------
    op
        ``+``, ``-`` or ``*`` with the old value; empty where `value` is the new one.
    condition
        The rows that change; None: all.
    """

    column: str
    op: str
    value: str
    condition: TypedCondition | None

    def values(self, old: pa.Array) -> pa.Array:
        """Return the new values, exact, rounded to the digits of the column.

        Raises
        ------
        ExploreError
            Where the value is none of the column's type.
        """
        old = decoded(old)
        if not self.op and self.value.lower() == "null":
            return pa.nulls(len(old), old.type)
        if not self.op:
            (literal,) = literals_of(self.column, old.type, old.type, (self.value,))
            return pa.repeat(literal, len(old))
        if kind(old.type) != "number":
            raise ExploreError(
                f"{self.column} is {sql_type(old.type)}: no number to calculate with."
            )
        operation = _OPERATIONS[self.op]
        if pa.types.is_floating(old.type):
            return operation(old, pa.scalar(float(self.value), old.type))
        whole = pa.types.is_integer(old.type)
        exact = old.cast(pa.decimal128(19, 0)) if whole else old
        try:
            found = operation(exact, pa.scalar(Decimal(self.value)))
            digits = 0 if whole else old.type.scale
            found = pc.round(found, ndigits=digits, round_mode="half_towards_infinity")
            return found.cast(old.type)
        except pa.ArrowException as error:
            told = f"New values of {self.column} do not fit its type {sql_type(old.type)}."
            raise ExploreError(told) from error


_OPERATIONS = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


def read_change(text: str, relation: str, columns: Collection[str]) -> TypedChange:
    """Read new values of a column.

    Raises
    ------
    ExploreError
        Where they cannot be read; the message lists the forms that can.
    """
    match = _CHANGE.fullmatch(text)
    known = {name.lower(): name for name in columns}
    column = known.get(match["column"].strip("`").lower()) if match else None
    if match is None or column is None:
        raise ExploreError(
            f"{text.strip()!r} changes no column of {relation}.\nWrite a column "
            f"({', '.join(columns)}), = and a value, or a calculation such as price * 0.9 or "
            "price + 10 %; then WHERE and a condition, or nothing for all rows."
        )
    where = match["where"]
    condition = None if where is None else read_condition(where, relation, columns)
    scaled = _SCALED.fullmatch(match["to"].strip())
    if scaled is not None and scaled["column"].strip("`").lower() == column.lower():
        op, by = scaled["op"], scaled["by"].replace(",", "")
        if scaled["percent"]:
            part = Decimal(by) / 100
            op, by = "*", str(part if op == "*" else 1 + part if op == "+" else 1 - part)
        return TypedChange(column, op, by, condition)
    value = match["to"].strip()
    if len(value) > 1 and value[0] == value[-1] == "'":
        value = value[1:-1].replace("''", "'")
    return TypedChange(
        column, "", value.replace(",", "") if _GROUPED.fullmatch(value) else value, condition
    )


def column_mask(column: pa.Array, text: str, name: str) -> pa.Array:
    """Return the mask of the values that meet a filter as people type it.

    ``> 5``, ``= Civic``, ``in (1, 2)``, ``1..5``, ``null`` and the like are conditions; any other
    text is looked for within the values, whatever its case.

    Raises
    ------
    ExploreError
        Where the text is not a value of the column's type, and for types that are not compared.
    """
    plain = text.strip()
    begins = plain.lower().split("(")[0].split(" ")[0]
    is_condition = (
        plain[:1] in ("=", "<", ">", "!")
        or begins in ("in", "between", "like", "null", "is", "not")
        or ".." in plain
    )
    if is_condition:
        try:
            return read_condition(plain, name, [name], implied=name).mask(lambda _: column)
        except ExploreError as error:
            if "is not a condition on" not in str(error) or plain[:1] in ("=", "<", ">", "!"):
                raise
    column = decoded(column)
    if kind(column.type) == "other":
        raise ExploreError(f"{name} is {sql_type(column.type)}, which is not compared.")
    if kind(column.type) != "text":
        column = on_clocks(column).cast(pa.string())
        plain = plain.replace(",", "") if _GROUPED.fullmatch(plain) else plain
    return pc.match_substring(column, plain, ignore_case=True)
