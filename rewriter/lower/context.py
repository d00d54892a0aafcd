"""The context of the lowering rules, and open query blocks.

An :class:`OpenCore` is select-project-join-union so far; an :class:`OpenPost` has a grouping (or a
union of blocks) below it and collects the operators above its tuples. Both map the ids of the
algebra to scalars over the sources.

The context itself does not change. Its names grow while a query is lowered, and so does its table
of lowered operators: an operator with two readers is one block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import NoReturn, TypeAlias, TypeVar

from sqlglot import exp

from rewriter.algebra import Relation, Scalar, SortKey, walk
from rewriter.analysis.cardinality import is_certain
from rewriter.analysis.may_throw import may_raise, may_raise_of_nulls
from rewriter.blocks import (
    COPIES,
    DRAWN,
    EXPANDED,
    GROUP,
    KEYS,
    MEMBER,
    UNION,
    Block,
    BlockSource,
    Difference,
    Generator,
    HasMatches,
    Kind,
    Match,
    Named,
    Source,
    TokenSource,
    aliases,
)
from rewriter.dialect import SparkSQL
from rewriter.errors import UnsupportedError
from rewriter.passes.steps import Observer
from rewriter.position import Span
from rewriter.scalars.comparable import Conversions
from rewriter.scalars.text import rewrite_columns, substitute


@dataclass(frozen=True, slots=True)
class Post:
    """ORDER BY, LIMIT and OFFSET at the end of a block; also whether it has window functions.

    ``arrival``: the sort keys of the derived table whose rows the window functions read.
    ``opaque``: a function of groups, called once per group, produces the rows.
    """

    order: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    windowed: bool = False
    arrival: tuple[SortKey, ...] = ()
    opaque: bool = False

    @property
    def limited(self) -> bool:
        return self.limit is not None or self.offset > 0

    @property
    def final(self) -> bool:
        """True if the rows are complete: no source, condition or grouping may be added."""
        return self.limited or self.windowed or self.opaque


@dataclass(frozen=True, slots=True)
class TokenLeaves:
    """The token of one scan, as scalars over the sources of an open core."""

    relation: str
    alias: str
    leaves: tuple[exp.Column, ...]


@dataclass(frozen=True, slots=True)
class OpenCore(HasMatches):
    """A core that may still grow.

    ``positions`` identify rows of VALUES and range(), which have no tokens. ``stable`` gives, for
    each alias, the columns whose values a deletion cannot change; None for all of them. An alias
    that is not in it has none.
    """

    env: Mapping[str, Scalar]
    sources: tuple[Source, ...] = ()
    predicates: tuple[Scalar, ...] = ()
    matches: tuple[Match, ...] = ()
    tokens: tuple[TokenLeaves, ...] = ()
    positions: tuple[exp.Column, ...] = ()
    generators: tuple[Generator, ...] = ()
    stable: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    copies: tuple[Scalar, ...] = ()
    untokened: bool = False
    post: Post = Post()

    @property
    def reads_blocks(self) -> bool:
        """True if tuples of other blocks are among the sources."""
        return any(isinstance(source, BlockSource) for source in self.sources)

    def resolve(self, scalar: Scalar) -> Scalar:
        return substitute(scalar, self.env)


@dataclass(frozen=True, slots=True)
class OpenPost(HasMatches):
    """A grouping or a union of blocks, with the operators applied to its tuples so far."""

    kind: Kind
    env: Mapping[str, Scalar]
    core: OpenCore | None = None
    keys: tuple[Named, ...] = ()
    aggregates: tuple[Named, ...] = ()
    sets: tuple[frozenset[str], ...] = ()
    """The names of the keys of each grouping set; none: a plain grouping."""
    difference: Difference | None = None
    branches: tuple[Block, ...] = ()
    stable_columns: frozenset[str] = frozenset()
    having: tuple[Scalar, ...] = ()
    matches: tuple[Match, ...] = ()
    post: Post = Post()

    def resolve(self, scalar: Scalar) -> Scalar:
        return substitute(scalar, self.env)


def over_columns(core: OpenCore, change: Callable[[exp.Column], Scalar]) -> OpenCore:
    """Return a core with every column that its scalars read replaced by ``change(column)``.

    Columns by which sources identify rows, and columns of generators, are unchanged.
    """

    def over(scalar: Scalar) -> Scalar:
        return rewrite_columns(scalar, change)

    def sorted_by(keys: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
        return tuple(replace(key, scalar=over(key.scalar)) for key in keys)

    post = core.post
    return replace(
        core,
        env={name: over(scalar) for name, scalar in core.env.items()},
        predicates=tuple(map(over, core.predicates)),
        matches=tuple(match.replace_scalars(over) for match in core.matches),
        post=replace(post, order=sorted_by(post.order), arrival=sorted_by(post.arrival)),
    )


def cross(left: OpenCore, right: OpenCore) -> OpenCore:
    return OpenCore(
        env={**left.env, **right.env},
        sources=left.sources + right.sources,
        predicates=left.predicates + right.predicates,
        matches=left.matches + right.matches,
        tokens=left.tokens + right.tokens,
        positions=left.positions + right.positions,
        generators=left.generators + right.generators,
        stable={**left.stable, **right.stable},
        copies=left.copies + right.copies,
        untokened=left.untokened or right.untokened,
    )


def without_post(core: OpenCore) -> OpenCore:
    """Drop the ORDER BY of a core whose order nothing above observes."""
    return replace(core, post=Post())


def apart(name: str, taken: set[str], suffix: str = "") -> str:
    """Return a free name: this one, else with the suffix, else with a number."""
    if suffix and name in taken:
        name = f"{name}__{suffix}"
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate


Open: TypeAlias = OpenCore | OpenPost
"""An operator that is lowered, and not yet a block."""

Pairs: TypeAlias = list[tuple[Scalar, str]]
"""Scalars over outer rows, and the columns of a block that they equal."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_RESERVED = frozenset({GROUP, MEMBER, UNION, KEYS, EXPANDED, COPIES, DRAWN})
"""Aliases that scalars of blocks use for purposes other than sources."""

