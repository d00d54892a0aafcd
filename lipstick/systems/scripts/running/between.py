"""The calls between a read and a write, by the text: which keep rows one to one and in order."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lipstick.systems.scripts.script_text import Script

_ONE_TO_ONE = frozenset(
    [
        "abs",
        "add",
        "array",
        "asarray",
        "assign",
        "astype",
        "bool",
        "ceil",
        "clip",
        "copy",
        "cos",
        "date",
        "datetime",
        "dict",
        "div",
        "divide",
        "drop",
        "endswith",
        "eq",
        "exp",
        "float",
        "floor",
        "floordiv",
        "format",
        "ge",
        "get",
        "gt",
        "insert",
        "int",
        "isalpha",
        "isdigit",
        "isin",
        "isna",
        "isnull",
        "items",
        "join",
        "le",
        "len",
        "list",
        "log",
        "log10",
        "log1p",
        "log2",
        "lower",
        "lstrip",
        "lt",
        "map",
        "mod",
        "mul",
        "multiply",
        "ne",
        "notna",
        "notnull",
        "pad",
        "pow",
        "print",
        "radd",
        "range",
        "rdiv",
        "rename",
        "replace",
        "rmul",
        "round",
        "rsub",
        "rstrip",
        "set",
        "set_axis",
        "sin",
        "sqrt",
        "square",
        "startswith",
        "str",
        "strftime",
        "strip",
        "sub",
        "subtract",
        "tan",
        "title",
        "to_datetime",
        "to_frame",
        "to_numeric",
        "to_numpy",
        "to_timedelta",
        "tolist",
        "truediv",
        "tuple",
        "upper",
        "where",
        "mask",
        "zfill",
        "zip",
        "DataFrame",
        "Series",
        "Path",
        "open",
        "add_prefix",
        "add_suffix",
        "set_option",
        "exit",
        "extract",
        "contains",
        "fillna",
        "between",
        "flush",
        "close",
        "getOrCreate",
        "appName",
        "master",
        "toPandas",
        "collect",
        "head",
        "first",
    ]
)
"""Calls that make one row of each row they are given, in the same order, each by itself."""

_REORDERING = frozenset(
    [
        "sort_values",
        "sort_index",
        "sample",
        "reset_index",
        "set_index",
        "take",
        "iloc",
        "reindex",
        "argsort",
        "nlargest",
        "nsmallest",
        "shuffle",
        "permutation",
        "sorted",
        "reversed",
        "sort",
        "flip",
        "drop_duplicates",
        "dropna",
        "query",
        "concat",
        "loc",
        "filter",
        "explode",
        "nonzero",
    ]
)
"""Calls that only choose and move rows."""

_KEYED = frozenset(
    [
        "groupby",
        "agg",
        "aggregate",
        "sum",
        "mean",
        "min",
        "max",
        "count",
        "size",
        "median",
        "std",
        "var",
        "nunique",
        "merge",
        "join",
        "value_counts",
        "pivot_table",
        "pivot",
        "unstack",
        "first",
        "last",
        "prod",
    ]
)
"""Calls by groups and keys, whose values identify the rows."""

_FILES = re.compile(r"(read|to)_\w+")


@dataclass(frozen=True, slots=True)
class Between:
    """The calls between two events that are not one to one.

    Attributes
    ----------
    moving
        Calls that choose or move rows.
    mixing
        Calls that make a row of further rows.
    """

    moving: tuple[str, ...] = ()
    mixing: tuple[str, ...] = ()

    @property
    def in_order(self) -> bool:
        """Return True if the later event has the rows of the earlier one, in the same order."""
        return not self.moving and not self.mixing


def calls_between(script: Script, lines: Collection[tuple[str, int]]) -> Between:
    """Sort the calls that stand in some lines. O(text)."""
    defined: set[str] = set()
    names: dict[str, None] = {}
    for file in script.files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                defined.add(node.name)
            if isinstance(node, ast.expr) and (file.name, node.lineno) in lines:
                names.update(dict.fromkeys(_names(node)))
    called = [name for name in names if name not in defined and not _FILES.fullmatch(name)]
    keyed = any(name in names for name in ("groupby", "merge", "join", "pivot_table", "pivot"))
    moving = [name for name in called if name in _REORDERING or (keyed and name in _KEYED)]
    known = _ONE_TO_ONE | _REORDERING | (_KEYED if keyed else frozenset())
    return Between(tuple(moving), tuple(name for name in called if name not in known))


def _names(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            yield name
        case ast.Call(func=ast.Name(id=name)):
            yield name
        case ast.Call():
            yield ast.unparse(node.func)[:20]
        case ast.Attribute(attr="iloc" | "loc" as name, ctx=ast.Load()):
            yield name
        case ast.Subscript(slice=ast.Slice(step=ast.expr())):
            yield "iloc"
        case _:
            pass
