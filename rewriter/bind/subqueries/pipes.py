"""Pipe syntax as nested SELECTs, for subqueries that refer to the outer query.

Operators that a SELECT has clauses for are put into one, in the order in which it applies them;
else the SELECT so far becomes a derived table. Qualifiers do not reach into a derived table: an
operator that uses one which pipe syntax would keep is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.bind.fingerprint import unwrap
from rewriter.bind.text import Source
from rewriter.dialect import (
    AggregateStep,
    DropStep,
    ExtendStep,
    NameStep,
    OrderStep,
    Piped,
    PipeSource,
)
from rewriter.errors import UnsupportedError

_BOUNDS = frozenset({"limit", "offset"})
_ORDERED = _BOUNDS | {"order"}


@dataclass(frozen=True, slots=True)
class _Selects:
    """The SELECTs of the operators so far.

    Attributes
    ----------
    query
        What they are.
    open
        Whether ``query`` is a SELECT of all columns of FROM, with WHERE at most.
    names
        The qualifiers that may stand before its columns where it is open, in lower case.
    lost
        Qualifiers that pipe syntax would keep.
    ordered
        Whether the rows have an order that LIMIT goes by.
    """

    query: exp.Query
    open: bool = False
    names: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    ordered: bool = False

    def closed(self, query: exp.Query, *, ordered: bool | None = None) -> _Selects:
        """Return a query to which no clause is added, in the place of these SELECTs."""
        lost = self.lost | self.names
        return _Selects(query, lost=lost, ordered=self.ordered if ordered is None else ordered)

    def derived(self, name: str | None = None) -> _Selects:
        """Return a SELECT of these as a derived table; all of one relation keeps its name."""
        lost = self.lost | self.names
        if name is None and self.open and len(self.names) == 1:
            [name] = self.names
            lost = self.lost
        names = frozenset[str]() if name is None else frozenset({name.lower()})
        return _Selects(_all_of(self.query, name), True, names, lost - names, self.ordered)

    def opened(self, *, unrestricted: bool = False) -> _Selects:
        """Return a SELECT of all columns; ``unrestricted``: without WHERE."""
        restricted = unrestricted and self.query.args.get("where") is not None
        return self if self.open and not restricted else self.derived()


@dataclass(frozen=True, slots=True)
class _Steps:
    """The operators of a text, one after the other."""

    source: Source

    def selects(self, piped: Piped) -> _Selects:
        """Return the SELECTs of an operator and those before it."""
        before, step = self._before(piped.this), piped.args["step"]
        qualifiers = {
            part.name.lower() for column in step.find_all(exp.Column) for part in column.parts[:-1]
        }
        if qualifiers & before.lost or any(piped.args.get(clause) for clause in _ORDERED):
            raise self._refusal(piped)
        after = self._after(before, step)
        if after is None:
            raise self._refusal(piped)
        if piped.args.get("with_"):
            after.query.set("with_", piped.args["with_"])
        return after

    def query(self, query: exp.Query) -> exp.Query:
        """Return a query with SELECTs in place of its own pipe syntax."""
        if isinstance(query, Piped):
            return self.selects(query).query
        sides = ("this", "expression") if isinstance(query, exp.SetOperation) else ("this",)
        for side in sides if not isinstance(query, exp.Select) else ():
            if isinstance(query.args.get(side), exp.Query):
                query.set(side, self.query(query.args[side]))
        return query

    def _before(self, given: exp.Expr) -> _Selects:
        """Return the rows of FROM, of a query, or of the operators before."""
        if isinstance(given, Piped):
            return self.selects(given)
        if isinstance(given, PipeSource):
            select = exp.Select(expressions=[exp.Star()], from_=given.args["from_"])
            select.set("laterals", given.args.get("laterals"))
            return _Selects(select, True, _names(given))
        assert isinstance(given, exp.Query)
        ordered = any(given.args.get(clause) for clause in _ORDERED)
        query = _all_of(self.query(given))
        return _Selects(query, True, lost=_names(given), ordered=ordered)

    def _after(self, before: _Selects, step: exp.Expr) -> _Selects | None:
        """Return the rows of an operator, None where a SELECT has no clause for it."""
        match step:
            case exp.Where():
                given = before.opened(unrestricted=True)
                given.query.set("where", step)
                return given
            case exp.Join():
                given = before.opened(unrestricted=True)
                given.query.append("joins", step)
                return replace(given, names=given.names | _names(step))
            case NameStep():
                return before.derived(step.name)
            case exp.SetOperation():
                step.set("this", before.query)
                step.set("expression", self.query(step.expression))
                return before.closed(step, ordered=False)
            case OrderStep():
                return _ordered(before, step)
            case exp.Select():
                return _selected(before, step.expressions, step)
            case ExtendStep():
                return _selected(before, [exp.Star(), *step.expressions])
            case DropStep():
                return _selected(before, [exp.Star(except_=step.expressions)])
            case AggregateStep():
                return _aggregated(before, step)
        return None

    def _refusal(self, piped: Piped) -> UnsupportedError:
        place = self.source.keyword_before(piped.args["step"], "|>") or piped
        problem = "this operator in a subquery that refers to the outer query is not supported"
        return self.source.unsupported(problem, "Write the subquery as a SELECT.", place)


def without_pipes(query: exp.Query, source: Source) -> exp.Query:
    """Return a query with SELECTs in place of its own pipe syntax, and that of its set operations.

    Raises
    ------
    UnsupportedError
        An operator has no place in a SELECT.
    """
    return _Steps(source).query(query)


def _selected(
    before: _Selects, items: Sequence[exp.Expr], step: exp.Select | None = None
) -> _Selects:
    given = before.opened()
    given.query.set("expressions", list(items))
    for clause in ("hint", "distinct", "windows"):
        given.query.set(clause, None if step is None else step.args.get(clause))
    return given.closed(given.query)


def _aggregated(before: _Selects, step: AggregateStep) -> _Selects | None:
    """Return the keys, then the aggregates; an integer would be a place among the columns."""
    keys = step.args.get("keys") or []
    bare = [unwrap(key.this if isinstance(key, exp.Alias) else key) for key in keys]
    if any(isinstance(key, exp.Literal) for key in bare):
        return None
    given = _selected(before, [*keys, *step.expressions])
    if bare:
        given.query.set("group", exp.Group(expressions=[key.copy() for key in bare]))
    return replace(given, ordered=False)


def _ordered(before: _Selects, step: OrderStep) -> _Selects | None:
    """Return the rows in an order, or the first of them."""
    clauses = {name for name, value in step.args.items() if value}
    if not clauses <= _ORDERED:
        return None
    given = before
    if "order" in clauses or not before.ordered:
        given = before.opened()
    elif not before.query.args.get("order") or any(before.query.args.get(one) for one in _BOUNDS):
        return None  # a derived table has no order that LIMIT goes by
    for name in clauses:
        given.query.set(name, step.args[name])
    return given.closed(given.query, ordered=True)


def _all_of(query: exp.Query, name: str | None = None) -> exp.Select:
    """Return a SELECT of all columns of a query, under a name."""
    alias = None if name is None else exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    table = exp.Subquery(this=query, alias=alias)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))


def _names(node: exp.Expr) -> frozenset[str]:
    """Return the names of relations that stand in a text, in lower case."""
    named = node.find_all(exp.Table, exp.TableAlias)
    names = {one.name.lower() for one in named}
    return frozenset(names - {""})
