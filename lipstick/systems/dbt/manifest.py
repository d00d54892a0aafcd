"""The nodes of a dbt project, from the manifest that dbt Core writes to ``target/``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError
from lipstick.questions.checks.dbt import compiled_code, failure_bounds, read_artifact
from rewriter.dialect.renames import OF_SPARK, parts_of_name

_PLAIN_MACROS = ("macro.dbt.", "macro.dbt_utils.")
"""Macros that use nothing but ``is_incremental`` itself to ask whether a model is incremental."""

BEFORE = ".before"
"""Suffix of the id of an incremental model's table as it was before a run, which is a source."""

_FOLLOWED = ("view", "table", "ephemeral", "incremental", "test")
_INCREMENT = re.compile(r"is_incremental\s*\(\s*\)(.*?)\{%-?\s*endif", re.DOTALL)
_THIS = re.compile(r"\{\{-?[^}]*\bthis\b")
_RECOMPILE = "run dbt compile --full-refresh"


@dataclass(frozen=True)
class DbtNode:
    """A model, seed, source, snapshot, test or exposure of a project.

    Attributes
    ----------
    id
        dbt's unique id: ``model.shop.orders``.
    kind
        dbt's resource type.
    file
        The path of its file, from the project's folder.
    relation
        The parts of the name of its table or view, in lower case; () if it has none.
    parents, macros
        The ids of the nodes and macros that it depends on.
    code, compiled
        Its text with Jinja, and its compiled SQL, if any.
    archived
        True if it is of another state of the project than the files in its folder.
    titles
        The titles of sources that are declared over its table.
    """

    id: str
    kind: str
    name: str
    file: str
    relation: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    code: str | None = None
    compiled: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    language: str = "sql"
    source_name: str | None = None
    column: str | None = None
    test: str | None = None
    archived: bool = False
    titles: tuple[str, ...] = ()

    @property
    def materialized(self) -> str:
        """The materialization."""
        return str(self.config.get("materialized", "view"))

    @property
    def title(self) -> str:
        """The name of the node for users; for a source, with the name of its group."""
        return f"{self.source_name}.{self.name}" if self.source_name else self.name


@dataclass(frozen=True)
class DbtManifest:
    """The nodes of a project by id, in dbt's order, and the dialect of their SQL.

    Attributes
    ----------
    full_refresh
        True if the run that wrote the manifest compiled all incremental models as full builds.
    """

    project: Path
    name: str
    dialect: str
    nodes: Mapping[str, DbtNode]
    full_refresh: bool = False

    @property
    def is_spark(self) -> bool:
        """True if the SQL is Spark's and needs no translation."""
        return self.dialect in OF_SPARK

    def of_kind(self, *kinds: str) -> Iterator[DbtNode]:
        """Yield the nodes of some kinds."""
        return (node for node in self.nodes.values() if node.kind in kinds)

    def problem(self, node: DbtNode) -> str | None:
        """Return the reason why the SQL of a model or test cannot be queried, or None."""
        if node.language != "sql":
            return f"it is written in {node.language}, not in SQL"
        if node.materialized not in _FOLLOWED:
            advice = f": name its table, --source {node.title}=TABLE"
            kind = node.materialized
            return f"it is materialized as {kind}{advice if kind == 'snapshot' else ''}"
        if node.compiled is None:
            return f"it is not compiled: {_RECOMPILE}"
        if node.kind == "test":
            try:
                failure_bounds(node.config)
            except CaptureError as error:
                return str(error)
            return None
        file = self.project / node.file
        code = "" if node.archived else (node.code or "").strip()
        if code and file.exists() and file.read_text("utf-8").strip() != code:
            return f"its file has changed since it was compiled: {_RECOMPILE}"
        merged = f"{node.id}{BEFORE}" in self.nodes
        if node.materialized == "incremental" and not (merged or self._is_full(node)):
            kept = node.config.get("full_refresh") is False
            named = f"name its table before the run, --before {node.title}=TABLE"
            advice = named if kept else _RECOMPILE
            return f"it may be compiled as an increment of its table: {advice}"
        return None

    def _is_full(self, node: DbtNode) -> bool:
        """Return True if an incremental model was compiled as a full build.

        It was if a branch of ``is_incremental()`` reads ``{{ this }}``, and the SQL does not; a
        model that reads its own table is refused elsewhere.
        """
        code = node.code or ""
        plain = all(macro.startswith(_PLAIN_MACROS) for macro in node.macros)
        # A model may be configured to keep its table, whatever the flag of the run.
        refreshed = self.full_refresh and node.config.get("full_refresh") is not False
        if refreshed or ("is_incremental" not in code and plain):
            return True
        return any(_THIS.search(branch) for branch in _INCREMENT.findall(code))


