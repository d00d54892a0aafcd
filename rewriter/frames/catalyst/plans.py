"""Operators of a plan as clauses of SELECTs: a rule per operator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp

from rewriter.dialect import parse
from rewriter.frames.catalyst.calls import draws, ordered
from rewriter.frames.catalyst.grouping import (
    aggregate,
    expand,
    pivot_of,
    pivoted,
    time_window_of,
    windowed,
)
from rewriter.frames.catalyst.outputs import needed, output, references, used
from rewriter.frames.catalyst.refusals import is_local_sort, is_placement, refusal
from rewriter.frames.catalyst.scalars import CatalystScalars, attribute_id
from rewriter.frames.catalyst.tree import PlanNode
from rewriter.frames.writing import clauses, joins
from rewriter.frames.writing.refusals import sorted_duplicates
from rewriter.frames.writing.rows import deduplicated, sampled, stated
from rewriter.frames.writing.selects import (
    Column,
    FromRows,
    LastClause,
    Steps,
    beside,
    call,
    constants,
    counted,
    identifier,
    is_long,
    lateral_view,
    membership,
    unique,
    unsupported,
)

_GENERATORS = {
    "Explode": "explode",
    "Inline": "inline",
    "JsonTuple": "json_tuple",
    "PosExplode": "posexplode",
    "Stack": "stack",
    "VariantExplode": "variant_explode",
}


def generator_name(generator: PlanNode) -> str:
    """Return the table function that a generator is.

    Raises
    ------
    UnsupportedError
        For one without a rule.
    """
    name = _GENERATORS.get(generator.kind)
    if name is None:
        raise unsupported(f"the generator {generator.kind} has no rule")
    return name


@dataclass(frozen=True, slots=True)
class LateralCall:
    """The call of a table function beside a relation: its columns are taken of the generator's."""

    generate: PlanNode
    items: tuple[PlanNode, ...]

    def columns(self, names: Sequence[str]) -> tuple[Column, ...]:
        """Return its columns, given the names of the generator's columns."""
        pairs = zip(map(attribute_id, self.generate.many("generatorOutput")), names, strict=True)
        known = dict(pairs)
        columns = []
        for item in self.items:
            inner = item.child if item.kind == "Alias" else item
            scalar = exp.Column(this=identifier(known[attribute_id(inner)]))
            columns.append(Column(attribute_id(item), item.name, scalar))
        return tuple(columns)


def generate(plans: CatalystPlans, node: PlanNode) -> FromRows:
    """Return rows joined with the rows that a generator makes of each."""
    generator = node.required("generator")
    name = generator_name(generator)
    rows = plans.input_of(node, LastClause.WHERE, (generator,))
    outputs = node.many("generatorOutput")
    written = call(name, *map(plans.scope(rows).write, generator.children))
    names = [item.name for item in outputs]
    rows, scalars = lateral_view(rows, written, names, outer=bool(node.fields.get("outer")))
    pairs = zip(outputs, scalars, strict=True)
    added = tuple(Column(attribute_id(item), item.name, scalar) for item, scalar in pairs)
    return replace(rows, columns=rows.columns + added)


def called(plans: CatalystPlans, generate: PlanNode, rows: FromRows) -> exp.Expr:
    """Write the call of a generator over rows, an outer one where it makes a row of NULLs."""
    generator = generate.required("generator")
    name = generator_name(generator) + ("_outer" if generate.fields.get("outer") else "")
    return call(name, *map(plans.scope(rows).write, generator.children))


def lateral_call(plan: PlanNode) -> LateralCall | None:
    """Return the call that the plan of a LATERAL is; None if it is a subquery."""
    plan = _unnamed(plan)
    items = None
    if plan.kind == "Project":
        items, plan = plan.many("projectList"), _unnamed(plan.child)
    if plan.kind != "Generate" or plan.child.kind != "OneRowRelation":
        return None
    items = plan.many("generatorOutput") if items is None else items
    inner = [item.child if item.kind == "Alias" else item for item in items]
    if any(item.kind != "AttributeReference" for item in inner):
        return None
    return LateralCall(plan, items)


def _unnamed(plan: PlanNode) -> PlanNode:
    while plan.kind == "SubqueryAlias":
        plan = plan.child
    return plan


def join(plans: CatalystPlans, node: PlanNode) -> FromRows:
    """Return a join, by a condition or without one."""
    side, kind = _side_and_kind(node, "a join")
    left, right = joins.join_inputs(plans.close, *map(plans.rows, node.children))
    condition = node.one("condition")
    written = plans.scope(left, right).write(condition) if condition is not None else None
    return joins.joined(left, right, side, kind, written)


