"""Increments of incremental models as queries: the merge into the model's table."""

from __future__ import annotations

from collections.abc import Sequence

from lipstick.systems.dbt.manifest import DbtNode


def merge_problem(node: DbtNode) -> str | None:
    """Return the reason why a model's increments cannot be followed, or None."""
    if node.materialized != "incremental":
        return f"it is materialized as {node.materialized}"
    strategy = _strategy(node)
    if strategy not in ("append", "merge", "delete+insert", "insert_overwrite"):
        return f"its incremental_strategy is {strategy}"
    if strategy == "delete+insert" and not key_columns(node):
        return "it has no unique_key"
    if node.config.get("incremental_predicates"):
        return "it has incremental_predicates"
    if node.config.get("on_schema_change") not in (None, "ignore", "fail"):
        return f"its on_schema_change is {node.config['on_schema_change']}"
    return None


def merged(node: DbtNode, before: str, increment: str, columns: Sequence[str]) -> str:
    """Return the query of a table after an increment was merged into it.

    Parameters
    ----------
    before, increment
        The names of the table before, and of the query of the increment.
    columns
        The columns of the table.
    """
    items = ", ".join(column if column == "*" else f"`{column}`" for column in columns)
    strategy, new = _strategy(node), f"SELECT {items} FROM `{increment}`"
    key = key_columns(node, "partition_by" if strategy == "insert_overwrite" else "unique_key")
    if strategy == "insert_overwrite" and not key:
        return new
    old = f"SELECT {items} FROM `{before}` AS old"
    if strategy == "append" or not key:
        return f"{old}\nUNION ALL {new}"
    # A key that is NULL matches nothing; a partition that is NULL is a partition.
    equal = "<=>" if strategy == "insert_overwrite" else "="
    same = " AND ".join(f"new.`{name}` {equal} old.`{name}`" for name in key)
    old += f"\nWHERE NOT EXISTS (SELECT 1 FROM `{increment}` AS new WHERE {same})"
    if strategy != "merge" or (updated := _updated(node, columns)) is None:
        return f"{old}\nUNION ALL {new}"
    new += f" AS new\nWHERE NOT EXISTS (SELECT 1 FROM `{before}` AS old WHERE {same})"
    both = ", ".join(
        f"{'new' if name.lower() in updated else 'old'}.`{name}` AS `{name}`" for name in columns
    )
    matched = f"SELECT {both} FROM `{before}` AS old JOIN `{increment}` AS new ON {same}"
    return f"{old}\nUNION ALL {new}\nUNION ALL {matched}"


def _updated(node: DbtNode, columns: Sequence[str]) -> set[str] | None:
    """Return the columns that a merge updates in existing rows; None: all."""
    options = ("merge_update_columns", "merge_exclude_columns")
    updated, kept = ({name.lower() for name in key_columns(node, each)} for each in options)
    return updated or ({name.lower() for name in columns} - kept if kept else None)


def _strategy(node: DbtNode) -> str:
    return str(node.config.get("incremental_strategy") or "append")


def key_columns(node: DbtNode, option: str = "unique_key") -> list[str]:
    """Return the columns named by an option of a node's configuration."""
    given = node.config.get(option) or []
    return [given] if isinstance(given, str) else list(given)
