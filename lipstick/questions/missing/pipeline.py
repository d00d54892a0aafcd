"""The way of a question about a missing row, from the names of its columns to the reasons."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from lipstick.capture.files import arrow_of, in_arrow
from lipstick.dataframes.arrow import arrow_rows
from lipstick.errors import CaptureError, UnsupportedError
from lipstick.questions.missing.answer import MissingRow
from lipstick.questions.missing.changes import changes, edits_by_relation
from lipstick.questions.missing.losses import DroppedRows, dropped
from lipstick.questions.missing.proposals import Edits
from lipstick.questions.missing.why_not import Run, Tracer
from lipstick.questions.why.answer import described
from lipstick.questions.why.measure import compared
from lipstick.stages.reading import own_sql
from rewriter.algebra import Relation
from rewriter.algebra import Scalar as Condition
from rewriter.analysis.pattern_origins import paths, trace
from rewriter.analysis.placed_conditions import place_conditions
from rewriter.emit.edits import edited_text, matching_text
from rewriter.emit.patterns import ScalarTexts, pattern_of
from rewriter.emit.statements import plain_sql

if TYPE_CHECKING:
    from lipstick.pipeline import PreparedQuery


def why_not(
    query: PreparedQuery, equal: Mapping[str, Any], condition: str | None, examples: int
) -> MissingRow:
    """Return why no row of an answer matches; see :meth:`lipstick.AnnotatedFrame.why_not`."""
    root, texts, run = _plan(query)
    pattern = pattern_of(root, query.schema.names, _typed(query.schema, equal), condition)
    tracer = Tracer(
        run,
        query.surroundings.tokens,
        query.sql,
        texts,
        examples,
    )
    reasons = tracer.lost(root, pattern)
    parts = [described(dict(equal))] if equal else []
    parts += [condition] if condition else []
    question = f"Why has the answer no row with {' and '.join(parts)}?"
    data = _EditedSpark(query, tracer, root, pattern)
    return MissingRow(
        question,
        reasons,
        _assumed(root, pattern, texts),
        lambda limit: changes(data, root, pattern, limit),
    )


def _typed(schema: StructType, equal: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by column of an answer, each of the column's type."""
    types = {field.name.lower(): field.dataType for field in schema}
    return {
        name: value if (kind := types.get(name.lower())) is None else _as(name, value, kind)
        for name, value in equal.items()
    }


def _as(name: str, value: Any, kind: DataType) -> Any:
    if value is None:
        return None
    is_nested = isinstance(kind, ArrayType | MapType | StructType)
    if in_arrow(kind) and not is_nested:
        (field,) = arrow_of(StructType().add(name, kind))
        return compared(name, value, field.type).as_py()
    if is_nested:
        fits = isinstance(value, list | tuple | dict)
    else:
        fits = isinstance(value, str) == isinstance(kind, StringType)
    if fits:
        return value
    raise CaptureError(
        f"The column {name!r} of the answer is of type {kind.simpleString()}, "
        f"and is compared with {value!r}."
    )


@dataclass(frozen=True, slots=True)
class _EditedSpark:
    """Runs a query over edited relations, in views that are dropped with its session.

    The rows come from the plain query, :func:`rewriter.plain_sql`, not from the flows.
    """

    query: PreparedQuery
    traced: Tracer
    root: Relation
    pattern: Sequence[Condition]

    def _views(self, edits: Edits) -> dict[str, str]:
        """Return the views of edited relations, by the views of their sources."""
        views = {}
        for name, own in edits_by_relation(edits).items():
            source = self.query.surroundings.tokens[name].view
            columns = self.query.spark.table(source).columns
            views[source] = self._registered(edited_text(source, columns, own))
        return views

    def _registered(self, sql: str) -> str:
        name = f"_lipstick_edited_{uuid.uuid4().hex[:8]}"
        self.query.surroundings.add_view(own_sql(self.query.spark, sql), name)
        return name

    def tracer(self, edits: Edits) -> Tracer:
        views = self._views(edits)
        tokens = {
            name: replace(source, view=views.get(source.view, source.view))
            for name, source in self.traced.tokens.items()
        }
        return replace(self.traced, tokens=tokens)

    def difference(self, edits: Edits, limit: int) -> pa.Table:
        schema = self.query.schema
        if "map<" in schema.simpleString():
            raise UnsupportedError(
                "Spark does not compare rows with maps",
                "Select values of the maps, or ask what_if(replace=...).",
                self.query.sql,
            )
        new, old = (
            own_sql(self.query.spark, plain_sql(self.query.root, views)).toDF(*schema.names)
            for views in (self._views(edits), {})
        )
        sides = ((new.exceptAll(old), "appears"), (old.exceptAll(new), "disappears"))
        first, second = (side.select(F.lit(change).alias("_change"), "*") for side, change in sides)
        return arrow_rows(first.unionAll(second).limit(limit), texts=True)

    def brings(self, edits: Edits) -> bool:
        answer = self._registered(plain_sql(self.query.root, self._views(edits)))
        ids = [attribute.id for attribute in self.root.attributes]
        return bool(self.traced.run(matching_text(answer, ids, self.pattern)).num_rows)


def dropped_rows(query: PreparedQuery) -> DroppedRows:
    """Return how many rows each operator loses; see :meth:`lipstick.AnnotatedFrame.dropped`."""
    root, texts, run = _plan(query)
    return dropped(root, query.surroundings.tokens, query.sql, texts, run)


def _plan(query: PreparedQuery) -> tuple[Relation, ScalarTexts, Run]:
    """Return the plan of a query over unchanged sources, its texts, and what runs statements."""
    root = place_conditions(query.bound.root)
    spark = query.spark

    def run(sql: str) -> pa.Table:
        return arrow_rows(own_sql(spark, sql), texts=True)

    return root, ScalarTexts(root, query.sql), run


def _assumed(root: Relation, pattern: Sequence[Condition], texts: ScalarTexts) -> list[str]:
    """Return what was assumed of the parts of a pattern that no relation's columns decide."""
    down = list(paths(root))
    notes = [
        f"`{texts.text(part)}` is about a computed column, so it was checked on computed rows."
        for part in pattern
        if not any(trace(path, [part]).candidates for path in down)
    ]
    if not down:
        return ["The query reads no relation with tokens."]
    if len(notes) == len(pattern):
        notes.append(
            "Nothing else is known of the row, so all rows of the relations were followed."
        )
    return notes
