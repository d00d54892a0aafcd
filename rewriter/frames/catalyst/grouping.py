"""Aggregations; grouping sets, which a plan has as copies of its rows: one for each set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.catalyst.scalars import CatalystScalars, attribute_id
from rewriter.frames.catalyst.tree import Node, tree
from rewriter.frames.writing.calls import call
from rewriter.frames.writing.clauses import grouped
from rewriter.frames.writing.selects import Rows, Stage

if TYPE_CHECKING:
    from rewriter.frames.catalyst.plans import CatalystPlans


@dataclass(frozen=True, slots=True)
class ExpandedSets:
    """The grouping sets of an aggregation.

    ``keys`` are its grouping expressions, ``sets`` the numbers of those that each set has, and
    ``outputs`` the expression ids under which the aggregation knows them; ``grouping_id`` is that
    of the number of the set.
    """

    keys: tuple[Node, ...]
    sets: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]
    grouping_id: int

    def columns(self, scalars: CatalystScalars) -> Mapping[int, exp.Expr]:
        """Return what the aggregation's own attributes are over the rows."""
        written = dict(zip(self.outputs, map(scalars.write, self.keys), strict=True))
        return {**written, self.grouping_id: call("grouping_id")}

    def clause(self, scalars: CatalystScalars) -> exp.Group:
        """Return GROUP BY GROUPING SETS."""
        keys = [scalars.write(key) for key in self.keys]
        sets = [
            exp.Tuple(expressions=[keys[n].copy() for n in grouping_set])
            for grouping_set in self.sets
        ]
        return exp.Group(expressions=[exp.GroupingSets(expressions=sets)])


def aggregate(plans: CatalystPlans, node: Node) -> Rows:
    """Return the groups of an operator's rows, by keys or by grouping sets."""
    keys, items = node.many("groupingExpressions"), node.many("aggregateExpressions")
    below = node.children[0]
    if below.kind == "Expand" and _is_of_sets(below):
        sets = grouping_sets(below)
        rows = plans.input_of(below, Stage.WHERE, (*sets.keys, *items))
        scope = plans.scope(rows)
        outputs = {**scope.columns, **sets.columns(scope)}
        columns = plans.items(rows, items, replace(scope, columns=outputs))
        return grouped(rows, sets.clause(scope), columns)
    rows = plans.input_of(node, Stage.WHERE, (*keys, *items))
    scope = plans.scope(rows)
    group = exp.Group(expressions=[scope.write(key) for key in keys]) if keys else None
    return grouped(rows, group, plans.items(rows, items))


def _is_of_sets(expand: Node) -> bool:
    """Tell whether copies of rows are of grouping sets; others are of UNPIVOT."""
    outputs, below = _outputs(expand), expand.children[0]
    return outputs[-1].name == "spark_grouping_id" and below.kind == "Project"


def _outputs(expand: Node) -> tuple[Node, ...]:
    """Return the columns of copied rows, without the place of a set among equal ones."""
    outputs = expand.many("output")
    return outputs[:-1] if outputs[-1].name == "_gen_grouping_pos" else outputs


def grouping_sets(expand: Node) -> ExpandedSets:
    """Return the grouping sets that an ``Expand`` over its projection is made of."""
    project, outputs = expand.children[0], _outputs(expand)
    items = project.many("projectList")
    keys = tuple(item.child for item in items if item.kind == "Alias")
    first = len(items) - len(keys)
    rows = [
        [tree(value) for value in row[first : len(outputs) - 1]]
        for row in expand.fields["projections"]
    ]
    sets = tuple(
        tuple(number for number, value in enumerate(row) if value.kind == "AttributeReference")
        for row in rows
    )
    ids = tuple(map(attribute_id, outputs[first:-1]))
    return ExpandedSets(keys, sets, ids, attribute_id(outputs[-1]))
