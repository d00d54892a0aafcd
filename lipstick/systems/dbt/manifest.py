"""The nodes of a dbt project, from the manifest that dbt Core writes to ``target/``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lipstick.systems.dbt.errors import DbtError
from rewriter.dialect import OF_SPARK, parts_of_name
from semiring.document import check_shape, read_json

_TEXTS = ("unique_id", "resource_type", "package_name", "name", "original_file_path")
_PLAIN_MACROS = ("macro.dbt.", "macro.dbt_utils.")
"""Macros that never ask whether a model is incremental; ``is_incremental`` itself is in the code."""

_FOLLOWED = ("view", "table", "ephemeral", "incremental", "test")
_DEFAULTS = {"fail_calc": "count(*)", "warn_if": "!= 0", "error_if": "!= 0", "limit": None}
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
        Its text with Jinja, and the SQL that it was compiled to; None: there is none.
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

    @property
    def materialized(self) -> str:
        """The materialization."""
        return str(self.config.get("materialized", "view"))

    @property
    def title(self) -> str:
        """The name by which users call the node; of a source with the name of its group."""
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
        """True if the SQL is Spark's as it stands, and need not be translated."""
        return self.dialect in OF_SPARK

    def of_kind(self, *kinds: str) -> Iterator[DbtNode]:
        """Yield the nodes of some kinds."""
        return (node for node in self.nodes.values() if node.kind in kinds)

    def problem(self, node: DbtNode) -> str | None:
        """Return why the SQL of a model or test cannot be asked; None: it can."""
        if node.language != "sql":
            return f"it is written in {node.language}, not in SQL"
        if node.materialized not in _FOLLOWED:
            return f"it is materialized as {node.materialized}"
        if node.compiled is None:
            return f"it is not compiled: {_RECOMPILE}"
        if node.kind == "test":
            settings = {key: node.config.get(key, usual) for key, usual in _DEFAULTS.items()}
            changed = {key: value for key, value in settings.items() if value != _DEFAULTS[key]}
            if changed:
                return f"it has settings that are not followed: {changed}"
            return None
        file = self.project / node.file
        if node.code is not None and file.exists():
            if file.read_text("utf-8").strip() != node.code.strip():
                return f"its file has changed since it was compiled: {_RECOMPILE}"
        if node.materialized == "incremental" and not self._is_full(node):
            return f"it may be compiled as an increment of its table: {_RECOMPILE}"
        return None

    def _is_full(self, node: DbtNode) -> bool:
        """Return True if an incremental model was compiled as a full build.

        It was if a branch of ``is_incremental()`` reads ``{{ this }}``, and the SQL does not: that
        a model reads its own table is refused elsewhere.
        """
        code = node.code or ""
        plain = all(macro.startswith(_PLAIN_MACROS) for macro in node.macros)
        if self.full_refresh or ("is_incremental" not in code and plain):
            return True
        return any(_THIS.search(branch) for branch in _INCREMENT.findall(code))


def read_manifest(project: Path, target: str = "target") -> DbtManifest:
    """Read the manifest of a project's folder, and the compiled files that it leaves out.

    Raises
    ------
    DbtError
        There is none, or it is of another form than dbt Core 1.x writes.
    """
    path = project / target / "manifest.json"
    try:
        document = read_json(path.read_bytes())
        metadata = document["metadata"]
        schema = str(metadata["dbt_schema_version"])
        if "/manifest/" not in schema:
            raise ValueError(f"its schema is {schema!r}")
        dialect = str(metadata.get("adapter_type") or "spark")
        found = [*document["nodes"].values(), *document.get("sources", {}).values()]
        found += document.get("exposures", {}).values()
        known = str(metadata.get("project_name") or project.resolve().name)
        nodes = {node.id: node for node in (_node(project, each, dialect, known) for each in found)}
        invocation = str(metadata.get("invocation_id"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DbtError(
            f"{path} is no manifest of dbt: {error}\nGive the folder of a project in which "
            "dbt compile --full-refresh, or dbt build, ran."
        ) from error
    full = _was_full_refresh(project / target / "run_results.json", invocation)
    return DbtManifest(project, known, dialect, nodes, full)


def _node(project: Path, given: Any, dialect: str, known: str) -> DbtNode:
    check_shape({key: given.get(key) for key in _TEXTS}, dict[str, str], "a node")
    folder = "" if given["package_name"] == known else f"dbt_packages/{given['package_name']}/"
    compiled = given.get("compiled_code")
    written = given.get("compiled_path")
    if compiled is None and written and (project / written).is_file():
        compiled = (project / written).read_text("utf-8")
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
    try:
        results = read_json(path.read_bytes())
        same = results["metadata"]["invocation_id"] == invocation
        return bool(same and results["args"].get("full_refresh"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
