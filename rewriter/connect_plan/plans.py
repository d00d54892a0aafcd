"""Relations of a Connect plan as clauses of SELECTs: one method per relation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from sqlglot import exp

from rewriter.catalyst.binary import combined, join_inputs, joined, operand
from rewriter.catalyst.errors import unsupported
from rewriter.catalyst.pivot import pivot_key, pivot_select, pivot_value
from rewriter.catalyst.scalars import call
from rewriter.catalyst.selects import Column, Rows, Stage, Steps, counted, is_long, lateral_view
from rewriter.catalyst.stated import stated
from rewriter.connect_plan.frame import Frame
from rewriter.connect_plan.items import (
    Item,
    aggregates,
    generator,
    has_window,
    kept_column,
    select_list,
)
from rewriter.connect_plan.scalars import Message, Scalars, kind_of
from rewriter.errors import UntrackedError

NamesOf = Callable[[Message], Sequence[str]]
"""Asks Spark for the names of a relation's columns."""

_JOINS: Mapping[str, tuple[str | None, str | None]] = {
    "JOIN_TYPE_CROSS": (None, "CROSS"),
    "JOIN_TYPE_FULL_OUTER": ("FULL", None),
    "JOIN_TYPE_INNER": (None, None),
    "JOIN_TYPE_LEFT_ANTI": ("LEFT", "ANTI"),
    "JOIN_TYPE_LEFT_OUTER": ("LEFT", None),
    "JOIN_TYPE_LEFT_SEMI": ("LEFT", "SEMI"),
    "JOIN_TYPE_RIGHT_OUTER": ("RIGHT", None),
}
_SET_OPERATIONS: Mapping[str, type[exp.SetOperation]] = {
    "SET_OP_TYPE_EXCEPT": exp.Except,
    "SET_OP_TYPE_INTERSECT": exp.Intersect,
    "SET_OP_TYPE_UNION": exp.Union,
}
_PARAMETERS = {"args", "pos_args", "named_arguments", "pos_arguments"}
"""Where a text has the values of its parameters."""
_GROUPINGS = {"GROUP_TYPE_CUBE": exp.Cube, "GROUP_TYPE_ROLLUP": exp.Rollup}


