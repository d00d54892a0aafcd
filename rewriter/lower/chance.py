"""What chance decides: a block of its own, whose members are written once and never computed again.

Everything above reads the drawn values, and which rows a sample has, from what was written: a
deletion of other rows leaves them as they were.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Draw, Relation, Sample, Scalar
from rewriter.blocks import DRAWN, Block, BlockSource, Core, Named, qualified
from rewriter.lower.bag_differences import BagDifferences
from rewriter.lower.certainty import is_stable
from rewriter.lower.close import close_core
from rewriter.lower.scope import OpenCore, Post
from rewriter.position import Span

_ADVICE = "Store the rows in a relation and track it."


class Chance(BagDifferences):
    """The rules of :class:`rewriter.algebra.Draw` and :class:`rewriter.algebra.Sample`."""

    def _chance(self, relation: Draw | Sample) -> OpenCore:
        if id(relation) not in self._drawn:
            self._drawn[id(relation)] = self._written_once(relation)
        return self._reader(self._drawn[id(relation)], relation.span)

    def _written_once(self, relation: Draw | Sample) -> Block:
        core = self._core(relation.input)
        self._check_input(core, relation.span)
        calls: dict[str, Scalar] = {}
        if isinstance(relation, Draw):
            pairs = zip(relation.output, relation.calls, strict=True)
            calls = {attribute.id: core.resolve(call) for attribute, call in pairs}
        if not all(is_stable(call, core) for call in calls.values()):
            problem = "a random function of aggregated values is not supported"
            self._refuse(problem, _ADVICE, relation.span)
        drawn = {identity: qualified(DRAWN, identity) for identity in calls}
        core = replace(
            core, env={**core.env, **drawn}, stable={**core.stable, DRAWN: None}, post=Post()
        )
        block = close_core(core, relation.attributes, self._name(), written=True)
        if block.core is None or block.generators or not block.unique_identity:
            problem = "a random choice over rows that nothing tells apart is not supported"
            self._refuse(problem, _ADVICE, relation.span)
        assert block.core is not None
        return replace(block, core=_decided(block.core, calls, relation))

    def _check_input(self, core: OpenCore, span: Span | None) -> None:
        if not core.sources:
            problem = "a random value without FROM is not supported"
            self._refuse(problem, _ADVICE, span)
        if core.copies:
            self._refuse_copies("a random choice", span)
        for source in core.sources:
            if isinstance(source, BlockSource) and not source.block.stable_identity:
                problem = "a random choice over groups by aggregated values is not supported"
                self._refuse(problem, _ADVICE, span)


def _decided(core: Core, calls: dict[str, Scalar], relation: Relation) -> Core:
    """Return a core that draws its columns, or a sample of its rows."""

    def called(scalar: Scalar) -> Scalar:
        drawn = isinstance(scalar, exp.Column) and scalar.table == DRAWN
        return calls[scalar.name] if drawn else scalar

    select: tuple[Named, ...] = tuple((name, called(scalar)) for name, scalar in core.select)
    sample = relation.sample if isinstance(relation, Sample) else None
    return replace(core, select=select, once=True, sample=sample)