def lateral_join(plans: CatalystPlans, node: PlanNode) -> FromRows:
    """Return a join with a subquery, or with a table function, of the columns of the left side."""
    side, kind = _side_and_kind(node, "a lateral join")
    left = joins.left_input(plans.close, plans.rows(node.children[0]))
    plan = node.required("right").required("plan")
    call = lateral_call(plan)
    if call is None:
        lateral, columns = joins.subquery_lateral(plans.inner_rows(plan, plans.scope(left)))
    else:
        names = unique([item.name for item in call.generate.many("generatorOutput")])
        written = called(plans, call.generate, left)
        lateral, columns = joins.call_lateral(written, names), call.columns(names)
    written_join = exp.Join(side=side, kind=kind)
    rows = joins.lateral_join(left, lateral, columns, written_join)
    condition = node.one("condition")
    if condition is not None:
        written_join.set("on", plans.scope(rows).write(condition))
    return rows


def set_operation(plans: CatalystPlans, node: PlanNode) -> FromRows:
    """Return a union, an intersection or a difference."""
    distinct = node.kind != "Union" and not node.fields.get("isAll")
    inputs = [joins.operand(plans.close, plans.rows(child)) for child in node.children]
    operator = joins.SET_OPERATIONS[node.kind.lower()]
    return joins.combined(operator, inputs, distinct=distinct)


def _side_and_kind(node: PlanNode, operator: str) -> tuple[str | None, str | None]:
    type_ = node.option("joinType")
    if type_.lower() not in joins.JOINS:
        raise unsupported(f"{operator} of type {type_} has no rule")
    return joins.JOINS[type_.lower()]


_WRITTEN = 100_000
"""Expressions of more nodes are refused: they double with each column that is made of another."""