_KEYWORDS = {word for keyword in SparkSQL.Tokenizer.KEYWORDS for word in keyword.split()}
"""Keywords that cannot be table names in some positions of an alias."""


class ByIdentity(MutableMapping[_Key, _Value]):
    """A mapping with keys compared by identity: equal but distinct objects are different keys."""

    def __init__(self) -> None:
        self._items: dict[object, tuple[_Key, _Value]] = {}

    def __getitem__(self, key: _Key) -> _Value:
        return self._items[_identity(key)][1]

    def __setitem__(self, key: _Key, value: _Value) -> None:
        self._items[_identity(key)] = (key, value)  # keeps the object, whose identity is the key

    def __delitem__(self, key: _Key) -> None:
        del self._items[_identity(key)]

    def __iter__(self) -> Iterator[_Key]:
        return (key for key, _ in self._items.values())

    def __len__(self) -> int:
        return len(self._items)


def _identity(key: object) -> object:
    return tuple(map(id, key)) if isinstance(key, tuple) else id(key)


class BlockNames:
    """Names of a query's blocks, aliases and new attributes, each used once."""

    def __init__(self, views: Iterable[str]) -> None:
        self._prefix = _block_prefix(views)
        self._aliases = set(_RESERVED)
        self._blocks = 0
        self._ids = 0

    @property
    def root(self) -> str:
        """The name of the block that yields the answer."""
        return f"{self._prefix}0"

    def block(self) -> str:
        """Return a new name for a block."""
        self._blocks += 1
        return f"{self._prefix}{self._blocks}"

    def alias(self, base: str) -> str:
        """Return a new alias based on a name."""
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in base.lower())
        if name in _RESERVED or name.upper() in _KEYWORDS:
            name = f"{name}_"
        name = apart(name, self._aliases)
        self._aliases.add(name)
        return name

    def attribute(self, hint: str) -> str:
        """Return the id of a new attribute."""
        self._ids += 1
        return f"{hint}__{self._ids}"


