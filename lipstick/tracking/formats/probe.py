"""Tables that keep their versions, found in names, paths and plans where a relation is tracked.

No jar of a format is needed, and none is imported: Spark has it, or has no such table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlparse

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.errors import SourceChangedError, SourceError, VersionGoneError, first_line
from lipstick.tracking.formats.delta import (
    LOG,
    delta_at_path,
    delta_leaf,
    delta_of_name,
    delta_path,
)
from lipstick.tracking.formats.iceberg import (
    iceberg_at_path,
    iceberg_leaf,
    iceberg_of_name,
    reference_of,
)
from lipstick.tracking.formats.versions import (
    Leaf,
    Moment,
    VersionedTable,
)
from lipstick.tracking.names import Identity, identity_of, is_table, plain_name
from lipstick.tracking.states import FORMAT_NAMES, FileState, PinnedVersion, local_path, local_state
from lipstick.tracking.views import quoted_name
from rewriter.dialect import name_parts

_Opening: TypeAlias = Callable[[SparkSession, str], VersionedTable]

_OF_NAME: Mapping[str, _Opening] = {"delta": delta_of_name, "iceberg": iceberg_of_name}
_OF_PATH: Mapping[str, _Opening] = {"delta": delta_at_path, "iceberg": iceberg_at_path}
_SHOWN = 3


def versioned_table(spark: SparkSession, name: str) -> tuple[VersionedTable, str | None] | None:
    """Return the table or branch of a name, and the tag in it; None: no format keeps versions.

    ``name`` is that of a table in a catalog, or ``delta.`/path```.
    """
    path = delta_path(name)
    if path is not None:
        return delta_at_path(spark, path), None
    table, branch, tag = reference_of(name)
    if table != name:
        identity, provider = _provider(spark, table)
        if identity is not None and provider == "iceberg":
            whole = iceberg_of_name(spark, plain_name(identity))
            if branch is None:
                return whole, tag
            return None if whole.reference(branch) is None else (whole.on(branch), None)
    identity, provider = _provider(spark, name)
    if identity is None or provider not in _OF_NAME:
        return None
    try:
        found = _OF_NAME[provider](spark, plain_name(identity))
        found.current()
    except PySparkException:  # a table about a table, as Iceberg's of snapshots
        return None
    return found, None


def _provider(spark: SparkSession, name: str) -> tuple[Identity | None, str]:
    """Return a table and its provider; None for views, and where there is no such table."""
    identity = identity_of(spark, name_parts(name))
    if identity is None or not is_table(identity):
        return None, ""
    try:
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {quoted_name(identity)}").collect()
    except PySparkException:
        return None, ""
    found = [row["data_type"] for row in rows if row["col_name"] == "Provider"]
    return identity, found[-1].lower() if found else ""


def table_identity(table: VersionedTable) -> Identity | None:
    """Return the name of a versioned table in the catalog; None: it is known by its path."""
    return None if "/" in table.table else tuple(name_parts(table.table))


def versioned_path(spark: SparkSession, path: str, format: str | None) -> VersionedTable | None:
    """Return the table in a folder, by its format or what is in the folder; None: it is none."""
    kind = format.lower() if format is not None else _format_in(path)
    if kind is None or kind not in _OF_PATH:
        return None
    local = urlparse(path).scheme in ("", "file")
    return _OF_PATH[kind](spark, str(Path(_local(path)).absolute()) if local else path)


def _local(path: str) -> str:
    return unquote(urlparse(path).path) if path.startswith("file:") else path


def _format_in(path: str) -> str | None:
    """Return the format of the table whose folder a local path is."""
    if urlparse(path).scheme not in ("", "file"):
        return None
    folder = Path(_local(path))
    if (folder / LOG).is_dir():
        return "delta"
    return "iceberg" if any(folder.glob("metadata/*.metadata.json")) else None


def version_at(table: VersionedTable, at: int | Moment | None) -> int | None:
    """Return the version that ``track(..., at=...)`` asks for; None: the current one."""
    if at is None:
        return table.current()
    return at if isinstance(at, int) else table.at(at)


def pin(table: VersionedTable, version: int | None, files: Iterable[str]) -> PinnedVersion:
    """Return a version as captures record it, with the states of its files where they are local.

    Raises
    ------
    VersionGoneError
        When files were removed.
    """
    states = [local_state(file) for file in files]
    known = () if None in states else tuple(state for state in states if state is not None)
    pinned = PinnedVersion(table.format, table.table, table.identity, version, known)
    missing = [uri for uri, length, _ in known if length < 0]
    if missing:
        raise gone(table.table, pinned, f"these of its files were removed: {_shown(missing)}")
    return pinned


def check_readable(spark: SparkSession, name: str, pinned: PinnedVersion) -> None:
    """Check that a version can still be read, and that its files have not changed.

    Raises
    ------
    VersionGoneError
        When files were removed, or the table has no such version any more.
    SourceChangedError
        When files were replaced, or the name is that of another table.
    """
    changed = [state for state in pinned.files if local_state(state[0]) != state]
    missing = [state[0] for state in changed if local_state(state[0]) == (state[0], -1, -1)]
    if missing:
        raise gone(name, pinned, f"these of its files were removed: {_shown(missing)}")
    if changed:
        raise SourceChangedError(
            f"Files of {name!r} ({pinned.description}) were replaced, which the format never does: "
            f"{_shown([state[0] for state in changed])}.\nRestore them, or untrack({name!r})."
        )
    if pinned.files:
        return
    try:
        table = reopened(spark, pinned)
    except (PySparkException, SourceError) as error:
        raise gone(name, pinned, first_line(error)) from error
    if table.identity != pinned.identity:
        raise SourceChangedError(
            f"{pinned.table} is another table than when {name!r} was tracked.\n"
            f"untrack({name!r}), then track what is there."
        )
    table.read(pinned.version)


def reopened(spark: SparkSession, table: PinnedVersion | VersionedTable) -> VersionedTable:
    """Return the table that there is now under the name, or in the folder, of a table."""
    if table.format == "iceberg" and table.table.startswith("iceberg.`"):
        return iceberg_at_path(spark, table.identity)
    if table.format == "iceberg" and reference_of(table.table)[1] is not None:
        if (found := versioned_table(spark, table.table)) is None:
            raise SourceError(f"There is no branch {table.table} any more.")
        return found[0]
    return _OF_NAME[table.format](spark, table.table)


def gone(name: str, pinned: PinnedVersion, reason: str) -> VersionGoneError:
    """Return the error about a version that cannot be read any more."""
    return VersionGoneError(
        f"{name!r} ({pinned.description}) cannot be read any more: {reason}.\n"
        "VACUUM and the expiry of snapshots remove the files of old versions: captures that were "
        "saved still answer. Track a later version, or copy the rows when you track them "
        "(materialize=True)."
    )


def _shown(files: Sequence[str]) -> str:
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return ", ".join(files[:_SHOWN]) + more


def pinned_leaves(spark: SparkSession, frame: DataFrame) -> tuple[list[Leaf], bool]:
    """Return the versions that a frame reads, and whether it is one of them as it is.

    Over Spark Connect a frame is one where it is a table by its name, which is read as it is now.

    Raises
    ------
    SourceError
        When it reads rows of a format in a way that no version stands for.
    """
    if not hasattr(frame, "_jdf"):
        return _over_connect(spark, frame)
    plan = frame._jdf.queryExecution().analyzed()
    leaves = [leaf for node in _leaves(plan) if (leaf := versioned_leaf(spark, node)) is not None]
    return leaves, len(leaves) == 1 and _is_bare(plan)


_READ = re.compile(r"^[\s:+|-]*RelationV2\[[^\]]*\] (\S+)", re.MULTILINE)
"""A table of a connector in the explanation of a plan."""
_JDBC = re.compile(r"\bRelation \[[^\]]*\] (JDBC\w+)")


def _over_connect(spark: SparkSession, frame: DataFrame) -> tuple[list[Leaf], bool]:
    from lipstick.dataframes.messages import relation_of

    read = relation_of(spark, frame).get("read", {}).get("named_table", {})
    name = read.get("unparsed_identifier")
    if name is not None and not read.get("options"):
        found = versioned_table(spark, name)
        if found is not None and found[1] is None:
            return [Leaf(found[0], found[0].current(), pinned=False)], True
    names = dict.fromkeys(_READ.findall(_explained(spark, frame)))
    tables = [found[0] for name in names if (found := versioned_table(spark, name)) is not None]
    return [Leaf(table, table.current(), pinned=False) for table in tables], False


def _explained(spark: SparkSession, frame: DataFrame) -> str:
    from lipstick.dataframes.messages import client_of, plan_of, relation_of

    return str(client_of(spark).explain_string(plan_of(relation_of(spark, frame)), "extended"))


def versioned_leaf(spark: SparkSession, node: Any) -> Leaf | None:
    """Return the version that a leaf of a classic plan reads; None: no format keeps any."""
    return delta_leaf(spark, node) or iceberg_leaf(spark, node)


def _leaves(plan: Any) -> Iterator[Any]:
    for part in (plan, *_elements(plan.subqueriesAll())):
        yield from _elements(part.collectLeaves())


def _elements(values: Any) -> list[Any]:
    return [values.apply(number) for number in range(values.size())]


def _is_bare(plan: Any) -> bool:
    """Return True if a plan has a leaf's columns, as they are, under names at most."""
    names = [str(attribute.exprId()) for attribute in _elements(plan.output())]
    while plan.children().size() == 1:
        if plan.getClass().getSimpleName() not in ("Project", "SubqueryAlias"):
            return False
        plan = plan.children().apply(0)
    if plan.children().size():
        return False
    return names == [str(attribute.exprId()) for attribute in _elements(plan.output())]


