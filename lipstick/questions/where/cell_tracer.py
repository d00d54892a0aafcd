"""Cells followed through the blocks of a capture, whole columns of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.state import same
from lipstick.engines.memory.unions import UnionRows
from lipstick.questions.why.sources import SourceRows
from rewriter.analysis.column_lineage import (
    ColumnUse,
    ValueRole,
    aggregate_uses,
    has_window,
    is_choosing,
    uses,
)
from rewriter.blocks import EXPANDED, GROUP, MEMBER, UNION, Block, Core, ScanSource, UnionSource
from rewriter.interpret import UninterpretableError, Vector, aggregate_call, from_arrow, interpret
from rewriter.scalars.aggregates import name_of
from semiring.arrow import decoded
from semiring.base import Array
from semiring.errors import CapabilityError
from semiring.ranks import ranked

Cells = dict[tuple[str, str, ValueRole], list[pa.Table]]
"""By relation, column and role, the tokens of rows."""


class CellTracer:
    """Follows cells of a capture's answer to cells of its relations.

    Attributes
    ----------
    cells
        The cells that were reached.
    """

    def __init__(self, engine: Engine, sources: Mapping[str, SourceRows]) -> None:
        self._engine = engine
        self._sources = sources
        self.cells: Cells = {}

    def trace(
        self, block: Block, name: str, positions: Array, role: ValueRole = ValueRole.COPIED
    ) -> None:
        """Add the cells behind a column of some rows of a block.

        Raises
        ------
        CapabilityError
            For windows, generators and grouped values in FROM, which are not followed.
        """
        rows = self._engine.rows(block.name)
        outputs = {each.name: each.scalar for each in block.outputs}
        scalar = outputs.get(name, dict(block.keys).get(name))
        if scalar is None:
            self._column(block, GROUP, name, positions, role)
            return
        if has_window(scalar):
            raise _not_followed("a window function")
        if not isinstance(rows, GroupRows | MemberRows | UnionRows):
            raise _not_followed("a generator or a window")

        def column(alias: str, its: str, at: Array) -> pa.Array:
            if alias in (GROUP, UNION):
                return rows.base.take(its, at)
            if isinstance(rows, MemberRows):
                resolve = rows.members.resolve(at, rows.members.base)
                return resolve(alias, its).to_arrow(len(at))
            return self._engine.base(block.lookups_by_alias[alias].block.name).scalar(its, at)

        for use, at in _taken(uses(scalar), positions, column):
            self._column(block, use.alias, use.name, at, use.role.then(role))

    def _column(
        self, block: Block, alias: str, name: str, positions: Array, role: ValueRole
    ) -> None:
        """Add the cells behind a column that scalars of a block read, of some rows or members."""
        rows = self._engine.rows(block.name)
        if not len(positions) or alias == EXPANDED:
            return
        if alias == UNION and isinstance(rows, UnionRows):
            branches, inside = rows.places(self._engine.base)
            place = next(n for n, each in enumerate(block.branches[0].outputs) if each.name == name)
            for number, branch in enumerate(block.branches):
                own = positions[branches[positions] == number]
                if len(own):
                    self.trace(branch, branch.outputs[place].name, inside[own], role)
        elif alias == GROUP and isinstance(rows, GroupRows):
            self._of_group(block, rows, name, positions, role)
        elif isinstance(rows, GroupRows | MemberRows):
            self._of_members(block, rows.members, alias, name, positions, role)
        else:
            raise _not_followed("a generator or a window")

    def _of_group(
        self, block: Block, rows: GroupRows, name: str, positions: Array, role: ValueRole
    ) -> None:
        members, owners = rows.grouping.members_of(positions)
        if rows.members.base_alive is not None:
            there = rows.members.base_alive[members]
            members, owners = members[there], owners[there]

        def column(alias: str, its: str, at: Array) -> pa.Array:
            return rows.members.resolve(at, rows.members.base)(alias, its).to_arrow(len(at))

        call = dict(block.aggregates).get(name)
        read = uses(dict(block.keys)[name]) if call is None else aggregate_uses(call)
        chosen = members
        if call is not None and is_choosing(call):
            arguments = [each.evaluate for each in aggregate_call(call).arguments]
            values = [self._values(each, rows.members, members) for each in arguments]
            result = rows.base.take(name, positions).take(pa.array(owners))
            is_chosen = same(values[0], decoded(result).cast(values[0].type))
            is_chosen &= _extremes(values[1:], owners, least=name_of(call) == "min_by")
            chosen = members[is_chosen]
            if len(values) == 1:
                # Any other value may become the extreme.
                for use, at in _taken(aggregate_uses(call), members, column):
                    chosen_by = ValueRole.CHOSEN
                    self._of_members(block, rows.members, use.alias, use.name, at, chosen_by)
        for use, at in _taken(read, members, column):
            own = at if use.role is ValueRole.CHOSEN else at[np.isin(at, chosen)]
            self._of_members(block, rows.members, use.alias, use.name, own, use.role.then(role))

    @staticmethod
    def _values(evaluate: Callable[..., Vector], members: Members, positions: Array) -> pa.Array:
        try:
            vector = evaluate(members.resolve(positions, members.base))
        except UninterpretableError as error:
            raise _not_followed(f"the argument {error} of an aggregate that chooses") from error
        return decoded(vector.to_arrow(len(positions)))

    def _of_members(
        self,
        block: Block,
        members: Members,
        alias: str,
        name: str,
        positions: Array,
        role: ValueRole,
    ) -> None:
        if alias == EXPANDED or not len(positions):
            return
        if alias == MEMBER:
            assert block.core is not None
            scalar = dict(block.core.select)[name]
            self._of_core(block, members, block.core, uses(scalar), positions, role)
            return
        lookup = block.lookups_by_alias.get(alias)
        if lookup is None:
            raise _not_followed("a generator")
        inner = self._engine.base(lookup.block.name)
        if alias in members.outer_lookups:
            found = members.outer_lookups[alias].refer(positions, members.base)
            found = found[found >= 0]
            found = found[inner.present[found]]
        elif getattr(lookup, "scalar", False):
            found = np.flatnonzero(inner.present)
        else:
            found = members.references.of(lookup, positions)  # type: ignore[arg-type]
            found = found[found >= 0]
        self.trace(lookup.block, name, np.unique(found), role)

    def _of_core(
        self,
        block: Block,
        members: Members,
        core: Core,
        read: Iterator[ColumnUse],
        positions: Array,
        role: ValueRole,
    ) -> None:
        scans = {s.alias: s for s in core.sources if isinstance(s, ScanSource)}

        def column(alias: str, its: str, at: Array) -> pa.Array:
            if alias not in scans:
                raise _not_followed("a condition on a derived table")
            source = self._sources[scans[alias].relation]
            rows = source.rows_of(members, self._scan(block, scans[alias]))[at]
            if not source.whole:
                raise CapabilityError(
                    f"Which branch was taken depends on {source.name}, which cannot be read.\n"
                    "Open the capture with Spark, or give the rows: sources={...}."
                )
            return decoded(source.column(its)).take(pa.array(rows, mask=rows < 0))

        for use, at in _taken(read, positions, column):
            part = use.role.then(role)
            if use.alias in scans:
                self._add(block, members, scans[use.alias], use.name, at, part)
                continue
            source = next((s for s in core.sources if s.alias == use.alias), None)
            if not isinstance(source, UnionSource):
                raise _not_followed("a derived table in FROM, or a generator")
            place = [name for name, _ in source.branches[0].select].index(use.name)
            for branch in source.branches:
                inside = uses(branch.select[place][1])
                self._of_core(block, members, branch, inside, at, part)

    @staticmethod
    def _scan(block: Block, scan: ScanSource) -> int:
        """Return the number of the tokens of a scan."""
        found = [n for n, t in enumerate(block.tokens) if t.relation == scan.relation]
        exact = [n for n in found if block.tokens[n].alias == scan.alias]
        if len(exact or found) != 1:
            raise _not_followed("a relation that is read several times by branches of UNION")
        return (exact or found)[0]

    def _add(
        self,
        block: Block,
        members: Members,
        scan: ScanSource,
        column: str,
        positions: Array,
        role: ValueRole,
    ) -> None:
        record = self._engine.manifest.relations[scan.relation]
        if not record.token:
            return
        number = self._scan(block, scan)
        absent = members.tokens.index(number).absent
        own = positions if absent is None else positions[~absent[positions]]
        dataset = members.dataset
        assert dataset is not None
        columns = [dataset.take(name, own) for name in block.tokens[number].columns]
        if len(own):
            key = (scan.relation, column, role)
            self.cells.setdefault(key, []).append(pa.table(columns, list(record.token)))


def _extremes(keys: Sequence[pa.Array], owners: Array, *, least: bool) -> Array:
    """Return a Boolean per member: by the keys in turn, it is the first or last of its group."""
    chosen = np.ones(len(owners), dtype=np.bool_)
    for number, key in enumerate(keys):
        valid = key.is_valid().to_numpy(zero_copy_only=False)
        if number == 0:
            chosen &= valid
        ranks = np.where(valid, ranked(key), np.iinfo(np.int64).min)
        ranks = np.where(valid, -ranks, ranks) if least else ranks
        best = np.full(int(owners.max(initial=-1)) + 1, np.iinfo(np.int64).min)
        np.maximum.at(best, owners[chosen], ranks[chosen])
        chosen &= ranks == best[owners]
    return chosen


def _taken(
    read: Iterator[ColumnUse], positions: Array, column: Callable[[str, str, Array], pa.Array]
) -> Iterator[tuple[ColumnUse, Array]]:
    """Yield the columns that are read, and the positions at which their guards hold."""
    for use in read:
        at = positions
        for condition, wanted in use.guards:
            at = at[_holds(condition, at, column) == wanted] if len(at) else at
        yield use, at


def _holds(condition: object, at: Array, column: Callable[[str, str, Array], pa.Array]) -> Array:
    try:
        vector = interpret(condition).evaluate(  # type: ignore[arg-type]
            lambda alias, name: from_arrow(column(alias, name, at))
        )
    except UninterpretableError as error:
        raise _not_followed(f"the condition {error}") from error
    held: Array = vector.to_arrow(len(at)).fill_null(False).to_numpy(zero_copy_only=False)
    return held.astype(np.bool_)


def _not_followed(what: str) -> CapabilityError:
    return CapabilityError(
        f"Cells are not followed through {what}.\n"
        "column_lineage() has the columns that the value comes from, and lineage() the rows."
    )
