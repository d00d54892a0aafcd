"""Plans of Spark Connect at one time: Spark reads the clock for each that it explains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lipstick.dataframes.messages import Message
from rewriter.dialect import SparkSQL, emit, parse
from rewriter.dialect.volatile import volatile_calls, with_literals
from rewriter.errors import QueryError

_TIME = {
    "CAST(current_date() AS STRING)": "2009-02-13",
    "CAST(current_time() AS STRING)": "23:31:30.123456",
    "CAST(localtimestamp() AS STRING)": "2009-02-13 23:31:30.123456",
    "CAST(unix_timestamp() AS STRING)": "1234567890",
}
"""What Spark is asked for to know the time, and what it is here; of all others the last."""
_MOMENT = "2009-02-13T23:31:30.123456Z"
_CALLS = ("unresolved_function", "call_function")


def reads_clock(value: Any) -> bool:
    """Tell whether a plan calls a function of the time of the query."""
    if isinstance(value, list):
        return any(map(reads_clock, value))
    if not isinstance(value, dict):
        return False
    return _call(value) is not None or any(map(reads_clock, value.values()))


def at_one_time(relation: Message, names: Sequence[str] | None) -> Message:
    """Return a relation with literals in place of the time, its columns under the names given.

    ``names`` is None for a relation that does not read the clock, which is returned as it is.
    """
    if names is None:
        return relation
    renamed = {"input": _stopped(relation), "column_names": list(names)}
    return {"common": dict(relation["common"], plan_id="0"), "to_df": renamed}


def _stopped(value: Any) -> Any:
    if isinstance(value, list):
        return [_stopped(part) for part in value]
    if not isinstance(value, dict):
        return value
    called = _call(value)
    if called is not None:
        return {"expression_string": {"expression": called}}
    if "query" in value and isinstance(value["query"], str):
        query = parse(value["query"])
        return {**value, "query": emit(with_literals(query, _values(volatile_calls(query))))}
    return {key: _stopped(part) for key, part in value.items()}


def _values(calls: dict[str, str]) -> dict[str, str]:
    return {name: _TIME.get(text, _MOMENT) for name, text in calls.items()}


def _call(value: Message) -> str | None:
    """Return the text of an expression that reads the clock, with a literal time; else None."""
    text = None
    for kind in _CALLS:
        message = value.get(kind)
        if isinstance(message, dict) and not message.get("arguments"):
            text = f"{message.get('function_name')}()"
    if isinstance(value.get("expression_string"), dict):
        text = value["expression_string"]["expression"]
    if text is None:
        return None
    try:
        query = parse(f"SELECT {text}")
        calls = volatile_calls(query)
    except QueryError:
        return None
    if not calls:
        return None
    (item,) = with_literals(query, _values(calls)).expressions
    return str(item.unalias().sql(dialect=SparkSQL))
