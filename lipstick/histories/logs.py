"""Statements that ran before, found in the logs of tables and in the artifacts of dbt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lipstick.errors import TrackingError, UnsupportedError
from lipstick.histories.steps import ExecutedStatement
from lipstick.tracking.formats.versions import TableVersion
from lipstick.tracking.views import quoted_name
from rewriter.statements import TableShape

_OTHER_COLUMNS = frozenset(
    ["ADD COLUMNS", "CHANGE COLUMN", "CHANGE COLUMNS", "DROP COLUMNS", "RENAME COLUMN"]
)
"""Operations of Delta that change the columns of a table; a row has NULL in one that is new."""

_SAME_ROWS = _OTHER_COLUMNS | frozenset(
    [
        "ADD CONSTRAINT",
        "CLUSTER BY",
        "COMPUTE STATS",
        "DROP CONSTRAINT",
        "OPTIMIZE",
        "REORG",
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "UPGRADE PROTOCOL",
        "VACUUM END",
        "VACUUM START",
        "replace",
    ]
)
"""Operations of Delta, and of Iceberg, after which a table has the rows that it had."""

_LOGGED = re.compile(
    r"(?P<column>\w+)#\d+L?"
    r"|(?P<word>(?:true|false|null|AND|OR|NOT|IN|INSET|(?:isnull|isnotnull)(?=\())\b)"
    r"|(?P<rest>\d+(?:\.\d+)?(?:E-?\d+)?(?!\w)|<=>|[<>!]?=|[<>()+*/%,-]|\s+)"
)
"""A part of a predicate in Delta's log, where columns have numbers, and texts have no quotes."""
_PLAIN_TYPES = re.compile(r"tinyint|smallint|int|bigint|float|double|decimal\(.*\)|boolean")


def keeps_rows(commit: TableVersion) -> bool:
    """Return True if the log records a commit as one that changes no row."""
    return commit.operation in _SAME_ROWS


def changes_columns(commit: TableVersion) -> bool:
    """Return True if the log records a commit as a change of columns that keeps the rows."""
    return commit.operation in _OTHER_COLUMNS


def logged_statements(
    name: str,
    commits: Sequence[TableVersion],
    shape_of_version: Callable[[int], TableShape],
    given: Mapping[int, ExecutedStatement],
) -> list[ExecutedStatement]:
    """Return the statements of a table in the order of its versions, from its log if not given.

    Parameters
    ----------
    commits
        The versions of the table; the first is that before all statements.
    shape_of_version
        Returns the columns of a version.
    given
        Statements that are known, by the version that they made.

    Raises
    ------
    UnsupportedError
        For a version whose statement is not given, and cannot be read from the log.
    """
    found = []
    for commit in commits[1:]:
        if commit.version in given:
            found.append(given[commit.version])
        elif not keeps_rows(commit):
            text = _logged(name, commit, shape_of_version(commit.version))
            found.append(ExecutedStatement(text, f"v{commit.version}", commit.version))
    return found


def _logged(name: str, commit: TableVersion, shape: TableShape) -> str:
    table = quoted_name(name.replace("`", "").split("."))
    reason = "does not log its statement"
    if commit.operation == "TRUNCATE":
        return f"TRUNCATE TABLE {table}"
    if commit.operation == "DELETE":
        predicates = json.loads(commit.parameters.get("predicate", "[]"))
        conditions = [_condition(predicate, shape) for predicate in predicates]
        if None not in conditions:
            return " ".join([f"DELETE FROM {table} WHERE TRUE", *(f"AND {c}" for c in conditions)])
        reason = "logs its predicate without quotes and types"
    raise UnsupportedError(
        f"{commit.operation} made version {commit.version} of {name}, and {reason}",
        f"Give its text: ExecutedStatement(..., version={commit.version}).",
    )


def _condition(predicate: str, shape: TableShape) -> str | None:
    """Return a logged predicate as SQL; None: not certain, since texts and dates stand bare."""
    parts, end = [], 0
    for match in _LOGGED.finditer(predicate):
        if match.start() != end:
            return None
        end = match.end()
        if match["column"] is None:
            parts.append({"INSET": "IN"}.get(match[0], match[0]))
            continue
        known = shape.by_name.get(match["column"].lower())
        if known is None or not _PLAIN_TYPES.fullmatch(known.type):
            return None
        parts.append(f"`{known.name}`")
    return "(" + "".join(parts) + ")" if end == len(predicate) and parts else None


def dbt_statements(target: Path) -> list[ExecutedStatement]:
    """Return the statements by which a run of dbt wrote its models, in their order.

    An incremental model is merged from a temporary view of its compiled query, which stands in the
    place of the view.

    Parameters
    ----------
    target
        The folder that dbt writes, with ``run_results.json``, ``manifest.json`` and ``run/``.

    Raises
    ------
    TrackingError
        When an artifact is missing.
    """
    try:
        nodes = _artifact(target, "manifest.json")["nodes"]
        results = _artifact(target, "run_results.json")["results"]
        found = []
        for result in sorted(results, key=_completed):
            node = nodes[result["unique_id"]]
            if node["resource_type"] != "model" or result["status"] != "success":
                continue
            if node["config"]["materialized"] in ("view", "ephemeral"):
                continue
            file = target / "run" / node["package_name"] / node["original_file_path"]
            text = file.read_text("utf-8").strip().rstrip(";")
            compiled = result.get("compiled_code") or node["compiled_code"]
            found.append(ExecutedStatement(_with_source(text, node, compiled), node["name"]))
    except (OSError, KeyError, ValueError) as error:
        raise TrackingError(
            f"{target} has not the artifacts of a run of dbt: {error!r}\n"
            "Give the folder `target` of a project as `dbt run` left it."
        ) from error
    return found


def _artifact(target: Path, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((target / name).read_text("utf-8"))
    return document


def _completed(result: Mapping[str, Any]) -> str:
    return max((t["completed_at"] or "" for t in result.get("timing", ())), default="")


def _with_source(text: str, node: Mapping[str, Any], compiled: str) -> str:
    """Return a statement that reads a model's query where it reads the view made of it."""
    view = re.escape(f"{node.get('alias') or node['name']}__dbt_tmp")
    source = f"({compiled.strip().rstrip(';')}\n)"
    return re.sub(rf"(?:`?\w+`?\.)*`?{view}`?", lambda _: source, text)
