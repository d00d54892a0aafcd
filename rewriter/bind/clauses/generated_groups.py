"""A generator in the select list of a grouping: it takes the groups apart, once they are made."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from rewriter.bind.clauses.generators import called_in, makes_map, selected_generator
from rewriter.bind.clauses.groups import is_grouped
from rewriter.bind.columns.names import item_name
from rewriter.bind.columns.stars import is_star
from rewriter.bind.fingerprint import unwrap

_OF_ROWS = ("distinct", "order", "limit", "offset", "qualify")
"""Clauses that read what the generator makes."""


def groups_apart(select: exp.Select) -> tuple[exp.Select, exp.Select] | None:
    """Cut a grouping with a generator in its select list in two.

    Returns
    -------
    The grouping, which has what the generator reads as columns, and the SELECT without FROM that
    reads it; None where there is nothing to cut, or a star hides what there is.
    """
    generators = [item for item in select.expressions if selected_generator(item)]
    if len(generators) != 1 or not is_grouped(select) or any(map(is_star, select.expressions)):
        return None
    cut = _Cut()
    shown = [cut.shown(item) for item in select.expressions]
    groups = select.copy()
    groups.set("expressions", cut.items)
    rows = exp.Select(expressions=shown)
    for clause in _OF_ROWS:
        rows.set(clause, groups.args.pop(clause, None))
    return groups, rows


@dataclass(slots=True)
class _Cut:
    """The columns of the grouping, as they are asked for."""

    items: list[exp.Expr] = field(default_factory=list)

    def shown(self, item: exp.Expr) -> exp.Expr:
        """Return an item of the SELECT that reads the grouping."""
        if not selected_generator(item):
            if isinstance(item, exp.Alias):
                self.items.append(item.copy())
                return exp.column(item.args["alias"].copy())
            if isinstance(item, exp.Column):
                self.items += [] if item in self.items else [item.copy()]
                return item.copy()
            return exp.alias_(self._column(item), item_name(item), quoted=True)
        copy = item.copy()
        self._over_columns(called_in(copy))
        return copy

    def _over_columns(self, call: exp.Expr) -> None:
        """Replace what a call reads by columns; maps are made of columns, which names follow."""
        for argument in list(call.expressions):
            if makes_map(argument):
                self._over_columns(unwrap(argument))
            elif not isinstance(argument, exp.Literal):
                argument.replace(self._column(argument))

    def _column(self, scalar: exp.Expr) -> exp.Column:
        name = f"_{len(self.items)}"
        self.items.append(exp.alias_(scalar.copy(), name, quoted=True))
        return exp.column(name, quoted=True)
