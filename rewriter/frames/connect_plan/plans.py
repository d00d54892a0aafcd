"""Relations of a Connect plan as clauses of SELECTs: one method per relation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from rewriter.bind.parameters import substitute
from rewriter.dialect import parse
from rewriter.errors import UntrackedError
from rewriter.frames.connect_plan.binary import join, lateral_join, set_operation
from rewriter.frames.connect_plan.chance import draws, is_local_sort, sorted_before_draws
from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import (
    Item,
    Made,
    aggregates,
    generator,
    has_window,
    kept_column,
    select_list,
)
from rewriter.frames.connect_plan.missing import filled, present, replaced
from rewriter.frames.connect_plan.refusals import refusal
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message, kind_of, name_of
from rewriter.frames.writing.calls import call
from rewriter.frames.writing.deduplicated import deduplicated
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.pivot import pivot_key, pivot_select, pivot_value
from rewriter.frames.writing.sampled import sampled
from rewriter.frames.writing.selects import (
    Column,
    Rows,
    Stage,
    Steps,
    beside,
    counted,
    is_long,
    lateral_view,
)
from rewriter.frames.writing.stated import stated, with_step
from rewriter.frames.writing.unpivot import Unpivot, of_expression, unpivoted

SchemaOf = Callable[[Message], Sequence[tuple[str, Any]]]
"""Asks Spark for the columns of a relation: names, and types as ``DataType.jsonValue`` has them."""

_GROUPINGS = {"GROUP_TYPE_CUBE": exp.Cube, "GROUP_TYPE_ROLLUP": exp.Rollup}


class ConnectPlans:
    """Writes the relations of one plan.

    ``around`` is the frame whose columns they may refer to: the left side of a lateral join, or
    what a subquery stands in. ``subqueries`` are the plans that expressions name by number. In a
    ``literal`` text every relation is a step.
    """

    def __init__(
        self,
        steps: Steps,
        schema_of: SchemaOf,
        ids: Iterator[int],
        around: ConnectFrame | None = None,
        subqueries: Mapping[int, Message] | None = None,
        *,
        literal: bool = False,
    ) -> None:
        self.steps = steps
        self.schema_of = schema_of
        self._ids = ids
        self._around = around
        self._subqueries = subqueries or {}
        self._literal = literal

    def frame(self, relation: Message) -> ConnectFrame:
        """Return what a relation has.

        Raises
        ------
        UntrackedError
            It reads what is not tracked.
        UnsupportedError
            It, or an expression of it, has no rule.
        """
        plan = int(relation.get("common", {}).get("plan_id", -1))
        if "tracked" in relation:
            tracked = relation["tracked"]
            rows = self.steps.relation(tracked["name"], self._numbered(tracked["columns"]))
            rows = self._beside_around(rows)
            return self.made(rows).aliased(tracked["name"].rpartition(".")[2]).planned(plan)
        kind = kind_of(relation)
        rule = _RULES.get(kind)
        if rule is None:
            raise refusal(kind)
        frame = rule(self, relation[kind], relation)
        if self._literal and rule not in _PASSING and not frame.rows.in_order:
            frame = self.closed(frame)
        return frame.planned(plan)

    # -- what relations share --------------------------------------------------------------

    def inside(self, around: ConnectFrame) -> ConnectPlans:
        """Return the writer of a plan that may refer to the columns of a frame."""
        subqueries, literal = self._subqueries, self._literal
        return ConnectPlans(
            self.steps, self.schema_of, self._ids, around, subqueries, literal=literal
        )

    def scalars(self, frame: ConnectFrame) -> ConnectScalars:
        """Return the writer of expressions over the columns of a frame."""
        return ConnectScalars(frame, self._subquery)

    def _subquery(self, number: int, around: ConnectFrame) -> exp.Query:
        inner = self.inside(around).frame(self._subqueries[number])
        return self.steps.finished(inner.rows).written()

    def made(self, rows: Rows) -> ConnectFrame:
        """Return the frame of rows that no other frame has."""
        return ConnectFrame(rows, around=self._around)

    def close(self, rows: Rows) -> Rows:
        """Return rows as those of a step.

        Raises
        ------
        UnsupportedError
            When they are made of columns around them, which no step has.
        """
        if self._around is not None:
            around = self._around.rows.tables
            used = {column.table.lower() for column in rows.written().find_all(exp.Column)}
            if used & around:
                raise unsupported(
                    "a lateral join or a subquery refers to the other frame before its last steps",
                    "Call select() before orderBy() and limit(), and aggregate last; or write this "
                    "part as a query for sql().",
                )
        return self._beside_around(self.steps.close(rows))

    def closed(self, frame: ConnectFrame) -> ConnectFrame:
        """Return a frame as that of a step."""
        return frame.over(self.close(frame.rows))

    def column(self, name: str, scalar: exp.Expr) -> Column:
        """Return a new column."""
        return Column(next(self._ids), name, scalar)

    def _beside_around(self, rows: Rows) -> Rows:
        return rows if self._around is None else beside(rows, self._around.rows.tables)

    def _numbered(self, names: Iterable[str]) -> list[tuple[int, str]]:
        return [(next(self._ids), name) for name in names]

    def _names_of(self, relation: Message) -> list[str]:
        return [name for name, _ in self.schema_of(relation)]

    def ready(self, frame: ConnectFrame, stage: Stage, *, plain: bool = True) -> ConnectFrame:
        """Return a frame to whose SELECT a clause after a stage can be added."""
        rows = frame.rows
        if rows.stage > stage or rows.query is not None or (plain and not rows.is_plain()):
            return self.closed(frame)
        return frame

    def select(self, frame: ConnectFrame, items: Sequence[Item]) -> ConnectFrame:
        """Return the frame with the columns of a select list."""
        items, frame = self._generated(items, frame)
        if any(aggregates(item.message) for item in items if item.message):
            return self._grouped(self.ready(frame, Stage.WHERE), items, None)
        windows = any(has_window(item.message) for item in items if item.message)
        if windows:
            frame = self.ready(frame, Stage.WHERE)
        columns = self._columns(frame, items)
        if not _fits(frame.rows, columns) or (
            not frame.rows.is_plain() and any(map(is_long, columns))
        ):
            frame = self.closed(frame)
            columns = self._columns(frame, items)
        stage = max(frame.rows.stage, Stage.ITEMS) if windows else frame.rows.stage
        return frame.over(replace(frame.rows, columns=tuple(columns), stage=stage))

    def _columns(self, frame: ConnectFrame, items: Sequence[Item]) -> list[Column]:
        known = {column.id: column for column in frame.columns}
        scalars = self.scalars(frame)
        columns = []
        for item in items:
            if item.kept is not None:
                kept = replace(known[item.kept.id], name=item.names[0])
                columns.append(kept if item.made is None else self._remade(kept, item.made))
            else:
                assert item.message is not None
                scalar = scalars.write(item.message)
                columns.append(self.column(item.names[0], scalar))
        return columns

    def _remade(self, column: Column, maker: Made) -> Column:
        return self.column(column.name, maker(column.scalar.copy()))

    def _generated(
        self, items: Sequence[Item], frame: ConnectFrame
    ) -> tuple[Sequence[Item], ConnectFrame]:
        """Make a lateral view of a generator among the items."""
        for index, item in enumerate(items):
            function = generator(item.message)
            if function is None:
                continue
            frame = self.ready(frame, Stage.WHERE)
            name = function["function_name"]
            scalars = self.scalars(frame)
            written = call(
                name.removesuffix("_outer"),
                *(scalars.write(argument) for argument in function.get("arguments", [])),
            )
            outer = name.endswith("_outer")
            rows, generated = lateral_view(frame.rows, written, item.names, outer=outer)
            pairs = zip(item.names, generated, strict=True)
            added = [self.column(name, scalar) for name, scalar in pairs]
            frame = frame.over(replace(rows, columns=(*rows.columns, *added)))
            kept = [Item((column.name,), None, column) for column in added]
            return [*items[:index], *kept, *items[index + 1 :]], frame
        return items, frame

    # -- relations of one input ------------------------------------------------------------

    def _project(self, message: Message, relation: Message) -> ConnectFrame:
        if "input" not in message:
            raise UntrackedError("this data frame reads no relation", "Give it a tracked input.")
        frame = self._input(message, relation)

        def names_of(items: Sequence[Message]) -> Sequence[str]:
            return self._names_of({"project": {**message, "expressions": items}})

        return self.select(frame, select_list(frame, message.get("expressions", []), names_of))

    def _with_columns(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self._input(message, relation)
        items = [Item((column.name,), None, column) for column in frame.columns]
        for alias in message["aliases"]:
            (name,) = alias["name"]
            item = Item((name,), alias["expr"])
            same = [n for n, item in enumerate(items) if item.names[0].lower() == name.lower()]
            for number in same:
                items[number] = item
            if not same:
                items.append(item)
        return self.select(frame, items)

    def _renamed(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.frame(message["input"])
        renames = {pair["col_name"].lower(): pair["new_col_name"] for pair in message["renames"]}
        names = [renames.get(column.name.lower(), column.name) for column in frame.columns]
        return self._with_names(frame, names)

    def _to_df(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.frame(message["input"])
        return self._with_names(frame, message["column_names"])

    def _with_names(self, frame: ConnectFrame, names: Sequence[str]) -> ConnectFrame:
        pairs = zip(frame.columns, names, strict=True)
        return self.select(frame, [Item((name,), None, column) for column, name in pairs])

    def _dropped(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.frame(message["input"])
        names = {name.lower() for name in message.get("column_names", [])}
        gone = [kept_column(frame, part) for part in message.get("columns", [])]
        kept = [c for c in frame.columns if c.name.lower() not in names and c not in gone]
        return self.select(frame, [Item((column.name,), None, column) for column in kept])

    def _input(self, message: Message, relation: Message) -> ConnectFrame:
        """Return the input of a relation; where chance decides, as its tasks have sorted it."""
        below = sorted_before_draws(relation)
        if below is None:
            return self.frame(message["input"])
        frame = self.frame(below["sort"]["input"])
        if not frame.rows.single:
            frame = self.closed(frame)
        keys = self.scalars(frame).order(below["sort"]["order"]).expressions
        rows = frame.rows.having("sort", exp.Sort(expressions=keys), Stage.ITEMS)
        return self.closed(frame.over(rows))

    def _filter(self, message: Message, relation: Message) -> ConnectFrame:
        drawn = draws(message["condition"])
        before = Stage.FROM if drawn else Stage.ORDER
        frame = self.ready(self._input(message, relation), before, plain=False)
        condition = self.scalars(frame).write(message["condition"])
        known = frame.rows.select.args.get("where")
        if known is not None:
            condition = exp.and_(known.this.copy(), condition, copy=False)
        after = Stage.ITEMS if drawn else Stage.WHERE
        return frame.over(frame.rows.having("where", exp.Where(this=condition), after))

    def _present(self, message: Message, relation: Message) -> ConnectFrame:
        return self.frame(present(relation, self.schema_of(message["input"])))

    def _aggregate(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.ready(self.frame(message["input"]), Stage.WHERE)
        if message["group_type"] == "GROUP_TYPE_PIVOT":
            return self._pivot(frame, message, relation)
        group = _group(self.scalars(frame), message)
        keys, calls = (message.get(f"{part}_expressions", []) for part in ("grouping", "aggregate"))
        items = select_list(frame, [*keys, *calls], lambda _: self._names_of(relation))
        return self._grouped(frame, items, group)

    def _grouped(
        self, frame: ConnectFrame, items: Sequence[Item], group: exp.Group | None
    ) -> ConnectFrame:
        columns = tuple(self._columns(frame, items))
        rows = frame.rows.having("group", group, Stage.ITEMS)
        return frame.over(replace(rows, columns=columns))

    def _pivot(self, frame: ConnectFrame, message: Message, relation: Message) -> ConnectFrame:
        """Write PIVOT; each value has a column for each aggregate, after the keys."""
        pivot = message["pivot"]
        if not pivot.get("values"):
            raise unsupported("a pivot without values has no rule", "Give pivot() the values.")
        keys, calls = message.get("grouping_expressions", []), message["aggregate_expressions"]
        parts = [*keys, *calls, pivot["col"]]
        used = {c for part in parts for c in ConnectScalars(frame).write(part).find_all(exp.Column)}
        kept = tuple(column for column in frame.columns if column.scalar in used)
        if not frame.rows.single or kept != frame.columns:
            frame = self.closed(frame.over(replace(frame.rows, columns=kept)))
        scalars = ConnectScalars(frame)
        key_columns = [kept_column(frame, key) for key in keys]
        groups = [column for column in key_columns if column is not None]
        if len(groups) != len(key_columns):
            raise unsupported(
                "a pivot grouped by an expression has no rule", "Add it as a column before groupBy."
            )
        aggregates = [scalars.write(call) for call in calls]
        values = [scalars.write({"literal": value}) for value in pivot["values"]]
        by = [column.scalar for column in groups]
        select = pivot_select(frame.rows, by, aggregates, scalars.write(pivot["col"]), values)
        written = [pivot_key(scalar) for scalar in by]
        for value in range(len(values)):
            written += [pivot_value(value, n, len(calls)) for n in range(len(calls))]
        pairs = zip(self._names_of(relation), written, strict=True)
        columns = tuple(self.column(name, scalar) for name, scalar in pairs)
        return self.made(Rows(columns, select, Stage.ITEMS))

    def _sort(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.frame(message["input"])
        if is_local_sort(relation):
            return frame
        frame = self.ready(frame, Stage.ORDER)
        if not all(column.kept for column in frame.columns):
            frame = self.closed(frame)
        order = self.scalars(frame).order(message["order"])
        return frame.over(frame.rows.having("order", order, Stage.ORDER))

    def _limit(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.ready(self.frame(message["input"]), Stage.OFFSET, plain=False)
        limit = exp.Limit(expression=exp.Literal.number(message.get("limit", 0)))
        return frame.over(frame.rows.having("limit", limit, Stage.LIMIT))

    def _offset(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.ready(self.frame(message["input"]), Stage.ITEMS, plain=False)
        offset = exp.Offset(expression=exp.Literal.number(message.get("offset", 0)))
        return frame.over(frame.rows.having("offset", offset, Stage.OFFSET))

    def _deduplicate(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.ready(self.frame(message["input"]), Stage.WHERE, plain=False)
        if message.get("all_columns_as_keys"):
            keys = {column.id for column in frame.columns}
        else:
            keys = {column.id for name in message["column_names"] for column in frame.named(name)}
        return frame.over(deduplicated(self.close, frame.rows, keys))

    def _unpivot(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.ready(self.frame(message["input"]), Stage.ORDER, plain=False)
        kept = [self._unpivoted(frame, part) for part in message.get("ids", [])]
        if "values" in message:
            values = [self._unpivoted(frame, part) for part in message["values"].get("values", [])]
        else:
            ids = {column.id for column in kept}
            values = [column for column in frame.columns if column.id not in ids]
        outputs = (message["variable_column_name"], message["value_column_name"])
        unpivot = Unpivot(
            tuple(column.id for column in kept),
            tuple(column.name for column in values),
            tuple((column.id,) for column in values),
            tuple(self._numbered(outputs)),
        )
        known = {column.id: column for column in frame.columns}
        used = tuple(known[number] for number in unpivot.used)
        return self.made(unpivoted(unpivot, self.close(replace(frame.rows, columns=used))))

    def _unpivoted(self, frame: ConnectFrame, message: Message) -> Column:
        """Return a column under the name by which UNPIVOT means it."""
        column = kept_column(frame, message)
        if column is None:
            raise of_expression()
        return replace(column, name=name_of(message) or column.name)

    def _sample(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.frame(message["input"])
        if not frame.rows.single or frame.rows.select.args["from_"].this.args.get("sample"):
            frame = self.closed(frame)
        bounds = float(message.get("lower_bound", 0)), float(message["upper_bound"])
        replaced = bool(message.get("with_replacement"))
        rows = sampled(frame.rows, bounds, int(message["seed"]), with_replacement=replaced)
        return frame.over(rows)

    def _alias(self, message: Message, relation: Message) -> ConnectFrame:
        return self.frame(message["input"]).aliased(message["alias"])

    def _passed(self, message: Message, relation: Message) -> ConnectFrame:
        return self.frame(message["input"])

    def _with_others(self, message: Message, relation: Message) -> ConnectFrame:
        """Write a plan beside others that it names: by numbers in expressions, by names in text."""
        root, references = message["root"], message["references"]

        def schema_of(part: Message) -> Sequence[tuple[str, Any]]:
            beside = {"root": part, "references": references}
            return self.schema_of({"common": {}, "with_relations": beside})

        numbered = {int(reference["common"]["plan_id"]): reference for reference in references}
        subqueries = {**self._subqueries, **numbered}
        around, literal = self._around, self._literal
        plans = ConnectPlans(self.steps, schema_of, self._ids, around, subqueries, literal=literal)
        if kind_of(root) != "sql":
            return plans.frame(root)
        aliases = [reference["subquery_alias"] for reference in references]
        named = {subquery["alias"]: plans.frame(subquery["input"]).rows for subquery in aliases}
        return plans._stated(root["sql"], root, named)

    def _range(self, message: Message, relation: Message) -> ConnectFrame:
        start, end, step = (int(message.get(name, 0)) for name in ("start", "end", "step"))
        slices = message.get("num_partitions")
        rows = counted(next(self._ids), start, end, step, slices)
        return self.made(self._beside_around(rows))

    def _stated(
        self, message: Message, relation: Message, named: Mapping[str, Rows] | None = None
    ) -> ConnectFrame:
        """Write a text as it is, with literals in place of its parameters.

        ``named`` are the rows of other frames that it reads by names.
        """
        names = self._names_of(relation)
        if len({name.lower() for name in names}) < len(names):
            raise unsupported(
                "a text has several columns of one name", "Give them names of their own."
            )
        query, values = parse(message["query"]), _arguments(message)
        if values:
            query = substitute(query, values, sql=message["query"])
        for name, rows in (named or {}).items():
            query = with_step(query, name, self.steps.finished(rows).written())
        return self.made(stated(query, self._numbered(names)))


def _group(scalars: ConnectScalars, message: Message) -> exp.Group | None:
    """Return GROUP BY; None where all rows are one group."""
    write, kind = scalars.write, message["group_type"]
    keys = [write(key) for key in message.get("grouping_expressions", [])]
    if kind == "GROUP_TYPE_GROUPING_SETS":
        sets = [map(write, group.get("grouping_set", [])) for group in message["grouping_sets"]]
        tuples = [exp.Tuple(expressions=[*group]) for group in sets]
        return exp.Group(expressions=[exp.GroupingSets(expressions=tuples)])
    if kind in _GROUPINGS:
        return exp.Group(expressions=[_GROUPINGS[kind](expressions=keys)])
    if kind != "GROUP_TYPE_GROUPBY":
        raise unsupported(f"{kind.removeprefix('GROUP_TYPE_')} has no rule")
    return exp.Group(expressions=keys) if keys else None


def _arguments(message: Message) -> Mapping[str, exp.Expr] | Sequence[exp.Expr]:
    """Return the values of the parameters of a text: by name, or in order."""
    named = {name: {"literal": value} for name, value in message.get("args", {}).items()}
    named |= message.get("named_arguments", {})
    placed = [{"literal": value} for value in message.get("pos_args", [])]
    placed += message.get("pos_arguments", [])
    return {name: _argument(value) for name, value in named.items()} or [*map(_argument, placed)]


def _argument(message: Message) -> exp.Expr:
    """Return the value of a parameter; a decimal has the type of its digits."""
    number = message.get("literal", {}).get("decimal")
    if number is not None:
        message = {"literal": {"decimal": {"value": number["value"]}}}
    return ConnectScalars(ConnectFrame(Rows((), exp.Select()))).write(message)


def _fits(rows: Rows, columns: Sequence[Column]) -> bool:
    """Tell whether a select list goes into the SELECT that its rows are."""
    if rows.query is not None or rows.stage >= Stage.OFFSET or rows.select.args.get("distinct"):
        return list(columns) == list(rows.columns)
    if rows.stage is Stage.ORDER:
        return all(column.kept for column in columns)
    known = [column.scalar for column in rows.columns]
    return rows.stage < Stage.ITEMS or all(column.scalar in known for column in columns)


_RULES: Mapping[str, Callable[[ConnectPlans, Message, Message], ConnectFrame]] = {
    "aggregate": ConnectPlans._aggregate,
    "collect_metrics": ConnectPlans._passed,
    "deduplicate": ConnectPlans._deduplicate,
    "drop": ConnectPlans._dropped,
    "drop_na": ConnectPlans._present,
    "fill_na": filled,
    "filter": ConnectPlans._filter,
    "hint": ConnectPlans._passed,
    "join": join,
    "lateral_join": lateral_join,
    "limit": ConnectPlans._limit,
    "offset": ConnectPlans._offset,
    "project": ConnectPlans._project,
    "range": ConnectPlans._range,
    "repartition": ConnectPlans._passed,
    "repartition_by_expression": ConnectPlans._passed,
    "replace": replaced,
    "sample": ConnectPlans._sample,
    "set_op": set_operation,
    "sort": ConnectPlans._sort,
    "sql": ConnectPlans._stated,
    "subquery_alias": ConnectPlans._alias,
    "to_df": ConnectPlans._to_df,
    "unpivot": ConnectPlans._unpivot,
    "with_columns": ConnectPlans._with_columns,
    "with_columns_renamed": ConnectPlans._renamed,
    "with_relations": ConnectPlans._with_others,
}
"""Kind of a relation: how it is written."""

_PASSING = (ConnectPlans._alias, ConnectPlans._passed)
"""Rules of relations that have the rows and columns of their input."""
