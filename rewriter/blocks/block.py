"""Query blocks: what a query is cut into, and what is captured of each.

A block is a select-project-join-union *core* under at most one grouping. Capturing a block writes
its *members*: one row per row of the core, with the tokens of the tuples it was made from, the
identities of the tuples of other blocks it refers to, and the columns that anything above the core
needs. Everything else of the block is its *tail*, which reads members and the evaluated rows of
other blocks: conditions on aggregated values, the grouping, HAVING, the select list, ORDER BY and
LIMIT. The answer is the tail over all members; a hypothetical answer is the same tail over the
members that survive. The core is never run again.

Columns in a block's scalars are qualified by where they come from: the alias of a source in the
core, ``m`` for a stored member column, ``g`` for a grouping key or aggregate, ``u`` for a column
of a union, ``expanded`` for the number of a grouping set, and the alias of a lookup for a column of
another block's evaluated rows. No source has one of these aliases, nor ``k``, under which a
membership reads the keys of another block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar, SortKey
from rewriter.position import Span
from rewriter.scalars.aggregates import chooses
from rewriter.scalars.windows import depends_on_ties

MEMBER = "m"
GROUP = "g"
UNION = "u"
KEYS = "k"
EXPANDED = "expanded"
SET_NUMBER = "number"
COPIES = "copies"
DRAWN = "drawn"

Named: TypeAlias = tuple[str, Scalar]

NOTHING: tuple[Named, ...] = (("_row", exp.Literal.number(1)),)
"""The select list of tuples of which nothing is asked but that they are there."""


class Kind(Enum):
    """What the tuples of a block are."""

    ROWS = "rows"
    """Its members, one for one."""
    GROUP = "group"
    """Groups of members."""
    UNION = "union"
    """The tuples of its branches, which are blocks."""


@dataclass(frozen=True, slots=True)
class TokenSource:
    """How scans of a tracked relation are read: the view, and its columns that make the token."""

    view: str
    columns: tuple[str, ...]
    """Empty: the relation is declared to carry no provenance, its tuples are annotated 1."""
    unique: tuple[tuple[str, ...], ...] = ()
    """Sets of columns that are known to have no values twice, not even NULLs."""


@dataclass(frozen=True, slots=True)
class TokenColumns:
    """The member columns that hold the token of one scan. All NULL: the scan took no part."""

    relation: str
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScanSource:
    """A tracked relation in FROM."""

    alias: str
    relation: str
    view: str


@dataclass(frozen=True, slots=True)
class UnionSource:
    """UNION ALL of cores in FROM: the tokens of the branches not taken are NULL."""

    alias: str
    branches: tuple[Core, ...]


@dataclass(frozen=True, slots=True)
class BlockSource:
    """The potential tuples of another block in FROM."""

    alias: str
    block: Block


@dataclass(frozen=True, slots=True)
class ValuesSource:
    """The distinct rows of a core in FROM, as values: no tuple, annotated 1."""

    alias: str
    core: Core


@dataclass(frozen=True, slots=True)
class OneRowSource:
    """One row of no columns."""

    alias: str


@dataclass(frozen=True, slots=True)
class ConstantSource:
    """VALUES or the call of range() in FROM: no tuples, annotated 1.

    ``position`` is the column that tells its rows apart.
    """

    alias: str
    table: Scalar
    columns: tuple[str, ...]
    position: str


Source: TypeAlias = (
    ScanSource | UnionSource | BlockSource | ValuesSource | ConstantSource | OneRowSource
)


@dataclass(frozen=True, slots=True)
class Semi:
    """Membership of the pairs' left sides in another block, whose columns are the right sides.

    Parameters
    ----------
    negated
        The member is there if there is no such tuple: a factor 1 ⊖ δ.
    null_safe
        NULL equals NULL in the pairs.
    guard
        Asked only of members for which this is true (never NULL); others pass, by a factor 1.
    span
        Where it stands in the text.
    """

    block: Block
    pairs: tuple[tuple[Scalar, str], ...]
    negated: bool = False
    null_safe: bool = False
    guard: Scalar | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class OuterLookup:
    """The tuple of another block that pairs find for a row, if there is one: LEFT JOIN.

    The block has at most one tuple for the pairs: their right sides are its keys.

    Parameters
    ----------
    factor
        A row made with the tuple depends on it: the annotation is a factor. Not so of values that
        a row only looks up: of a correlated scalar subquery, of the sides of a COGROUP.
    guard
        Asked only of rows for which this is true (never NULL); others find nothing.
    span
        Where it stands in the text.
    """

    alias: str
    block: Block
    pairs: tuple[tuple[Scalar, str], ...]
    factor: bool
    null_safe: bool = False
    guard: Scalar | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Generator:
    """A row for each element of an array or entry of a map: LATERAL VIEW.

    Parameters
    ----------
    position
        The column of an element's place, from 0; it tells the rows made of one row apart. None:
        the argument is the call of a function that makes one row of each.
    columns
        The element; key and value; with ``inline`` the fields of the struct that the element is.
    outer
        A row whose array is empty or NULL is there once, with NULLs.
    function
        The argument is the call of a table function. Its rows have no place: the position is a
        number that no other row has, another one each time the core runs; unless it is ``placed``,
        whose rows have it as their first column.
    """

    alias: str
    argument: Scalar
    position: str | None
    columns: tuple[str, ...]
    outer: bool
    inline: bool
    function: bool = False
    placed: bool = False

    @property
    def numbered(self) -> bool:
        """Whether its rows have no place of their own."""
        return self.function and not self.placed

    @property
    def place(self) -> exp.Column | None:
        """The column of an element's place, as scalars refer to it."""
        if self.position is None:
            return None
        return qualified(self.position_alias, self.position)

    @property
    def position_alias(self) -> str:
        """The alias that has the position: inline takes two steps, numbers are not its own."""
        return f"{self.alias}_at" if self.inline or self.numbered else self.alias

    @property
    def aliases(self) -> frozenset[str]:
        """The aliases whose columns it makes."""
        return frozenset({self.alias, self.position_alias})


