"""Relations of a Connect plan as clauses of SELECTs: a rule per relation.

A text in a plan stays as it is. A relation that no query expresses is refused, with advice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from rewriter.bind.parameters import substitute
from rewriter.dialect import parse
from rewriter.errors import QueryError, UntrackedError
from rewriter.frames.connect_plan.frame import (
    ConnectFrame,
    draws,
    is_local_sort,
    sorted_before_draws,
)
from rewriter.frames.connect_plan.items import PlanItem, kept_column, select, select_list
from rewriter.frames.connect_plan.joins import aggregate, join, lateral_join, set_operation, unpivot
from rewriter.frames.connect_plan.missing import filled, present, replaced
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message, kind_of
from rewriter.frames.writing import clauses
from rewriter.frames.writing.refusals import (
    AS_OF,
    TRANSPOSED,
    rows_of_state,
    sorted_duplicates,
    untracked,
)
from rewriter.frames.writing.rows import deduplicated, sampled, stated, with_step
from rewriter.frames.writing.selects import (
    Column,
    FromRows,
    LastClause,
    Steps,
    beside,
    counted,
    unsupported,
)


def with_columns(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame with columns added, or replaced where they have the name of one."""
    frame = plans.input_of(message, relation)
    items = [PlanItem((column.name,), None, column) for column in frame.columns]
    for alias in message["aliases"]:
        (name,) = alias["name"]
        item = PlanItem((name,), alias["expr"])
        same = [n for n, item in enumerate(items) if item.names[0].lower() == name.lower()]
        for number in same:
            items[number] = item
        if not same:
            items.append(item)
    return select(plans, frame, items)


