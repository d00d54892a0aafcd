"""The factors of the members of a block, for evaluation outside of SQL.

Factors are tokens of tracked relations, and references to tuples of other blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed, is_known
from rewriter.blocks import (
    MEMBER,
    NOTHING,
    Block,
    Kind,
    Match,
    Named,
    TokenColumns,
    qualified,
)
from rewriter.emit.core import equalities, exists, safe_for_padded_rows
from rewriter.emit.tail import read
from rewriter.emit.trees import (
    SIDE,
    VALUE,
    TableOf,
    Tables,
    fill,
    from_,
    left_join,
    named,
    table,
    where,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A factor of members that is the annotation of a tuple of another block.

    Parameters
    ----------
    block
        The other block's name.
    columns
        The identity of the tuple, or its annotation. All NULL if an optional tuple is absent.
    optional
        Whether the tuple may be absent: then the factor is 1.
    negated
        The factor is 1 ⊖ δ(the annotation).
    either
        The factor is the annotation + (1 ⊖ δ(the annotation)): of a row with the tuple, or without.
    """

    block: str
    columns: tuple[str, ...]
    optional: bool = False
    negated: bool = False
    either: bool = False


@dataclass(frozen=True, slots=True)
class Contributions:
    """The contribution of each member to its tuple.

    ``query`` yields the identity of the tuple, then the columns of every factor: ``tokens`` names
    the columns of each token, ``references`` the columns of each reference. A block with a
    difference also has the side of each member, ``_side``.
    """

    query: exp.Select
    tokens: tuple[tuple[str, tuple[str, ...]], ...]
    references: tuple[Reference, ...]


_THERE = "_there"
_FOUND = "_found"


def contributions(
    block: Block,
    tables: Tables,
    values: TableOf | None = None,
    *,
    potential: bool = False,
    shown: frozenset[str] = frozenset(),
) -> Contributions:
    """Return the members of a block with their factors.

    Parameters
    ----------
    values
        Tables of other blocks' annotations (identity, then ``_value``): a reference is then one
        column, the annotation, and members that an anti join drops are there too, with a factor
        for it. None: a reference is the identity of the tuple referred to.
    potential
        Refer to potential tuples of other blocks, not only to tuples that are there now, where
        nothing else of them is read.
    shown
        The aliases of LEFT JOINs whose partners are part of a member, so that a member has one
        partner or has none.
    """
    chosen = _potential(block, tables) if potential else tables
    factors = _Factors(block, chosen, values)
    for token in block.tokens:
        factors.add_token(token)
    for joined in block.joined:
        factors.add_tuple(joined.alias, joined.block)
    for number, semi in enumerate(block.memberships):
        factors.add_membership(f"s{number}", semi)
    for number, outer in enumerate(block.lookups):
        # Values of lookups are not factors, but the row derives from them.
        if outer.factor or values is None:
            factors.add_found(f"o{number}", outer, either=outer.alias not in shown)
    return factors.contributions()


class _Factors:
    """The factors of a block's members, collected one by one."""

    def __init__(self, block: Block, tables: Tables, values: TableOf | None) -> None:
        self._block = block
        self._tables = tables
        self._values = values
        self._select = read(block, tables, annotated=True)
        self._optional: list[_Optional] = []
        self._tokens: list[tuple[str, tuple[str, ...]]] = []
        self._references: list[Reference] = []
        if block.kind is Kind.ROWS:
            self._columns: list[Named] = list(block.keys)
        else:
            self._columns = [
                (name, self._fill(safe_for_padded_rows(key, block, tables, potential=True)))
                for name, key in block.keys
            ]

    def _fill(self, scalar: Scalar) -> Scalar:
        return fill(scalar, self._block, self._tables)

    def _where(self, conditions: Sequence[Scalar]) -> None:
        self._select = where(self._select, [self._fill(condition) for condition in conditions])

    def add_token(self, token: TokenColumns) -> None:
        number = len(self._tokens)
        names = tuple(f"_t{number}_{part}" for part in range(len(token.columns)))
        token_columns = [qualified(MEMBER, column) for column in token.columns]
        self._columns += zip(names, token_columns, strict=True)
        self._tokens.append((token.relation, names))

    def add_tuple(self, alias: str, inner: Block) -> None:
        """Add the tuple of another block that every member refers to, joined as ``alias``."""
        identity: list[Scalar] = [qualified(alias, column) for column in inner.identity]
        if self._values is not None:
            valued = f"{alias}_v"
            self._select = from_(self._select, table(self._values(inner), valued))
            self._where(
                [
                    exp.NullSafeEQ(this=qualified(valued, name), expression=scalar)
                    for name, scalar in zip(inner.identity, identity, strict=True)
                ]
            )
            identity = [qualified(valued, VALUE)]
        self._refer(inner, identity)

    def _refer(
        self,
        inner: Block,
        scalars: Sequence[Scalar],
        *,
        optional: bool = False,
        negated: bool = False,
        either: bool = False,
    ) -> None:
        number = len(self._references)
        names = tuple(f"_r{number}_{part}" for part in range(len(scalars)))
        self._columns += zip(names, scalars, strict=True)
        self._references.append(Reference(inner.name, names, optional, negated, either))

    def add_membership(self, alias: str, semi: Match) -> None:
        """Add the partner of a semi join, or the absent partner of an anti join."""
        if semi.negated and self._values is None:
            self._where([exists(semi, self._tables.rows(semi.block))])
        elif semi.negated or semi.guard is not None:
            self._add_optional(alias, semi, required=not semi.negated)
        else:
            self._select = from_(self._select, table(self._tables.rows(semi.block), alias))
            self._where(equalities(semi, alias))
            self.add_tuple(alias, semi.block)

    def add_found(self, alias: str, outer: Match, *, either: bool) -> None:
        """Add the tuple that an outer lookup finds, if any."""
        self._add_optional(alias, outer, either=either)

    def _add_optional(
        self, alias: str, semi: Match, *, required: bool = False, either: bool = False
    ) -> None:
        inner = semi.block
        filled = semi.replace_scalars(self._fill)
        partners = _partners(semi, self._tables, self._values)
        self._optional.append(_Optional(alias, filled, partners, required))
        size = len(inner.identity) if self._values is None else 1
        scalars = [qualified(alias, f"{_FOUND}{part}") for part in range(size)]
        self._refer(inner, scalars, optional=True, negated=semi.negated, either=either)

    def contributions(self) -> Contributions:
        if self._block.difference is not None:
            self._columns.append((SIDE, self._fill(self._block.difference.side)))
        select, columns, optional = self._select, self._columns, self._optional
        if optional and select.args.get("laterals"):
            # A LATERAL VIEW comes after every join, whose condition does not see its columns.
            select, columns, optional = _settled(select, columns, optional)
        for each in optional:
            select = each.joined_to(select)
        return Contributions(
            select.select(*named(columns or NOTHING)),
            tuple(self._tokens),
            tuple(self._references),
        )


