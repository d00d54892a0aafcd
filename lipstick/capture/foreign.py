"""What no manifest may say: a capture of a stranger's is data, and opening it runs nothing.

The scalars of a manifest become parts of statements that Spark runs. They read rows of the capture
by functions of Spark's, and of those that the session has registered by itself. So four things are
refused: functions that call whatever Java method their arguments name, where they would be called
again; queries inside of scalars, which would read other tables and files; names of blocks that are
paths; and types of values that are of a class (UDT), which PySpark imports, or unpickles, and Java
makes one of, when it reads the schema. A capture of one's own has none of them, but for types that
are Spark's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureDamagedError
from rewriter.algebra import Scalar
from rewriter.blocks import Block, Core, topological

_CALLING = frozenset(["java_method", "reflect", "try_reflect"])
"""Functions that call a Java method by its name."""
_QUERIES = frozenset(["Command", "From", "Select", "SetOperation", "Subquery", "Union"])
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_harmless(path: Path, root: Block, values: str) -> None:
    """Refuse what would do more than read the rows of a capture.

    Parameters
    ----------
    path
        The manifest, for messages.
    values
        Of the capture: ``copy`` or ``reference``.

    Raises
    ------
    CaptureDamagedError
        When the manifest has such a thing.
    """
    for block in topological(root):
        if not _NAME.fullmatch(block.name):
            raise _refused(path, f"a block called {block.name!r}")
        # What was drawn when the capture was written is a member column, and not drawn again.
        drawn = block.core is not None and block.core.once and values == "copy"
        for scalar in _scalars(block, without=block.core if drawn else None):
            what = _more_than_values(scalar)
            if what is not None:
                raise _refused(path, what)


def named_class(document: Any) -> str | None:
    """Return the class that some type in the JSON of a schema names; None: none, but for Spark's.

    To read such a schema runs the code of the class.
    """
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            if value.get("type") == "udt" and not _is_of_spark(value):
                return str(value.get("pyClass") or value.get("class"))
            waiting += value.values()
    return None


def _is_of_spark(udt: dict[str, Any]) -> bool:
    python, java = str(udt.get("pyClass", "pyspark.")), str(udt.get("class", "org.apache.spark."))
    of_spark = python.startswith("pyspark.") and java.startswith("org.apache.spark.")
    return of_spark and "serializedClass" not in udt


def check_types(path: Path, document: Any) -> None:
    """Refuse the JSON of a schema that names classes.

    Raises
    ------
    CaptureDamagedError
        When it does.
    """
    name = named_class(document)
    if name is not None:
        raise _refused(path, f"values of the class {name}, whose code would be run to read them")


def _more_than_values(scalar: Scalar) -> str | None:
    """Return what a scalar does beside computing a value; None: nothing."""
    for node in scalar.walk():
        kind = type(node).__name__
        if kind in _QUERIES:
            return "a query inside of an expression"
        if kind == "Column" and not node.args.get("table"):
            return f"a column {node.name!r} of no row"
        called = any(base.__name__ == "Func" for base in type(node).__mro__)
        if called and node.name.lower() in _CALLING:
            return f"a call of {node.name}, which runs a Java method by its name"
    return None


def _scalars(value: Any, without: Core | None) -> Iterator[Scalar]:
    """Yield the scalars of a part of a block, but for those of other blocks and of a core."""
    if isinstance(value, Scalar):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _scalars(each, without)
    elif is_dataclass(value) and value is not without:
        for each in fields(value):
            inner = getattr(value, each.name)
            if not isinstance(inner, Block):
                yield from _scalars(inner, without)


def _refused(path: Path, what: str) -> CaptureDamagedError:
    return CaptureDamagedError(
        f"{path} has {what}. No capture has that, so this is none, and nothing of it is run.\n"
        "Ask whoever made it for one that lipstick wrote."
    )
