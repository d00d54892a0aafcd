"""Names: attribute ids that are unique in a query, and the names of answer columns."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

from rewriter.algebra import Attribute
from rewriter.dialect import SparkSQL

_LONGEST = 40


class AttributeNames:
    """Hands out attribute ids, each once: a readable form of a name, numbered when taken.

    Parameters
    ----------
    reserved
        Names no attribute may have: a lambda's variables would capture a column of that id.
    """

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in reserved}
        self._last: dict[str, int] = {}

    def attribute(self, name: str) -> Attribute:
        """Return a new attribute that the user knows by this name."""
        stem = readable(name)
        number = self._last.get(stem, 0)
        while True:
            number += 1
            candidate = stem if number == 1 else f"{stem}_{number}"
            if candidate not in self._taken:
                break
        self._last[stem] = number
        self._taken.add(candidate)
        return Attribute(candidate, name)

    def reserve(self, names: Iterable[str]) -> None:
        """Keep attributes made from now on from having these names."""
        self._taken.update(name.lower() for name in names)


def readable(name: str) -> str:
    """Return the name in lower case with one underscore for each run of other characters."""
    stem = re.sub(r"[^a-z0-9_]+", "_", name.lower())[:_LONGEST].strip("_")
    if not stem:
        return "column"
    if re.match(r"\d+_", stem):
        # A union's identity columns are called _0_key.
        return f"n{stem}"
    return f"_{stem}" if stem[0].isdigit() else stem


def lambda_variables(node: exp.Expr) -> set[str]:
    """Return the names of the variables of all lambda functions below a node."""
    return {
        variable.name for function in node.find_all(exp.Lambda) for variable in function.expressions
    }


def item_name(item: exp.Expr) -> str:
    """Return the name of a select item: its alias, its column, its field, or else its text."""
    if isinstance(item, exp.Alias):
        return item.alias
    bare = item
    while isinstance(bare, exp.Paren):
        bare = bare.this
    if isinstance(bare, exp.Column):
        return bare.name
    if isinstance(bare, exp.Dot) and isinstance(bare.expression, exp.Identifier):
        return bare.expression.name
    return item.sql(dialect=SparkSQL, normalize_functions=False)
