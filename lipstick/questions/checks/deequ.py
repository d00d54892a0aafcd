"""Constraints of Deequ and PyDeequ: as calls (``.isUnique("id")``), and as results in JSON."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError, QueryError
from lipstick.questions.checks.check import (
    DUPLICATES,
    DataCheck,
    ValueBounds,
    checked_value,
    failing_rows,
)

_ROWS: Mapping[str, str] = {
    "isComplete": "x IS NULL",
    "isContainedIn": "x IS NOT NULL AND NOT (x IN (:second))",
    "isNonNegative": "coalesce(CAST(x AS DECIMAL(20, 10)), 0.0) < 0",
    "isPositive": "coalesce(CAST(x AS DECIMAL(20, 10)), 1.0) <= 0",
    "isLessThan": "NOT coalesce(x0 < x1, false)",
    "isLessThanOrEqualTo": "NOT coalesce(x0 <= x1, false)",
    "isGreaterThan": "NOT coalesce(x0 > x1, false)",
    "isGreaterThanOrEqualTo": "NOT coalesce(x0 >= x1, false)",
}
"""From a constraint about each row to the condition of rows that fail it."""

_VALUES: Mapping[str, str] = {
    "hasSize": "count(*)",
    "hasCompleteness": "count(x) / count(*)",
    "hasMean": "avg(x)",
    "hasSum": "sum(x)",
    "hasMin": "min(x)",
    "hasMax": "max(x)",
    "hasStandardDeviation": "stddev_pop(x)",
    "hasMinLength": "min(length(x))",
    "hasMaxLength": "max(length(x))",
    "hasDistinctness": "count(DISTINCT x) / count(x)",
    "hasNumberOfDistinctValues": "count(DISTINCT x)",
    "hasApproxCountDistinct": "count(DISTINCT x)",
    "hasApproxQuantile": "percentile(x, :second)",
}
"""From a constraint with an assertion to the value that is asserted."""

_UNIQUE = "SELECT x, count(*) AS n FROM r WHERE x IS NOT NULL GROUP BY x HAVING count(*) > 1"

_RESULT = re.compile(r"(\w+)Constraint\((\w+)\((.*)\)\)$", re.DOTALL)


class DeequConstraints:
    """The constraints of a file: results of a verification in JSON, or calls in Python."""

    def read(self, path: Path, relation: str | None) -> Iterator[DataCheck]:
        """Yield the constraints; see :class:`CheckReader`."""
        if relation is None:
            raise CaptureError("Constraints of Deequ name no relation: say which, relation=...")
        text = path.read_text("utf-8")
        try:
            documents = json.loads(text)
        except ValueError:
            documents = None
        if documents is None:
            yield from _calls(text, relation)
        else:
            yield from _results(documents, path, relation)


def _calls(text: str, relation: str) -> Iterator[DataCheck]:
    """Yield the constraints of calls, in the order of the text.

    Raises
    ------
    CaptureError
        For texts that are not Python.
    """
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    joined = "check" + "".join(lines) if text.lstrip().startswith(".") else text
    try:
        tree = ast.parse(joined)
    except SyntaxError as error:
        raise CaptureError(f"The constraints are neither JSON nor Python: {error}") from error
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    for call in sorted(calls, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0)):
        if isinstance(call.func, ast.Attribute) and _is_constraint(call.func.attr):
            yield _call(call.func.attr, call, relation)


def _is_constraint(name: str) -> bool:
    return name in ("satisfies", "isUnique") or name.startswith(("is", "has"))


def _call(name: str, call: ast.Call, relation: str) -> DataCheck:
    shown = f"{name}({', '.join(ast.unparse(each) for each in call.args)})"
    try:
        plain = [_literal(each) for each in call.args]
        bounds = next((_asserted(each) for each in call.args if isinstance(each, ast.Lambda)), None)
        first, second = [*plain, None, None][:2]
        if name == "satisfies":
            template = f"SELECT * FROM r WHERE NOT coalesce({first}, false)"
            if bounds is not None and bounds != ValueBounds(1, 1):
                share = f"sum(CASE WHEN {first} THEN 1 ELSE 0 END) / count(*)"
                template = f"SELECT {share} AS value FROM r"
                return checked_value(shown, template, relation, bounds, {}, {})
            return failing_rows(shown, template, relation, {}, {})
        columns = {"x": first, "x0": first, "x1": second}
        columns = {n: c for n, c in columns.items() if isinstance(c, str)}
        if name == "isUnique":
            return failing_rows(shown, _UNIQUE, relation, columns, {})
        if name in _ROWS and bounds in (None, ValueBounds(1, 1)):
            sql = f"SELECT * FROM r WHERE {_ROWS[name]}"
            return failing_rows(shown, sql, relation, columns, {"second": second})
        if name in _VALUES:
            if bounds is None:
                raise CaptureError("it asserts nothing that is read here: lambda x: x >= 0.9")
            template = f"SELECT {_VALUES[name]} AS value FROM r"
            return checked_value(shown, template, relation, bounds, columns, {"second": second})
        raise CaptureError(f"{name} is not among the constraints that are known here")
    except (CaptureError, QueryError) as error:
        return DataCheck(shown, relations=(relation,), refused=str(error))


def _literal(node: ast.expr) -> Any:
    """Return the value of a literal, or of a list of one column; None for others."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value


