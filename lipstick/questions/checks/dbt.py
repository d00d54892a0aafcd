"""Tests of dbt, generic and singular: from the manifest and the results in a target folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError, QueryError
from lipstick.questions.checks.check import DataCheck, ValueBounds
from rewriter.dialect.renames import rename_relations

_CONDITION = re.compile(r"\s*(!=|<>|>=|>|=|==)\s*(\d+)\s*$")


class DbtTests:
    """The tests of a dbt project that was compiled, from its folder ``target``.

    Relations have the names of their models, seeds, snapshots and sources.
    """

    def read(self, path: Path, relation: str | None) -> Iterator[DataCheck]:
        """Yield the tests; see :class:`CheckReader`."""
        manifest = read_artifact(path / "manifest.json", "manifest")
        results: dict[str, Any] = {}
        if (path / "run_results.json").exists():
            run = read_artifact(path / "run_results.json", "run-results")
            results = {result["unique_id"]: result for result in run["results"]}
        nodes = {**manifest["nodes"], **manifest.get("sources", {})}
        dialect = manifest["metadata"].get("adapter_type") or "spark"
        for unique_id, node in manifest["nodes"].items():
            if node["resource_type"] == "test":
                yield _check(path, node, nodes, results.get(unique_id, {}), dialect)


def _check(
    path: Path,
    node: Mapping[str, Any],
    nodes: Mapping[str, Any],
    result: Mapping[str, Any],
    dialect: str,
) -> DataCheck:
    name = str(node["name"])
    config = node["config"]
    tables, relations = {}, []
    for depended in node["depends_on"]["nodes"]:
        its = nodes.get(depended, {})
        if its.get("relation_name") is None:
            continue
        identifier = its.get("identifier") or its.get("alias") or its["name"]
        parts = [its.get("database"), its["schema"], identifier]
        known = [part.lower() for part in parts if part]
        tables.update({tuple(known[first:]): its["name"] for first in range(len(known))})
        relations.append(its["name"])
    try:
        sql = rename_relations(compiled_code(path.parent, node, result), tables, dialect)[0]
        bounds = failure_bounds(config)
    except (CaptureError, QueryError) as error:
        return DataCheck(name, relations=tuple(relations), refused=str(error))
    failures = result.get("failures")
    return DataCheck(
        name,
        sql,
        bounds,
        relations=tuple(relations),
        recorded=None if failures is None else float(failures),
    )


def compiled_code(project: Path, node: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Return the compiled SQL of a model or test.

    Parameters
    ----------
    node, result
        As in the manifest, and in the results of a run; these may be empty.

    Raises
    ------
    CaptureError
        It is not compiled.
    """
    for code in (node.get("compiled_code"), result.get("compiled_code")):
        if code:
            return str(code)
    if node.get("compiled_path"):
        file = project / str(node["compiled_path"])
        if file.exists():
            return file.read_text("utf-8")
    raise CaptureError("it is not compiled: run dbt compile --full-refresh, or dbt build")


def failure_bounds(config: Mapping[str, Any]) -> ValueBounds:
    """Return the numbers of failures with which a test neither fails nor warns.

    Raises
    ------
    CaptureError
        The configuration has conditions or calculations that are not followed.
    """
    if str(config.get("fail_calc", "count(*)")).replace(" ", "").lower() != "count(*)":
        raise CaptureError(f"its fail_calc is {config['fail_calc']!r}, and not count(*)")
    least = []
    severity = str(config.get("severity", "error")).lower()
    for option in ("warn_if", "error_if"):
        if option == "error_if" and severity == "warn":
            continue
        match = _CONDITION.match(str(config.get(option, "!= 0")))
        if match is None or (match[1] in ("!=", "<>", "=", "==") and match[2] != "0"):
            raise CaptureError(f"its {option} is {config[option]!r}: a number of failures is meant")
        if match[1] in ("=", "=="):
            raise CaptureError(f"its {option} is {config[option]!r}: it fails for lack of rows")
        least.append(int(match[2]) - (match[1] == ">="))
    return ValueBounds(high=float(min(least)))


def read_artifact(path: Path, kind: str) -> dict[str, Any]:
    """Read a document that dbt writes to its target folder: ``manifest`` or ``run-results``.

    Raises
    ------
    CaptureError
        It is not there, or is another document.
    """
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        version = str(document["metadata"]["dbt_schema_version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CaptureError(
            f"{path} is not a {kind} of dbt: {error}\ndbt build, and dbt compile "
            "--full-refresh, write it to the folder target/ of a project."
        ) from error
    if f"/{kind}/" not in version:
        raise CaptureError(f"{path} is not a {kind} of dbt: its schema is {version!r}.")
    return document
