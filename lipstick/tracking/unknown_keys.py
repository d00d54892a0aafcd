"""Keys in questions that name no row: reported, and refused where a question is strict."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lipstick.engines.memory.keys import distinct
from lipstick.engines.route import fits_memory, if_here
from lipstick.errors import NeedsSparkError, TrackingError, UnknownKeyWarning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lipstick.engines.protocol import AskedCapture

_OURS = ("lipstick", "semiring")
_SHOWN = 5
_LISTED = 1_000
"""Keys up to which somebody may have listed them by hand."""


def check_deletion(
    capture: AskedCapture,
    delete: Mapping[str, Any],
    tokens: Mapping[str, pa.Table],
    *,
    strict: bool,
) -> None:
    """Report keys to delete that name no row, and predicates that select none.

    Parameters
    ----------
    delete
        As the user gives it.
    tokens
        What was resolved from it, per relation.

    Raises
    ------
    TrackingError
        When there are any, and ``strict``.
    """
    check_predicates(delete, tokens, strict=strict)
    by_name = {name.lower(): name for name in tokens}
    for given, what in delete.items():
        if not _is_predicate(what):
            name = by_name[given.lower()]
            check_keys(capture, name, tokens[name], strict=strict)


def check_predicates(
    delete: Mapping[str, Any], tokens: Mapping[str, pa.Table], *, strict: bool
) -> None:
    """Report predicates that select no row; see :func:`check_deletion`."""
    by_name = {name.lower(): name for name in tokens}
    for given, what in delete.items():
        name = by_name[given.lower()]
        if _is_predicate(what) and not tokens[name].num_rows:
            report(f"No row of {name!r} is selected by {str(what)!r}", "", strict=strict)


def _is_predicate(what: Any) -> bool:
    """Return True for a text or a Column, False for keys that are listed, or in a table."""
    if isinstance(what, str | Sequence | pa.Table):
        return isinstance(what, str)
    from pyspark.sql import Column

    return isinstance(what, Column)


def check_keys(capture: AskedCapture, name: str, keys: pa.Table, *, strict: bool) -> None:
    """Report keys of a relation that name no row.

    With Spark the rows are the source's. A capture alone knows the rows that took part in
    the query; of more than `_LISTED` keys it reports unused ones only if none was used, or the
    question is strict. Cost: the tokens of the capture are indexed once, as a what-if needs them;
    keys that are not among them cost a job over the source.
    """
    record = capture.manifest.relations.get(name) or capture.ancestry.records[name]
    columns = list(record.token)
    keys = keys.select(columns).combine_chunks()
    given = 0
    spark = capture.engine.spark
    rows = None if spark is None else capture.cluster.rows_of(name)
    written = capture.manifest.counts  # none: a question is prepared
    if rows is None or (written and fits_memory(capture.manifest)):
        found = if_here(partial(_counted, capture, name, keys), NeedsSparkError)
        if found is not None:
            given, keys = found
        elif rows is None:  # keys of nested types
            return
        if rows is None and not strict and given > _LISTED and keys.num_rows < given:
            return  # rows that took no part, as many do in a large deletion
    where = "names no row of" if rows is not None else "names no row that the capture has of"
    if rows is not None and keys.num_rows:
        assert spark is not None
        keys = _not_among(spark.createDataFrame(keys), rows, columns)
    if keys.num_rows:
        shown = [tuple(row.values()) for row in keys.slice(0, _SHOWN).to_pylist()]
        texts = ", ".join(sorted(repr(key[0] if len(key) == 1 else key) for key in shown))
        more = f" and {keys.num_rows - _SHOWN} more" if keys.num_rows > _SHOWN else ""
        count = "1 key" if keys.num_rows == 1 else f"{keys.num_rows} keys"
        where = where if keys.num_rows == 1 else where.replace("names", "name")
        unsure = ": there is none, or it took no part in the query" if rows is None else ""
        report(f"{count} {where} {name!r}{unsure}: {texts}{more}", _advice(columns), strict=strict)


def _advice(columns: list[str]) -> str:
    return f" Compare their spelling and case with the key ({', '.join(columns)})."


def report(problem: str, advice: str, *, strict: bool) -> None:
    """Warn of keys that name no row, or refuse them.

    Raises
    ------
    TrackingError
        When ``strict``.
    """
    if strict:
        raise TrackingError(f"{problem}.\nA strict question is refused then.{advice}")
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    text = f"{problem}; that changes nothing.{advice} strict=True refuses it."
    warnings.warn(text, UnknownKeyWarning, stacklevel=level)


def _counted(capture: AskedCapture, name: str, keys: pa.Table) -> tuple[int, pa.Table]:
    """Return the number of distinct keys, and the keys that are not among the tokens."""
    given = len(distinct([c.combine_chunks() for c in keys.columns], keys.num_rows)[1])
    return given, _not_captured(capture, name, keys)


def _not_captured(capture: AskedCapture, name: str, keys: pa.Table) -> pa.Table:
    """Return the keys that are not among the tokens of a capture, or of those upstream of it."""
    relations = capture.manifest.relations
    if name not in relations:
        for record in (each for each in relations.values() if each.derived is not None):
            for maker in capture._part_captures(record):
                keys = _not_captured(maker, name, keys)
        return keys
    lost = keys.take(pa.array(capture.memory.unused(name, keys)))
    first = distinct([column.combine_chunks() for column in lost.columns], lost.num_rows)[1]
    return lost.take(pa.array(first))


def _not_among(keys: DataFrame, rows: DataFrame, columns: list[str]) -> pa.Table:
    """Return the keys that no row has."""
    match = [keys[f"`{name}`"].eqNullSafe(rows[f"`{name}`"]) for name in columns]
    lost: pa.Table = keys.join(rows, match, "left_anti").distinct().toArrow()
    return lost
