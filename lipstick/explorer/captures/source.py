"""A capture as the explorer asks it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from lipstick.capture.capture import Capture
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures import contributions, input_rows, query, what_if, why
from lipstick.explorer.captures.evaluated import SEMIRINGS, evaluated
from lipstick.explorer.captures.valuations import numeric_columns
from lipstick.explorer.cells import columns
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.explorer.table_windows import Windows


class CaptureSource:
    """A capture, asked in memory: without Spark, whoever opened it.

    Parameters
    ----------
    name
        What people call it.
    capture
        What is asked.
    """

    kind = "capture"

    def __init__(self, name: str, capture: Capture) -> None:
        self.name = name
        self.capture = capture

    @property
    def views(self) -> dict[str, Callable[[Params, Budget], dict[str, Any]]]:
        """The questions, by name."""
        return {
            "about": self.about,
            "rows": self.rows,
            "why": self.why,
            "members": self.members,
            "shares": self.shares,
            "inputs": self.inputs,
            "value": self.value,
            "tornado": self.tornado,
            "what_if": self.what_if,
            "query": self.query,
            "evaluate": self.evaluate,
            "numbers": self.numbers,
        }

    @property
    def opening(self) -> str:
        """The Python that opens the capture."""
        return f"import lipstick\n\ncapture = lipstick.open({str(self.capture.directory)!r})"

    @cached_property
    def windows(self) -> Windows:
        """The answer, in windows."""
        return Windows(self.capture.memory.answer())

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """What is captured: the query, its columns and relations, and the semirings to ask in."""
        del params, budget
        manifest = self.capture.manifest
        return {
            "query": manifest.query,
            "rows": self.windows.table.num_rows,
            "columns": columns(self.windows.table.schema),
            "aggregates": query.aggregates(self.capture.memory),
            "relations": query.relations(self.capture),
            "semirings": SEMIRINGS,
            "python": self.opening,
        }

    def rows(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Rows of the answer; see :meth:`Windows.window`."""
        del budget
        return self.windows.window(params)

    def _row(self, params: Params) -> int:
        row = params.integer("row", -1)
        if not 0 <= row < self.windows.table.num_rows:
            raise ExploreError(f"The answer has {self.windows.table.num_rows:,} rows, none {row}.")
        return row

    def why(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Why a row is there; see :func:`lipstick.explorer.captures.why.why`."""
        row = self._row(params)
        answer = why.why(self.capture.memory, row, params, budget)
        answer["python"] = (
            f"{self.opening}\nrow, annotation = capture.polynomials(limit={row + 1})[{row}]"
        )
        return answer

    def members(self, params: Params, budget: Budget) -> dict[str, Any]:
        """The ways in which a row came about."""
        del budget
        return why.members(self.capture.memory, self._row(params), params)

    def shares(self, params: Params, budget: Budget) -> dict[str, Any]:
        """The shares of inputs in a row."""
        return why.shares(self.capture.memory, self._row(params), budget)

    def inputs(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Input rows of a row as they are in their source."""
        return input_rows.source_rows(self.capture.memory, self._row(params), params, budget)

    def value(self, params: Params, budget: Budget) -> dict[str, Any]:
        """What a value is made of."""
        column = params.text("column")
        return contributions.contributions(self.capture.memory, self._row(params), column, budget)

    def tornado(self, params: Params, budget: Budget) -> dict[str, Any]:
        """How a value would change without each input."""
        return contributions.tornado(self.capture, self._row(params), params, budget)

    def what_if(self, params: Params, budget: Budget) -> dict[str, Any]:
        """What would differ without some inputs."""
        return what_if.what_if(self.capture, params, budget)

    def query(self, params: Params, budget: Budget) -> dict[str, Any]:
        """The text of the query, its annotation type and blocks."""
        del params, budget
        return query.query(self.capture)

    def numbers(self, params: Params, budget: Budget) -> dict[str, Any]:
        """The columns that tokens may be valued by, per relation."""
        del params, budget
        return {"columns": numeric_columns(self.capture)}

    def evaluate(self, params: Params, budget: Budget) -> dict[str, Any]:
        """The annotations of rows in a semiring."""
        return evaluated(self.capture, self.windows, params, budget)
