"""Types as Spark writes them in JSON, as types of Spark SQL."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from rewriter.dialect import SparkSQL

_NAMES = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
}


def sql_type(document: Any) -> exp.DataType:
    """Return the type that ``DataType.jsonValue`` describes."""
    return exp.DataType.build(_text(document), dialect=SparkSQL)


def cast(value: exp.Expr, to: exp.DataType, *, tried: bool) -> exp.Expr:
    """Return CAST, or TRY_CAST, of a value."""
    return exp.TryCast(this=value, to=to, safe=True) if tried else exp.Cast(this=value, to=to)


def _text(document: Any) -> str:
    if isinstance(document, str):
        return _NAMES.get(document, document.upper())
    match document["type"]:
        case "array":
            return f"ARRAY<{_text(document['elementType'])}>"
        case "map":
            return f"MAP<{_text(document['keyType'])}, {_text(document['valueType'])}>"
        case "struct":
            return f"STRUCT<{', '.join(map(_field, document['fields']))}>"
    return str(document.get("class") or document["type"])


def _field(field: dict[str, Any]) -> str:
    name = field["name"].replace("`", "``")
    required = "" if field.get("nullable", True) else " NOT NULL"
    return f"`{name}`: {_text(field['type'])}{required}"
