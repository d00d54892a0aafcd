"""What lowering keeps: which operators are blocks, names, and what was lowered so far."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import (
    Attribute,
    Limit,
    Relation,
    Scalar,
    walk,
)
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
    Kind,
    TokenSource,
    qualified,
)
from rewriter.dialect import SparkSQL
from rewriter.errors import UnsupportedError
from rewriter.lower import split_components as split
from rewriter.lower.certainty import with_certain_outputs
from rewriter.lower.finish_block import apart, close_core, close_post
from rewriter.lower.scope import OpenCore, OpenPost, without_post
from rewriter.passes.steps import Observer, run
from rewriter.position import Span
from rewriter.scalars.comparable import Conversions

Open = OpenCore | OpenPost

Pairs: TypeAlias = list[tuple[Scalar, str]]
"""Scalars over outer rows, and the columns of a block they are equal to."""

_RESERVED = frozenset({GROUP, MEMBER, UNION, KEYS, EXPANDED, COPIES, DRAWN})
"""Aliases that scalars of blocks use for what is no source."""

_KEYWORDS = {word for keyword in SparkSQL.Tokenizer.KEYWORDS for word in keyword.split()}
"""Words that mean something else than a table in some places where an alias stands."""


class Lowering(ABC):
    """What every rule needs of the others. Use :func:`rewriter.lower.lower`."""

    def __init__(
        self,
        tokens: Mapping[str, TokenSource],
        sql: str,
        references: Counter[int],
        views: Iterable[str],
        converted: Conversions,
        observe: Observer,
    ) -> None:
        self._tokens = tokens
        self._sql = sql
        self._references = references
        self._converted = converted
        self._observe = observe
        self._closed: dict[int, Block] = {}
        self._memberships: dict[tuple[int, ...], tuple[Block, Pairs]] = {}
        self._found: dict[int, tuple[Block, Pairs, str]] = {}
        self._peeked: dict[int, Open] = {}
        self._drawn: dict[int, Block] = {}
        self._made: list[Relation] = []
        """Operators that are not part of the query: kept, since blocks are found by ``id``."""
        self._aliases = set(_RESERVED)
        self._prefix = _block_prefix(views)
        self._blocks = 0
        self._ids = 0

    def _close(self, open_: Open, attributes: tuple[Attribute, ...], name: str) -> Block:
        if isinstance(open_, OpenCore):
            read = {attribute.id: open_.env[attribute.id] for attribute in attributes}
            return close_core(self._split(replace(open_, env=read)), attributes, name)
        if open_.core is None or open_.difference is not None:
            return close_post(open_, attributes, name)
        read = {**dict(open_.keys), **dict(open_.aggregates)}
        core = self._split(replace(open_.core, env=read))
        keys = tuple((key, core.env[key]) for key, _ in open_.keys)
        aggregates = tuple((name, core.env[name]) for name, _ in open_.aggregates)
        post = replace(open_, core=core, keys=keys, aggregates=aggregates)
        return close_post(post, attributes, name)

    def _split(self, core: OpenCore) -> OpenCore:
        def split_components(core: OpenCore) -> OpenCore:
            return split.split_components(
                core, lambda part, read: self._reader(self._inner(part, tuple(read)))
            )

        return run((split_components,), core, split.lines, self._observe)

    def _block(self, relation: Relation) -> Block:
        """Return the block of a relation, one and the same for every reference to it."""
        if id(relation) not in self._closed:
            open_ = self._peeked.pop(id(relation), None) or self._operator(relation)
            self._closed[id(relation)] = self._inner(open_, relation.attributes)
        return self._closed[id(relation)]

    def _inner(self, open_: Open, attributes: tuple[Attribute, ...]) -> Block:
        """Return a block that others read."""
        if not open_.post.limited:
            open_ = replace(open_, post=replace(open_.post, order=()))
        return with_certain_outputs(self._close(open_, attributes, self._name()))

    def _union_of_blocks(
        self, output: tuple[Attribute, ...], blocks: tuple[Block, ...], span: Span | None
    ) -> OpenPost:
        """Return the union of blocks, whose outputs are its columns in their order."""
        if not all(block.unique_identity for block in blocks):
            self._refuse(
                "UNION ALL of a grouping and a relation without provenance",
                "Track the relation with a key, so that its tuples can be told apart.",
                span,
            )
        columns = [output.name for output in blocks[0].outputs]
        stable = frozenset(
            column
            for position, column in enumerate(columns)
            if all(block.outputs[position].stable for block in blocks)
        )
        return OpenPost(
            kind=Kind.UNION,
            env={
                attribute.id: qualified(UNION, column)
                for attribute, column in zip(output, columns, strict=True)
            },
            branches=blocks,
            stable_columns=stable,
        )

    def _name(self) -> str:
        self._blocks += 1
        return f"{self._prefix}{self._blocks}"

    def _alias(self, base: str) -> str:
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in base.lower())
        if name in _RESERVED or name.upper() in _KEYWORDS:
            name = f"{name}_"
        name = apart(name, self._aliases)
        self._aliases.add(name)
        return name

    def _derived(self, relation: Relation, span: Span | None = None) -> OpenCore:
        """Return a core that reads the tuples of a relation as those of a block."""
        limits = [one.span for one in walk(relation) if isinstance(one, Limit)]
        return self._reader(self._block(relation), span or next(reversed(limits), None))

    def _reader(self, block: Block, span: Span | None = None) -> OpenCore:
        """Return a core that reads the tuples of a block."""
        if not block.unique_identity:
            self._refuse(
                "LIMIT in a subquery over a relation without provenance",
                "Track the relation with a key, so that its tuples can be told apart.",
                span,
            )
        alias = self._alias(block.name)
        stable = {output.name for output in block.outputs if output.stable} | set(block.identity)
        return OpenCore(
            env={o.name: qualified(alias, o.name) for o in block.outputs},
            sources=(BlockSource(alias, block),),
            stable={alias: frozenset(stable)} if block.stable_identity else {},
        )

    def _unlimited(self, relation: Relation, *, windowed: bool = True) -> Open:
        """Return an operator's input, to which something is done after any LIMIT of it.

        Without ``windowed`` also after any window functions: their rows must not be touched.
        """
        open_ = self._lower(relation)
        if not (open_.post.limited if windowed else open_.post.final):
            return open_
        self._peeked[id(relation)] = open_
        return self._derived(relation)

    def _core(self, relation: Relation) -> OpenCore:
        open_ = self._peeked.pop(id(relation), None) or self._lower(relation)
        if isinstance(open_, OpenPost) or open_.post.final:
            self._peeked[id(relation)] = open_
            return self._derived(relation)
        return without_post(open_)

    def _asking(self, relation: Relation, scalars: Iterable[Scalar]) -> OpenCore:
        """Return the core of a relation whose rows look up tuples by these scalars.

        The tail looks up before it takes arrays apart: rows that look up by what it has taken out
        are those of a block.
        """
        core = self._core(relation)
        late = {a for g in core.generators for a in g.aliases if a not in core.stable}
        read = (
            column for scalar in scalars for column in core.resolve(scalar).find_all(exp.Column)
        )
        if any(column.table in late for column in read):
            self._peeked[id(relation)] = core
            return self._derived(relation)
        return core

    def _refuse(self, problem: str, advice: str, span: Span | None) -> None:
        raise UnsupportedError(problem, advice, self._sql, span)

    def _lower(self, relation: Relation) -> Open:
        if self._references[id(relation)] > 1:
            # Shared by several references (a CTE used twice): one block, if it is one at all.
            if id(relation) in self._closed:
                return self._derived(relation)
            open_ = self._operator(relation)
            if isinstance(open_, OpenPost) or open_.post.final:
                self._peeked[id(relation)] = open_
                return self._derived(relation)
            return open_
        return self._operator(relation)

    @abstractmethod
    def _operator(self, relation: Relation) -> Open:
        """Lower an operator by its rule."""

    def share(self, relation: Relation) -> None:
        """Note that a relation is read more than once: what is a block in it is one block."""
        for operator in walk(relation):
            self._references[id(operator)] += 1

    def _fresh_id(self, hint: str) -> str:
        self._ids += 1
        return f"{hint}__{self._ids}"


def _block_prefix(views: Iterable[str]) -> str:
    """Return what names of blocks begin with, so that no view has the name of a block's table."""
    prefix = "b"
    taken = [view.lower() for view in views]
    while any(re.match(rf"{prefix}\d+(_|$)", view) for view in taken):
        prefix += "_"
    return prefix
