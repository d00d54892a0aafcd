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
    return exp.DataType.build(text(document), dialect=SparkSQL)


def cast(value: exp.Expr, to: exp.DataType, *, tried: bool) -> exp.Expr:
    """Return CAST, or TRY_CAST, of a value."""
    return exp.TryCast(this=value, to=to, safe=True) if tried else exp.Cast(this=value, to=to)


def has_required_parts(document: Any) -> bool:
    """Tell whether a type has parts that are never NULL, which CAST cannot say of all of them."""
    if isinstance(document, str):
        return False
    inner = [document.get(name) for name in ("elementType", "keyType", "valueType")]
    parts = [part for part in inner if part is not None]
    parts += [field["type"] for field in document.get("fields", ())]
    never = (document.get("containsNull"), document.get("valueContainsNull"))
    return False in never or any(map(has_required_parts, parts))


def text(document: Any) -> str:
    """Return the type that ``DataType.jsonValue`` describes, as text."""
    if isinstance(document, str):
        if document.startswith(("geography(", "geometry(")):
            kind, _, reference = document.partition("(SRID:")
            return f"{kind.upper()}({reference.rstrip(')').partition(',')[0]})"
        return _NAMES.get(document, document.upper())
    match document["type"]:
        case "array":
            return f"ARRAY<{text(document['elementType'])}>"
        case "map":
            return f"MAP<{text(document['keyType'])}, {text(document['valueType'])}>"
        case "struct":
            return f"STRUCT<{', '.join(map(_field, document['fields']))}>"
    return str(document.get("class") or document["type"])


def _field(field: dict[str, Any]) -> str:
    name = field["name"].replace("`", "``")
    required = "" if field.get("nullable", True) else " NOT NULL"
    return f"`{name}`: {text(field['type'])}{required}"