_SIDES: Mapping[type[ast.cmpop], Callable[[float], ValueBounds]] = {
    ast.GtE: lambda number: ValueBounds(low=number),
    ast.Gt: lambda number: ValueBounds(low=number, above=True),
    ast.LtE: lambda number: ValueBounds(high=number),
    ast.Lt: lambda number: ValueBounds(high=number, below=True),
    ast.Eq: lambda number: ValueBounds(number, number),
}


def _asserted(function: ast.Lambda) -> ValueBounds:
    """Return the bounds of ``lambda x: x >= 0.9``, or of two such comparisons.

    Raises
    ------
    CaptureError
        For other functions.
    """
    parts = function.body.values if isinstance(function.body, ast.BoolOp) else [function.body]
    bounds = ValueBounds()
    for part in parts:
        one_side = isinstance(part, ast.Compare) and len(part.ops) == 1
        number = _literal(part.comparators[0]) if one_side else None  # type: ignore[attr-defined]
        if not (
            isinstance(number, int | float)
            and not isinstance(number, bool)
            and isinstance(part, ast.Compare)
            and isinstance(part.left, ast.Name)
            and type(part.ops[0]) in _SIDES
            and not (isinstance(function.body, ast.BoolOp) and isinstance(function.body.op, ast.Or))
        ):
            raise CaptureError(f"its assertion is {ast.unparse(function)}: compare with a number")
        side = _SIDES[type(part.ops[0])](float(number))
        bounds = ValueBounds(
            bounds.low if side.low is None else side.low,
            bounds.high if side.high is None else side.high,
            bounds.above or side.above,
            bounds.below or side.below,
        )
    return bounds


def _results(documents: Any, path: Path, relation: str) -> Iterator[DataCheck]:
    """Yield the constraints of results, whose assertions JSON does not have.

    Raises
    ------
    CaptureError
        For documents of another form.
    """
    try:
        constraints = [
            str(each.get("code_for_constraint") or each["constraint"]) for each in documents
        ]
    except (TypeError, KeyError, AttributeError) as error:
        raise CaptureError(
            f"{path} has no constraints of Deequ.\nGive the JSON of checkResultsAsJson, or of "
            "suggestions, or calls as in Python."
        ) from error
    for constraint in constraints:
        if constraint.startswith("."):
            yield from _calls(constraint, relation)
            continue
        yield _result(constraint, relation)


def _result(constraint: str, relation: str) -> DataCheck:
    match = _RESULT.match(constraint)
    analyzer, arguments = (match[2], match[3]) if match else ("", "")
    try:
        if analyzer == "Completeness":
            columns = {"x": arguments.split(",", maxsplit=1)[0]}
            return failing_rows(
                constraint, "SELECT * FROM r WHERE x IS NULL", relation, columns, {}
            )
        if analyzer in ("Uniqueness", "UniqueValueRatio"):
            inner = arguments[arguments.index("(") + 1 : arguments.index(")")]
            names = [name.strip() for name in inner.split(",")]
            return failing_rows(constraint, DUPLICATES, relation, {"xs": names}, {})
        raise CaptureError(
            "the results do not have what it asserts: give the constraints as calls, "
            '.hasMean("x", lambda x: x <= 30)'
        )
    except (CaptureError, QueryError, ValueError) as error:
        return DataCheck(constraint, relations=(relation,), refused=str(error))
