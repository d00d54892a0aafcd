"""Window functions of a SELECT: the WINDOW clause, and the operator that computes them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from sqlglot import exp

from rewriter.algebra import Attribute, Relation, Scalar, Windows
from rewriter.bind.context import BindContext
from rewriter.bind.fingerprint import fingerprint
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import Source
from rewriter.scalars.windows import function_name


def with_named_windows(select: exp.Select, source: Source) -> exp.Select:
    """Return a SELECT in which the windows of its WINDOW clause stand where they are named.

    Raises
    ------
    QueryError
        For the name of a window that the clause does not define.
    """
    if not _own_windows(select):
        return select
    select = select.copy()
    defined = {window.name.lower(): window for window in select.args.get("windows") or []}
    select.set("windows", None)
    for window in _own_windows(select):
        _resolve(window, defined, source)
    return select


def _own_windows(select: exp.Select) -> list[exp.Window]:
    """Return the window functions of a SELECT, not those of queries inside it."""
    parts = select.walk(prune=lambda part: part is not select and isinstance(part, exp.Query))
    return [part for part in parts if isinstance(part, exp.Window)]


def _resolve(window: exp.Window, defined: Mapping[str, exp.Window], source: Source) -> None:
    for _ in range(len(defined) + 1):
        name = window.args.get("alias")
        if name is None:
            return
        known = defined.get(name.name.lower())
        if known is None:
            break
        for key in ("partition_by", "order", "spec", "alias"):
            part = known.args.get(key)
            copy = (
                [node.copy() for node in part] if isinstance(part, list) else part and part.copy()
            )
            window.set(key, copy)
    advice = "Define it in the WINDOW clause."
    raise source.error(f"window {window.args['alias'].name} is not known", advice, window)


class Windowing:
    """The window functions of one SELECT, found while its expressions are rewritten."""

    def __init__(self, context: BindContext, subqueries: Subqueries) -> None:
        self._context = context
        self._subqueries = subqueries
        self._known: dict[Hashable, tuple[Attribute, Scalar]] = {}

    def over(self, scalar: Scalar) -> Scalar:
        """Return an expression with attributes in the place of its window functions."""

        def replaced(node: exp.Expr) -> exp.Expr:
            return self._attribute(node).column() if isinstance(node, exp.Window) else node

        result: Scalar = scalar.copy().transform(replaced, copy=False)
        return result

    def relation(self, source: Relation) -> Relation:
        """Return the input with the window functions, once all expressions are known."""
        if not self._known:
            return source
        calls = [call for _, call in self._known.values()]
        source, attached = self._subqueries.attach(source, calls)
        output = tuple(attribute for attribute, _ in self._known.values())
        span = self._context.source.keyword_after(calls[0].this, "OVER")
        return Windows(source, output, attached, span)

    def _attribute(self, window: exp.Window) -> Attribute:
        known = fingerprint(window)
        if known not in self._known:
            attribute = self._context.names.attribute(function_name(window))
            self._known[known] = (attribute, window.copy())
        return self._known[known][0]
