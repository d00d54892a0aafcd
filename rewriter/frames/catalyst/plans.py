"""Operators of a plan as clauses of SELECTs: one method per operator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.dialect import parse
from rewriter.frames.catalyst.functions import draws
from rewriter.frames.catalyst.grouping import grouping_sets
from rewriter.frames.catalyst.laterals import generator_name, lateral_call
from rewriter.frames.catalyst.outputs import needed, output, references
from rewriter.frames.catalyst.pivot import Pivot, pivot_of, pivoted
from rewriter.frames.catalyst.refusals import is_local_sort, is_placement, refusal
from rewriter.frames.catalyst.scalars import CatalystScalars, attribute_id
from rewriter.frames.catalyst.time_windows import TimeWindow, time_window_of
from rewriter.frames.catalyst.tree import Node
from rewriter.frames.catalyst.unpivot import unpivot_of
from rewriter.frames.catalyst.windows import ordered
from rewriter.frames.writing.binary import combined, join_inputs, joined, left_input, operand
from rewriter.frames.writing.calls import call, membership
from rewriter.frames.writing.deduplicated import deduplicated
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.laterals import call_lateral, lateral_join, subquery_lateral
from rewriter.frames.writing.sampled import sampled
from rewriter.frames.writing.selects import (
    Column,
    Rows,
    Stage,
    Steps,
    beside,
    constants,
    counted,
    is_long,
    lateral_view,
    unique,
)
from rewriter.frames.writing.stated import stated
from rewriter.frames.writing.unpivot import unpivoted

_WRITTEN = 100_000
"""Expressions of more nodes are refused: they double with each column that is made of another."""

_JOINS: Mapping[str, tuple[str | None, str | None]] = {
    "Cross": (None, "CROSS"),
    "FullOuter": ("FULL", None),
    "Inner": (None, None),
    "LeftAnti": ("LEFT", "ANTI"),
    "LeftOuter": ("LEFT", None),
    "LeftSemi": ("LEFT", "SEMI"),
    "RightOuter": ("RIGHT", None),
}


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
        self._steps = steps
        self._around = around
        self._literal = literal
        self._scalars = replace(scalars, subquery=self._subquery)
        self._named: dict[int, Node] = {}

    def rows(self, node: Node) -> Rows:
        """Return the rows of an operator.

        Raises
        ------
        UntrackedError
            A scan of what is not tracked.
        UnsupportedError
            An operator or an expression without a rule.
        """
        tracked = node.fields.get("tracked")
        if tracked is not None:
            rows = self._steps.relation(tracked["name"], tracked["columns"])
            return beside(rows, self._around)
        if "text" in node.fields:
            return stated(parse(node.fields["text"]["sql"]), node.fields["text"]["columns"])
        if is_placement(node.kind, node.fields):
            return self.rows(node.children[0])
        rule = _RULES.get(node.kind)
        if rule is not None:
            return rule(self, node)
        raise refusal(node)

    # -- what operators share --------------------------------------------------------------

    def _scope(self, *rows: Rows) -> CatalystScalars:
        """Return the writer of expressions over these rows, and those around a subquery."""
        columns = dict(self._scalars.columns)
        for each in rows:
            columns |= each.scalars
        return replace(self._scalars, columns=columns)

    def _closed(self, rows: Rows) -> Rows:
        """Return the rows as those of a step."""
        return beside(self._steps.close(rows), self._around)

    def _input(self, node: Node, stage: Stage, used: Sequence[Node] = ()) -> Rows:
        """Return the input of an operator whose clause comes after those of a stage.

        What its expressions use are columns of FROM.
        """
        return self._below(node.children[0], stage, used)

    def _below(self, node: Node, stage: Stage, used: Sequence[Node] = ()) -> Rows:
        """Return the rows of an operator as the input of one whose clause comes after a stage."""
        rows = self.rows(node)
        ids = frozenset[int]().union(*map(references, used))
        if rows.stage > stage or rows.query is not None or not rows.is_plain(ids):
            return self._closed(rows)
        return rows

    def _items(
        self, rows: Rows, items: Sequence[Node], scope: CatalystScalars | None = None
    ) -> tuple[Column, ...]:
        """Return the columns that a select list makes of rows."""
        scope = scope or self._scope(rows)
        weights = {column.id: column.weight for column in rows.columns}
        columns = []
        for item in items:
            scalar = scope.write(item)
            weight = sum(weights.get(attribute_id(n), 1) for n in item.walk() if _is_attribute(n))
            if weight > _WRITTEN:
                raise unsupported(
                    f"the expression of column {item.fields['name']} doubles from step to step",
                    "Track an intermediate frame, written to a table.",
                )
            size = sum(1 for _ in item.walk())
            columns.append(Column(attribute_id(item), _name(item), scalar, weight + size - 1))
        return tuple(columns)

    def _range(self, node: Node) -> Rows:
        (number,) = output(node)
        start, end, step = (node.fields[name] for name in ("start", "end", "step"))
        rows = counted(number, start, end, step, node.fields.get("numSlices"))
        return beside(rows, self._around)

    def _values(self, node: Node) -> Rows:
        if "values" not in node.fields:
            raise refusal(node)
        return beside(constants(node.fields["values"], output(node)), self._around)

    # -- operators of one input ------------------------------------------------------------

    def _passed(self, node: Node) -> Rows:
        return self.rows(node.children[0])

    def _project(self, node: Node) -> Rows:
        window = time_window_of(node)
        if window is not None:
            return self._time_window(window)
        pivot = pivot_of(node)
        if pivot is not None:
            return self._pivot(pivot)
        every = node.many("projectList")
        items = [item for item in every if self._steps.needs(attribute_id(item))] or every[:1]
        drawn = any(map(draws, items))
        rows = self._drawn_from(node) if drawn else self.rows(node.children[0])
        if not _fits(rows, items) or (self._literal and rows.stage >= Stage.ITEMS):
            rows = self._closed(rows)
        columns = self._items(rows, items)
        if self._literal or drawn:
            return replace(rows, columns=columns, stage=max(rows.stage, Stage.ITEMS))
        if not rows.is_plain() and any(map(is_long, columns)):
            rows = self._closed(rows)
            columns = self._items(rows, items)
        return replace(rows, columns=columns)

    def _drawn_from(self, node: Node) -> Rows:
        """Return the input of an operator in which chance decides, as its tasks have sorted it."""
        (below,) = node.children
        if not is_local_sort(below.kind, below.fields):
            return self.rows(below)
        rows = self.rows(below.children[0])
        if not rows.single:
            rows = self._closed(rows)
        keys = [ordered(self._scope(rows).write, key) for key in below.many("order")]
        return self._closed(rows.having("sort", exp.Sort(expressions=keys), Stage.ITEMS))

    def _pivot(self, pivot: Pivot) -> Rows:
        rows = self.rows(pivot.source)
        if rows.query is not None or rows.stage >= Stage.ITEMS:
            rows = self._closed(rows)
        if pivot.made:
            columns = (*rows.columns, *self._items(rows, pivot.made))
            rows = self._closed(replace(rows, columns=columns, stage=Stage.ITEMS))
        used = tuple(column for column in rows.columns if column.id in pivot.used)
        if not rows.single or used != rows.columns:
            rows = self._closed(replace(rows, columns=used))
        return pivoted(pivot, rows, self._scope(rows))

    def _time_window(self, window: TimeWindow) -> Rows:
        """Return a step with the window, which is kept where nothing reads it: it repeats rows."""
        rows = self._below(window.input, Stage.WHERE, window.used)
        time_column = window.column(self._scope(rows))
        self._steps.need([time_column.id])
        return self._closed(replace(rows, columns=(time_column, *rows.columns), stage=Stage.ITEMS))

    def _filter(self, node: Node) -> Rows:
        window = time_window_of(node)
        if window is not None:
            return self._time_window(window)
        drawn = draws(node.required("condition"))
        rows = self._drawn_from(node) if drawn else self.rows(node.children[0])
        if self._around and rows.stage is Stage.ITEMS and _is_grouped(rows):
            return self._restricted(rows, "having", node, Stage.ITEMS)
        if rows.stage > (Stage.FROM if drawn else Stage.ORDER) or rows.query is not None:
            rows = self._closed(rows)
        return self._restricted(rows, "where", node, Stage.ITEMS if drawn else Stage.WHERE)

    def _restricted(self, rows: Rows, clause: str, node: Node, stage: Stage) -> Rows:
        """Return the rows with one more condition in WHERE or HAVING."""
        condition = self._scope(rows).write(node.required("condition"))
        before = rows.select.args.get(clause)
        if before is not None:
            condition = exp.and_(before.this.copy(), condition, copy=False)
        clause_node = exp.Where(this=condition) if clause == "where" else exp.Having(this=condition)
        return rows.having(clause, clause_node, stage)

    def _aggregate(self, node: Node) -> Rows:
        keys, items = node.many("groupingExpressions"), node.many("aggregateExpressions")
        if node.children[0].kind == "Expand":
            return self._grouping_sets(node.children[0], items)
        rows = self._input(node, Stage.WHERE, (*keys, *items))
        scope = self._scope(rows)
        columns = self._items(rows, items)
        group = exp.Group(expressions=[scope.write(key) for key in keys]) if keys else None
        return replace(rows.having("group", group, Stage.ITEMS), columns=columns)

    def _grouping_sets(self, expand: Node, items: Sequence[Node]) -> Rows:
        sets = grouping_sets(expand)
        rows = self._input(expand.children[0], Stage.WHERE, (*sets.keys, *items))
        scope = self._scope(rows)
        over = replace(scope, columns={**scope.columns, **sets.columns(scope)})
        columns = self._items(rows, items, over)
        return replace(rows.having("group", sets.clause(scope), Stage.ITEMS), columns=columns)

    def _window(self, node: Node) -> Rows:
        items = node.many("windowExpressions")
        rows = self._input(node, Stage.WHERE, items)
        columns = rows.columns + self._items(rows, items)
        return replace(rows, columns=columns, stage=Stage.ITEMS)

    def _generate(self, node: Node) -> Rows:
        generator = node.required("generator")
        name = generator_name(generator)
        rows = self._input(node, Stage.WHERE, (generator,))
        outputs = node.many("generatorOutput")
        written = call(name, *map(self._scope(rows).write, generator.children))
        names = map(_name, outputs)
        rows, scalars = lateral_view(rows, written, names, outer=bool(node.fields.get("outer")))
        pairs = zip(outputs, scalars, strict=True)
        added = tuple(Column(attribute_id(item), _name(item), scalar) for item, scalar in pairs)
        return replace(rows, columns=rows.columns + added)

    def _expand(self, node: Node) -> Rows:
        unpivot = unpivot_of(node)
        return unpivoted(unpivot, self._only(self.rows(node.children[0]), unpivot.used))

    def _only(self, rows: Rows, used: Sequence[int]) -> Rows:
        """Return the rows of one relation that has these columns and no others."""
        if rows.query is not None or rows.stage >= Stage.ITEMS:
            rows = self._closed(rows)
        known = {column.id: column for column in rows.columns}
        columns = tuple(known[number] for number in used)
        return self._closed(replace(rows, columns=columns))

    def _sample(self, node: Node) -> Rows:
        rows = self.rows(node.children[0])
        if not rows.single or rows.select.args["from_"].this.args.get("sample"):
            rows = self._closed(rows)
        return sampled(
            rows,
            (float(node.fields["lowerBound"]), float(node.fields["upperBound"])),
            int(node.fields["seed"]),
            with_replacement=node.fields["withReplacement"],
        )

    def _sort(self, node: Node) -> Rows:
        keys = node.many("order")
        rows = self._input(node, Stage.ORDER, keys)
        used = frozenset[int]().union(*map(references, keys))
        if not all(column.kept for column in rows.columns if column.id in used):
            rows = self._closed(rows)
        scope = self._scope(rows)
        order = exp.Order(expressions=[ordered(scope.write, key) for key in keys])
        return rows.having("order", order, Stage.ORDER)

    def _limit(self, node: Node) -> Rows:
        local = node.children[0]
        if local.kind != "LocalLimit":
            raise unsupported("a limit that is not LIMIT has no rule")
        rows = self._input(local, Stage.OFFSET)
        count = self._scope(rows).write(node.required("limitExpr"))
        return rows.having("limit", exp.Limit(expression=count), Stage.LIMIT)

    def _offset(self, node: Node) -> Rows:
        rows = self._input(node, Stage.ITEMS)
        count = self._scope(rows).write(node.required("offsetExpr"))
        return rows.having("offset", exp.Offset(expression=count), Stage.OFFSET)

    def _distinct(self, node: Node) -> Rows:
        rows = self._input(node, Stage.WHERE)
        return rows.having("distinct", exp.Distinct(), Stage.ITEMS)

    def _deduplicate(self, node: Node) -> Rows:
        keys = {attribute_id(key) for key in node.many("keys")}
        return deduplicated(self._closed, self._input(node, Stage.WHERE), keys)

    # -- operators of several inputs -------------------------------------------------------

    def _join(self, node: Node) -> Rows:
        side_and_kind = _JOINS.get(node.option("joinType"))
        if side_and_kind is None:
            raise unsupported(f"a join of type {node.option('joinType')} has no rule")
        left, right = join_inputs(self._closed, *map(self.rows, node.children))
        condition = node.one("condition")
        written = self._scope(left, right).write(condition) if condition is not None else None
        return joined(left, right, *side_and_kind, written)

    def _lateral_join(self, node: Node) -> Rows:
        side_and_kind = _JOINS.get(node.option("joinType"))
        if side_and_kind is None:
            raise unsupported(f"a lateral join of type {node.option('joinType')} has no rule")
        left = left_input(self._closed, self.rows(node.children[0]))
        plan = node.required("right").required("plan")
        called = lateral_call(plan)
        if called is None:
            inner = self._inner_rows(plan, self._scope(left))
            lateral, columns = subquery_lateral(inner)
        else:
            written = self._called(called.generate, left)
            names = unique([_name(item) for item in called.generate.many("generatorOutput")])
            lateral, columns = call_lateral(written, names), called.columns(names)
        join = exp.Join(side=side_and_kind[0], kind=side_and_kind[1])
        rows = lateral_join(left, lateral, columns, join)
        condition = node.one("condition")
        if condition is not None:
            join.set("on", self._scope(rows).write(condition))
        return rows

    def _called(self, generate: Node, rows: Rows) -> exp.Expr:
        """Write the call of a generator over rows, an outer one where it makes a row of NULLs."""
        generator = generate.required("generator")
        name = generator_name(generator) + ("_outer" if generate.fields.get("outer") else "")
        return call(name, *map(self._scope(rows).write, generator.children))

    def _set_operation(self, node: Node) -> Rows:
        distinct = node.kind != "Union" and not node.fields.get("isAll")
        inputs = [operand(self.rows(child), self._closed) for child in node.children]
        return combined(_SET_OPERATIONS[node.kind], inputs, distinct=distinct)

    # -- named queries and subqueries ------------------------------------------------------

    def _with(self, node: Node) -> Rows:
        plan, definitions = node.required("plan"), node.many("cteDefs")
        self._named |= {definition.fields["id"]: definition for definition in definitions}
        return self.rows(plan)

    def _named_query(self, node: Node) -> Rows:
        rows = self.rows(self._named[node.fields["cteId"]].children[0])
        pairs = zip(rows.columns, node.many("output"), strict=True)
        renamed = (replace(c, id=attribute_id(item), name=_name(item)) for c, item in pairs)
        return replace(rows, columns=tuple(renamed))

    def _subquery(self, node: Node, around: CatalystScalars) -> exp.Expr:
        """Write EXISTS, IN or a scalar subquery; its plan may refer to the columns around it."""
        if node.kind == "InSubquery":
            *values, query = node.children
            return membership([*map(around.write, values)], self._inner(query, around))
        inner = self._inner(node, around)
        return exp.Exists(this=inner) if node.kind == "Exists" else exp.Subquery(this=inner)

    def _inner(self, node: Node, around: CatalystScalars) -> exp.Query:
        return self._inner_rows(node.required("plan"), around).written()

    def _inner_rows(self, plan: Node, around: CatalystScalars) -> Rows:
        """Return the rows of a plan that may refer to the columns around it."""
        self._steps.need(needed(plan))
        outer = {
            node.table.lower() for node in around.columns.values() if isinstance(node, exp.Column)
        }
        inner = CatalystPlans(self._steps, around, outer, literal=self._literal)
        inner._named = self._named
        return self._steps.finished(inner.rows(plan))


def _is_attribute(node: Node) -> bool:
    return node.kind == "AttributeReference"


def _name(item: Node) -> str:
    return str(item.fields["name"])


def _renames(item: Node) -> bool:
    renamed = item.kind == "Alias" and not item.fields.get("unmarked")
    return _is_attribute(item) or (renamed and _is_attribute(item.child))


def _is_grouped(rows: Rows) -> bool:
    """Tell whether rows are groups, and nothing has been done with them."""
    select = rows.select
    return (
        bool(select.args.get("group"))
        and not select.args.get("distinct")
        and not any(column.scalar.find(exp.Window) for column in rows.columns)
    )


def _fits(rows: Rows, items: Sequence[Node]) -> bool:
    """Tell whether a select list goes into the SELECT that its rows are."""
    if rows.query is not None or rows.stage >= Stage.OFFSET or rows.select.args.get("distinct"):
        return [column.id for column in rows.columns] == [*map(attribute_id, items)]
    if rows.stage is Stage.ORDER:
        return all(map(_is_attribute, items))
    return rows.stage < Stage.ITEMS or all(map(_renames, items))


_SET_OPERATIONS: Mapping[str, type[exp.SetOperation]] = {
    "Except": exp.Except,
    "Intersect": exp.Intersect,
    "Union": exp.Union,
}

_RULES: Mapping[str, Callable[[CatalystPlans, Node], Rows]] = {
    "Aggregate": CatalystPlans._aggregate,
    "CTERelationDef": CatalystPlans._passed,
    "CTERelationRef": CatalystPlans._named_query,
    "Deduplicate": CatalystPlans._deduplicate,
    "Distinct": CatalystPlans._distinct,
    "Except": CatalystPlans._set_operation,
    "Expand": CatalystPlans._expand,
    "Filter": CatalystPlans._filter,
    "Generate": CatalystPlans._generate,
    "GlobalLimit": CatalystPlans._limit,
    "Intersect": CatalystPlans._set_operation,
    "Join": CatalystPlans._join,
    "LateralJoin": CatalystPlans._lateral_join,
    "LocalRelation": CatalystPlans._values,
    "Offset": CatalystPlans._offset,
    "PipeOperator": CatalystPlans._passed,
    "Project": CatalystPlans._project,
    "Range": CatalystPlans._range,
    "Sample": CatalystPlans._sample,
    "Sort": CatalystPlans._sort,
    "SubqueryAlias": CatalystPlans._passed,
    "Union": CatalystPlans._set_operation,
    "View": CatalystPlans._passed,
    "Window": CatalystPlans._window,
    "WithCTE": CatalystPlans._with,
}
"""Class of an operator: how it is written."""