@dataclass(frozen=True, slots=True)
class _Optional:
    """Optional tuples of members: ``found``, joined as ``alias`` if present.

    ``required``: members for which the guard holds are dropped without one.
    """

    alias: str
    semi: Match
    found: exp.Select
    required: bool

    def joined_to(self, select: exp.Select) -> exp.Select:
        guard = self.semi.guard
        on = [] if guard is None else [guard.copy()]
        on += equalities(self.semi, self.alias)
        condition = exp.and_(*on) if on else exp.true()
        select = left_join(select, self.found.subquery(self.alias), condition)
        if guard is None or not self.required:
            return select
        there = is_known(qualified(self.alias, _THERE))
        passes = exp.Not(this=bracketed(guard.copy()))
        return where(select, [exp.paren(exp.or_(passes, there, copy=False))])

    def over_columns(self) -> tuple[_Optional, list[Named]]:
        """Return the same over a table of members, and the columns that the table needs."""
        columns = [(f"_{self.alias}_{n}", left) for n, (left, _) in enumerate(self.semi.pairs)]
        compared = [column for _, column in self.semi.pairs]
        pairs = tuple(
            (qualified(MEMBER, name), column)
            for (name, _), column in zip(columns, compared, strict=True)
        )
        guard = self.semi.guard
        if guard is not None:
            columns.append((f"_{self.alias}_guard", guard))
            guard = qualified(MEMBER, f"_{self.alias}_guard")
        return replace(self, semi=replace(self.semi, pairs=pairs, guard=guard)), columns


def _settled(
    select: exp.Select, columns: Sequence[Named], optional: Sequence[_Optional]
) -> tuple[exp.Select, list[Named], list[_Optional]]:
    """Return the members as a subquery, with further columns and joins over it."""
    joined = {each.alias for each in optional}
    inside: list[Named] = []
    outside: list[Named] = []
    for name, scalar in columns:
        if any(node.table in joined for node in scalar.find_all(exp.Column)):
            outside.append((name, scalar))
        else:
            inside.append((name, scalar))
            outside.append((name, qualified(MEMBER, name)))
    over = [each.over_columns() for each in optional]
    for _, compared in over:
        inside += compared
    members = select.select(*named(inside or NOTHING)).subquery(MEMBER)
    return exp.select().from_(members), outside, [each for each, _ in over]


def _partners(semi: Match, tables: Tables, values: TableOf | None) -> exp.Select:
    """Return the possible partners of a membership, by the compared columns."""
    inner = semi.block
    columns: list[Named] = [(_THERE, exp.true())]
    select = exp.select().from_(table(tables.rows(inner), "t"))
    if values is None:
        identity = enumerate(inner.identity)
        columns += [(f"{_FOUND}{part}", qualified("t", name)) for part, name in identity]
    else:
        columns.append((f"{_FOUND}0", qualified("v", VALUE)))
        same = [
            exp.NullSafeEQ(this=qualified("v", name), expression=qualified("t", name))
            for name in inner.identity
        ]
        select = where(from_(select, table(values(inner), "v")), same)
    compared = dict.fromkeys(column for _, column in semi.pairs)
    columns += [(name, qualified("t", name)) for name in compared]
    return select.select(*named(columns))


def _potential(block: Block, tables: Tables) -> Tables:
    """Return the tables to read for factors: potential tuples if nothing else is read of them."""
    scalars = [*block.conditions, *(key for _, key in block.keys)]
    scalars += [generator.argument for generator in block.generators]
    scalars += [scalar for probe in block.probes for scalar in probe.scalars()]
    read_from = {node.table for scalar in scalars for node in scalar.find_all(exp.Column)}
    valued = {
        match.block.name
        for match in (*block.joined, *block.subqueries)
        if match.alias in read_from or not match.pairs
    }
    # Values of an outer lookup are part of the present row.
    valued |= {outer.block.name for outer in block.lookups}

    def rows(inner: Block) -> str:
        known = inner.potential_known and inner.name not in valued
        return tables.potential(inner) if known else tables.rows(inner)

    return replace(tables, rows=rows)
