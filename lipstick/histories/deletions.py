"""Rows deleted from the relations that statements read, and from first versions of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Column

from lipstick.errors import TrackingError
from lipstick.histories.changes import have_exact_keys, with_keys
from lipstick.histories.engine import FEW
from lipstick.histories.steps import KnownHistory
from lipstick.questions.deletion import resolve_deletion, rows_of_keys, where
from lipstick.tracking.tracker import Tracked
from lipstick.tracking.views import column_of, quoted_name
from rewriter.statements import Bags, rows_of


def deleted_rows(
    history: KnownHistory, delete: Mapping[str, Any]
) -> tuple[dict[str, Bags], dict[str, str]]:
    """Return the first versions less their deleted rows, and deleted rows of relations.

    Parameters
    ----------
    delete
        By relation in lower case, a predicate or keys.
    """
    begins, gone = {}, {}
    tracked = history._tracked
    for name, what in delete.items():
        table, at, number = name.rpartition("@")
        if at and (known := history._table_of(table) or table) in history._chains:
            table, chain = known, history._chains[known]
            if number != str(chain.first):
                raise TrackingError(
                    f"{name!r} is not the first version of {table!r}.\nRows of "
                    f"{table}@{chain.first} are deleted, and statements undone."
                )
            view = _first_rows(history, table, what)
            begins[table] = Bags(chain.versions[chain.first], view)
            continue
        relation = tracked.get(name)
        if relation is None or name not in history._sources:
            raise TrackingError(
                f"No statement of the history reads {name!r}.\n"
                f"They read {', '.join(sorted(history._sources))}."
            )
        view_of = _rows_of_tokens(history, relation, what)
        if view_of is not None:
            gone[name] = view_of
    return begins, gone


def _first_rows(history: KnownHistory, table: str, what: Any) -> str | None:
    """Return a view of rows of the first version; None: none are selected."""
    chain = history._chains[table]
    rows = history.spark.table(chain.versions[chain.first])
    name = f"{table}@{chain.first}"
    if isinstance(what, str | Column):
        selected = where(rows, name, what)
    else:
        columns = history._key_columns(table)
        schema = rows.select(*map(column_of, columns)).schema
        wanted = history.spark.createDataFrame(rows_of_keys(history.spark, name, schema, what))
        match = [rows[quoted_name([c])].eqNullSafe(wanted[quoted_name([c])]) for c in columns]
        selected = rows.join(wanted, match, "left_semi")
    return history.engine.store(rows_of(history.engine.named(selected)))


def _rows_of_tokens(history: KnownHistory, relation: Tracked, what: Any) -> str | None:
    """Return a view of the deleted rows of a relation; None: none are."""
    spark = history.spark
    deletion = resolve_deletion(spark, {relation.name: relation.record}, {relation.name: what})
    tokens: pa.Table = deletion.tokens[relation.name]
    if not tokens.num_rows:
        return None
    here, key = history._table_here(relation), list(relation.token)
    few = tokens.num_rows <= FEW
    if few and here is not None and have_exact_keys(tokens, here.select(key)):
        found = with_keys(here, tokens.rename_columns(key)).select(list(relation.columns))
        return history.engine.hold(found, relation.schema) if found.num_rows else None
    rows, gone = spark.table(relation.view), spark.createDataFrame(tokens)
    match = [rows[quoted_name([c])].eqNullSafe(gone[quoted_name([c])]) for c in relation.token]
    deleted = rows.join(gone, match, "left_semi")
    own = deleted.select(*map(column_of, relation.columns))
    return history.engine.store(rows_of(history.engine.named(own)))
