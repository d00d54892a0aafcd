"""Expressions that mean what the columns below them are, written out as Spark has them.

``withField`` and ``dropFields`` become the struct that they make, field by field, and ``colRegex``
the columns that it chooses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from rewriter.dialect import name_parts

Message: TypeAlias = Mapping[str, Any]
SchemaOf: TypeAlias = Callable[[Message], Sequence[tuple[str, Any]]]
"""Return the columns of a relation: their names, and their types as Spark's JSON has them."""


def written_out(value: Any, schema_of: SchemaOf, rows: Message | None = None) -> Any:
    """Return a plan without such expressions, as far as they are over one relation.

    Parameters
    ----------
    rows
        The relation that expressions here are over; None: there are several, or none.
    """
    if isinstance(value, list):
        chosen = (part for each in value for part in _chosen(each, schema_of, rows))
        return [written_out(part, schema_of, rows) for part in chosen]
    if not isinstance(value, dict) or "tracked" in value:
        return value
    if "update_fields" in value and rows is not None:
        value = _updated(value["update_fields"], schema_of, rows)
    inputs = [part.get("input") for part in value.values() if isinstance(part, dict)]
    rows = next((each for each in inputs if isinstance(each, dict)), rows)
    return {key: written_out(part, schema_of, rows) for key, part in value.items()}


def _chosen(part: Any, schema_of: SchemaOf, rows: Message | None) -> list[Any]:
    """Return the columns that a regular expression chooses; another part as it is."""
    regex = part.get("unresolved_regex") if isinstance(part, dict) else None
    if regex is None or rows is None:
        return [part]
    pattern = re.compile(regex["col_name"].strip("`"), re.IGNORECASE)
    names = [name for name, _ in schema_of(rows) if pattern.fullmatch(name)]
    quoted = ["`" + name.replace("`", "``") + "`" for name in names]
    return [{"unresolved_attribute": {"unparsed_identifier": name}} for name in quoted]


def _updated(update: Message, schema_of: SchemaOf, rows: Message) -> Message:
    """Return the struct that changes of fields make, one after the other."""
    changes = [update]
    while (inner := changes[-1]["struct_expression"].get("update_fields")) is not None:
        changes.append(inner)
    base = changes[-1]["struct_expression"]
    [(_, kind)] = schema_of({"project": {"input": rows, "expressions": [base]}, "common": {}})
    paths = [(name_parts(each["field_name"]), each.get("value_expression")) for each in changes]
    return _struct(base, kind, paths[::-1])


_Changes: TypeAlias = Sequence[tuple[Sequence[str], Message | None]]
"""Paths of fields with their new values, None where they are dropped; one after the other."""


def _struct(base: Message, kind: Any, changes: _Changes) -> Message:
    """Return a struct with other fields; NULL where it is NULL."""
    fields: list[tuple[str, Any, Message, _Changes]] = [
        (field["name"], field["type"], _field(base, field["name"]), ()) for field in kind["fields"]
    ]
    for (name, *deeper), value in changes:
        places = [n for n, (own, *_) in enumerate(fields) if own.lower() == name.lower()]
        for place in reversed(places):
            own, type_, before, inside = fields[place]
            if deeper:
                fields[place] = (own, type_, before, (*inside, (deeper, value)))
            elif value is None:
                del fields[place]
            else:
                fields[place] = (name, type_, value, ())
        if not places and value is not None:
            fields.append((name, None, value, ()))
    parts = [
        part
        for name, type_, value, inside in fields
        for part in (_text(name), _struct(value, type_, inside) if inside else value)
    ]
    null: Message = {"literal": {"null": {}}}
    return _call("if", _call("isNull", base), null, _call("named_struct", *parts))


def _field(struct: Message, name: str) -> Message:
    return {"unresolved_extract_value": {"child": struct, "extraction": _text(name)}}


def _text(value: str) -> Message:
    return {"literal": {"string": value}}


def _call(name: str, *arguments: Message) -> Message:
    return {"unresolved_function": {"function_name": name, "arguments": list(arguments)}}