@dataclass(frozen=True, slots=True)
class Core:
    """SELECT select FROM sources WHERE predicates, filtered by semis with potential tuples.

    Generators apply to the product of the sources, one after the other.
    """

    sources: tuple[Source, ...]
    predicates: tuple[Scalar, ...]
    semis: tuple[Semi, ...]
    select: tuple[Named, ...]
    generators: tuple[Generator, ...] = ()
    once: bool = False
    """Chance decides values or rows: it is run once, and read from what was written."""
    sample: Scalar | None = None
    """Which fraction of its rows there is."""
    order: tuple[SortKey, ...] = ()
    """How each of Spark's tasks sorts the rows before chance decides of them."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """Another block whose evaluated rows the tail reads.

    ``on`` pairs member columns with the block's identity (``<=>``): each member refers to one
    tuple. Without it, the tail's conditions join. ``scalar``: the single value of the block.
    """

    alias: str
    block: Block
    on: tuple[tuple[str, str], ...] = ()
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """EXCEPT ALL or INTERSECT ALL: the annotation of a group, from its members of two sides.

    It is Σ1 ⊖ Σ2, with ``common`` Σ1 ⊖ (Σ1 ⊖ Σ2), where Σ1 is over the members whose ``side`` is 0
    and Σ2 over those whose side is 1. HAVING keeps the groups that are there at all.
    """

    side: Scalar
    common: bool


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a block's rows; stable ones do not change while their tuple exists."""

    name: str
    scalar: Scalar
    stable: bool

    @property
    def windowed(self) -> bool:
        """Whether a window function is in it."""
        return self.scalar.find(exp.Window) is not None

    @property
    def always_null(self) -> bool:
        """Whether it is the literal NULL, which has no type of its own."""
        return isinstance(self.scalar, exp.Null)

    @property
    def known_absent(self) -> bool:
        """Whether a capture keeps it of tuples that HAVING drops: they may be found by it later."""
        return self.stable and isinstance(self.scalar, exp.Column)


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of capture and evaluation. Compared by identity of its name within a query."""

    name: str
    kind: Kind
    core: Core | None
    tokens: tuple[TokenColumns, ...]
    lookups: tuple[Lookup, ...]
    semis: tuple[Semi, ...]
    conditions: tuple[Scalar, ...]
    keys: tuple[Named, ...]
    aggregates: tuple[Named, ...]
    branches: tuple[Block, ...]
    having: tuple[Scalar, ...]
    outputs: tuple[Output, ...]
    order: tuple[SortKey, ...]
    limit: int | None
    offset: int
    identity: tuple[str, ...]
    """Columns of the block's rows that tell its tuples apart."""
    stable_identity: bool
    """Whether the identity is known from the members alone."""
    unique_identity: bool
    """Whether no two tuples have the same identity; not so over relations without provenance."""
    generators: tuple[Generator, ...] = ()
    """Those of the tail: over columns that a deletion may change."""
    outer_lookups: tuple[OuterLookup, ...] = ()
    sets: int = 0
    """The number of grouping sets, in each of which a member takes part; 0: a plain grouping.

    Members are captured once. The tail repeats them, numbered from 0 by ``expanded.number``, which
    is one of the keys.
    """
    difference: Difference | None = None
    """The annotation of the groups, where it is not δ of the sum of their members."""
    copies: tuple[Scalar, ...] = ()
    """Counts over evaluated rows of other blocks: the tail repeats a row as often as their product.

    The annotations of those rows carry the multiplicity. That of this row does with them, and is
    one for all of its copies.
    """

    @property
    def grouped(self) -> bool:
        """Whether the tuples are groups with keys (an aggregate without GROUP BY has none)."""
        return self.kind is Kind.GROUP and bool(self.keys)

    @property
    def key_outputs(self) -> tuple[int, ...] | None:
        """The places of the outputs that are the grouping's keys; None if some key is not shown."""
        if not self.grouped:
            return None
        places: dict[str, int] = {}
        for place, output in enumerate(self.outputs):
            scalar = output.scalar
            if isinstance(scalar, exp.Column) and scalar.table == GROUP:
                places.setdefault(scalar.name, place)
        names = [name for name, _ in self.keys]
        return tuple(places[name] for name in names) if set(names) <= places.keys() else None

    @property
    def columns(self) -> frozenset[str]:
        """The names that columns of its members and of its rows have."""
        named = [*self.keys, *self.aggregates, *(self.core.select if self.core else ())]
        outputs = (output.name for output in self.outputs)
        return frozenset((*self.identity, *outputs, *(name for name, _ in named)))

    @property
    def limited(self) -> bool:
        """Whether LIMIT or OFFSET cuts the rows."""
        return self.limit is not None or self.offset > 0

    @property
    def windowed(self) -> bool:
        """Whether outputs or sort keys are window functions over its rows."""
        scalars = [output.scalar for output in self.outputs] + [key.scalar for key in self.order]
        return any(scalar.find(exp.Window) for scalar in scalars)

    @property
    def breaks_ties(self) -> bool:
        """Whether its rows depend on what Spark leaves open: the order among rows that tie."""
        scalars = [output.scalar for output in self.outputs] + [key.scalar for key in self.order]
        windows = [window for scalar in scalars for window in scalar.find_all(exp.Window)]
        calls = [*(call for _, call in self.aggregates), *(window.this for window in windows)]
        return self.limited or any(map(depends_on_ties, windows)) or any(map(chooses, calls))

    @property
    def tie_break(self) -> tuple[str, ...]:
        """Columns of the rows that LIMIT sorts by last: rows that agree on them are equal."""
        if self.unique_identity:
            return self.identity
        return (*self.identity, *(output.name for output in self.outputs))

    @property
    def potential_known(self) -> bool:
        """Whether the tuples the block may have after some deletion are known from members alone.

        The tuple of an aggregate without GROUP BY is always known, though nothing identifies it.
        """
        return self.stable_identity or (self.kind is Kind.GROUP and not self.keys)

    @property
    def derived(self) -> tuple[Block, ...]:
        """The blocks this one reads, each once."""
        found: dict[str, Block] = {}
        for block in self._reads():
            found.setdefault(block.name, block)
        return tuple(found.values())

    def _reads(self) -> Iterator[Block]:
        if self.core is not None:
            yield from core_blocks(self.core)
        for lookup in self.lookups:
            yield lookup.block
        for semi in self.semis:
            yield semi.block
        for outer in self.outer_lookups:
            yield outer.block
        yield from self.branches


