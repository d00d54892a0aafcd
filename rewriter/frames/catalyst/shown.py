"""Parts of expressions that Spark's JSON of a plan leaves out, read from the expressions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from rewriter.frames.catalyst.calls import has_own_class
from rewriter.frames.catalyst.scalars import has_rule
from rewriter.frames.catalyst.tree import class_name
from rewriter.frames.writing.literals import has_text

_OF_SEVERAL = (
    "ansiEnabled",
    "evalContext",
    "evalMode",
    "failOnError",
    "funcName",
    "prettyName",
    "reverse",
)
"""Parameters of classes that several functions share."""
_NO_FUNCTIONS = frozenset(
    [
        "CurrentRow",
        "ListQuery",
        "SortOrder",
        "SpecifiedWindowFrame",
        "UnboundedFollowing",
        "UnboundedPreceding",
        "UnspecifiedFrame",
        "WindowSpecDefinition",
        "WithField",
    ]
)


class Hidden(Enum):
    """Methods of an expression whose results become its parameter ``shown``."""

    ESCAPE = "the escape character of LIKE"
    EVALUATION = "how a cast is evaluated: ANSI, LEGACY or TRY"
    FIELD = "the name of the field that is taken of a struct"
    FIELDS = "the tree of the struct that changes of fields make"
    NAME = "the name of the function"
    OPTIONS = "options by name"
    TEXT = "the text of a literal"


def hidden(fields: Mapping[str, Any]) -> Hidden | None:
    """Return what the JSON of an expression leaves out; None if it has all that is needed."""
    kind = class_name(fields["class"])
    if kind == "Literal":
        plain = fields.get("value") is None or has_text(fields["dataType"])
        return None if plain else Hidden.TEXT
    if kind == "UpdateFields":
        return Hidden.FIELDS
    if kind == "GetStructField":
        return None if fields.get("name") else Hidden.FIELD
    if kind == "Cast":
        return Hidden.EVALUATION if fields.get("evalMode", "") is None else None
    if "options" in fields:
        return Hidden.OPTIONS
    if "escapeChar" in fields:
        return Hidden.ESCAPE
    if has_rule(kind) or kind in _NO_FUNCTIONS:
        return None
    shared = any(name in fields for name in _OF_SEVERAL)
    return Hidden.NAME if shared or not has_own_class(kind) else None