class Plans:
    """Writes the relations of one plan."""

    def __init__(self, steps: Steps, names_of: NamesOf) -> None:
        self._steps = steps
        self._names_of = names_of
        self._ids = count()

    def frame(self, relation: Message) -> Frame:
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
            columns = [(next(self._ids), name) for name in tracked["columns"]]
            rows = self._steps.relation(tracked["name"], columns)
            return Frame(rows).aliased(tracked["name"].rpartition(".")[2]).planned(plan)
        kind = kind_of(relation)
        rule = _RULES.get(kind)
        if rule is not None:
            return rule(self, relation[kind], relation).planned(plan)
        if kind in ("local_relation", "cached_local_relation", "read"):
            raise UntrackedError(
                f"this data frame reads rows that are not tracked ({kind})",
                'Track the frame or table that it is made of: ls.track("name", frame, ...).',
            )
        raise unsupported(f"the relation {kind} has no rule")

    # -- what relations share --------------------------------------------------------------

    def _closed(self, frame: Frame) -> Frame:
        return frame.over(self._steps.close(frame.rows))

    def _ready(self, frame: Frame, stage: Stage, *, plain: bool = True) -> Frame:
        """Return a frame to whose SELECT a clause after a stage can be added."""
        rows = frame.rows
        if rows.stage > stage or rows.query is not None or (plain and not rows.is_plain()):
            return self._closed(frame)
        return frame

    def _items(self, frame: Frame, messages: Sequence[Message], relation: Message) -> list[Item]:
        return select_list(frame, messages, lambda: self._names_of(relation))

    def _select(self, frame: Frame, items: Sequence[Item]) -> Frame:
        """Return the frame with the columns of a select list."""
        items, frame = self._generated(items, frame)
        if any(aggregates(item.message) for item in items if item.message):
            return self._grouped(frame, [], items)
        windows = any(has_window(item.message) for item in items if item.message)
        if windows:
            frame = self._ready(frame, Stage.WHERE)
        columns = self._columns(frame, items)
        if not _fits(frame.rows, columns) or (
            not frame.rows.is_plain() and any(map(is_long, columns))
        ):
            frame = self._closed(frame)
            columns = self._columns(frame, items)
        stage = max(frame.rows.stage, Stage.ITEMS) if windows else frame.rows.stage
        return frame.over(replace(frame.rows, columns=tuple(columns), stage=stage))

    def _columns(self, frame: Frame, items: Sequence[Item]) -> list[Column]:
        known = {one.id: one for one in frame.columns}
        scalars = Scalars(frame)
        found = []
        for item in items:
            if item.kept is not None:
                found.append(replace(known[item.kept.id], name=item.names[0]))
            else:
                assert item.message is not None
                scalar = scalars.write(item.message)
                found.append(Column(next(self._ids), item.names[0], scalar))
        return found

    def _generated(self, items: Sequence[Item], frame: Frame) -> tuple[Sequence[Item], Frame]:
        """Make a lateral view of a generator among the items."""
        for place, item in enumerate(items):
            function = generator(item.message)
            if function is None:
                continue
            frame = self._ready(frame, Stage.WHERE)
            name = function["function_name"]
            scalars = Scalars(frame)
            written = call(
                name.removesuffix("_outer"),
                *(scalars.write(one) for one in function.get("arguments", [])),
            )
            outer = name.endswith("_outer")
            rows, made = lateral_view(frame.rows, written, item.names, outer=outer)
            pairs = zip(item.names, made, strict=True)
            added = [Column(next(self._ids), name, scalar) for name, scalar in pairs]
            frame = frame.over(replace(rows, columns=(*rows.columns, *added)))
            kept = [Item((one.name,), None, one) for one in added]
            return [*items[:place], *kept, *items[place + 1 :]], frame
        return items, frame

    # -- relations of one input ------------------------------------------------------------

    def _project(self, message: Message, relation: Message) -> Frame:
        if "input" not in message:
            raise UntrackedError("this data frame reads no relation", "Give it a tracked input.")
        frame = self.frame(message["input"])
        return self._select(frame, self._items(frame, message.get("expressions", []), relation))

    def _with_columns(self, message: Message, relation: Message) -> Frame:
        frame = self.frame(message["input"])
        items = [Item((one.name,), None, one) for one in frame.columns]
        for alias in message["aliases"]:
            (name,) = alias["name"]
            item = Item((name,), alias["expr"])
            same = [n for n, one in enumerate(items) if one.names[0].lower() == name.lower()]
            for place in same:
                items[place] = item
            if not same:
                items.append(item)
        return self._select(frame, items)

    def _renamed(self, message: Message, relation: Message) -> Frame:
        frame = self.frame(message["input"])
        renames = {one["col_name"].lower(): one["new_col_name"] for one in message["renames"]}
        names = [renames.get(one.name.lower(), one.name) for one in frame.columns]
        return self._with_names(frame, names)

    def _to_df(self, message: Message, relation: Message) -> Frame:
        frame = self.frame(message["input"])
        return self._with_names(frame, message["column_names"])

    def _with_names(self, frame: Frame, names: Sequence[str]) -> Frame:
        pairs = zip(frame.columns, names, strict=True)
        return self._select(frame, [Item((name,), None, one) for one, name in pairs])

    def _dropped(self, message: Message, relation: Message) -> Frame:
        frame = self.frame(message["input"])
        names = {name.lower() for name in message.get("column_names", [])}
        gone = [kept_column(frame, one) for one in message.get("columns", [])]
        kept = [one for one in frame.columns if one.name.lower() not in names and one not in gone]
        return self._select(frame, [Item((one.name,), None, one) for one in kept])

    def _filter(self, message: Message, relation: Message) -> Frame:
        frame = self._ready(self.frame(message["input"]), Stage.ORDER, plain=False)
        condition = Scalars(frame).write(message["condition"])
        before = frame.rows.select.args.get("where")
        if before is not None:
            condition = exp.and_(before.this.copy(), condition, copy=False)
        return frame.over(frame.rows.having("where", exp.Where(this=condition), Stage.WHERE))

    def _aggregate(self, message: Message, relation: Message) -> Frame:
        frame = self._ready(self.frame(message["input"]), Stage.WHERE)
        keys = message.get("grouping_expressions", [])
        if message["group_type"] == "GROUP_TYPE_PIVOT":
            return self._pivot(frame, message, relation)
        if message["group_type"] not in (*_GROUPINGS, "GROUP_TYPE_GROUPBY"):
            raise unsupported(f"{message['group_type'].removeprefix('GROUP_TYPE_')} has no rule")
        messages = [*keys, *message.get("aggregate_expressions", [])]
        operator = _GROUPINGS.get(message["group_type"])
        return self._grouped(frame, keys, self._items(frame, messages, relation), operator)

    def _grouped(
        self,
        frame: Frame,
        keys: Sequence[Message],
        items: Sequence[Item],
        operator: type[exp.Expr] | None = None,
    ) -> Frame:
        frame = self._ready(frame, Stage.WHERE)
        columns = self._columns(frame, items)
        scalars = Scalars(frame)
        written = [scalars.write(key) for key in keys]
        if operator is not None:
            written = [operator(expressions=written)]
        group = exp.Group(expressions=written) if written else None
        rows = frame.rows.having("group", group, Stage.ITEMS)
        return frame.over(replace(rows, columns=tuple(columns)))

    def _pivot(self, frame: Frame, message: Message, relation: Message) -> Frame:
        """Write PIVOT; each value has a column for each aggregate, after the keys."""
        pivot = message["pivot"]
        if not pivot.get("values"):
            raise unsupported("a pivot without values has no rule", "Give pivot() the values.")
        keys, calls = message.get("grouping_expressions", []), message["aggregate_expressions"]
        parts = [*keys, *calls, pivot["col"]]
        used = {one for part in parts for one in Scalars(frame).write(part).find_all(exp.Column)}
        kept = tuple(one for one in frame.columns if one.scalar in used)
        if not frame.rows.single or kept != frame.columns:
            frame = self._closed(frame.over(replace(frame.rows, columns=kept)))
        scalars = Scalars(frame)
        found = [kept_column(frame, key) for key in keys]
        groups = [one for one in found if one is not None]
        if len(groups) != len(found):
            raise unsupported(
                "a pivot grouped by an expression has no rule", "Add it as a column before groupBy."
            )
        aggregates = [scalars.write(call) for call in calls]
        values = [scalars.write({"literal": value}) for value in pivot["values"]]
        select = pivot_select(frame.rows, aggregates, scalars.write(pivot["col"]), values)
        written = [pivot_key(one.scalar) for one in groups]
        for value in range(len(values)):
            written += [pivot_value(value, n, len(calls)) for n in range(len(calls))]
        pairs = zip(self._names_of(relation), written, strict=True)
        columns = tuple(Column(next(self._ids), name, scalar) for name, scalar in pairs)
        return Frame(Rows(columns, select, Stage.ITEMS))

    def _sort(self, message: Message, relation: Message) -> Frame:
        frame = self.frame(message["input"])
        if not message.get("is_global"):
            return frame
        frame = self._ready(frame, Stage.ORDER)
        if not all(one.kept for one in frame.columns):
            frame = self._closed(frame)
        order = Scalars(frame).order(message["order"])
        return frame.over(frame.rows.having("order", order, Stage.ORDER))

    def _limit(self, message: Message, relation: Message) -> Frame:
        frame = self._ready(self.frame(message["input"]), Stage.OFFSET, plain=False)
        limit = exp.Limit(expression=exp.Literal.number(message.get("limit", 0)))
        return frame.over(frame.rows.having("limit", limit, Stage.LIMIT))

    def _offset(self, message: Message, relation: Message) -> Frame:
        frame = self._ready(self.frame(message["input"]), Stage.ITEMS, plain=False)
        offset = exp.Offset(expression=exp.Literal.number(message.get("offset", 0)))
        return frame.over(frame.rows.having("offset", offset, Stage.OFFSET))

    def _deduplicate(self, message: Message, relation: Message) -> Frame:
        frame = self._ready(self.frame(message["input"]), Stage.WHERE, plain=False)
        names = {name.lower() for name in message.get("column_names", [])}
        every = {one.name.lower() for one in frame.columns}
        if not message.get("all_columns_as_keys") and names != every:
            raise unsupported(
                "dropDuplicates of some columns keeps a row that nothing determines",
                "Say which row: row_number() over a window with an order, and a filter; or groupBy "
                "with min or max.",
            )
        return frame.over(frame.rows.having("distinct", exp.Distinct(), Stage.ITEMS))

    def _alias(self, message: Message, relation: Message) -> Frame:
        return self.frame(message["input"]).aliased(message["alias"])

    def _passed(self, message: Message, relation: Message) -> Frame:
        return self.frame(message["input"])

    def _stated(self, message: Message, relation: Message) -> Frame:
        """Write a text as it is; its parameters are literals of the protocol."""
        if message.keys() & _PARAMETERS:
            raise unsupported(
                "a text with parameters has no rule", "Write their values in it, or use sql()."
            )
        names = self._names_of(relation)
        if len({name.lower() for name in names}) < len(names):
            raise unsupported(
                "a text has several columns of one name", "Give them names of their own."
            )
        return Frame(stated(message["query"], [(next(self._ids), name) for name in names]))

    # -- relations of two inputs -----------------------------------------------------------

    def _range(self, message: Message, relation: Message) -> Frame:
        start, end, step = (int(message.get(name, 0)) for name in ("start", "end", "step"))
        slices = message.get("num_partitions")
        return Frame(counted(next(self._ids), start, end, step, slices))

    def _join(self, message: Message, relation: Message) -> Frame:
        side, kind = _JOINS[message["join_type"]]
        frames = self.frame(message["left"]), self.frame(message["right"])
        left, right = join_inputs(self._steps.close, *(one.rows for one in frames))
        one, other = (frame.over(rows) for frame, rows in zip(frames, (left, right), strict=True))
        both = one.beside(other, replace(left, columns=left.columns + right.columns))
        using = message.get("using_columns", [])
        condition = None
        if "join_condition" in message:
            condition = Scalars(both).write(message["join_condition"])
        elif using:
            pairs = [(_only(one, name), _only(other, name)) for name in using]
            equal = [exp.EQ(this=a.scalar.copy(), expression=b.scalar.copy()) for a, b in pairs]
            condition = exp.and_(*equal, copy=False)
        frame = both.over(joined(left, right, side, kind, condition))
        return self._using(frame, one, other, using, side) if using else frame

    def _using(
        self, frame: Frame, left: Frame, right: Frame, using: Sequence[str], side: str | None
    ) -> Frame:
        """Return a join with its common columns once, and first."""
        keys = [(_only(left, name), _only(right, name)) for name in using]
        columns = []
        for one, other in keys:
            if side == "FULL":
                both = call("coalesce", one.scalar.copy(), other.scalar.copy())
                columns.append(Column(next(self._ids), one.name, both))
            else:
                columns.append(replace(other, name=one.name) if side == "RIGHT" else one)
        used = {column.id for pair in keys for column in pair}
        rest = [one for one in frame.columns if one.id not in used]
        return frame.over(replace(frame.rows, columns=(*columns, *rest)))

    def _set_operation(self, message: Message, relation: Message) -> Frame:
        left, right = (self.frame(message[side]) for side in ("left_input", "right_input"))
        if message.get("by_name"):
            if message.get("allow_missing_columns"):
                raise unsupported("unionByName with missing columns has no rule")
            order = [_only(right, one.name) for one in left.columns]
            right = self._select(right, [Item((one.name,), None, one) for one in order])
        inputs = [operand(one.rows, self._steps.close) for one in (left, right)]
        distinct = not message.get("is_all")
        return Frame(combined(_SET_OPERATIONS[message["set_op_type"]], inputs, distinct=distinct))


