"""A capture as the explorer asks it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from lipstick.capture.capture import Capture
from lipstick.engines.memory.reach import reach
from lipstick.errors import first_line
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures import input_rows, query, search, why
from lipstick.explorer.captures.comparison import comparison
from lipstick.explorer.captures.contributions import ContributionViews
from lipstick.explorer.captures.measures import RowMeasures
from lipstick.explorer.captures.valuations import Chosen, numeric_columns
from lipstick.explorer.captures.what_if import ScenarioViews
from lipstick.explorer.cells import cell, columns
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import View
from lipstick.explorer.params import Params
from lipstick.explorer.table_windows import TableWindows
from lipstick.questions.contributions.question import position_of
from lipstick.questions.diff.difference import AnswerDifference
from lipstick.questions.methods import Questions
from rewriter.interpret import in_time_zone
from semiring import semirings
from semiring.base import Semiring
from semiring.errors import LipstickError
from semiring.support.budget import call_within

GLANCE = 3.0
"""Seconds that the first rows may take in a list of captures."""

_CHOSEN: dict[str, tuple[Semiring[Any], str, str]] = {
    "counting": (semirings.Counting(), "how many times the row is there", "integer"),
    "boolean": (semirings.Boolean(), "whether the row is there", "truth"),
    "why": (semirings.Why(), "sets of inputs that suffice", ""),
    "which": (semirings.Which(), "all inputs that take part", ""),
    "posbool": (semirings.PosBool(), "the minimal sets of inputs", ""),
    "trio": (semirings.Trio(), "sets of inputs, counted", ""),
    "sorp": (semirings.Sorp(), "derivations that no shorter one is part of", ""),
    "boolean_polynomials": (semirings.BooleanPolynomials(), "derivations, each once", ""),
    "integers": (semirings.Integers(), "how often, after additions and deletions", "integer"),
    "tropical": (semirings.Tropical(), "least cost", "number"),
    "max_plus": (semirings.MaxPlus(), "largest gain", "number"),
    "viterbi": (semirings.Viterbi(), "confidence in the best derivation", "number"),
    "fuzzy": (semirings.Fuzzy(), "the weakest link of the best derivation", "number"),
    "lukasiewicz": (semirings.Lukasiewicz(), "truth that many doubts wear down", "number"),
    "access": (semirings.AccessControl(), "the least clearance that sees it", "level"),
    "validity": (semirings.Validity(), "the times at which it holds", "interval"),
}

SEMIRINGS = [
    {"id": key, "name": semiring.name, "says": says, "values": values}
    for key, (semiring, says, values) in _CHOSEN.items()
]
"""The menu: ``values`` is what tokens may be given: ``integer``, ``number``, ``truth``, ``level``
(such as ``SECRET``), ``interval`` (such as ``3..7``, without the 7) or nothing."""


def evaluated(
    capture: Capture, windows: TableWindows, params: Params, budget: Budget
) -> dict[str, Any]:
    """The rows of a window of the answer, each with its annotation in a semiring.

    Parameters
    ----------
    params
        ``semiring``, one of `SEMIRINGS`; ``values``: per relation a number that all of its tokens
        have, or ``{"column": name}``; tokens of others have the semiring's default; and ``at``, the
        place of one row, or what :meth:`Windows.window` takes.
    """
    name = params.text("semiring")
    if name not in _CHOSEN:
        raise ExploreError(f"Choose a semiring of {', '.join(_CHOSEN)}, not {name!r}.")
    semiring, _, kind = _CHOSEN[name]
    chosen = Chosen(capture, kind, params.mapping("values"))
    row = params.integer("at", -1)
    there = 0 <= row < windows.table.num_rows
    places = [row] if there else windows.window(params)["places"]
    shown = []
    for row in places:
        budget.check()
        shown.append(_annotated(capture, row, semiring, chosen))
    evaluate = f"capture.algebra.evaluate(lipstick.semirings.{type(semiring).__name__}()"
    opening = f"import lipstick\n\ncapture = lipstick.open({str(capture.directory)!r})"
    return {
        "values": shown,
        "places": places,
        "name": semiring.name,
        "python": chosen.python(opening, lambda w: f"{evaluate}, {w or None})"),
    }


def _annotated(
    capture: Capture, row: int, semiring: Semiring[Any], chosen: Chosen
) -> dict[str, str | None]:
    memory = capture.memory
    at = np.array([position_of(memory, row)], dtype=np.int64)
    total = sum(len(reached.members) for reached in reach(memory.engine, at).values())
    if total > why.READ:
        return {"refused": f"{total:,} derivations"}
    try:
        value = chosen.valuation(semiring, at)
        return {"text": cell(semiring.render(why.annotation(memory, at).evaluate(semiring, value)))}
    except LipstickError as error:
        return {"refused": cell(first_line(error))}


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
    def views(self) -> dict[str, View]:
        """The questions, by name."""
        return {name: self._in_its_time_zone(view) for name, view in self._views.items()}

    def _in_its_time_zone(self, view: View) -> View:
        """Let a view show times, and read them, as the session that captured saw them."""

        def asked(params: Params, budget: Budget) -> dict[str, Any]:
            with in_time_zone(self.capture.manifest.time_zone):
                return view(params, budget)

        return asked

    @property
    def _views(self) -> dict[str, View]:
        return {
            "about": self.about,
            "glance": self.glance,
            "rows": self.rows,
            "why": self.why,
            "members": lambda params, budget: why.members(
                self.capture.memory, self.row(params), params
            ),
            "shares": lambda params, budget: self._measures(params, budget).shares(self.opening),
            "probability": lambda params, budget: self._measures(params, budget).probability(
                self.opening
            ),
            "circuit": lambda params, budget: self._measures(params, budget).circuit(),
            "inputs": lambda params, budget: input_rows.source_rows(
                self.capture.memory, self.row(params), params, budget
            ),
            "value": self.value,
            "comparison": self.comparison,
            "listed": lambda params, budget: self.contributions.listed(
                self.row(params), params, budget
            ),
            "splits": lambda params, budget: self.contributions.splits(
                self.row(params), params, budget
            ),
            "least": lambda params, budget: self.contributions.least(
                self.row(params), params, budget
            ),
            "what_if": self.what_if,
            "query": lambda params, budget: query.query(self.capture),
            "evaluate": lambda params, budget: evaluated(
                self.capture, self.windows, params, budget
            ),
            "numbers": lambda params, budget: {"columns": numeric_columns(self.capture)},
            "search": lambda params, budget: search.search(
                self.capture, self.windows.table, params
            ),
            "follow": lambda params, budget: search.follow(
                self.capture, self.windows.table, params
            ),
        }

    def what_if(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the differences that deleting some inputs makes."""
        return self.scenarios.beside(params, budget)

    def _measures(self, params: Params, budget: Budget) -> RowMeasures:
        return RowMeasures(self.capture, self.row(params), params, budget)

    @property
    def run(self) -> Questions[Any]:
        """The run to compare with others: the capture, or the query with its session."""
        return self.capture

    @cached_property
    def difference_from(self) -> Callable[[CaptureSource], AnswerDifference]:
        """From a capture of the query before to the difference, which is kept for other numbers."""
        from lipstick.explorer.captures.difference import paired

        return lru_cache(maxsize=1)(lambda before: paired(before, self))

    @property
    def opening(self) -> str:
        """The Python that opens the capture."""
        return f"import lipstick\n\ncapture = lipstick.open({str(self.capture.directory)!r})"

    @cached_property
    def windows(self) -> TableWindows:
        """The answer, in windows."""
        return TableWindows(self.capture.memory.answer())

    @cached_property
    def scenarios(self) -> ScenarioViews:
        """The answer in scenarios."""
        return ScenarioViews(self.capture)

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the query, its columns and relations, and the semirings to ask in."""
        del params, budget
        manifest = self.capture.manifest
        return {
            "query": manifest.query,
            "rows": self.windows.table.num_rows,
            "columns": columns(self.windows.table.schema),
            "explained": query.explained(self.capture.memory),
            "relations": query.relations(self.capture),
            "semirings": SEMIRINGS,
            "python": self.opening,
        }

    def glance(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the query and the first rows of its answer, as a list of captures shows them.

        Raises
        ------
        ExactnessError
            Where these take more than `GLANCE` seconds.
        """
        del params, budget
        window = call_within(GLANCE, lambda: self.windows.window(Params({})))
        explained = query.explained(self.capture.memory)
        read = [cell(name) for name in self.capture.manifest.relations]
        return {"query": self.capture.query, "relations": read, "explained": explained} | {
            name: window[name] for name in ("columns", "rows", "total")
        }

    def rows(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return rows of the answer, or of a ``scenario``; see :meth:`Windows.window`."""
        del budget
        if params.mapping("scenario"):
            return self.scenarios.of(params.mapping("scenario")).window(params)
        return self.windows.window(params)

    def row(self, params: Params) -> int:
        """Return the place of the row that a question is about."""
        row = params.integer("row", -1)
        if not 0 <= row < self.windows.table.num_rows:
            raise ExploreError(f"The answer has {self.windows.table.num_rows:,} rows, none {row}.")
        return row

    def why(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the provenance of a row; see :func:`lipstick.explorer.captures.why.why`."""
        row = self.row(params)
        answer = why.why(self.capture.memory, row, params, budget)
        answer["python"] = (
            f"{self.opening}\nrow, annotation = capture.polynomials(limit={row + 1})[{row}]"
        )
        return answer

    @cached_property
    def contributions(self) -> ContributionViews:
        """The contributions to the values of the answer."""
        return ContributionViews(self.capture)

    def value(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the inputs of a value; see :meth:`ContributionViews.value`."""
        row = self.row(params)
        answer = self.contributions.value(row, params, budget)
        return answer | {"python": self._contributions_of([(row, answer["column"])], answer)}

    def comparison(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return several numbers and their inputs; see `comparison.comparison`.

        Parameters
        ----------
        params
            ``numbers``, each with its ``row`` and ``column``; ``by``, ``only`` and ``seconds``.
        """
        numbers = [
            (self.row(given), given.text("column"))
            for given in map(Params, params.items("numbers"))
        ]
        answer = comparison(self.contributions, numbers, params, budget)
        return answer | {"python": self._contributions_of(numbers, answer)}

    def _contributions_of(self, numbers: list[tuple[int, str]], answer: dict[str, Any]) -> str:
        """Return the Python that asks for the contributions to numbers, grouped as in an answer."""
        grouped = ""
        if "by" in answer:
            by = answer["by"]
            parts = (f".{by['column']}" * bool(by["column"]), f":{by['unit']}" * bool(by["unit"]))
            grouped = f", by={answer['axes'][by['axis']]['name'] + ''.join(parts)!r}"
        calls = [f"capture.contributions({column!r}, {row}{grouped})" for row, column in numbers]
        return "\n".join([self.opening, *calls])