@dataclass(frozen=True, slots=True)
class LoweringContext:
    """The context of a lowering rule, beside its operator.

    Parameters
    ----------
    tokens
        The view that each tracked relation is read from, and the columns of its token.
    sql
        The user's text, for the excerpts of errors.
    converted
        The types that both sides of some comparisons are converted to.
    observed
        The attributes that are arrays whose order the query observes.
    observe
        Receives the rewrites made while blocks are finished.
    rule
        Lowers an operator by the rule for its kind.
    names
        Generates names.
    readers
        The number of operators that read each operator.
    blocks
        The blocks of operators, by operator.
    pending
        Operators lowered for inspection, which are still to be read or closed as blocks.
    memberships
        The block of the partners of a join's left side, and the pairs by which it is asked: by both
        sides and the condition.
    partners
        The same for joins that ask whether there is a partner, with the column of the result.
    drawn
        The blocks of randomly drawn rows.
    """

    tokens: Mapping[str, TokenSource]
    sql: str
    converted: Conversions
    observed: frozenset[str]
    observe: Observer
    rule: Callable[[LoweringContext, Relation], Open]
    names: BlockNames
    readers: ByIdentity[Relation, int] = field(default_factory=ByIdentity)
    blocks: ByIdentity[Relation, Block] = field(default_factory=ByIdentity)
    pending: ByIdentity[Relation, Open] = field(default_factory=ByIdentity)
    memberships: ByIdentity[tuple[object, ...], tuple[Block, Pairs]] = field(
        default_factory=ByIdentity
    )
    partners: ByIdentity[Relation, tuple[Block, Pairs, str]] = field(default_factory=ByIdentity)
    drawn: ByIdentity[Relation, Block] = field(default_factory=ByIdentity)

    def share(self, relation: Relation) -> None:
        """Count one more reader of a relation, so that its blocks are shared."""
        for operator in walk(relation):
            self.readers[operator] = self.readers.get(operator, 0) + 1

    def refuse(self, problem: str, advice: str, span: Span | None) -> NoReturn:
        """Raise the error for an operator without a rule."""
        raise UnsupportedError(problem, advice, self.sql, span)


def _block_prefix(views: Iterable[str]) -> str:
    """Return the prefix of block names, chosen so that no view has the name of a block's table."""
    prefix = "b"
    taken = [view.lower() for view in views]
    while any(re.match(rf"{prefix}\d+(_|$)", view) for view in taken):
        prefix += "_"
    return prefix


def is_stable(scalar: Scalar, core: OpenCore) -> bool:
    """Return True if no deletion that leaves the row alive changes the value of the scalar."""
    if scalar.find(exp.Window):
        return False
    for node in scalar.find_all(exp.Column):
        if node.table not in core.stable:
            return False
        columns = core.stable[node.table]
        if columns is not None and node.name not in columns:
            return False
    return True


def is_prefilter(semi: Match, core: OpenCore) -> bool:
    """Return True if members without a matching potential tuple may be left out."""
    return (
        not semi.negated
        and semi.guard is None
        and semi.block.stable_identity
        and all(is_stable(left, core) and not is_premature(left, core) for left, _ in semi.pairs)
    )


def is_premature(scalar: Scalar, core: OpenCore, *, overflows: bool = False) -> bool:
    """Return True if a core would compute a scalar that may fail for rows that are not present.

    Overflows count only if leaving the scalar to the tail is free: a condition such as ``a.week =
    b.week - 52`` keeps a core small.
    """
    if not may_raise(scalar, overflows=overflows):
        return False
    sources = (source for source in core.sources if isinstance(source, BlockSource))
    uncertain = {source.alias for source in sources if not is_certain(source.block)}
    guards = [semi.guard for semi in core.memberships if semi.guard is not None]
    padded = frozenset(alias for guard in guards for alias in aliases(guard))
    touched = not uncertain.isdisjoint(aliases(scalar))
    return touched or may_raise_of_nulls(scalar, padded)


def is_protected(predicate: Scalar, earlier: Iterable[Scalar], core: OpenCore) -> bool:
    """Return True if an earlier predicate, which may fail, filters the rows of this one.

    Spark evaluates the conditions on one input in their order.
    """
    if not may_raise(predicate, overflows=False):
        return False
    values = {lookup.alias for lookup in core.subqueries}
    read = aliases(predicate)
    return any(aliases(other) - values <= read for other in earlier)


def with_certain_outputs(block: Block) -> Block:
    """Return an inner block with stable outputs that cannot fail on its potential tuples."""
    if is_certain(block):
        return block
    outputs = (
        replace(output, stable=output.stable and not may_raise(output.scalar, overflows=False))
        for output in block.outputs
    )
    return replace(block, outputs=tuple(outputs))