class CatalystPlans:
    """Writes the operators of one plan."""

    def __init__(
        self,
        steps: Steps,
        scalars: CatalystScalars,
        around: Collection[str] = (),
        *,
        literal: bool = False,
    ) -> None:
        self.steps = steps
        self._around = around
        self.literal = literal
        self._scalars = replace(scalars, subquery=self._subquery)
        self._named: dict[int, PlanNode] = {}
        self._path: list[PlanNode] = []

    def rows(self, node: PlanNode) -> FromRows:
        """Return the rows of an operator.

        Raises
        ------
        UntrackedError
            A scan of a relation that is not tracked.
        UnsupportedError
            An operator or an expression without a rule.
        """
        tracked = node.fields.get("tracked")
        if tracked is not None:
            rows = self.steps.relation(tracked["name"], tracked["columns"])
            return beside(rows, self._around)
        if "stated" in node.fields:
            return stated(parse(node.fields["stated"]["sql"]), node.fields["stated"]["columns"])
        if is_placement(node.kind, node.fields):
            return self.rows(node.children[0])
        rule = _RULES.get(node.kind)
        if rule is None:
            raise refusal(node)
        self._path.append(node)
        rows = rule(self, node)
        self._path.pop()
        return rows

    # -- what operators share --------------------------------------------------------------

    def scope(self, *rows: FromRows) -> CatalystScalars:
        """Return the writer of expressions over these rows, and those around a subquery."""
        columns = dict(self._scalars.columns)
        for each in rows:
            columns |= each.scalars
        return replace(self._scalars, columns=columns)

    def close(self, rows: FromRows) -> FromRows:
        """Return the rows as rows of a step."""
        return beside(self.steps.close(rows), self._around)

    def input_of(
        self, node: PlanNode, stage: LastClause, used: Sequence[PlanNode] = ()
    ) -> FromRows:
        """Return the input of an operator whose clause comes after the clauses of a stage.

        The attributes that its expressions use are columns of FROM.
        """
        return clauses.ready(self.close, self.rows(node.children[0]), stage, _used(used))

    def items(
        self, rows: FromRows, items: Sequence[PlanNode], scope: CatalystScalars | None = None
    ) -> tuple[Column, ...]:
        """Return the columns that a select list makes of rows."""
        scope = scope or self.scope(rows)
        weights = {column.id: column.weight for column in rows.columns}
        columns = []
        for item in items:
            scalar = scope.write(item)
            weight = sum(weights.get(attribute_id(n), 1) for n in item.walk() if _is_attribute(n))
            if weight > _WRITTEN:
                raise unsupported(
                    f"the expression of column {item.name} doubles from step to step",
                    "Track an intermediate frame, written to a table.",
                )
            size = sum(1 for _ in item.walk())
            columns.append(Column(attribute_id(item), item.name, scalar, weight + size - 1))
        return tuple(columns)

    def _range(self, node: PlanNode) -> FromRows:
        (number,) = output(node)
        start, end, step = (node.fields[name] for name in ("start", "end", "step"))
        rows = counted(number, start, end, step, node.fields.get("numSlices"))
        return beside(rows, self._around)

    def _values(self, node: PlanNode) -> FromRows:
        if "values" not in node.fields:
            raise refusal(node)
        return beside(constants(node.fields["values"], output(node)), self._around)

    # -- operators of one input ------------------------------------------------------------

    def _passed(self, node: PlanNode) -> FromRows:
        return self.rows(node.children[0])

    def _project(self, node: PlanNode) -> FromRows:
        window = time_window_of(node)
        if window is not None:
            return windowed(self, window)
        pivot = pivot_of(node)
        if pivot is not None:
            return pivoted(self, pivot)
        every = node.many("projectList")
        items = [item for item in every if self.steps.needs(attribute_id(item))] or every[:1]
        drawn = any(map(draws, items))
        rows = self._drawn_from(node) if drawn else self.rows(node.children[0])
        if not _fits(rows, items) or (self.literal and rows.stage >= LastClause.ITEMS):
            rows = self.close(rows)
        columns = self.items(rows, items)
        if self.literal or drawn:
            return replace(rows, columns=columns, stage=max(rows.stage, LastClause.ITEMS))
        if not rows.is_plain() and any(map(is_long, columns)):
            rows = self.close(rows)
            columns = self.items(rows, items)
        return replace(rows, columns=columns)

    def _drawn_from(self, node: PlanNode) -> FromRows:
        """Return the input of an operator in which chance decides, as its tasks have sorted it."""
        (below,) = node.children
        if not is_local_sort(below.kind, below.fields):
            return self.rows(below)
        keys = below.many("order")
        return clauses.sorted_in_tasks(
            self.close, self.rows(below.children[0]), lambda rows: self._order(rows, keys)
        )

    def _filter(self, node: PlanNode) -> FromRows:
        window = time_window_of(node)
        if window is not None:
            return windowed(self, window)
        drawn = draws(node.required("condition"))
        rows = self._drawn_from(node) if drawn else self.rows(node.children[0])
        clause, stage = "where", LastClause.ITEMS if drawn else LastClause.WHERE
        if self._around and rows.stage is LastClause.ITEMS and _is_grouped(rows):
            clause, stage = "having", LastClause.ITEMS
        else:
            rows = clauses.ready(
                self.close, rows, LastClause.FROM if drawn else LastClause.ORDER, ()
            )
        condition = self.scope(rows).write(node.required("condition"))
        return clauses.restricted(rows, clause, condition, stage)

    def _window(self, node: PlanNode) -> FromRows:
        items = node.many("windowExpressions")
        rows = self.input_of(node, LastClause.WHERE, items)
        columns = rows.columns + self.items(rows, items)
        return replace(rows, columns=columns, stage=LastClause.ITEMS)

    def _sample(self, node: PlanNode) -> FromRows:
        return sampled(
            self.close,
            self.rows(node.children[0]),
            (float(node.fields["lowerBound"]), float(node.fields["upperBound"])),
            int(node.fields["seed"]),
            with_replacement=node.fields["withReplacement"],
        )

    def _sort(self, node: PlanNode) -> FromRows:
        keys = node.many("order")
        rows = clauses.sortable(self.close, self.rows(node.children[0]), _used(keys))
        return clauses.ordered(rows, exp.Order(expressions=self._order(rows, keys)))

    def _order(self, rows: FromRows, keys: Sequence[PlanNode]) -> list[exp.Ordered]:
        scope = self.scope(rows)
        return [ordered(scope.write, key) for key in keys]

    def _limit(self, node: PlanNode) -> FromRows:
        local = node.children[0]
        if local.kind != "LocalLimit":
            raise unsupported("a limit that is not LIMIT has no rule")
        rows = self.input_of(local, LastClause.OFFSET)
        return clauses.limited(rows, self.scope(rows).write(node.required("limitExpr")))

    def _offset(self, node: PlanNode) -> FromRows:
        rows = self.input_of(node, LastClause.ITEMS)
        return clauses.offset(rows, self.scope(rows).write(node.required("offsetExpr")))

    def _distinct(self, node: PlanNode) -> FromRows:
        rows = self.input_of(node, LastClause.WHERE)
        return rows.with_clause("distinct", exp.Distinct(), LastClause.ITEMS)

    def _deduplicate(self, node: PlanNode) -> FromRows:
        keys = {attribute_id(key) for key in node.many("keys")}
        below = node.children[0]
        while below.kind in ("Filter", "Project", "SubqueryAlias"):
            below = below.children[-1]
        rows = self.input_of(node, LastClause.WHERE)
        if not self.literal:
            above = self._path[:-1]
            lists = [output(each) for each in above if each.kind == "Project"]
            passed = filter(self.steps.needs, chain.from_iterable(lists))
            kept = keys.union(output(self._path[0]), passed, *map(used, above))
            rows = replace(rows, columns=tuple(c for c in rows.columns if c.id in kept))
        some = not keys >= {column.id for column in rows.columns}
        if some and below.kind == "Sort" and below.fields["global"]:
            raise sorted_duplicates()
        return deduplicated(self.close, rows, keys)

    # -- named queries and subqueries ------------------------------------------------------

    def _with(self, node: PlanNode) -> FromRows:
        plan, definitions = node.required("plan"), node.many("cteDefs")
        self._named |= {definition.fields["id"]: definition for definition in definitions}
        return self.rows(plan)

    def _named_query(self, node: PlanNode) -> FromRows:
        rows = self.rows(self._named[node.fields["cteId"]])
        pairs = zip(rows.columns, node.many("output"), strict=True)
        renamed = (replace(c, id=attribute_id(item), name=item.name) for c, item in pairs)
        return replace(rows, columns=tuple(renamed))

    def _subquery(self, node: PlanNode, around: CatalystScalars) -> exp.Expr:
        """Write EXISTS, IN or a scalar subquery; its plan may refer to the columns around it."""
        if node.kind == "InSubquery":
            *values, query = node.children
            return membership([*map(around.write, values)], self._inner(query, around))
        inner = self._inner(node, around)
        return exp.Exists(this=inner) if node.kind == "Exists" else exp.Subquery(this=inner)

    def _inner(self, node: PlanNode, around: CatalystScalars) -> exp.Query:
        return self.inner_rows(node.required("plan"), around).written()

    def inner_rows(self, plan: PlanNode, around: CatalystScalars) -> FromRows:
        """Return the rows of a plan that may refer to the columns around it."""
        self.steps.need(needed(plan))
        outer = {
            node.table.lower() for node in around.columns.values() if isinstance(node, exp.Column)
        }
        inner = CatalystPlans(self.steps, around, outer, literal=self.literal)
        inner._named = self._named
        return self.steps.finished(inner.rows(plan))