def renamed(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame whose columns of some names have others."""
    frame = plans.frame(message["input"])
    renames = {pair["col_name"].lower(): pair["new_col_name"] for pair in message["renames"]}
    names = [renames.get(column.name.lower(), column.name) for column in frame.columns]
    return _with_names(plans, frame, names)


def to_df(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame whose columns have other names, in order."""
    frame = plans.frame(message["input"])
    return _with_names(plans, frame, message["column_names"])


def _with_names(plans: ConnectPlans, frame: ConnectFrame, names: Sequence[str]) -> ConnectFrame:
    pairs = zip(frame.columns, names, strict=True)
    return select(plans, frame, [PlanItem((name,), None, column) for column, name in pairs])


def dropped(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame without some columns."""
    frame = plans.frame(message["input"])
    names = {name.lower() for name in message.get("column_names", [])}
    gone = [kept_column(frame, part) for part in message.get("columns", [])]
    kept = [c for c in frame.columns if c.name.lower() not in names and c not in gone]
    return select(plans, frame, [PlanItem((column.name,), None, column) for column in kept])


def text(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return what a text has, with literals in place of its parameters."""
    return _stated(plans, message, relation, {})


def with_relations(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a plan beside others that it names: by numbers in expressions, by names in text."""
    root, references = message["root"], message["references"]

    schema_of_alone = plans.schema_of

    def schema_of(part: Message) -> Sequence[tuple[str, Any]]:
        beside = {"root": part, "references": references}
        return schema_of_alone({"common": {}, "with_relations": beside})

    numbered = {int(reference["common"]["plan_id"]): reference for reference in references}
    plans = plans.beside(schema_of, numbered)
    if kind_of(root) != "sql":
        return plans.frame(root)
    aliases = [reference["subquery_alias"] for reference in references]
    named = {subquery["alias"]: plans.frame(subquery["input"]).rows for subquery in aliases}
    return _stated(plans, root["sql"], root, named)


def _stated(
    plans: ConnectPlans, message: Message, relation: Message, named: Mapping[str, FromRows]
) -> ConnectFrame:
    """Write a text as it is; ``named`` are the rows of other frames that it reads by names."""
    names = plans.names_of(relation)
    if len({name.lower() for name in names}) < len(names):
        raise unsupported("a text has several columns of one name", "Give them names of their own.")
    query, values = parse(message["query"]), _arguments(message)
    if values:
        query = substitute(query, values, sql=message["query"])
    for name, rows in named.items():
        query = with_step(query, name, plans.steps.finished(rows).written())
    return plans.made(stated(query, plans.numbered(names)))


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
    return ConnectScalars(ConnectFrame(FromRows((), exp.Select()))).write(message)


_UNTRACKED = (
    "cached_local_relation",
    "cached_remote_relation",
    "chunked_cached_local_relation",
    "local_relation",
    "read",
)
_OF_STATE: Mapping[str, str] = {
    "apply_in_pandas_with_state": "groupBy().applyInPandasWithState",
    "group_map": "groupBy().transformWithState",
}
_AGGREGATE = "Call the aggregates that you need: agg(), or groupBy().agg()."
_STATISTICS: Mapping[str, str] = {
    "approx_quantile": "approxQuantile()",
    "corr": "corr()",
    "cov": "cov()",
    "crosstab": "crosstab()",
    "describe": "describe()",
    "freq_items": "freqItems()",
    "summary": "summary()",
}
_OTHERS: Mapping[str, tuple[str, str]] = {
    "as_of_join": AS_OF,
    "sample_by": (
        "sampleBy() draws a number for each row",
        "Take sample() of each stratum, and their union.",
    ),
    "to_schema": (
        "to() of a schema has no rule",
        "Choose and cast the columns in select().",
    ),
    "transpose": TRANSPOSED,
    "unresolved_table_valued_function": (
        "the table function {function_name} of spark.tvf has no rule",
        "Write it in SQL, FROM t, LATERAL explode(t.values), or as an item of select().",
    ),
}


def refusal(kind: str, message: Message) -> QueryError:
    """Return the error of a relation without a rule."""
    if kind in _UNTRACKED:
        return untracked(kind)
    if kind in _OF_STATE:
        return rows_of_state(_OF_STATE[kind])
    if kind in _STATISTICS:
        return unsupported(
            f"{_STATISTICS[kind]} gives statistics as text, without the rows behind each",
            _AGGREGATE,
        )
    problem, *advice = _OTHERS.get(kind, (f"the relation {kind} has no rule",))
    return unsupported(problem.format_map(message), *advice)


SchemaOf = Callable[[Message], Sequence[tuple[str, Any]]]
"""Asks Spark for the columns of a relation: names, and types as ``DataType.jsonValue`` has them."""


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
            rows = self.steps.relation(tracked["name"], self.numbered(tracked["columns"]))
            rows = self._beside_around(rows)
            return self.made(rows).aliased(tracked["name"].rpartition(".")[2]).planned(plan)
        kind = kind_of(relation)
        rule = _RULES.get(kind)
        if rule is None:
            raise refusal(kind, relation[kind])
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

    def beside(self, schema_of: SchemaOf, subqueries: Mapping[int, Message]) -> ConnectPlans:
        """Return the writer of a plan that names others, by numbers in its expressions."""
        known, literal = {**self._subqueries, **subqueries}, self._literal
        return ConnectPlans(self.steps, schema_of, self._ids, self._around, known, literal=literal)

    def scalars(self, frame: ConnectFrame) -> ConnectScalars:
        """Return the writer of expressions over the columns of a frame."""
        return ConnectScalars(frame, self._subquery)

    def _subquery(self, number: int, around: ConnectFrame) -> exp.Query:
        inner = self.inside(around).frame(self._subqueries[number])
        return self.steps.finished(inner.rows).written()

    def made(self, rows: FromRows) -> ConnectFrame:
        """Return the frame of rows that no other frame has."""
        return ConnectFrame(rows, around=self._around)

    def close(self, rows: FromRows) -> FromRows:
        """Return rows as rows of a step.

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

    def _beside_around(self, rows: FromRows) -> FromRows:
        return rows if self._around is None else beside(rows, self._around.rows.tables)

    def numbered(self, names: Iterable[str]) -> list[tuple[int, str]]:
        """Return names of new columns with their numbers."""
        return [(next(self._ids), name) for name in names]

    def names_of(self, relation: Message) -> list[str]:
        """Ask Spark for the names of the columns of a relation."""
        return [name for name, _ in self.schema_of(relation)]

    def ready(self, frame: ConnectFrame, stage: LastClause, *, plain: bool = True) -> ConnectFrame:
        """Return a frame to whose SELECT a clause after a stage can be added."""
        used = None if plain else ()
        return frame.over(clauses.ready(self.close, frame.rows, stage, used))

    # -- relations of one input ------------------------------------------------------------

    def _project(self, message: Message, relation: Message) -> ConnectFrame:
        if "input" not in message:
            raise UntrackedError("this data frame reads no relation", "Give it a tracked input.")
        frame = self.input_of(message, relation)

        def names_of(items: Sequence[Message]) -> Sequence[str]:
            return self.names_of({"project": {**message, "expressions": items}})

        return select(self, frame, select_list(frame, message.get("expressions", []), names_of))

    def input_of(self, message: Message, relation: Message) -> ConnectFrame:
        """Return the input of a relation; where chance decides, as its tasks have sorted it."""
        below = sorted_before_draws(relation)
        if below is None:
            return self.frame(message["input"])
        frame, order = self.frame(below["sort"]["input"]), below["sort"]["order"]

        def keys(rows: FromRows) -> Sequence[exp.Expr]:
            return self.scalars(frame.over(rows)).order(order).expressions

        return frame.over(clauses.sorted_in_tasks(self.close, frame.rows, keys))

    def _filter(self, message: Message, relation: Message) -> ConnectFrame:
        drawn = draws(message["condition"])
        before = LastClause.FROM if drawn else LastClause.ORDER
        frame = self.ready(self.input_of(message, relation), before, plain=False)
        condition = self.scalars(frame).write(message["condition"])
        after = LastClause.ITEMS if drawn else LastClause.WHERE
        return frame.over(clauses.restricted(frame.rows, "where", condition, after))

    def _present(self, message: Message, relation: Message) -> ConnectFrame:
        return self.frame(present(relation, self.schema_of(message["input"])))

    def _sort(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.frame(message["input"])
        if is_local_sort(relation):
            return frame
        frame = frame.over(clauses.sortable(self.close, frame.rows))
        order = self.scalars(frame).order(message["order"])
        return frame.over(clauses.ordered(frame.rows, order))

    def _limit(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.ready(self.frame(message["input"]), LastClause.OFFSET, plain=False)
        return frame.over(clauses.limited(frame.rows, exp.Literal.number(message.get("limit", 0))))

    def _offset(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.ready(self.frame(message["input"]), LastClause.ITEMS, plain=False)
        return frame.over(clauses.offset(frame.rows, exp.Literal.number(message.get("offset", 0))))

    def _deduplicate(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.ready(self.frame(message["input"]), LastClause.WHERE, plain=False)
        if message.get("all_columns_as_keys"):
            keys = {column.id for column in frame.columns}
        else:
            keys = {column.id for name in message["column_names"] for column in frame.named(name)}
        below = message["input"]
        while kind := below.keys() & {"filter", "project", "subquery_alias", "with_columns"}:
            below = below[kind.pop()]["input"]
        some = not keys >= {column.id for column in frame.columns}
        if some and below.get("sort", {}).get("is_global"):
            raise sorted_duplicates()
        return frame.over(deduplicated(self.close, frame.rows, keys))

    def _sample(self, message: Message, relation: Message) -> ConnectFrame:
        frame = self.frame(message["input"])
        bounds = float(message.get("lower_bound", 0)), float(message["upper_bound"])
        replaced = bool(message.get("with_replacement"))
        rows, seed = frame.rows, int(message["seed"])
        return frame.over(sampled(self.close, rows, bounds, seed, with_replacement=replaced))

    def _alias(self, message: Message, relation: Message) -> ConnectFrame:
        return self.frame(message["input"]).aliased(message["alias"])

    def _passed(self, message: Message, relation: Message) -> ConnectFrame:
        return self.frame(message["input"])

    def _range(self, message: Message, relation: Message) -> ConnectFrame:
        start, end, step = (int(message.get(name, 0)) for name in ("start", "end", "step"))
        slices = message.get("num_partitions")
        rows = counted(next(self._ids), start, end, step, slices)
        return self.made(self._beside_around(rows))


_RULES: Mapping[str, Callable[[ConnectPlans, Message, Message], ConnectFrame]] = {
    "aggregate": aggregate,
    "collect_metrics": ConnectPlans._passed,
    "deduplicate": ConnectPlans._deduplicate,
    "drop": dropped,
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
    "sql": text,
    "subquery_alias": ConnectPlans._alias,
    "to_df": to_df,
    "unpivot": unpivot,
    "with_columns": with_columns,
    "with_columns_renamed": renamed,
    "with_relations": with_relations,
}
"""Kind of a relation: how it is written."""

_PASSING = (ConnectPlans._alias, ConnectPlans._passed)
"""Rules of relations that have the rows and columns of their input."""
