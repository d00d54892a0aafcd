"""Rows that an answer does not have, looked for in the relations while their session runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.cells import cell
from lipstick.explorer.conditions import read_condition
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import SPARK_SECONDS, View
from lipstick.explorer.params import Params
from lipstick.questions.asking import forget_connection
from semiring.errors import ExactnessError
from semiring.support.budget import call_within

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture
    from lipstick.frame import AnnotatedFrame
    from lipstick.questions.methods import Questions
    from lipstick.questions.missing.answer import LostRows, MissingRow
    from lipstick.questions.missing.changes import DataChange
    from lipstick.questions.missing.losses import DroppedRows

T = TypeVar("T")

_PATTERNS = 8
"""Missing rows whose reasons are kept."""
_ROWS = 100
"""Rows of an answer that are shown to change."""


class QuerySource(CaptureSource):
    """A query with its session: its capture, and its relations for the rows that it loses.

    Parameters
    ----------
    frame
        The query, whose `capture` is explored.
    """

    def __init__(self, name: str, capture: Capture, frame: AnnotatedFrame) -> None:
        super().__init__(name, capture)
        self._frame = frame
        self._missing = lru_cache(maxsize=_PATTERNS)(self._why_not)
        self._found: dict[str, list[DataChange]] = {}

    @property
    def _views(self) -> dict[str, View]:
        asked = {"missing": self.missing, "changes": self.changes, "dropped": self.dropped}
        return super()._views | asked | {"changed": self.changed}

    @property
    def run(self) -> Questions[Any]:
        """The query with its session."""
        return self._frame

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return what `CaptureSource.about` does, and that missing rows can be asked about."""
        return super().about(params, budget) | {"missing": True}

    def _condition(self, params: Params) -> str:
        schema = self.windows.table.schema
        typed = read_condition(params.text("where"), "the answer", schema.names)
        return typed.sql(schema)

    def _why_not(self, condition: str) -> MissingRow:
        return self._frame.why_not(condition=condition)

    def missing(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return why the answer has no row that meets ``where``, a condition on its columns."""
        condition = self._condition(params)
        row = _asked(params, budget, lambda _: self._missing(condition))
        return {
            "question": f"Why is there no row with {cell(params.text('where').strip())}?",
            "present": row.present,
            "reasons": [self._reason(reason) for reason in row.reasons],
            "notes": [cell(note) for note in row.notes],
            "python": f"print(query.why_not(condition={condition!r}))",
        }

    def _reason(self, reason: LostRows) -> dict[str, Any]:
        return {
            "relation": reason.relation,
            "rows": reason.rows,
            "operator": reason.operator,
            "sentence": cell(reason.sentence, 2_000),
            "excerpt": self._excerpt(reason),
            "example": [[name, cell(value)] for name, value in reason.example.items()],
            "partners": [self._reason(partner) for partner in reason.partners],
        }

    def _excerpt(self, reason: LostRows) -> list[str] | None:
        """Return the line of the query at which rows are lost: before, at and after the operator.

        None where no place is known, and where the place is in the text of a view.
        """
        span, text = reason.span, self.capture.query
        if span is None or span.view is not None:
            return None
        begin = text.rfind("\n", 0, span.start) + 1
        end = text.find("\n", span.end)
        parts = text[begin : span.start], text[span.start : span.end]
        return [*parts, text[span.end : end if end >= 0 else None]]

    def changes(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return changes of the data that bring the row; each of them was run."""
        condition = self._condition(params)

        def tried(seconds: float) -> list[str | None]:
            # What was found when most of the time is over is shown, rather than nothing.
            found = self._missing(condition).changes(seconds=seconds * 0.7)
            self._found[condition] = found
            return [cell(change.sentence, 2_000) for change in found]

        return {"changes": _asked(params, budget, tried)}

    def changed(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the rows that the answer gets and loses by a change, found before."""
        condition = self._condition(params)
        found = self._found.get(condition, ())
        number = params.integer("number", 0, 0, max(0, len(found) - 1))
        if not found:
            raise ExploreError("Ask first what would bring the row.")
        rows = _asked(params, budget, lambda _: found[number].changes(_ROWS + 1))
        names = rows.column_names[1:]
        shown = [
            [row["_change"], *(cell(row[name]) for name in names)]
            for row in rows.slice(0, _ROWS).to_pylist()
        ]
        return {"columns": names, "rows": shown, "more": rows.num_rows > _ROWS}

    @cached_property
    def _dropped(self) -> DroppedRows:
        return self._frame.plan.dropped()

    def dropped(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return how many rows each operator loses, of each of its inputs."""
        rows = _asked(params, budget, lambda _: self._dropped).table.to_pylist()
        return {"operators": [{**row, "condition": cell(row["condition"])} for row in rows]}


def _asked(params: Params, budget: Budget, ask: Callable[[float], T]) -> T:
    """Return an answer of Spark's: in ``seconds``, and while somebody waits for it."""
    seconds = min(params.integer("seconds", int(SPARK_SECONDS), 1, 180), budget.left)
    try:
        return call_within(seconds, partial(ask, seconds), budget.is_cancelled)
    except ExactnessError:
        forget_connection()
        budget.check()
        raise
