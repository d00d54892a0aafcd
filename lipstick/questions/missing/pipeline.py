"""The way of a question about a missing row, from the names of its columns to the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lipstick.questions.missing.answer import MissingRow
from lipstick.questions.missing.why_not import Tracer
from lipstick.questions.why.answer import described
from rewriter.algebra import Relation
from rewriter.algebra import Scalar as Condition
from rewriter.analysis.pattern_origins import paths, trace
from rewriter.analysis.placed_conditions import place_conditions
from rewriter.emit.patterns import ScalarTexts, pattern_of

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame


def why_not(
    frame: AnnotatedFrame, equal: Mapping[str, Any], condition: str | None, examples: int
) -> MissingRow:
    """Return why no row of an answer matches; see :meth:`lipstick.AnnotatedFrame.why_not`."""
    query = frame._prepared
    root = place_conditions(query.bound.root)
    pattern = pattern_of(root, frame.schema.names, equal, condition)
    texts = ScalarTexts(root, query.sql)
    spark = query.spark
    frame._check_sources()
    tracer = Tracer(
        lambda sql: spark.sql(sql).toArrow(),
        query.surroundings.tokens,
        query.sql,
        texts,
        examples,
    )
    reasons = tracer.lost(root, pattern)
    parts = [described(dict(equal))] if equal else []
    parts += [condition] if condition else []
    question = f"Why has the answer no row with {' and '.join(parts)}?"
    return MissingRow(question, reasons, _assumed(root, pattern, texts))


def _assumed(root: Relation, pattern: Sequence[Condition], texts: ScalarTexts) -> list[str]:
    """Return what was assumed of the parts of a pattern that no relation's columns decide."""
    down = list(paths(root))
    notes = [
        f"`{texts.text(part)}` is about a computed column: it was asked of what the rows came to."
        for part in pattern
        if not any(trace(path, [part]).candidates for path in down)
    ]
    if not down:
        return ["The query reads no relation with tokens."]
    if len(notes) == len(pattern):
        notes.append("Nothing else is known of the row: all rows of the relations were followed.")
    return notes
