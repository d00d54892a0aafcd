"""Generators of tails, each in a block of its own: for an engine that evaluates block by block.

A block that unnests arrays in its tail becomes a chain: its members with the array as a column, the
rows that the generator makes of them, and the block over those rows, with the operators above the
generator. A block of the chain with a generator has nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Scalar, is_known
from rewriter.analysis.data_flow import dependent
from rewriter.blocks import (
    MEMBER,
    Block,
    BlockSource,
    Core,
    Generator,
    Kind,
    Match,
    Output,
    RowsBlock,
    Source,
    UnionSource,
    ValuesSource,
    aliases,
    qualified,
    topological,
)
from rewriter.scalars.text import rewrite_columns

ARRAY = "array"
"""The output of a chain's block with the array that its generator unnests."""
_BELOW = "below"
_MARK = "~"
_WINDOW = "window"

_Column = tuple[str, str]


def split_generators(root: Block) -> Block:
    """Return a query whose blocks with a generator have one only, over one block, and nothing
    else.
    """
    if not any(block.generators for block in topological(root)):
        return root
    done: dict[str, Block] = {}
    for block in topological(root):
        over = _over(block, done)
        done[block.name] = _Chain(over).above() if block.generators else over
    return done[root.name]


def captured_name(block: Block) -> str:
    """Return the name of the query's block that has the same members."""
    return block.name.split(_MARK)[0]


def is_written(block: Block) -> bool:
    """Return True if a block is one of the query's, whose rows a capture may have."""
    return _MARK not in block.name


