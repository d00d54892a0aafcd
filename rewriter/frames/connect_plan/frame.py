"""Relations of a Connect plan: their columns, the names of these, randomness, column metadata.

A Connect plan has names and no identities. Columns are given numbers here, so that a name means
one column of one occurrence of a relation; a reference may also have the number of the plan that it
was taken from (``df["k"]``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from rewriter.bind.catalog import SESSION, WINDOW
from rewriter.dialect import parse
from rewriter.frames.writing.selects import Column, FromRows, unsupported
from rewriter.scalars.functions import DRAWN, is_drawn


@dataclass(frozen=True)
class ConnectFrame:
    """Rows, the qualifier of each column, and the columns that each plan had.

    ``around`` is the frame whose rows these are made for, in a lateral join: what no column here
    means may be one of its.
    """

    rows: FromRows
    qualifiers: Mapping[int, str] = field(default_factory=dict)
    plans: Mapping[int, frozenset[int]] = field(default_factory=dict)
    around: ConnectFrame | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return self.rows.columns

    def over(self, rows: FromRows) -> ConnectFrame:
        """Return other rows with the same names for what they still have."""
        return replace(self, rows=rows)

    def aliased(self, name: str) -> ConnectFrame:
        """Return the columns under the alias of a relation."""
        return replace(self, qualifiers={column.id: name for column in self.columns})

    def planned(self, number: int) -> ConnectFrame:
        """Return the frame as that of a plan, whose columns may be referred to by its number."""
        ids = frozenset(column.id for column in self.columns) | self.plans.get(number, frozenset())
        return replace(self, plans={**self.plans, number: ids})

    def beside(self, other: ConnectFrame, rows: FromRows) -> ConnectFrame:
        """Return the rows of a join of this frame and another."""
        plans = dict(self.plans)
        for number, ids in other.plans.items():
            plans[number] = plans.get(number, frozenset()) | ids
        return ConnectFrame(rows, {**self.qualifiers, **other.qualifiers}, plans, self.around)

    def named(self, name: str) -> tuple[Column, ...]:
        """Return the columns of a name."""
        return tuple(column for column in self.columns if column.name.lower() == name.lower())

    def of_plan(self, number: int) -> tuple[Column, ...]:
        """Return the columns that a plan had."""
        ids = self.plans.get(number, frozenset())
        return tuple(column for column in self.columns if column.id in ids)

    def only(self, name: str) -> Column:
        """Return the column of a name.

        Raises
        ------
        UnsupportedError
            When no column has the name, or several have.
        """
        columns = self.named(name)
        if len(columns) != 1:
            raise unsupported(f"column {name} is one of several, or none")
        return columns[0]

    def resolve(self, parts: Sequence[str], plan: int | None = None) -> tuple[Column, list[str]]:
        """Return the column that a dotted name means, and the fields that are taken of it.

        Raises
        ------
        UnsupportedError
            When no column has the name, or several have.
        """
        known = self.columns if plan is None else self.of_plan(plan)
        for size in (1, 0):
            if len(parts) <= size:
                continue
            matches = {
                column.id: column
                for column in known
                if column.name.lower() == parts[size].lower()
                and (size == 0 or self.qualifiers.get(column.id, "").lower() == parts[0].lower())
            }
            if len(matches) > 1:
                raise unsupported(
                    f"column {'.'.join(parts)} is one of several",
                    "Give the frames an alias(), or the columns different names.",
                )
            if matches:
                return next(iter(matches.values())), list(parts[size + 1 :])
        if self.around is not None:
            return self.around.resolve(parts, plan)
        raise unsupported(
            f"column {'.'.join(parts)} is not one of its input's", "Select it before it is used."
        )


def with_fields(scalar: exp.Expr, fields: Sequence[str]) -> exp.Expr:
    """Return a field of a field ... of a scalar."""
    for name in fields:
        value = scalar if isinstance(scalar, exp.Column | exp.Dot) else exp.Paren(this=scalar)
        scalar = exp.Dot(this=value, expression=exp.to_identifier(name, quoted=True))
    return scalar


Message = Mapping[str, Any]

_EXPRESSIONS = {"filter": "condition", "project": "expressions", "with_columns": "aliases"}


def draws(expression: Any) -> bool:
    """Return True if chance decides the value of an expression, or of one of several."""
    if isinstance(expression, list):
        return any(map(draws, expression))
    if not isinstance(expression, Mapping):
        return False
    text = expression.get("expression_string", {}).get("expression", "")
    if any(name in text.lower() for name in DRAWN) and is_drawn(parse(f"SELECT {text}")):
        return True
    name = expression.get("unresolved_function", {}).get("function_name", "")
    return name.lower() in DRAWN or any(map(draws, expression.values()))


def sorted_before_draws(relation: Message) -> Message | None:
    """Return the sort order within tasks below a random operator of a relation, if any."""
    for kind, expressions in _EXPRESSIONS.items():
        if kind in relation and draws(relation[kind].get(expressions)):
            below = relation[kind]["input"]
            sort: Message | None = below if is_local_sort(below) else None
            return sort
    return None


def is_local_sort(relation: Message) -> bool:
    """Return True if a relation sorts the rows of each task."""
    return "sort" in relation and not relation["sort"].get("is_global")


def may_be_marked(expression: Mapping[str, Any]) -> bool:
    """Return True if an expression is a column, which may have marks, or the call of a time window.

    Raises
    ------
    QueryError
        It is a text that is not understood.
    """
    if "expression_string" in expression:
        (item,) = parse(f"SELECT {expression['expression_string']['expression']}").expressions
        return isinstance(item, exp.Column) or item.name.lower() in (WINDOW, SESSION)
    return "unresolved_attribute" in expression or _is_window(expression)


def _is_window(expression: Mapping[str, Any]) -> bool:
    call = expression.get("unresolved_function", {})
    return str(call.get("function_name", "")).lower() in (WINDOW, SESSION)
