"""Patterns: conditions on the rows of an operator, built from names and values, and shown as
text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Mapping, Sequence
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    CorrelatedScalar,
    Generate,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Scan,
    UnionAll,
    Windows,
    column,
    conjuncts,
    references,
    walk,
)
from rewriter.blocks import qualified
from rewriter.dialect import SparkSQL
from rewriter.emit.conditions import literal
from rewriter.emit.flow import FlowStep
from rewriter.emit.operators import OperatorQueries
from rewriter.emit.trees import is_true, named, table, union_all
from rewriter.errors import QueryError
from rewriter.scalars.text import rewrite_columns, text

_ALIAS = re.compile(r"`?\s+(?:as\s+)?`?([A-Za-z_]\w*)", re.IGNORECASE)
_WORDS = """
where join on using inner left right full cross natural semi anti group having order limit union
except minus intersect lateral tablesample window sort cluster distribute offset pivot unpivot
qualify select timestamp version for
"""
_NO_ALIASES = frozenset(_WORDS.split())


def pattern_of(
    root: Relation, names: Sequence[str], equal: Mapping[str, Any], condition: str | None
) -> list[Scalar]:
    """Return conditions over the attributes of a query's root.

    Parameters
    ----------
    names
        The names of the answer's columns, one per attribute.
    equal
        Values by column; None: the column is NULL.
    condition
        A condition on the columns, as Spark SQL.

    Raises
    ------
    QueryError
        For columns that the answer lacks or has twice, values whose type no key column has, and
        conditions that cannot be parsed or have subqueries.
    """
    by_name: dict[str, list[str]] = {}
    for name, attribute in zip(names, root.attributes, strict=True):
        by_name.setdefault(name.lower(), []).append(attribute.id)

    def column(name: str) -> exp.Column:
        found = by_name.get(name.lower(), [])
        if len(found) != 1:
            problem = "has no column" if not found else "has several columns"
            shown = ", ".join(names)
            raise QueryError(f"The answer {problem} {name!r}.", f"It has: {shown}.")
        return exp.Column(this=exp.to_identifier(found[0], quoted=True))

    parts: list[Scalar] = []
    for name, value in equal.items():
        if value is None:
            parts.append(exp.Is(this=column(name), expression=exp.null()))
            continue
        try:
            parts.append(exp.EQ(this=column(name), expression=literal(value)))
        except TypeError as error:
            raise QueryError(
                f"The value of {name!r} cannot be compared: {error}.",
                "Give a number, a text, a truth value, a date or a moment.",
            ) from None
    if condition is not None:
        try:
            tree = sqlglot.parse_one(f"SELECT 1 WHERE {condition}", dialect=SparkSQL)
            parsed = tree.args["where"].this
        except (sqlglot.errors.SqlglotError, KeyError, AttributeError) as error:
            raise QueryError(
                f"{condition!r} cannot be read: {str(error).splitlines()[0]}",
                "Write a condition on the columns of the answer.",
            ) from None
        if parsed.find(exp.Query):
            raise QueryError("A pattern has no subqueries.", "Write what its columns should be.")
        parts += conjuncts(rewrite_columns(parsed, lambda node: column(node.name)))
    if not parts:
        raise QueryError("The pattern is empty.", "Name a column of the missing row.")
    return parts


def partner_pattern(step: FlowStep, values: Mapping[str, Any]) -> list[Scalar] | None:
    """Return the conditions on a row to be the partner of a row with these values.

    None if a value has no literal. Conditions on the given row alone are left out.
    """
    assert step.partner is not None
    known = {attribute.id for attribute in step.partner.attributes}
    parts = []
    for condition in conjuncts(step.condition):
        names = set(references(condition))
        if not names & known:
            continue
        try:
            own = {name: _value(values[name]) for name in names - known}
        except (KeyError, TypeError):
            return None
        parts.append(_with_values(condition, own))
    return parts


def _with_values(condition: Scalar, values: Mapping[str, Scalar]) -> Scalar:
    return rewrite_columns(condition, lambda node: values.get(node.name, node))


def _value(value: Any) -> Scalar:
    return exp.null() if value is None else literal(value)


def nearest(
    relation: Relation, parts: Sequence[Scalar], queries: OperatorQueries
) -> exp.Query | None:
    """Return, for each condition, the row that meets the others and comes closest to it.

    The columns are the number of the condition, the distance, the operand of the condition that is
    no constant as text, and the row as a struct. For a condition ``x = constant`` the distance is
    the difference of numbers, or the edit distance of texts (in capitals); other conditions have
    none.
    """
    rows = queries.rows(relation)
    fields: list[exp.Expr] = []
    for name in rows.columns:
        fields += [exp.Literal.string(name), qualified(rows.name, name)]
    row = exp.Anonymous(this="named_struct", expressions=fields)
    selects: list[exp.Query] = []
    for place, part in enumerate(parts):
        distance = distance_of(part)
        if distance is None and len(parts) == 1:
            continue
        measured = exp.cast(exp.null(), "double") if distance is None else distance
        found = computed_operand(part)
        operand = exp.cast(exp.null() if found is None else found.copy(), "string")
        one = exp.select(
            *named(
                [
                    ("part", exp.Literal.number(place)),
                    ("distance", measured),
                    ("operand", operand),
                    ("row", row),
                ]
            )
        ).from_(table(rows.name, rows.name))
        for other, condition in enumerate(parts):
            met = is_true(condition)
            one = one.where(met if other != place else exp.Not(this=met))
        if distance is not None:
            known = exp.Not(this=exp.Is(this=measured.copy(), expression=exp.null()))
            one = one.where(known).order_by(exp.Ordered(this=exp.column("distance")))
        selects.append(exp.select("*").from_(one.limit(1).subquery(f"n{place}")))
    return queries.statement(union_all(selects)) if selects else None


def constant_operands(parts: Sequence[Scalar]) -> exp.Query | None:
    """Return a query for the values of operands that are computed from constants only.

    None if there are none. :func:`with_constants` substitutes the values.
    """
    operands = _constant_operands(parts)
    if not operands:
        return None
    return exp.select(*named((f"v{n}", operand) for n, operand in enumerate(operands)))


def with_constants(parts: Sequence[Scalar], values: Sequence[Any]) -> list[Scalar]:
    """Return conditions with the values of :func:`constant_operands` as literals."""
    copies = [part.copy() for part in parts]
    for operand, value in zip(_constant_operands(copies), values, strict=True):
        try:
            operand.replace(_value(value))
        except TypeError:
            continue  # it stays as it is
    return copies


def _constant_operands(parts: Sequence[Scalar]) -> list[Scalar]:
    operands = []
    for part in parts:
        bare = part.unnest()
        sides = (bare.this, bare.expression) if isinstance(bare, exp.EQ | exp.NullSafeEQ) else ()
        for side in sides:
            plain = isinstance(side.unnest(), exp.Literal | exp.Null | exp.Boolean | exp.Cast)
            if not plain and side.find(exp.Column) is None:
                operands.append(side)
    return operands


def computed_operand(part: Scalar) -> Scalar | None:
    """Return the computed operand of a comparison between a constant and an expression of
    columns.
    """
    bare = part.unnest()
    if not isinstance(bare, exp.Binary):
        return None
    over = [each for each in (bare.this, bare.expression) if each.find(exp.Column)]
    one = over[0].unnest() if len(over) == 1 else None
    return None if isinstance(one, exp.Column) else one


def least_number(condition: Scalar, value: Any) -> Decimal | None:
    """Return the least number that makes ``x >= constant``, or ``x > constant``, true.

    None for other conditions, and for ``>`` if the value of ``x`` is not an integer.
    """
    bare = condition.unnest()
    bound = bare.expression if isinstance(bare, exp.GTE | exp.GT) else None
    if not isinstance(bound, exp.Literal) or bound.is_string:
        return None
    least = Decimal(str(bound.this))
    if isinstance(bare, exp.GTE):
        return least
    return Decimal(math.floor(least) + 1) if isinstance(value, int) else None


def distance_of(part: Scalar) -> Scalar | None:
    """Return the distance of ``x = constant`` from being true."""
    bare = part.unnest()
    if not isinstance(bare, exp.EQ | exp.NullSafeEQ):
        return None
    left, right = bare.this.unnest(), bare.expression.unnest()
    if left.find(exp.Column) is None:
        left, right = right, left
    if left.find(exp.Column) is None or right.find(exp.Column) is not None:
        return None
    if isinstance(right, exp.Literal) and right.is_string:
        texts = [exp.func("upper", exp.cast(each.copy(), "string")) for each in (left, right)]
        return exp.cast(exp.Anonymous(this="levenshtein", expressions=texts), "double")
    if isinstance(right, exp.Literal | exp.Neg):
        numbers = [
            exp.TryCast(this=each.copy(), to=exp.DataType.build("double")) for each in (left, right)
        ]
        return exp.func("abs", exp.Sub(this=numbers[0], expression=numbers[1]))
    return None


class ScalarTexts:
    """Shows scalars of a plan as the user would write them: in terms of relations' columns."""

    def __init__(self, root: Relation, sql: str) -> None:
        self._definitions: dict[str, Scalar] = {}
        self._names: dict[str, str] = {}
        self._sql = sql
        for relation in walk(root):
            self._define(relation)

    def _define(self, relation: Relation) -> None:
        match relation:
            case Scan():
                name = self.relation(relation)
                for attribute, column in zip(relation.output, relation.columns, strict=True):
                    self._names[attribute.id] = f"{name}.{column}"
            case Project():
                self._alias(relation.output, relation.scalars)
            case Windows():
                self._alias(relation.output, relation.calls)
            case Aggregate():
                self._alias(relation.key_output, relation.keys)
                self._alias(relation.aggregate_output, relation.aggregates)
            case UnionAll() | Generate():
                for attribute in relation.output:
                    self._names.setdefault(attribute.id, attribute.name)
            case ScalarSubquery() | CorrelatedScalar():
                self._names[relation.output.id] = "the subquery's value"

    def _alias(self, output: Sequence[Any], scalars: Sequence[Scalar]) -> None:
        for attribute, scalar in zip(output, scalars, strict=True):
            own = isinstance(scalar, exp.Column) and scalar.name == attribute.id
            if not own:
                self._definitions.setdefault(attribute.id, scalar)

    def relation(self, scan: Scan) -> str:
        """Return the name by which the query refers to a relation: its alias, if it has one."""
        if scan.span is None or scan.span.view is not None:
            return scan.relation
        found = _ALIAS.match(self._sql, scan.span.end)
        if found and found[1].lower() not in _NO_ALIASES:
            return found[1]
        return scan.relation

    def text(self, scalar: Scalar) -> str:
        """Return a scalar as text."""
        return text(self._shown(scalar, 0))

    def _shown(self, scalar: Scalar, depth: int) -> Scalar:
        def leaf(node: exp.Column) -> Scalar:
            name = node.name
            if name in self._definitions and depth < 50:
                return self._shown(self._definitions[name], depth + 1)
            return exp.Var(this=self._names.get(name, name))

        return rewrite_columns(scalar, leaf)

    def expanded(
        self,
        scalar: Scalar,
        known: Container[str] = (),
        renamed: Mapping[str, str] | None = None,
        depth: int = 0,
    ) -> Scalar:
        """Return a scalar over the columns of relations, as far as known, or over known columns.

        ``renamed`` has further columns by their names in a set operation.
        """
        definitions = self._definitions

        def leaf(node: exp.Column) -> Scalar:
            if node.name in known or depth >= 50:
                return node
            if renamed and node.name in renamed:
                own: Scalar = column(renamed[node.name])
            elif node.name in definitions:
                own = definitions[node.name]
            else:
                return node
            return self.expanded(own, known, renamed, depth + 1)

        return rewrite_columns(scalar, leaf)

    def column(self, attribute_id: str) -> str:
        """Return an attribute as text."""
        return self.text(column(attribute_id))
