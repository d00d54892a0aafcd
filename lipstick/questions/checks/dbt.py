"""Tests of dbt, generic and singular: from the manifest and the results in a target folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError
from lipstick.questions.checks.check import DataCheck, ValueBounds, WrittenCheck, compared
from rewriter.dialect.renames import rename_relations


class DbtTests:
    """The tests of a dbt project that was compiled, from its folder ``target``.

    Relations have the names of their models, seeds, snapshots and sources.
    """

    def read(self, path: Path, relation: str | None) -> Iterator[WrittenCheck]:
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
                read = partial(_check, path, node, nodes, results.get(unique_id, {}), dialect)
                relations = tuple(_relations(node, nodes).values())
                yield WrittenCheck(str(node["name"]), tuple(dict.fromkeys(relations)), read)


def _relations(node: Mapping[str, Any], nodes: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    """Return the names of the relations that a test reads, by the parts of their tables' names."""
    tables = {}
    for depended in node["depends_on"]["nodes"]:
        its = nodes.get(depended, {})
        if its.get("relation_name") is None:
            continue
        identifier = its.get("identifier") or its.get("alias") or its["name"]
        parts = [its.get("database"), its["schema"], identifier]
        known = [part.lower() for part in parts if part]
        tables.update({tuple(known[first:]): str(its["name"]) for first in range(len(known))})
    return tables


def _check(
    path: Path,
    node: Mapping[str, Any],
    nodes: Mapping[str, Any],
    result: Mapping[str, Any],
    dialect: str,
) -> DataCheck:
    tables = _relations(node, nodes)
    sql = rename_relations(compiled_code(path.parent, node, result), tables, dialect)[0]
    bounds, warns = failure_bounds(node["config"])
    failures = result.get("failures")
    return DataCheck(
        str(node["name"]),
        sql,
        bounds,
        relations=tuple(dict.fromkeys(tables.values())),
        recorded=None if failures is None else float(failures),
        warns=None if warns == bounds else warns,
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


def failure_bounds(config: Mapping[str, Any]) -> tuple[ValueBounds, ValueBounds]:
    """Return the numbers of failures with which a test does not fail, and does not warn.

    Raises
    ------
    CaptureError
        The configuration has conditions or calculations that are not followed.
    """
    if str(config.get("fail_calc", "count(*)")).replace(" ", "").lower() != "count(*)":
        raise CaptureError(f"its fail_calc is {config['fail_calc']!r}, and not count(*)")
    fails, warns = (_count_bounds(config, option) for option in ("error_if", "warn_if"))
    only_warns = str(config.get("severity", "error")).lower() == "warn"
    return ValueBounds() if only_warns else fails, warns


def _count_bounds(config: Mapping[str, Any], option: str) -> ValueBounds:
    """Return the numbers of failures for which the condition of an option is false."""
    text = str(config.get(option, "!= 0"))
    try:
        bounds = compared(text).opposite
    except CaptureError:
        raise CaptureError(f"its {option} is {text!r}: a number of failures is meant") from None
    return ValueBounds(high=0) if bounds == ValueBounds(0, 0) else bounds


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
