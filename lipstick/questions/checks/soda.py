"""Checks of Soda (SodaCL): of each ``checks for NAME`` the metrics with a threshold, as queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lipstick.errors import CaptureError, QueryError
from lipstick.questions.checks.check import DataCheck, ValueBounds, checked_value, failing_rows

_VALUES: Mapping[str, str] = {
    "row_count": "count(*)",
    "avg": "avg(x)",
    "min": "min(x)",
    "max": "max(x)",
    "sum": "sum(x)",
    "stddev": "stddev_samp(x)",
    "avg_length": "avg(length(x))",
    "min_length": "min(length(x))",
    "max_length": "max(length(x))",
}
"""From a metric of a number to its value, of values that are neither missing nor invalid."""

_VALID: Mapping[str, str] = {
    "valid values": "x IN (:{0})",
    "invalid values": "NOT (x IN (:{0}))",
    "valid regex": "x RLIKE :{0}",
    "invalid regex": "NOT (x RLIKE :{0})",
    "valid min": "x >= :{0}",
    "valid max": "x <= :{0}",
    "valid length": "length(x) = :{0}",
    "valid min length": "length(x) >= :{0}",
    "valid max length": "length(x) <= :{0}",
}
"""From an option of a check to the condition of valid values."""

_CHECK = re.compile(r"(\w+)(?:\(\s*([^)]*?)\s*\))?\s*(.*)$", re.DOTALL)
_SIDE = re.compile(r"(<=|>=|<>|!=|<|>|=)\s*(-?\d[\d_.]*)\s*%?$")
_BETWEEN = re.compile(r"between\s+(-?[\d.]+)\s+and\s+(-?[\d.]+)$")
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "=", "<>": "="}


class SodaChecks:
    """The checks of a file in the language of Soda's checks."""

    def read(self, path: Path, relation: str | None) -> Iterator[DataCheck]:
        """Yield the checks, in their order; see :class:`CheckReader`."""
        try:
            document = yaml.safe_load(path.read_text("utf-8"))
            parts = [(str(head).split(), list(each or ())) for head, each in document.items()]
        except (OSError, ValueError, TypeError, AttributeError, yaml.YAMLError) as error:
            raise CaptureError(
                f"{path} has no checks of Soda: {error}\nGive YAML with checks for NAME: and a "
                "list of checks."
            ) from error
        for head, checks in parts:
            if head[:2] == ["checks", "for"] and len(head) == 3:
                named = relation or head[2].strip('"`')
                yield from (_check(each, named) for each in checks)
            else:
                refused = "parts of Soda's files other than checks for NAME are not read"
                yield DataCheck(" ".join(head), refused=refused)


def _check(check: Any, relation: str) -> DataCheck:
    text: Any = check
    options: Mapping[str, Any] = {}
    if isinstance(check, Mapping) and len(check) == 1:
        ((text, given),) = check.items()
        options = given if isinstance(given, Mapping) else {"unread": given}
    name = str(options.get("name") or text)
    try:
        return _read(name, str(text), options, relation)
    except (CaptureError, QueryError, KeyError) as error:
        return DataCheck(name, relations=(relation,), refused=str(error))


def _read(name: str, text: str, options: Mapping[str, Any], relation: str) -> DataCheck:
    match = _CHECK.match(text)
    if match is None:
        raise CaptureError("it is not a metric with a threshold")
    metric, argument, threshold = match.groups()
    unread = options.keys() - {"name", "filter", "fail", "warn", "missing values", *_VALID}
    if unread:
        raise CaptureError(f"its {min(unread)!r} is not read here")
    columns = [name.strip().strip('"`') for name in (argument or "").split(",") if name.strip()]
    values = {f"p{number}": options[kind] for number, kind in enumerate(_VALID) if kind in options}
    tests = [_VALID[kind].format(f"p{n}") for n, kind in enumerate(_VALID) if kind in options]
    valid = " AND ".join(f"({test})" for test in tests)
    missing = "x IS NULL"
    if "missing values" in options:
        missing, values["missing"] = "(x IS NULL OR x IN (:missing))", options["missing values"]
    if any(value == [] for value in values.values()):
        raise CaptureError("one of its lists of values is empty")
    bounds = _allowed(threshold, options, is_count=metric.endswith(("count", "percent")))
    named = {"x": columns[0], "xs": columns} if columns else {}
    where = None if options.get("filter") is None else str(options["filter"])
    invalid = f"NOT ({missing}) AND NOT ({valid})"
    failing = {"missing": missing, "invalid": invalid if valid else None}
    kind, _, measured = metric.rpartition("_")
    if kind in failing and measured in ("count", "percent"):
        if failing[kind] is None:
            raise CaptureError("it does not say which values are valid, as a list or by a pattern")
        if measured == "count":
            template = f"SELECT * FROM r WHERE {failing[kind]}"
            return failing_rows(name, template, relation, named, values, bounds, where)
        share = f"sum(CASE WHEN {failing[kind]} THEN 1 ELSE 0 END) * 100 / count(*)"
        template = f"SELECT {share} AS value FROM r"
        return checked_value(name, template, relation, bounds, named, values, where)
    if metric == "duplicate_count" and columns:
        there = " AND ".join(f"x{number} IS NOT NULL" for number in range(len(columns)))
        named |= {f"x{number}": column for number, column in enumerate(columns)}
        template = f"SELECT xs, count(*) AS n FROM r WHERE {there} GROUP BY xs HAVING count(*) > 1"
        return failing_rows(name, template, relation, named, values, bounds, where)
    if metric in _VALUES and (metric == "row_count") == (not columns):
        only = f"NOT ({missing})" + (f" AND {valid}" if valid else "")
        among = f" WHERE {only}" if valid or "missing values" in options else ""
        template = f"SELECT {_VALUES[metric]} AS value FROM r{among}"
        return checked_value(name, template, relation, bounds, named, values, where)
    raise CaptureError(f"{metric} is not among the metrics that are known here")


def _allowed(threshold: str, options: Mapping[str, Any], *, is_count: bool) -> ValueBounds:
    """Return the numbers that pass: a threshold, or the opposite of ``fail`` and ``warn``.

    Raises
    ------
    CaptureError
        For other thresholds.
    """
    text, opposite = threshold.strip(), False
    if not text:
        text, opposite = str(options.get("fail", options.get("warn", ""))), True
        text = text.removeprefix("when ").strip()
    if (match := _BETWEEN.match(text)) and not opposite:
        return ValueBounds(float(match[1]), float(match[2]))
    if match := _SIDE.match(text):
        operator, number = match[1], float(match[2])
        operator = _OPPOSITE[operator] if opposite else operator
        if operator == "=":
            return ValueBounds(number, number)
        if operator in ("<", "<="):
            return ValueBounds(high=number, below=operator == "<")
        if operator in (">", ">=") or (number == 0 and is_count):
            return ValueBounds(low=number, above=operator != ">=")
    raise CaptureError(f"its threshold {text!r} is not read here: compare with a number")