def _only(frame: Frame, name: str) -> Column:
    found = frame.named(name)
    if len(found) != 1:
        raise unsupported(f"column {name} is one of several, or none")
    return found[0]


def _fits(rows: Rows, columns: Sequence[Column]) -> bool:
    """Tell whether a select list goes into the SELECT that its rows are."""
    if rows.query is not None or rows.stage >= Stage.OFFSET or rows.select.args.get("distinct"):
        return list(columns) == list(rows.columns)
    if rows.stage is Stage.ORDER:
        return all(one.kept for one in columns)
    known = [one.scalar for one in rows.columns]
    return rows.stage < Stage.ITEMS or all(one.scalar in known for one in columns)


_RULES: Mapping[str, Callable[[Plans, Message, Message], Frame]] = {
    "aggregate": Plans._aggregate,
    "deduplicate": Plans._deduplicate,
    "drop": Plans._dropped,
    "filter": Plans._filter,
    "hint": Plans._passed,
    "join": Plans._join,
    "limit": Plans._limit,
    "offset": Plans._offset,
    "project": Plans._project,
    "range": Plans._range,
    "repartition": Plans._passed,
    "repartition_by_expression": Plans._passed,
    "set_op": Plans._set_operation,
    "sort": Plans._sort,
    "sql": Plans._stated,
    "subquery_alias": Plans._alias,
    "to_df": Plans._to_df,
    "with_columns": Plans._with_columns,
    "with_columns_renamed": Plans._renamed,
}
"""Kind of a relation: how it is written."""
