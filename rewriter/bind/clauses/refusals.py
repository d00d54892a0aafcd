"""Refusals of clauses: what a query, a table or a join may carry, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from rewriter.bind.text import Source
from rewriter.position import Span

_QUERY = {
    "by_name",
    "with_",
    "word",
    "expressions",
    "distinct",
    "from_",
    "joins",
    "laterals",
    "where",
    "group",
    "having",
    "qualify",
    "windows",
    "order",
    "limit",
    "offset",
    "this",
    "alias",
    "expression",
    # How to run the query, and where rows are then: the answer is the same.
    "hint",
    "sort",
    "distribute",
    "cluster",
    "step",
}
_TABLE = {"this", "alias", "db", "catalog", "joins", "pivots", "sample"}
_JOIN = {"this", "on", "side", "kind", "using", "method", "pivots"}

_PLAIN = "Leave it out."
_REFUSED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "version": (("VERSION AS OF", "VERSION", "TIMESTAMP"), "Track that version of the relation."),
    "hints": (("/*+",), "Leave the hint out: it cannot change the answer."),
}


def refuse_query_clauses(query: exp.Expr, source: Source) -> None:
    """Raise for a clause of a query that has no rule."""
    _refuse(query, _QUERY, source)
    distinct = query.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
        advice = "Aggregate with GROUP BY."
        at = source.keyword_before(distinct, "DISTINCT")
        raise source.unsupported("DISTINCT ON is not supported", advice, at)


def refuse_table_clauses(table: exp.Expr, source: Source) -> None:
    """Raise for a clause of a table that has no rule."""
    _refuse(table, _TABLE, source)


def refuse_join_clauses(join: exp.Join, source: Source) -> None:
    """Raise for a kind of join that has no rule."""
    _refuse(join, _JOIN, source)


def refuse_rows_as_keys(group: exp.Group, source: Source) -> None:
    """Raise for GROUP BY of a row in brackets that is no grouping set: a struct to Spark."""
    for bare in group.expressions:
        if isinstance(bare, exp.Tuple):
            advice = "Write its columns without the brackets."
            at = group_span(group.parent_select, source)
            problem = "GROUP BY of a row in brackets is not supported"
            raise source.unsupported(problem, advice, at)


def group_span(select: exp.Expr | None, source: Source) -> Span | None:
    """Return the place of GROUP BY; None without it."""
    if select is None or not select.args.get("group"):
        return None
    at = source.keyword_before(select.args["group"], "GROUP BY")
    if at is not None:
        return at
    before = [select.args.get("where"), *reversed(select.args.get("joins") or [])]
    for clause in (*before, select.args.get("from_")):
        if clause is not None:
            return source.keyword_after(clause, "GROUP BY")
    return None


def refuse_set_operation(operation: exp.SetOperation, source: Source) -> None:
    """Raise for a set operation that has no rule."""
    name = type(operation).__name__.upper()
    words = (name, "MINUS") if name == "EXCEPT" else (name,)
    at = source.keyword_after(operation.this, *words)
    if operation.args.get("by_name"):
        advice = "List the columns in the same order in both queries."
        raise source.unsupported(f"{name} BY NAME is not supported", advice, at)


def _refuse(node: exp.Expr, allowed: Iterable[str], source: Source) -> None:
    for key, value in node.args.items():
        if not value or key in allowed:
            continue
        words, advice = _REFUSED.get(key, ((key.strip("_").upper(),), _PLAIN))
        part = value[0] if isinstance(value, list) else value
        name = words[0]
        at: Span | exp.Expr | None = None
        if isinstance(part, exp.Expr):
            at = source.keyword_before(part, *words) or part
        raise source.unsupported(
            f"{name.replace('/*+', 'a hint')} is not supported", advice, at or node
        )