def read_manifest(
    project: Path, target: str | os.PathLike[str] = "target", *, archived: bool = False
) -> DbtManifest:
    """Read the manifest of a project's folder, and the compiled files that it leaves out.

    ``archived`` as for nodes.

    Raises
    ------
    CaptureError
        There is none, or it is of another form than dbt Core 1.x writes.
    """
    folder = project / target
    document = read_artifact(folder / "manifest.json", "manifest")
    metadata = document["metadata"]
    dialect = str(metadata.get("adapter_type") or "spark")
    name = str(metadata.get("project_name") or project.resolve().name)
    try:
        found = [*document["nodes"].values(), *document.get("sources", {}).values()]
        found += document.get("exposures", {}).values()
        read = (replace(_node(folder, each, dialect, name), archived=archived) for each in found)
        nodes = _without_declared({node.id: node for node in read})
    except (KeyError, TypeError, AttributeError) as error:
        raise CaptureError(
            f"{folder / 'manifest.json'} has nodes of another form than dbt Core 1.x writes: "
            f"{error!r}"
        ) from error
    full = _was_full_refresh(folder / "run_results.json", str(metadata.get("invocation_id")))
    return DbtManifest(project, name, dialect, nodes, full)


def _without_declared(nodes: dict[str, DbtNode]) -> dict[str, DbtNode]:
    """Return nodes without the sources that are declared over tables of seeds or snapshots.

    Readers of such a source read the seed or snapshot instead.
    """
    written = {
        node.relation: node.id
        for node in nodes.values()
        if node.relation and node.kind in ("seed", "snapshot")
    }
    of_source = {
        node.id: written[node.relation]
        for node in nodes.values()
        if node.kind == "source" and node.relation in written
    }
    if not of_source:
        return nodes
    titles: dict[str, list[str]] = {}
    for source, writer in of_source.items():
        titles.setdefault(writer, []).append(nodes[source].title)
    return {
        each: replace(
            node,
            parents=tuple(dict.fromkeys(of_source.get(p, p) for p in node.parents)),
            titles=tuple(titles.get(each, ())),
        )
        for each, node in nodes.items()
        if each not in of_source
    }


def _node(target: Path, given: Mapping[str, Any], dialect: str, own: str) -> DbtNode:
    folder = "" if given["package_name"] == own else f"dbt_packages/{given['package_name']}/"
    # Compiled files are beside their manifest, wherever that was moved to.
    inside = "/".join(Path(given.get("compiled_path") or "").parts[1:])
    try:
        compiled = compiled_code(target, {**given, "compiled_path": inside}, {})
    except CaptureError:
        compiled = None
    name = given.get("relation_name")
    depends_on = given.get("depends_on", {})
    return DbtNode(
        id=given["unique_id"],
        kind=given["resource_type"],
        name=given["name"],
        file=folder + given["original_file_path"],
        relation=() if not name else parts_of_name(name, dialect),
        parents=tuple(depends_on.get("nodes", [])),
        macros=tuple(depends_on.get("macros", [])),
        code=given.get("raw_code"),
        compiled=compiled,
        config=given.get("config", {}),
        language=given.get("language", "sql"),
        source_name=given.get("source_name"),
        column=given.get("column_name"),
        test=(given.get("test_metadata") or {}).get("name"),
    )


def _was_full_refresh(path: Path, invocation: str) -> bool:
    """Return True if the run of an invocation had --full-refresh."""
    if not path.exists():
        return False
    results = read_artifact(path, "run-results")
    same = results["metadata"].get("invocation_id") == invocation
    return bool(same and results.get("args", {}).get("full_refresh"))
