"""Samples over Spark Connect that no TABLESAMPLE says, as filters by the numbers they draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from lipstick.dataframes.messages import Message
from rewriter.frames.connect_plan import is_local_sort
from rewriter.frames.writing.rows import condition, is_percentage
from rewriter.frames.writing.selects import unsupported

_WITHOUT_ORDER = ("interval", "map", "variant")

Schema = Callable[[Message], Sequence[tuple[str, Any]]]


def with_filters(value: Any, schema_of: Schema) -> Any:
    """Return a plan without such samples. What tracked relations are made of is kept.

    Raises
    ------
    UnsupportedError
        ``randomSplit`` of several columns of one name.
    """
    if isinstance(value, list):
        return [with_filters(part, schema_of) for part in value]
    if not isinstance(value, dict) or "tracked" in value:
        return value
    value = {key: with_filters(part, schema_of) for key, part in value.items()}
    sample = value.get("sample")
    if "common" not in value or not sample or sample.get("with_replacement"):
        return value
    bounds = float(sample.get("lower_bound", 0)), float(sample["upper_bound"])
    seed, rows = int(sample["seed"]), sample["input"]
    if sample.get("deterministic_order"):
        rows = _sorted(rows, schema_of(rows))
    elif is_percentage(bounds, seed) and not is_local_sort(rows):
        return value
    text = {"expression_string": {"expression": condition(bounds, seed)}}
    return {"common": value["common"], "filter": {"input": rows, "condition": text}}


def _sorted(rows: Message, schema: Sequence[tuple[str, Any]]) -> Message:
    """Return rows as ``randomSplit`` sorts them in each task: by all columns with an order."""
    taken = Counter(name.lower() for name, _ in schema)
    if max(taken.values(), default=0) > 1:
        raise unsupported(
            "randomSplit() of several columns of one name has no rule",
            "Give them names of their own.",
        )
    order = [
        {
            "child": {"unresolved_attribute": {"unparsed_identifier": _quoted(name)}},
            "direction": "SORT_DIRECTION_ASCENDING",
            "null_ordering": "SORT_NULLS_FIRST",
        }
        for name, kind in schema
        if _has_order(kind)
    ]
    return {"common": {}, "sort": {"input": rows, "order": order, "is_global": False}}


def _has_order(kind: Any) -> bool:
    """Tell whether Spark sorts by a type, as ``DataType.jsonValue`` has it."""
    if not isinstance(kind, dict):
        return kind not in _WITHOUT_ORDER
    if kind["type"] == "struct":
        return all(_has_order(field["type"]) for field in kind["fields"])
    if kind["type"] == "array":
        return _has_order(kind["elementType"])
    return kind["type"] not in _WITHOUT_ORDER


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
