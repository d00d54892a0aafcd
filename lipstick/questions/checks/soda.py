"""Checks of Soda (SodaCL): of each ``checks for NAME`` the metrics with a threshold, as queries.

Filters of sections (``filter NAME [part]``) and configurations of columns are applied. What
compares with the time of a run or with earlier runs (freshness, changes, anomalies), and what is
about columns rather than rows (schemas), is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from lipstick.errors import CaptureError
from lipstick.questions.checks.check import (
    CheckBuilder,
    DataCheck,
    ValueBounds,
    WrittenCheck,
    compared,
)
from rewriter.dialect.renames import rename_relations
from rewriter.emit.templates import fill

_VALUES: Mapping[str, str] = {
    "row_count": "count(*)",
    "avg": "avg(x)",
    "min": "min(x)",
    "max": "max(x)",
    "sum": "sum(x)",
    "stddev": "stddev_samp(x)",
    "stddev_samp": "stddev_samp(x)",
    "stddev_pop": "stddev_pop(x)",
    "variance": "var_samp(x)",
    "var_samp": "var_samp(x)",
    "var_pop": "var_pop(x)",
    "avg_length": "avg(length(x))",
    "min_length": "min(length(x))",
    "max_length": "max(length(x))",
    "valid_count": "count(x)",
}
"""From a metric of a number to its value, of values that are neither missing nor invalid."""

_VALID: Mapping[str, str] = {
    "valid values": "x IN (:{0})",
    "invalid values": "NOT (x IN (:{0}))",
    "valid regex": "x RLIKE :{0}",
    "invalid regex": "NOT (x RLIKE :{0})",
    "valid format": "x RLIKE :{0}",
    "invalid format": "NOT (x RLIKE :{0})",
    "valid min": "x >= :{0}",
    "valid max": "x <= :{0}",
    "valid length": "length(x) = :{0}",
    "valid min length": "length(x) >= :{0}",
    "valid max length": "length(x) <= :{0}",
}
"""From an option of a check to the condition of valid values."""

_MISSING: Mapping[str, str] = {
    "missing values": "x IN (:{0})",
    "missing regex": "x RLIKE :{0}",
    "missing format": "x RLIKE :{0}",
}
"""From an option of a check to the condition of values that are missing besides NULL."""

_LABELS = {"name", "identity", "attributes", "samples limit", "samples columns"}
"""The options that change no verdict."""


def _formats() -> dict[str, str]:
    """Return the patterns of named formats."""
    octet, hexadecimal = "[0-9]{1,3}", "[0-9a-fA-F]"
    formats = {
        "uuid": f"^{hexadecimal}{{8}}(-{hexadecimal}{{4}}){{3}}-{hexadecimal}{{12}}$",
        "ip address": f"^{octet}([.]{octet}){{3}}$",
        "ipv4 address": f"^{octet}([.]{octet}){{3}}$",
    }
    kinds = {"integer": "[0-9]+"}
    for decimal, digits in (("decimal", "[.,]"), ("decimal point", "[.]"), ("decimal comma", ",")):
        kinds[decimal] = f"([0-9]+({digits}[0-9]+)?|{digits}[0-9]+)"
        kinds[decimal.replace("decimal", "percentage")] = f"{kinds[decimal]} *%"
    for kind, digits in kinds.items():
        zero = digits.replace("[0-9]", "0")
        formats[kind] = f"^ *[-+]? *{digits} *$"
        formats[f"positive {kind}"] = f"^ *[+]? *{digits} *$"
        formats[f"negative {kind}"] = f"^ *(- *{digits}|{zero}) *$"
    return formats


_FORMATS = _formats()
"""From a format that values of text may have to its pattern."""

_SECTION = re.compile(
    r"(checks for|filter|configurations for)\s+(?:\"([^\"]+)\"|`([^`]+)`|(\S+))(?:\s+\[(\w+)\])?$"
)
_METRIC = re.compile(r"(\w+)(?:\(\s*([^)]*?)\s*\))?\s*(.*)$", re.DOTALL)
_SAME_ROWS = re.compile(r"row_count same as (\S+)$")
_REFERENCE = re.compile(
    r"values in \(?([^()]+?)\)? must( not)? exist in (\S+) \(?([^()]+?)\)?$",
)
_VARIABLE = re.compile(r"\$\{\s*(\w+)\s*\}")


@dataclass(frozen=True, slots=True)
class _Dataset:
    """The filters and configurations of a data set in a file.

    Attributes
    ----------
    filters
        From a part to the condition of its rows.
    options
        From a column to the options of all checks of it.
    """

    filters: dict[str, str] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)


class SodaChecks:
    """The checks of a file in the language of Soda's checks.

    Attributes
    ----------
    variables
        The values of variables, ``${NAME}`` in the file.
    """

    def __init__(self, variables: Mapping[str, Any] | None = None) -> None:
        self.variables = dict(variables or {})

    def read(self, path: Path, relation: str | None) -> Iterator[WrittenCheck]:
        """Yield the checks, in their order; see :class:`CheckReader`."""
        try:
            text = path.read_text("utf-8")
            document = yaml.safe_load(_VARIABLE.sub(self._value, text))
            sections = [(str(head).strip(), content) for head, content in document.items()]
        except (OSError, ValueError, TypeError, AttributeError, yaml.YAMLError) as error:
            raise CaptureError(
                f"{path} has no checks of Soda: {error}\nGive YAML with checks for NAME: and a "
                "list of checks."
            ) from error
        datasets: dict[str, _Dataset] = {}
        for head, content in sections:
            kind, name, part = _section(head)
            dataset = datasets.setdefault(name, _Dataset())
            if kind == "filter" and isinstance(content, Mapping) and content.get("where"):
                dataset.filters[part] = str(content["where"])
            elif kind == "configurations for" and isinstance(content, Mapping):
                for option, given in content.items():
                    title, _, column = str(option).partition(" for ")
                    dataset.options.setdefault(column.strip(), {})[title.strip()] = given
        for head, content in sections:
            kind, name, part = _section(head)
            if kind == "checks for" and isinstance(content, list):
                for check in content:
                    if isinstance(check, Mapping) and list(check) == ["attributes"]:
                        continue  # labels of all checks of the section
                    yield _written(check, relation or name, datasets[name], part)
            elif kind not in ("filter", "configurations for"):
                refused = "parts of Soda's files other than checks for NAME are not read"
                yield WrittenCheck(head, (), partial(_refused, refused))

    def _value(self, match: re.Match[str]) -> str:
        return str(self.variables.get(match[1], match[0]))


def _section(head: str) -> tuple[str, str, str]:
    """Return the kind of a section, its data set, and the part of it; empty if there is none."""
    match = _SECTION.match(head)
    if match is None:
        return "", "", ""
    return match[1], match[2] or match[3] or match[4], match[5] or ""


def _refused(reason: str) -> DataCheck:
    raise CaptureError(reason)


def _written(check: Any, relation: str, dataset: _Dataset, part: str) -> WrittenCheck:
    text, options = check, {}
    if isinstance(check, Mapping) and len(check) == 1:
        ((text, given),) = check.items()
        options = dict(given) if isinstance(given, Mapping) else {"its own value": given}
    name = str(options.get("name") or text)
    read = partial(_check, name, str(text).strip(), options, relation, dataset, part)
    return WrittenCheck(name, (relation,), read)


def _check(
    name: str, text: str, options: dict[str, Any], relation: str, dataset: _Dataset, part: str
) -> DataCheck:
    filters = [str(options.pop("filter"))] if options.get("filter") is not None else []
    if part:
        if part not in dataset.filters:
            raise CaptureError(f"its filter [{part}] is not in the file")
        filters.append(dataset.filters[part])
    where = " AND ".join(f"({each})" for each in filters) if filters[1:] else "".join(filters)
    if variable := _VARIABLE.search(f"{text} {options} {where}"):
        raise CaptureError(f"the variable {variable[1]} has no value: variables={{...}}")
    check = CheckBuilder(name, relation, where=where or None)
    if match := _SAME_ROWS.match(text):
        _no_others(options)
        counted = f"count(*) - ({fill('SELECT count(*) FROM r', match[1], {})})"
        made = check.value(counted, ValueBounds(0, 0))
        return replace(made, relations=(relation, match[1]))
    if match := _REFERENCE.match(text):
        _no_others(options)
        return _reference(check, match)
    if text == "failed rows":
        return _failed_rows(check, options)
    return _metric(check, text, options, dataset)


def _no_others(options: Mapping[str, Any], *known: str) -> None:
    unread = options.keys() - _LABELS - set(known)
    if unread:
        raise CaptureError(f"its {min(unread)!r} is not read here")


def _reference(check: CheckBuilder, match: re.Match[str]) -> DataCheck:
    """Return the check that values are in columns of another relation; NULL is not checked."""
    own, other = ([name.strip() for name in match[n].split(",")] for n in (1, 4))
    if len(own) != len(other):
        raise CaptureError(f"it has {len(own)} columns, and {len(other)} to find them in")
    columns = {f"x{number}": name for number, name in enumerate(own)}
    columns |= {f"y{number}": name for number, name in enumerate(other)}
    places = range(len(own))
    found = " AND ".join(f"_own.x{number} = _other.y{number}" for number in places)
    present = " OR ".join(f"_own.x{number} IS NOT NULL" for number in places)
    kind = "LEFT SEMI" if match[2] else "LEFT ANTI"
    template = f"SELECT * FROM r AS _own {kind} JOIN o AS _other ON {found} WHERE {present}"
    relations = {"r": check.relation, "o": match[3]}
    sql = fill(template, relations, columns, where=check.where)
    return DataCheck(check.name, sql, relations=tuple(relations.values()))


def _failed_rows(check: CheckBuilder, options: Mapping[str, Any]) -> DataCheck:
    _no_others(options, "fail condition", "fail query", "fail", "warn")
    bounds = ValueBounds(high=0)
    if "fail" in options or "warn" in options:
        bounds, warns = _thresholds("", options)
        check = replace(check, warns=warns)
    if condition := options.get("fail condition"):
        return check.failing(str(condition), bounds)
    sql, _ = rename_relations(str(options["fail query"]).strip().rstrip(";"), {})
    if check.where is not None:
        raise CaptureError("it has a filter beside its query")
    return DataCheck(check.name, sql, bounds, relations=(check.relation,), warns=check.warns)


def _metric(
    check: CheckBuilder, text: str, options: Mapping[str, Any], dataset: _Dataset
) -> DataCheck:
    match = _METRIC.match(text)
    if match is None:
        raise CaptureError("it is not a metric with a threshold")
    metric, argument, threshold = match.groups()
    columns = [name.strip().strip('"`') for name in (argument or "").split(",") if name.strip()]
    own = f"{metric} expression"
    options = {**(dataset.options.get(columns[0], {}) if columns else {}), **options}
    _no_others(options, "fail", "warn", own, *_MISSING, *_VALID)
    values: dict[str, Any] = {}
    valid = _conditions(_VALID, options, values)
    absent = _conditions(_MISSING, options, values)
    missing = " OR ".join(["x IS NULL", *absent])
    bounds, warns = _thresholds(threshold, options)
    check = replace(check, columns=columns, values=values, warns=warns)
    invalid = f"NOT ({missing}) AND NOT ({' AND '.join(valid)})" if valid else None
    kind, _, measured = metric.rpartition("_")
    if kind in ("missing", "invalid") and measured in ("count", "percent") and columns:
        failing = missing if kind == "missing" else invalid
        if failing is None:
            raise CaptureError("it does not say which values are valid, as a list or by a pattern")
        if measured == "count":
            return check.failing(failing, bounds)
        share = f"sum(CASE WHEN {failing} THEN 1 ELSE 0 END) * 100 / count(*)"
        return check.value(f"coalesce(round({share}, 2), 0)", bounds)
    if metric == "duplicate_count" and columns:
        among = " AND ".join(f"x{number} IS NOT NULL" for number in range(len(columns)))
        return check.duplicates(bounds, among=among, rows="")
    if own in options:
        return replace(check, columns=()).value(str(options[own]), bounds)
    if metric in _VALUES and len(columns) == (metric != "row_count"):
        only = " AND ".join([f"NOT ({missing})", *valid]) if valid or absent else ""
        return check.value(_VALUES[metric], bounds, among=only)
    raise CaptureError(f"{metric} is not among the metrics that are known here")


def _conditions(
    known: Mapping[str, str], options: Mapping[str, Any], values: dict[str, Any]
) -> list[str]:
    """Return the conditions of options, whose values become parameters."""
    conditions = []
    for option, condition in known.items():
        if option not in options:
            continue
        given = options[option]
        if option.endswith("format"):
            if given not in _FORMATS:
                raise CaptureError(f"its {option} {given!r} is not read here: give a regex")
            given = _FORMATS[given]
        if given in ([], None):
            raise CaptureError(f"its {option} are empty")
        name = f"p{len(values)}"
        values[name] = given
        conditions.append(f"({condition.format(name)})")
    return conditions


def _thresholds(
    threshold: str, options: Mapping[str, Any]
) -> tuple[ValueBounds, ValueBounds | None]:
    """Return the bounds whose violation fails a check, and the ones whose violation warns.

    Raises
    ------
    CaptureError
        For other thresholds, and if there is none.
    """
    if threshold.strip():
        return compared(threshold), None
    wrong = {
        kind: compared(str(options[kind]).strip().removeprefix("when ")).opposite
        for kind in ("fail", "warn")
        if options.get(kind) is not None
    }
    if not wrong:
        raise CaptureError("it has no threshold: compare with a number")
    return wrong.get("fail", ValueBounds()), wrong.get("warn")
