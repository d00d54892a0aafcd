"""The context of every rule of lowering: the query's surroundings, its names, its lowered parts.

The context itself does not change. What grows while a query is lowered are its names, and its
tables of operators that were lowered already: an operator that is read twice is one block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias, TypeVar

from rewriter.algebra import Relation, Scalar, walk
from rewriter.blocks import (
    COPIES,
    DRAWN,
    EXPANDED,
    GROUP,
    KEYS,
    MEMBER,
    UNION,
    Block,
    TokenSource,
)
from rewriter.dialect import SparkSQL
from rewriter.errors import UnsupportedError
from rewriter.lower.scope import OpenCore, OpenPost, apart
from rewriter.passes.steps import Observer
from rewriter.position import Span
from rewriter.scalars.comparable import Conversions

Open: TypeAlias = OpenCore | OpenPost
"""An operator that is lowered, and not yet a block."""

Pairs: TypeAlias = list[tuple[Scalar, str]]
"""Scalars over outer rows, and the columns of a block they are equal to."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_RESERVED = frozenset({GROUP, MEMBER, UNION, KEYS, EXPANDED, COPIES, DRAWN})
"""Aliases that scalars of blocks use for what is no source."""

_KEYWORDS = {word for keyword in SparkSQL.Tokenizer.KEYWORDS for word in keyword.split()}
"""Words that mean something else than a table in some places where an alias stands."""


class ByIdentity(MutableMapping[_Key, _Value]):
    """Values of objects, or of tuples of objects. Equal objects are different ones here."""

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
    """Names of a query's blocks, aliases and made attributes, each given once."""

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
        """Return the name of another block."""
        self._blocks += 1
        return f"{self._prefix}{self._blocks}"

    def alias(self, base: str) -> str:
        """Return an alias like a name."""
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in base.lower())
        if name in _RESERVED or name.upper() in _KEYWORDS:
            name = f"{name}_"
        name = apart(name, self._aliases)
        self._aliases.add(name)
        return name

    def attribute(self, hint: str) -> str:
        """Return the id of an attribute that the query has not."""
        self._ids += 1
        return f"{hint}__{self._ids}"


@dataclass(frozen=True, slots=True)
class LoweringContext:
    """The context of a rule of lowering, beside its operator.

    Parameters
    ----------
    tokens
        How each tracked relation is read and which columns hold its token.
    sql
        The user's text, for the excerpts of errors.
    converted
        The types that both sides of some comparisons are converted to.
    observed
        The attributes that are arrays in whose order the query looks.
    observe
        Told of what is rewritten while blocks are finished.
    rule
        Lowers an operator by the rule for its kind.
    names
        Makes names.
    readers
        How many operators read each operator.
    blocks
        The blocks of operators that have one.
    pending
        Operators that were lowered to look at them, and are to be read or made a block yet.
    memberships
        The block of the partners of a join's left side, and what it is asked by: by both sides
        and the condition.
    partners
        The same of joins that ask whether there is a partner, with the column that says so.
    drawn
        The blocks of what chance decides.
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
        """Note that a relation is read once more: what is a block in it is one block."""
        for operator in walk(relation):
            self.readers[operator] = self.readers.get(operator, 0) + 1

    def refuse(self, problem: str, advice: str, span: Span | None) -> NoReturn:
        """Raise the error for an operator without a rule."""
        raise UnsupportedError(problem, advice, self.sql, span)


def _block_prefix(views: Iterable[str]) -> str:
    """Return what names of blocks begin with, so that no view has the name of a block's table."""
    prefix = "b"
    taken = [view.lower() for view in views]
    while any(re.match(rf"{prefix}\d+(_|$)", view) for view in taken):
        prefix += "_"
    return prefix
