"""The flow of a relation's values through a query: into the answer, or into decisions.

A deletion may decide the conditions of a tail that depend on evaluated rows.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import (
    GROUP,
    MEMBER,
    UNION,
    Block,
    BlockSource,
    Core,
    IterationSource,
    Kind,
    ScanSource,
    UnionSource,
    ValuesSource,
    topological,
)

Column = tuple[str, str]
"""An alias and the name of a column, in lower case."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The parts of a query that depend on the values of some columns.

    Parameters
    ----------
    outputs
        The positions of the query's dependent outputs.
    decides
        Whether the set of rows, or their grouping, may depend on the values.
    aggregated
        Whether aggregates depend on the values.
    """

    outputs: frozenset[int]
    decides: bool
    aggregated: bool


def follow(root: Block, relation: str, columns: Collection[str]) -> Followed:
    """Follow the values of some columns of a relation through the blocks of a query.

    A value decides if it is read anywhere except in the select list or an aggregate.
    """
    if not columns:
        return Followed(frozenset(), decides=False, aggregated=False)
    follower = _Follower(relation, frozenset(name.lower() for name in columns))
    for block in topological(root):
        follower.read(block)
    output_names = follower.outputs[root.name]
    places = (at for at, output in enumerate(root.outputs) if output.name.lower() in output_names)
    return Followed(frozenset(places), follower.decides, follower.aggregated)


class _Follower:
    def __init__(self, relation: str, columns: frozenset[str]) -> None:
        self._relation = relation
        self._columns = columns
        self.outputs: dict[str, frozenset[str]] = {}
        """By block, the outputs that depend on the values."""
        self.decides = False
        self.aggregated = False

    def read(self, block: Block) -> None:
        """Find the dependent columns of a block, after the ones of the blocks that it reads."""
        reached: set[Column] = set()
        if block.core is not None:
            reached |= {(MEMBER, name) for name in self._core(block.core)}
        for alias, lookup in block.by_alias.items():
            reached |= {(alias.lower(), name) for name in self.outputs[lookup.block.name]}
        reached |= {(UNION, name) for name in self._branches(block)}
        self._decide(_tail(block), reached)
        for probe in block.probes:
            self._pairs(probe.block, [right for _, right in probe.pairs])
        if block.kind is Kind.GROUP:
            self._decide((key for _, key in block.keys), reached)
            keys = {(GROUP, name.lower()) for name, key in block.keys if _mentions(key, reached)}
            changing = {(GROUP, name.lower()) for name, call in block.aggregates
                        if _mentions(call, reached)}  # fmt: skip
            self.aggregated = self.aggregated or bool(changing)
            reached |= changing | keys
            self._decide(block.having, reached)
        windows = [w for output in block.outputs for w in output.scalar.find_all(exp.Window)]
        self.aggregated = self.aggregated or any(_mentions(w, reached) for w in windows)
        if block.limited:
            self._decide((key.scalar for key in block.order), reached)
        self.outputs[block.name] = frozenset(
            output.name.lower() for output in block.outputs if _mentions(output.scalar, reached)
        )

    def _core(self, core: Core) -> frozenset[str]:
        """Return the columns of a core's select list that depend on the values."""
        reached: set[Column] = set()
        for source in core.sources:
            reached |= {(source.alias.lower(), name) for name in self._source(source)}
        for semi in core.semis:
            self._pairs(semi.block, [right for _, right in semi.pairs])
        self._decide(core.deciding_scalars(), reached)
        return frozenset(name.lower() for name, scalar in core.select if _mentions(scalar, reached))

    def _source(self, source: object) -> frozenset[str]:
        if isinstance(source, ScanSource):
            return self._columns if source.relation == self._relation else frozenset()
        if isinstance(source, IterationSource):
            self.decides = self.decides or self._relation in source.relations
        if isinstance(source, BlockSource):
            return self.outputs[source.block.name]
        if isinstance(source, UnionSource):
            return frozenset[str]().union(*(self._core(branch) for branch in source.branches))
        if isinstance(source, ValuesSource):
            values = self._core(source.core)
            self.decides = self.decides or bool(values)
        return frozenset()

    def _branches(self, block: Block) -> Iterator[str]:
        """Yield the columns of a union that depend on the values, by name."""
        for branch in block.branches:
            for named, output in zip(block.branches[0].outputs, branch.outputs, strict=True):
                if output.name.lower() in self.outputs[branch.name]:
                    yield named.name.lower()

    def _pairs(self, block: Block, names: Iterable[str]) -> None:
        if any(name.lower() in self.outputs[block.name] for name in names):
            self.decides = True

    def _decide(self, scalars: Iterable[Scalar], reached: set[Column]) -> None:
        if any(_mentions(scalar, reached) for scalar in scalars):
            self.decides = True


def _tail(block: Block) -> Iterator[Scalar]:
    """Yield the scalars of a tail that decide the set of rows."""
    yield from block.deciding_scalars()
    for lookup in block.joined:
        yield from lookup.scalars()


def _mentions(scalar: Scalar, reached: set[Column]) -> bool:
    return any(
        (node.table.lower(), node.name.lower()) in reached for node in scalar.find_all(exp.Column)
    )


def uncertain_having(block: Block) -> tuple[Scalar, ...]:
    """Return the HAVING conditions that a deletion may decide: on more than the group's keys.

    There are none for a difference, where the group's annotation itself decides its presence.
    """
    if block.difference is not None:
        return ()
    if not block.stable_identity:
        return block.having
    keys = {name for name, _ in block.keys}

    def is_certain(condition: Scalar) -> bool:
        columns = condition.find_all(exp.Column)
        return all(node.table == GROUP and node.name in keys for node in columns)

    return tuple(condition for condition in block.having if not is_certain(condition))


def dependent(condition: Scalar, block: Block, known: Container[str] = ()) -> bool:
    """Return True if a tail scalar reads more than members and stable columns of other blocks.

    ``known`` are further aliases whose columns are stable.
    """
    stable: dict[str, set[str]] = {}
    for lookup in block.joined:
        if lookup.block.stable_identity:
            names = {o.name for o in lookup.block.outputs if o.stable}
            stable[lookup.alias] = names | set(lookup.block.identity)
    return any(
        node.table != MEMBER
        and node.table not in known
        and node.name not in stable.get(node.table, set())
        for node in condition.find_all(exp.Column)
    )
