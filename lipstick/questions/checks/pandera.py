"""Schemas of Pandera as its ``to_yaml`` and ``to_json`` write them: a query per check of a column.

Checks leave out NULL, as Pandera's do, unless they have ``ignore_na: false``; with
``raise_warning: true`` they only warn. Types of columns, and whether they are there, are not
checked: no row is at fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from lipstick.errors import CaptureError
from lipstick.questions.checks.check import CheckBuilder, DataCheck, ValueBounds, WrittenCheck

_CHECKS: Mapping[str, tuple[str, str]] = {
    "equal_to": ("value", "x = :v"),
    "not_equal_to": ("value", "x <> :v"),
    "greater_than": ("min_value", "x > :v"),
    "greater_than_or_equal_to": ("min_value", "x >= :v"),
    "less_than": ("max_value", "x < :v"),
    "less_than_or_equal_to": ("max_value", "x <= :v"),
    "isin": ("allowed_values", "x IN (:v)"),
    "notin": ("forbidden_values", "NOT (x IN (:v))"),
    "str_matches": ("pattern", "x RLIKE :v"),
    "str_contains": ("pattern", "x RLIKE :v"),
    "str_startswith": ("string", "startswith(x, :v)"),
    "str_endswith": ("string", "endswith(x, :v)"),
}
"""From a check to its argument, and the condition that holds for each row."""

_KNOWN = {"dtype", "nullable", "unique", "coerce", "required", "regex", "title", "description"}
_KNOWN |= {"default", "metadata", "checks", "drop_invalid_rows", "report_duplicates"}
"""The fields of a column, its checks among them."""


_REPORTED = {"all": "count(*)", "exclude_first": "count(*) - 1", "exclude_last": "count(*) - 1"}
"""From an option of unique columns to the rows of a group that are failures."""


class PanderaSchema:
    """The checks of a schema."""

    def read(self, path: Path, relation: str | None) -> Iterator[WrittenCheck]:
        """Yield the checks; see :class:`CheckReader`."""
        try:
            document = yaml.safe_load(path.read_text("utf-8"))
            columns = list(document["columns"].items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
            raise CaptureError(
                f"{path} is not a schema of Pandera: {error}\nGive what schema.to_yaml() or "
                "schema.to_json() writes."
            ) from error
        named = relation or str(document.get("name") or path.stem)
        reported = document.get("report_duplicates")
        for name, column in columns:
            read = partial(_column, str(name), column, named, reported)
            yield WrittenCheck(str(name), (named,), read)
        if unique := document.get("unique"):
            names = [unique] if isinstance(unique, str) else unique
            title = f"unique({', '.join(map(str, names))})" if isinstance(names, list) else "unique"
            yield WrittenCheck(title, (named,), partial(_unique, title, names, named, reported))
        for part in ("checks", "index"):
            if document.get(part):
                refused = f"{part} of schemas are not read, those of columns are"
                yield WrittenCheck(part, (named,), partial(_refused, refused))


def _refused(reason: str) -> DataCheck:
    raise CaptureError(reason)


def _column(
    name: str, column: Mapping[str, Any] | None, relation: str, reported: str | None
) -> Iterator[DataCheck]:
    column = dict(column or {})
    if column.get("regex"):
        raise CaptureError("its name is a pattern: name the columns")
    reported = column.get("report_duplicates") or reported
    written = []
    if not column.get("nullable"):
        check = CheckBuilder(f"not_nullable({name})", relation, [name])
        written.append((check.name, partial(check.failing, "x IS NULL")))
    if column.get("unique"):
        title = f"unique({name})"
        written.append((title, partial(_unique, title, [name], relation, reported)))
    checks = [(kind, given) for kind, given in column.items() if kind not in _KNOWN]
    checks += _listed(column.get("checks") or {})
    for kind, given in checks:
        title = f"{kind}({name})"
        written.append((title, partial(_check, str(kind), given, title, name, relation)))
    for title, read in written:
        yield from WrittenCheck(title, (relation,), read).checks()


def _listed(checks: Any) -> Iterable[tuple[str, Any]]:
    """Return the checks of a column by their kinds; a list has them with their names as options."""
    if isinstance(checks, Mapping):
        return checks.items()
    return [(str((each.get("options") or {}).get("check_name")), each) for each in checks]


def _unique(name: str, columns: list[str], relation: str, reported: str | None) -> DataCheck:
    if (reported or "all") not in _REPORTED:
        raise CaptureError(f"its report_duplicates is {reported!r}, which is not known here")
    return CheckBuilder(name, relation, columns).duplicates(rows=_REPORTED[reported or "all"])


def _check(kind: str, given: Any, name: str, column: str, relation: str) -> DataCheck:
    arguments = dict(given) if isinstance(given, Mapping) else {}
    options = {**arguments, **(arguments.get("options") or {})}
    value = given
    if kind == "in_range":
        low = ">" if arguments.get("include_min") is False else ">="
        high = "<" if arguments.get("include_max") is False else "<="
        holds = f"x {low} :min_value AND x {high} :max_value"
    elif kind == "str_length":
        if arguments.get("exact_value") is not None:
            arguments["min_value"] = arguments["max_value"] = arguments["exact_value"]
        tests = {"min_value": "length(x) >= :min_value", "max_value": "length(x) <= :max_value"}
        holds = " AND ".join(t for end, t in tests.items() if arguments.get(end) is not None)
        if not holds:
            raise CaptureError("it has no value")
    elif kind in _CHECKS:
        argument, holds = _CHECKS[kind]
        value = arguments.get(argument, arguments.get("value")) if arguments else given
        if value is None or value == []:
            raise CaptureError("it has no value")
        # A text matches from its start, as with re.match.
        arguments = {"v": f"^(?:{value})" if kind == "str_matches" else value}
    else:
        raise CaptureError(f"{kind} is not among the checks that are known here")
    if options.get("ignore_na") is False:
        # NULL is a value like others, and equal to a NULL among those that are listed.
        is_listed = isinstance(value, list) and None in value
        null = is_listed if kind == "isin" else kind in ("notin", "not_equal_to") and not is_listed
        holds = f"coalesce({holds}, {str(null).lower()})"
    bounds, warns = ValueBounds(high=0), None
    if options.get("raise_warning"):
        bounds, warns = ValueBounds(), bounds
    check = CheckBuilder(name, relation, [column], arguments, warns=warns)
    return check.failing(f"NOT ({holds})", bounds)