def read_anew(frame: DataFrame) -> str | None:
    """Return what a frame reads anew each time it runs, as no format or file does; else None.

    JDBC and most connectors are such: what they return later may be other rows.
    """
    if not hasattr(frame, "_jdf"):
        found = _JDBC.search(_explained(frame.sparkSession, frame))
        return found[1] if found else None
    for leaf in _leaves(frame._jdf.queryExecution().analyzed()):
        kind = leaf.getClass().getSimpleName()
        if kind in ("LogicalRelation", "LogicalRelationWithTable"):
            name = leaf.relation().getClass().getSimpleName()
            if "JDBC" in name:
                return str(name)
        elif kind == "DataSourceV2Relation":
            name = leaf.table().getClass().getSimpleName()
            if "JDBC" in name:
                return str(name)
    return None


def check_plain_files(folders: Iterable[Path]) -> None:
    """Refuse folders that are part of a table with versions: rows in their files may be deleted.

    Raises
    ------
    SourceError
    """
    seen = set[Path]()
    for folder in folders:
        for above in (folder, *folder.parents):
            if above in seen:
                break
            seen.add(above)
            kind = _format_in(str(above))
            if kind is not None:
                raise SourceError(
                    f"{folder} is part of the {FORMAT_NAMES[kind]} table {above}: read as plain "
                    "files they have rows that were deleted, or names of columns that are others "
                    f"now.\nTrack the table: track(..., {str(above)!r}, format={kind!r})."
                )


def folders_of(files: Iterable[FileState]) -> set[Path]:
    """Return the local folders of files."""
    return {path.parent for uri, _, _ in files if (path := local_path(uri)) is not None}
