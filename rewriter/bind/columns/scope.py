"""Scopes: Spark's rules for the columns that a name can refer to.

Every attribute has an id that is unique in the query; answer columns have the user's names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Attribute, OuterRow, Relation, Scalar, references
from rewriter.bind.text import SourceText
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


Parts = tuple[exp.Identifier, ...]
"""A name as written, ``a.b.c``: qualifiers, a column, and fields of it, not yet distinguished."""

Lookup = Callable[[Parts, bool], Scalar | None]
"""Finds the meaning of a name; the flag is true inside the argument of an aggregate."""


CARRIED = "outer row"
"""The qualifier under which items that only pass on outer values refer to them."""


class AmbiguousError(Exception):
    """A name that several columns have."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A column in scope.

    ``qualifier`` are the name parts that may stand before ``name``. A hidden column is found by
    its qualified name alone: the right side's key of a USING join. Columns of the same ``origin``
    are one column selected twice, which makes no name ambiguous.
    """

    attribute: Attribute
    name: str
    qualifier: tuple[str, ...] = ()
    hidden: bool = False
    origin: str = ""

    def named(self, name: str) -> bool:
        """Return True if the column has this name."""
        return self.name.lower() == name.lower()

    def qualified(self, qualifier: Sequence[str]) -> bool:
        """Return True if these parts may stand before the column's name."""
        size = len(qualifier)
        tail = [part.lower() for part in self.qualifier[len(self.qualifier) - size :]]
        return 0 < size <= len(self.qualifier) and tail == [part.lower() for part in qualifier]


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns of a FROM clause, or of an answer, in order."""

    entries: tuple[Entry, ...] = ()

    def __add__(self, other: Scope) -> Scope:
        return Scope(self.entries + other.entries)

    def over(self, attributes: Sequence[Attribute]) -> Scope:
        """Return the same columns, one for one, as these attributes."""
        pairs = zip(self.entries, attributes, strict=True)
        return Scope(tuple(replace(entry, attribute=attribute) for entry, attribute in pairs))

    @property
    def visible(self) -> tuple[Entry, ...]:
        """The columns that ``*`` means."""
        return tuple(entry for entry in self.entries if not entry.hidden)

    def qualified(self, qualifier: Sequence[str]) -> tuple[Entry, ...]:
        """Return the columns that ``qualifier.*`` means, hidden ones first as in Spark."""
        columns = [entry for entry in self.entries if entry.qualified(qualifier)]
        return tuple(sorted(columns, key=lambda entry: not entry.hidden))

    def renamed(self, qualifier: tuple[str, ...], names: Sequence[str] | None = None) -> Scope:
        """Return the visible columns under a table alias and, where given, new names."""
        visible = self.visible
        chosen = names if names is not None else [entry.name for entry in visible]
        return Scope(
            tuple(
                replace(entry, qualifier=qualifier, name=name)
                for entry, name in zip(visible, chosen, strict=True)
            )
        )

    def resolve(self, names: Sequence[str]) -> tuple[Entry, int] | None:
        """Return the column that a name means, and how many of its parts name the column.

        The longest qualifier that fits wins: in ``a.b`` a table ``a`` goes before a struct ``a``.

        Raises
        ------
        AmbiguousError
            Several columns fit equally well.
        """
        for size in range(min(len(names) - 1, 3), -1, -1):
            entry = _only(self._candidates(names[:size], names[size]))
            if entry is not None:
                return entry, size + 1
        return None

    def lookup(self, source: SourceText) -> Lookup:
        """Return this scope as a step of resolution."""

        def find(parts: Parts, inside: bool) -> Scalar | None:
            try:
                resolved = self.resolve([part.name for part in parts])
            except AmbiguousError:
                name = ".".join(part.name for part in parts)
                advice = "Qualify it with the name of its relation."
                raise source.error(f"column {name} is ambiguous", advice, parts[0]) from None
            if resolved is None:
                return None
            entry, used = resolved
            return with_fields(entry.attribute.column(), parts[used:])

        return find

    def _candidates(self, qualifier: Sequence[str], name: str) -> list[Entry]:
        named = [entry for entry in self.entries if entry.named(name)]
        if qualifier:
            return [entry for entry in named if entry.qualified(qualifier)]
        return [entry for entry in named if not entry.hidden]


@dataclass(frozen=True, slots=True)
class Outer:
    """The columns of the query around a subquery, and whether they may be used here.

    Parameters
    ----------
    referred
        Takes up the ids of the columns that are used.
    refusal
        The clause in which a reference to them would stand, if that has no rule.
    row
        The relation with these columns, if the subquery's FROM is joined with it.
    around
        The columns of the query around that one: other names refer to these.
    groups
        True if the subquery stands in HAVING, and may read aggregates of its group.
    """

    scope: Scope
    referred: set[str]
    refusal: str | None = None
    row: OuterRow | None = None
    around: Outer | None = None
    groups: bool = False

    def refused(self, clause: str) -> Outer:
        """Return the same columns for a place where they may not be used."""
        return self if self.refusal else replace(self, refusal=clause, row=None)

    def beyond(self, clause: str) -> Outer:
        """Return the same columns for a place where they may be used if FROM has them."""
        return self if self.row is not None else self.refused(clause)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the outer queries' columns."""
        return frozenset(e.attribute.id for scope in self.scopes for e in scope.entries)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The columns of the outer queries, the nearest first."""
        return (self.scope,) if self.around is None else (self.scope, *self.around.scopes)

    def lookup(self, source: SourceText) -> Lookup:
        """Return the outer query's columns as a step of resolution."""
        find = self.scope.lookup(source)
        find_further = None if self.around is None else self.around.lookup(source)

        def find_outer(parts: Parts, inside: bool) -> Scalar | None:
            scalar = find(parts, inside)
            if scalar is None and find_further is not None:
                scalar = find_further(parts, inside)
            if scalar is not None and self.refusal:
                name = ".".join(part.name for part in parts)
                advice = "Write the subquery as a join with the outer query's relation."
                problem = f"{self.refusal} that refers to column {name} of the outer query"
                raise source.untied(f"{problem} is not supported", advice, parts[0])
            if scalar is not None and parts[0].name != CARRIED:
                self.referred.update(references(scalar))
            return scalar

        return find_outer


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound (sub)query: its plan, and its columns as names."""

    relation: Relation
    scope: Scope


def scope_of(attributes: Iterable[Attribute], qualifier: tuple[str, ...] = ()) -> Scope:
    """Return the scope of columns that are known by the attributes' own names."""
    return Scope(
        tuple(
            Entry(attribute, attribute.name, qualifier, origin=attribute.id)
            for attribute in attributes
        )
    )


def with_fields(scalar: Scalar, fields: Iterable[exp.Identifier]) -> Scalar:
    """Return the access to a field of a field of ... of a struct."""
    for field in fields:
        scalar = exp.Dot(this=scalar, expression=exp.to_identifier(field.name, quoted=True))
    return scalar


def _only(candidates: list[Entry]) -> Entry | None:
    origins = {entry.origin or entry.attribute.id for entry in candidates}
    if len(origins) > 1:
        raise AmbiguousError
    return candidates[0] if candidates else None
