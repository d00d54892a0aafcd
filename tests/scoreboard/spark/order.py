"""The order that a query asks of its answer, as places of output columns."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tests.oracle.rows import OrderKey


def order_keys(sql: str, columns: Sequence[str]) -> tuple[OrderKey, ...] | None:
    """Return the keys of the outermost ORDER BY.

    Returns
    -------
    tuple of OrderKey or None
        None: the query does not order. Empty: not all that it orders by is seen to be a column of
        the answer, or the text is not understood here.
    """
    if "order" not in sql.lower():
        return None
    try:
        query = sqlglot.parse_one(sql, dialect="spark")
    except SqlglotError:
        return ()
    while isinstance(query, exp.Subquery) and not query.args.get("order"):
        query = query.this
    order = query.args.get("order")
    if not isinstance(order, exp.Order):
        return ()  # perhaps of a pipe, or within
    names = [name.lower() for name in columns]
    keys = []
    for item in order.expressions:
        position = _place(item.this, names, query)
        if position is None:
            return ()
        descending = bool(item.args.get("desc"))
        first = item.args.get("nulls_first")
        keys.append(OrderKey(position, descending, bool(first)))
    return tuple(keys)


def _place(key: exp.Expr, names: Sequence[str], query: exp.Expr) -> int | None:
    if isinstance(key, exp.Literal) and key.is_int and int(key.name) <= len(names):
        return int(key.name) - 1
    if isinstance(key, exp.Column) and names.count(key.name.lower()) == 1:
        position = names.index(key.name.lower())
        # A qualified name may be another column than the output of its name.
        if not key.table or not isinstance(query, exp.Select):
            return position
        item = query.selects[position] if position < len(query.selects) else None
        return position if item == key else None
    return None
