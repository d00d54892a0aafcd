"""Schemas of Pandera as its ``to_yaml`` and ``to_json`` write them: a query per check of a column.

Checks leave out NULL, as Pandera's do, unless they have ``ignore_na: false``. Types of columns, and
whether they are there, are not checked: no row is at fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lipstick.errors import CaptureError, QueryError
from lipstick.questions.checks.check import DUPLICATES, DataCheck, failing_rows

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


class PanderaSchema:
    """The checks of a schema."""

    def read(self, path: Path, relation: str | None) -> Iterator[DataCheck]:
        """Yield the checks; see :class:`CheckReader`."""
        try:
            document = yaml.safe_load(path.read_text("utf-8"))
            columns = {str(n): dict(each or {}) for n, each in document["columns"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
            raise CaptureError(
                f"{path} is not a schema of Pandera: {error}\nGive what schema.to_yaml() or "
                "schema.to_json() writes."
            ) from error
        relation = relation or str(document.get("name") or path.stem)
        for name, column in columns.items():
            if column.get("regex"):
                yield DataCheck(name, refused="its name is a pattern: name the columns")
                continue
            if not column.get("nullable"):
                template = "SELECT * FROM r WHERE x IS NULL"
                yield failing_rows(f"not_nullable({name})", template, relation, {"x": name})
            if column.get("unique"):
                yield failing_rows(f"unique({name})", DUPLICATES, relation, {"xs": [name]})
            own = {kind: given for kind, given in column.items() if kind not in _KNOWN}
            for kind, given in {**own, **(column.get("checks") or {})}.items():
                yield _check(kind, given, name, relation)
        if unique := document.get("unique"):
            names = [unique] if isinstance(unique, str) else list(unique)
            yield failing_rows(f"unique({', '.join(names)})", DUPLICATES, relation, {"xs": names})
        for part in ("checks", "index"):
            if document.get(part):
                yield DataCheck(
                    part, refused=f"{part} of schemas are not read, those of columns are"
                )


def _check(kind: str, given: Any, column: str, relation: str) -> DataCheck:
    name = f"{kind}({column})"
    arguments = dict(given) if isinstance(given, Mapping) else {}
    options = {**arguments, **(arguments.get("options") or {})}
    try:
        if kind == "in_range":
            low = ">" if arguments.get("include_min") is False else ">="
            high = "<" if arguments.get("include_max") is False else "<="
            holds = f"x {low} :min_value AND x {high} :max_value"
        elif kind == "str_length":
            if arguments.get("exact_value") is not None:
                arguments["min_value"] = arguments["max_value"] = arguments["exact_value"]
            tests = {"min_value": "length(x) >= :min_value", "max_value": "length(x) <= :max_value"}
            holds = " AND ".join(t for end, t in tests.items() if arguments.get(end) is not None)
        elif kind in _CHECKS:
            argument, holds = _CHECKS[kind]
            value = arguments.get(argument, arguments.get("value")) if arguments else given
            if value is None or value == []:
                raise CaptureError("it has no value")
            # A text matches from its start, as with re.match.
            arguments = {"v": f"^(?:{value})" if kind == "str_matches" else value}
        else:
            raise CaptureError(f"{kind} is not among the checks that are known here")
        known = f"coalesce({holds}, false)" if options.get("ignore_na") is False else f"({holds})"
        template = f"SELECT * FROM r WHERE NOT {known}"
        return failing_rows(name, template, relation, {"x": column}, arguments)
    except (CaptureError, QueryError, KeyError) as error:
        return DataCheck(name, relations=(relation,), refused=str(error))
