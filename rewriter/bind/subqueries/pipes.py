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
_QUERIES = (exp.Select, exp.SetOperation, Piped)


@dataclass(frozen=True, slots=True)
class _Selects:
    """The SELECTs of the operators so far.

    Attributes
    ----------
    query
        What they are.
    open
        Whether ``query`` is a SELECT of all columns of FROM, with WHERE at most.
    name
        The one qualifier of all columns, where it is open.
    names
        All names that may be qualifiers of its columns, in lower case.
    lost
        Qualifiers that pipe syntax would keep.
    ordered
        Whether the rows have an order that LIMIT goes by.
    """

    query: exp.Query
    open: bool = False
    name: str | None = None
    names: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    ordered: bool = False

    def closed(self, query: exp.Query, *, ordered: bool | None = None) -> _Selects:
        """Return a query to which no clause is added, in the place of these SELECTs."""
        lost = self.lost | self.names
        return _Selects(query, lost=lost, ordered=self.ordered if ordered is None else ordered)

    def derived(self, name: str | None = None) -> _Selects:
        """Return a SELECT of these as a derived table; all of one relation keeps its name."""
        name = self.name if name is None else name
        names = frozenset[str]() if name is None else frozenset({name.lower()})
        lost = (self.lost | self.names) - names
        return _Selects(_all_of(self.query, name), True, name, names, lost, self.ordered)

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
        step = piped.args["step"]
        given = _before_step(self._before(piped.this), step)
        qualifiers = {
            part.name.lower() for column in step.find_all(exp.Column) for part in column.parts[:-1]
        }
        if given is None or qualifiers & given.lost or _is_ordered(piped):
            raise self._refusal(piped)
        after = self._after(given, step)
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
            return _Selects(select, True, _only_name(given), _names(given))
        assert isinstance(given, exp.Query)
        named = given.find_all(exp.Table, exp.TableAlias)
        lost = frozenset(relation.name.lower() for relation in named if relation.name)
        return _Selects(_all_of(self.query(given)), True, lost=lost, ordered=_is_ordered(given))

    def _after(self, given: _Selects, step: exp.Expr) -> _Selects | None:
        """Return the rows of an operator, None where a SELECT has no clause for it."""
        match step:
            case exp.Where():
                given.query.set("where", step)
                return given
            case exp.Join():
                given.query.append("joins", step)
                return replace(given, name=None, names=given.names | _names(step))
            case NameStep():
                return given.derived(step.name)
            case exp.SetOperation():
                step.set("this", given.query)
                step.set("expression", self.query(step.expression))
                return given.closed(step, ordered=False)
            case OrderStep():
                for name, value in step.args.items():
                    given.query.set(name, value)
                return given.closed(given.query, ordered=True)
            case exp.Select():
                return _selected(given, step.expressions, step)
            case ExtendStep():
                return _selected(given, [exp.Star(), *step.expressions])
            case DropStep():
                return _selected(given, [exp.Star(except_=step.expressions)])
            case AggregateStep():
                return _aggregated(given, step)
        return None

    def _refusal(self, piped: Piped) -> UnsupportedError:
        at = self.source.keyword_before(piped.args["step"], "|>") or piped
        problem = "this operator in a subquery that refers to the outer query is not supported"
        return self.source.unsupported(problem, "Write the subquery as a SELECT.", at)


def without_pipes(query: exp.Query, source: Source) -> exp.Query:
    """Return a query with SELECTs in place of pipe syntax, also in its set operations.

    Raises
    ------
    UnsupportedError
        An operator has no place in a SELECT.
    """
    return _Steps(source).query(query)


def _before_step(before: _Selects, step: exp.Expr) -> _Selects | None:
    """Return the SELECT that an operator adds clauses to, None where there is none."""
    if isinstance(step, exp.Where | exp.Join):
        return before.opened(unrestricted=True)
    if isinstance(step, NameStep | exp.SetOperation):
        return before
    if not isinstance(step, OrderStep):
        return before.opened()
    clauses = {name for name, value in step.args.items() if value}
    if not clauses <= _ORDERED:
        return None
    if "order" in clauses or not before.ordered:
        return before.opened()
    # A derived table has no order that LIMIT goes by.
    bounded = any(before.query.args.get(name) for name in _BOUNDS)
    return before if before.query.args.get("order") and not bounded else None


def _selected(
    given: _Selects, items: Sequence[exp.Expr], step: exp.Select | None = None
) -> _Selects:
    given.query.set("expressions", list(items))
    for clause in ("hint", "distinct", "windows"):
        given.query.set(clause, None if step is None else step.args.get(clause))
    return given.closed(given.query)


def _aggregated(given: _Selects, step: AggregateStep) -> _Selects | None:
    """Return the keys, then the aggregates; an integer would be a place among the columns."""
    keys = step.args.get("keys") or []
    bare = [unwrap(key.this if isinstance(key, exp.Alias) else key) for key in keys]
    if any(isinstance(key, exp.Literal) for key in bare):
        return None
    selected = _selected(given, [*keys, *step.expressions])
    if bare:
        selected.query.set("group", exp.Group(expressions=[key.copy() for key in bare]))
    return replace(selected, ordered=False)


def _is_ordered(query: exp.Expr) -> bool:
    return any(query.args.get(clause) for clause in _ORDERED)


def _all_of(query: exp.Query, name: str | None = None) -> exp.Select:
    """Return a SELECT of all columns of a query, under a name."""
    alias = None if name is None else exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    table = exp.Subquery(this=query, alias=alias)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))


def _only_name(given: PipeSource) -> str | None:
    """Return the qualifier of all columns of FROM, None where there may be others."""
    relation = given.args["from_"].this
    if given.args.get("laterals") or relation.args.get("joins") or relation.args.get("pivots"):
        return None
    if isinstance(relation, exp.Table) and not relation.db:
        return str(relation.alias_or_name) or None
    return relation.alias or None if isinstance(relation, exp.Subquery) else None


def _names(node: exp.Expr) -> frozenset[str]:
    """Return the names that may be qualifiers of columns of a text's relations, in lower case."""
    names: list[str] = []
    for part in node.walk(prune=lambda inner: isinstance(inner, _QUERIES)):
        if isinstance(part, exp.Table) and not part.alias:
            names += [part.name, part.db, part.catalog]
        elif isinstance(part, exp.TableAlias):
            names.append(part.name)
    return frozenset(name.lower() for name in names if name)