def core_blocks(core: Core) -> Iterator[Block]:
    """Yield the blocks whose potential tuples a core reads."""
    for source in core.sources:
        if isinstance(source, BlockSource):
            yield source.block
        elif isinstance(source, UnionSource):
            for branch in source.branches:
                yield from core_blocks(branch)
        elif isinstance(source, ValuesSource):
            yield from core_blocks(source.core)
    for semi in core.semis:
        yield semi.block


def core_relations(core: Core) -> Iterator[ScanSource]:
    """Yield the scans of a core whose tuples its members are made of, also those inside unions."""
    for source in core.sources:
        if isinstance(source, ScanSource):
            yield source
        elif isinstance(source, UnionSource):
            for branch in source.branches:
                yield from core_relations(branch)


def has_values(core: Core) -> bool:
    """Whether rows of a core are made of values that no token names, also inside unions."""
    for source in core.sources:
        if isinstance(source, ValuesSource):
            return True
        if isinstance(source, UnionSource) and any(map(has_values, source.branches)):
            return True
    return False


def decided_once(root: Block) -> bool:
    """Whether chance decides something of the answer, so that it is no function of its inputs."""
    return any(block.core is not None and block.core.once for block in topological(root))


def topological(root: Block) -> tuple[Block, ...]:
    """Return the root and every block it reads, directly or not, inner ones first."""
    order: dict[str, Block] = {}

    def visit(block: Block) -> None:
        if block.name in order:
            return
        for inner in block.derived:
            visit(inner)
        order[block.name] = block

    visit(root)
    return tuple(order.values())


def qualified(alias: str, name: str) -> exp.Column:
    """Return a reference to a column of the thing called alias."""
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(alias))


def aliases(scalar: Scalar) -> set[str]:
    """Return the aliases that a lowered scalar refers to."""
    return {node.table for node in scalar.find_all(exp.Column)}
