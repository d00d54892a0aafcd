"""Sessions: the windows of rows, merged where they meet, among the rows of equal other keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Attribute, Project, Relation, Scalar, Windows
from rewriter.bind.names import Names
from rewriter.position import Span
from rewriter.windows import CURRENT_ROW, UNBOUNDED


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """The window of each row, from its time to the gap after it, and the session it is part of."""

    row: Attribute
    session: Attribute
    span: Span | None

    def merged(self, rows: Relation, keys: Sequence[Scalar], names: Names) -> Relation:
        """Return rows with their sessions, as Spark merges them.

        A session begins with a row that the windows of no earlier ones reach, and ends with the
        last window in it.
        """
        start, end = _field(self.row, "start"), _field(self.row, "end")
        before, first, last = (names.attribute(name) for name in ("before", "first", "last"))
        reached = exp.LTE(this=start, expression=before.column())
        begun = exp.Case(ifs=[exp.If(this=reached, true=exp.null())], default=start)
        earlier = exp.WindowSpec(
            kind="ROWS",
            start=UNBOUNDED,
            start_side="PRECEDING",
            end=exp.Literal.number(1),
            end_side="PRECEDING",
        )
        so_far = exp.WindowSpec(
            kind="RANGE", start=UNBOUNDED, start_side="PRECEDING", end=CURRENT_ROW
        )
        found = rows
        for output, value, by, spec in (
            (before, end, keys, earlier),
            (first, begun, keys, so_far),
            (last, end, [*keys, first.column()], None),
        ):
            call = exp.Window(
                this=exp.Max(this=value.copy()),
                partition_by=[key.copy() for key in by],
                over="OVER",
            )
            if spec is not None:
                order = exp.Ordered(this=start.copy(), nulls_first=True)
                call.set("order", exp.Order(expressions=[order]))
                call.set("spec", spec)
            found = Windows(found, (output,), (call,), self.span)
        fields = [exp.Literal.string("start"), first.column()]
        fields += [exp.Literal.string("end"), last.column()]
        session = exp.Anonymous(this="named_struct", expressions=fields)
        kept = tuple(attribute.column() for attribute in rows.attributes)
        return Project(found, (*rows.attributes, self.session), (*kept, session))


def _field(struct: Attribute, name: str) -> Scalar:
    return exp.Dot(this=struct.column(), expression=exp.to_identifier(name))
