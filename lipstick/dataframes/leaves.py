"""Relations that a data frame of a classic session reads, found in its plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lipstick.dataframes.jvm import Plan, analysed, elements

if TYPE_CHECKING:
    from lipstick.tracking.tracker import Tracked

_ROWS = (
    "LogicalRelation",
    "LocalRelation",
    "LogicalRDD",
    "HiveTableRelation",
    "DataSourceV2Relation",
)
"""The leaves of plans that have rows of their own."""
_NAMES = ("View", "SubqueryAlias", "Project")
"""Nodes that may pass rows on as they are."""
_CASTS = ("Alias", "Cast", "UpCast")


def plan_leaves(plan: Plan) -> list[Plan]:
    """Return the leaves of an analysed plan, and of its subqueries."""
    leaves = []
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        waiting += elements(node.subqueries())
        below = elements(node.children())
        if not below:
            leaves.append(node)
        waiting += below
    return leaves


def row_leaves(plan: Plan) -> list[Plan]:
    """Return the leaves of a plan that have rows of their own, each relation once."""
    found: list[Plan] = []
    for leaf in plan_leaves(plan):
        has_rows = leaf.getClass().getSimpleName() in _ROWS
        if has_rows and not any(leaf.sameResult(known) for known in found):
            found.append(leaf)
    return found


def only_leaf(plan: Plan) -> Plan | None:
    """Return the leaf whose rows a plan has as they are, under other names; None: it has others."""
    while (kind := plan.getClass().getSimpleName()) in _NAMES:
        if kind == "Project" and not _passes_columns(plan):
            return None
        plan = plan.child()
    return plan if kind in _ROWS else None


def _passes_columns(project: Plan) -> bool:
    """Return True if a projection has all columns of its child, cast to what they are at most."""
    columns = elements(project.child().output())
    items = elements(project.projectList())
    return len(items) == len(columns) and all(map(_is_column, items, columns))


def _is_column(item: Plan, column: Plan) -> bool:
    kind = column.dataType()
    same = item.name() == column.name()
    while item.getClass().getSimpleName() in _CASTS:
        same, item = same and item.dataType().equals(kind), item.child()
    return bool(same and item.semanticEquals(column))


def table_name(leaf: Plan) -> str | None:
    """Return the name of the table of files that a leaf reads; None if it reads no such table."""
    table = _file_table(leaf)
    return None if table is None else str(table.unquotedString())


def table_parts(leaf: Plan) -> tuple[str, ...] | None:
    """Return the parts of the name of the table that a leaf reads; None if it reads no table.

    The catalog is the first of three or more parts, if the leaf has it.
    """
    if leaf.getClass().getSimpleName() == "DataSourceV2Relation":
        return catalog_parts(leaf)
    table = _file_table(leaf)
    return None if table is None else tuple(map(str, elements(table.nameParts())))


def catalog_parts(relation: Plan) -> tuple[str, ...] | None:
    """Return the parts of the name that a relation or stream has in a catalog; None: in none."""
    identifier, catalog = relation.identifier(), relation.catalog()
    if identifier.isEmpty() or catalog.isEmpty():
        return None
    place = identifier.get()
    return (str(catalog.get().name()), *map(str, place.namespace()), str(place.name()))


def _file_table(leaf: Plan) -> Plan | None:
    """Return the identifier of the table of files that a leaf reads; None if there is none."""
    kind = leaf.getClass().getSimpleName()
    if kind == "HiveTableRelation":
        return leaf.tableMeta().identifier()
    if kind == "LogicalRelation" and leaf.catalogTable().isDefined():
        return leaf.catalogTable().get().identifier()
    return None


def file_format(leaf: Plan) -> str | None:
    """Return the format of files that a leaf reads: ``parquet``, or another's class; else None."""
    files = files_of(leaf)
    if files is None:
        return None
    kind = files.fileFormat().getClass().getSimpleName()
    return "parquet" if kind == "ParquetFileFormat" else str(kind)


def files_of(leaf: Plan) -> Plan | None:
    """Return the relation of the files that a leaf reads; None: it reads something else."""
    if leaf.getClass().getSimpleName() != "LogicalRelation":
        return None
    files = leaf.relation()
    return files if files.getClass().getSimpleName() == "HadoopFsRelation" else None


def reads_alike(leaf: Plan, other: Plan) -> bool:
    """Return True if two leaves read the same files alike, however their path was given."""
    first, second = files_of(leaf), files_of(other)
    if first is None or second is None or first.schema().json() != second.schema().json():
        return False
    parts = (
        (files.location(), files.fileFormat().getClass(), files.options().removed("path"))
        for files in (first, second)
    )
    return all(one.equals(two) for one, two in zip(*parts, strict=True))


def is_same_source(leaf: Plan, other: Plan) -> bool:
    """Return True if two leaves read the same rows of one table, or of the same files by path."""
    if leaf.sameResult(other):
        return True
    return reads_alike(leaf, other) and table_name(leaf) == table_name(other)


def relation_of_leaf(leaf: Plan, tracked: Iterable[Tracked]) -> Tracked | None:
    """Return the first relation that has the same source as a leaf; None: there is none."""
    sources = ((each, analysed(each.source.frame)) for each in tracked)
    return next((each for each, plan in sources if is_same_source(leaf, plan)), None)