class _Chain:
    """The chain of blocks that replaces a block with generators."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._scalars = block.subqueries
        made = {alias for generator in block.generators for alias in generator.aliases}
        self._early = [part for part in block.conditions if not aliases(part) & made]
        self._late = [part for part in block.conditions if aliases(part) & made]
        asked = [set().union(*map(aliases, outer.scalars())) for outer in block.lookups]
        pairs = list(zip(block.lookups, asked, strict=True))
        self._below = tuple(outer for outer, names in pairs if not names & made)
        self._above = tuple(outer for outer, names in pairs if names & made)
        self._own = {lookup.alias for lookup in self._scalars}
        self._own |= {outer.alias for outer in self._above}

    def above(self) -> Block:
        """Return the last block of the chain, over the rows of its generators."""
        block = self._block
        rows = self._members()
        known: dict[_Column, str] = {}
        for number, generator in enumerate(block.generators):
            if number:
                rows = self._with_array(rows, known, generator, 2 * number)
            rows, known = self._generated(rows, generator, 2 * number + 1)
        lookup = Match(f"{block.name}{_MARK}", rows)
        bare = replace(
            block,
            core=None,
            tokens=(),
            matches=(lookup, *self._scalars, *self._above, *block.memberships),
            generators=(),
            conditions=tuple(self._late),
        )
        return bare.replace_scalars(lambda scalar: _renamed(scalar, lookup.alias, known))

    def _members(self) -> Block:
        """Return the block of members, with the columns read above and the first array."""
        block, first = self._block, self._block.generators[0]
        bare = replace(block, conditions=tuple(self._early))
        outputs = [
            Output(_name(column), qualified(*column), not dependent(qualified(*column), bare))
            for column in self._read()
        ]
        array = Output(ARRAY, known_argument(first), not dependent(first.argument, bare))
        identity = self._identity()
        return RowsBlock(
            name=f"{block.name}{_MARK}0",
            core=block.core,
            tokens=block.tokens,
            matches=(*block.joined, *self._scalars, *self._below),
            conditions=bare.conditions,
            outputs=(*outputs, array),
            identity=identity,
            stable_identity=all(output.stable for output in outputs if output.name in identity),
            unique_identity=block.unique_identity,
        )

    def _with_array(
        self, rows: Block, known: Mapping[_Column, str], generator: Generator, number: int
    ) -> Block:
        """Return rows with the argument of the next generator as a column."""
        lookup = Match(_BELOW, rows)
        argument = _renamed(known_argument(generator), _BELOW, known)
        passed = tuple(
            replace(output, scalar=qualified(_BELOW, output.name)) for output in rows.outputs
        )
        block = RowsBlock(
            name=f"{self._block.name}{_MARK}{number}",
            matches=(lookup, *self._scalars),
            outputs=passed,
            identity=rows.identity,
            stable_identity=rows.stable_identity,
            unique_identity=rows.unique_identity,
        )
        array = Output(ARRAY, argument, not dependent(argument, block))
        return replace(block, outputs=(*passed, array))

    def _generated(
        self, rows: Block, generator: Generator, number: int
    ) -> tuple[Block, dict[_Column, str]]:
        """Return the rows that a generator makes, and the names of their columns."""
        array = next(output for output in rows.outputs if output.name == ARRAY)
        kept = [output for output in rows.outputs if output.name != ARRAY]
        outputs = [replace(o, scalar=qualified(_BELOW, o.name)) for o in kept]
        made = _made(generator)
        outputs += [Output(_name(column), qualified(*column), array.stable) for column in made]
        place = () if generator.place is None else (_name(made[0]),)
        block = RowsBlock(
            name=f"{self._block.name}{_MARK}{number}",
            matches=(Match(_BELOW, rows),),
            generators=(replace(generator, argument=qualified(_BELOW, ARRAY)),),
            outputs=tuple(outputs),
            identity=(*rows.identity, *place),
            stable_identity=rows.stable_identity and array.stable,
            unique_identity=rows.unique_identity,
        )
        return block, {_column(output.name): output.name for output in outputs}

    def _read(self) -> tuple[_Column, ...]:
        """Return the columns below the generators that are read above the first array."""
        block = self._block
        rest = replace(
            block,
            conditions=tuple(self._late),
            matches=(*block.joined, *self._scalars, *self._above, *block.memberships),
            generators=block.generators[1:],
        )
        made = {column for generator in block.generators for column in _made(generator)}
        read = (
            (node.table, node.name)
            for scalar in rest.scalars()
            for node in scalar.find_all(exp.Column)
        )
        below = {alias for alias, _ in made} | self._own
        known = {MEMBER, *block.by_alias}
        return tuple(dict.fromkeys(c for c in read if c[0] in known and c[0] not in below))

    def _identity(self) -> tuple[str, ...]:
        """Return the columns that identify members; none for blocks without members as rows."""
        read = set(self._read())
        keys = self._block.keys if self._block.kind is Kind.ROWS else ()
        columns = ((s.table, s.name) for _, s in keys if isinstance(s, exp.Column))
        return tuple(_name(column) for column in columns if column in read)


def known_argument(generator: Generator) -> Scalar:
    """Return the argument of a generator; NULL for time windows of a NULL time."""
    calls = generator.argument.find_all(exp.Anonymous)
    times = [call.expressions[0] for call in calls if call.name.lower() == _WINDOW]
    if not times:
        return generator.argument
    known = exp.and_(*(is_known(time) for time in dict.fromkeys(times)))
    return exp.Case().when(known, generator.argument.copy())


def _made(generator: Generator) -> tuple[_Column, ...]:
    """Return the columns of a generator: the position of an element, then its fields."""
    columns = tuple((generator.alias, name) for name in generator.columns)
    place = generator.place
    return columns if place is None else ((place.table, place.name), *columns)


def _name(column: _Column) -> str:
    return ".".join(column)


def _column(name: str) -> _Column:
    alias, column = name.split(".", 1)
    return alias, column


def _renamed(scalar: Scalar, alias: str, known: Mapping[_Column, str]) -> Scalar:
    def change(node: exp.Column) -> Scalar:
        name = known.get((node.table, node.name))
        return node if name is None else qualified(alias, name)

    return rewrite_columns(scalar, change)


# -- the blocks that others read -------------------------------------------------------------


def _over(block: Block, done: Mapping[str, Block]) -> Block:
    """Return a block with the blocks that it reads replaced by new ones of the same name."""
    core = None if block.core is None else _core(block.core, done)
    return replace(
        block,
        core=core,
        matches=tuple(replace(each, block=done[each.block.name]) for each in block.matches),
        branches=tuple(done[branch.name] for branch in block.branches),
    )


def _core(core: Core, done: Mapping[str, Block]) -> Core:
    return replace(
        core,
        sources=tuple(_sources(core.sources, done)),
        semis=tuple(replace(semi, block=done[semi.block.name]) for semi in core.semis),
    )


def _sources(sources: Sequence[Source], done: Mapping[str, Block]) -> Iterator[Source]:
    for source in sources:
        match source:
            case BlockSource():
                yield replace(source, block=done[source.block.name])
            case UnionSource():
                branches = tuple(_core(branch, done) for branch in source.branches)
                yield replace(source, branches=branches)
            case ValuesSource():
                yield replace(source, core=_core(source.core, done))
            case _:
                yield source
