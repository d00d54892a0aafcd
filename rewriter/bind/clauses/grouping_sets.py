"""ROLLUP, CUBE and GROUPING SETS: the grouping sets that a GROUP BY stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.dialect import TypedLiteral
from rewriter.scalars.special_functions import GROUPING_FUNCTIONS

_ANALYTICS = (exp.Rollup, exp.Cube, exp.GroupingSets)


@dataclass(slots=True)
class GroupBy:
    """What a GROUP BY names, in order, and the places in it of the keys of each grouping set.

    ``sets`` is None for a plain grouping, by all of them; ``everything`` says that one was written
    as GROUPING SETS (()), which has no keys.
    """

    expressions: list[exp.Expr] = field(default_factory=list)
    sets: list[tuple[int, ...]] | None = None
    everything: bool = False

    def place(self, node: exp.Expr) -> int:
        """Return the place of one more expression."""
        self.expressions.append(node)
        return len(self.expressions) - 1


def group_by(group: exp.Group) -> GroupBy:
    """Return the keys of a GROUP BY and its grouping sets: elements beside each other multiply.

    GROUPING SETS (()) alone is a grouping without keys: it has a row over an empty input too.
    """
    grouping = GroupBy()
    elements = [_alternatives(node, grouping) for node in group.expressions]
    suffixes = [part for key in ("rollup", "cube") for part in group.args.get(key) or []]
    if suffixes:
        units = [keys for element in elements for keys in element]
        grouping.sets = _prefixes(units) if group.args.get("rollup") else _subsets(units)
    elif group.args.get("grouping_sets"):
        suffix = group.args["grouping_sets"]
        grouping.sets = [keys for part in suffix for keys in _alternatives(part, grouping)]
    elif any(isinstance(node, _ANALYTICS) for node in group.expressions):
        grouping.sets = [_joined(keys) for keys in product(*elements)]
    return GroupBy(everything=True) if grouping.sets == [()] else grouping


def is_grouping_function(node: exp.Expr) -> bool:
    """Tell whether a node calls grouping() or grouping_id()."""
    return isinstance(node, exp.AnonymousAggFunc) and str(node.this).lower() in GROUPING_FUNCTIONS


def grouping_flag(number: Scalar, without: Sequence[int]) -> Scalar:
    """Return grouping(key): 1 in the grouping sets without the key."""
    missing = exp.In(this=number, expressions=[exp.Literal.number(index) for index in without])
    case = exp.Case().when(missing if without else exp.false(), _literal(1, "Y"))
    return case.else_(_literal(0, "Y"))


def grouping_id(number: Scalar, sets: Sequence[Sequence[int]], keys: int) -> Scalar:
    """Return grouping_id(): a bit for each key, the first the highest, 1 where it is missing."""
    values = [
        sum(1 << (keys - 1 - key) for key in range(keys) if key not in grouping_set)
        for grouping_set in sets
    ]
    case = exp.Case(this=number)
    for index, value in enumerate(values[:-1]):
        case = case.when(exp.Literal.number(index), bigint(value))
    return case.else_(bigint(values[-1])) if len(values) > 1 else bigint(values[0])


def bigint(value: int) -> Scalar:
    """Return a BIGINT as a literal."""
    return _literal(value, "L")


def _alternatives(node: exp.Expr, grouping: GroupBy) -> list[tuple[int, ...]]:
    """Return the grouping sets that one element of GROUP BY stands for."""
    if isinstance(node, exp.GroupingSets):
        return [keys for part in node.expressions for keys in _alternatives(part, grouping)]
    if isinstance(node, exp.Rollup | exp.Cube):
        units = [_unit(part, grouping) for part in node.expressions]
        return _prefixes(units) if isinstance(node, exp.Rollup) else _subsets(units)
    return [_unit(node, grouping)]


def _unit(node: exp.Expr, grouping: GroupBy) -> tuple[int, ...]:
    """Return the places of the expressions that stand together in brackets."""
    parts = node.expressions if isinstance(node, exp.Tuple) else [node]
    return tuple(grouping.place(part) for part in parts)


def _prefixes(units: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [_joined(units[:size]) for size in range(len(units), -1, -1)]


def _subsets(units: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    chosen = product((True, False), repeat=len(units))
    return [_joined([u for u, keep in zip(units, kept, strict=True) if keep]) for kept in chosen]


def _joined(units: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(key for unit in units for key in unit)


def _literal(value: int, suffix: str) -> Scalar:
    kind = {"Y": "tinyint", "L": "bigint"}[suffix]
    number = exp.Literal.number(value)
    return TypedLiteral(this=number, to=exp.DataType.build(kind), suffix=suffix)