def _used(expressions: Iterable[PlanNode]) -> frozenset[int]:
    """Return the attributes that expressions use."""
    return frozenset[int]().union(*map(references, expressions))


def _is_attribute(node: PlanNode) -> bool:
    return node.kind == "AttributeReference"


def _renames(item: PlanNode) -> bool:
    renamed = item.kind == "Alias" and not item.fields.get("unmarked")
    return _is_attribute(item) or (renamed and _is_attribute(item.child))


def _is_grouped(rows: FromRows) -> bool:
    """Return True if rows are groups, and nothing has been done with them."""
    select = rows.select
    return (
        bool(select.args.get("group"))
        and not select.args.get("distinct")
        and not any(column.scalar.find(exp.Window) for column in rows.columns)
    )


def _fits(rows: FromRows, items: Sequence[PlanNode]) -> bool:
    """Return True if a select list goes into the SELECT that its rows are."""
    if (
        rows.query is not None
        or rows.stage >= LastClause.OFFSET
        or rows.select.args.get("distinct")
    ):
        return [column.id for column in rows.columns] == [*map(attribute_id, items)]
    if rows.stage is LastClause.ORDER:
        return all(map(_is_attribute, items))
    return rows.stage < LastClause.ITEMS or all(map(_renames, items))


_RULES: Mapping[str, Callable[[CatalystPlans, PlanNode], FromRows]] = {
    "Aggregate": aggregate,
    "CTERelationDef": CatalystPlans._passed,
    "CTERelationRef": CatalystPlans._named_query,
    "Deduplicate": CatalystPlans._deduplicate,
    "Distinct": CatalystPlans._distinct,
    "Except": set_operation,
    "Expand": expand,
    "Filter": CatalystPlans._filter,
    "Generate": generate,
    "GlobalLimit": CatalystPlans._limit,
    "Intersect": set_operation,
    "Join": join,
    "LateralJoin": lateral_join,
    "LocalRelation": CatalystPlans._values,
    "Offset": CatalystPlans._offset,
    "PipeOperator": CatalystPlans._passed,
    "Project": CatalystPlans._project,
    "Range": CatalystPlans._range,
    "Sample": CatalystPlans._sample,
    "Sort": CatalystPlans._sort,
    "SubqueryAlias": CatalystPlans._passed,
    "Union": set_operation,
    "View": CatalystPlans._passed,
    "Window": CatalystPlans._window,
    "WithCTE": CatalystPlans._with,
}
"""Class of an operator: how it is written."""
