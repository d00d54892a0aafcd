"""Cells followed through the blocks of a capture, whole columns of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.state import same
from lipstick.engines.memory.unions import UnionRows
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.engines.memory.windows import extent, is_ranking
from lipstick.questions.where.readers import (
    CoreReader,
    FrameReader,
    not_followed,
    scan_number,
    taken,
)
from lipstick.questions.why.sources import SourceRows
from rewriter.algebra import Scalar
from rewriter.analysis.column_lineage import (
    OFFSETS,
    ColumnUse,
    ValueRole,
    aggregate_uses,
    deciding_uses,
    elements,
    is_choosing,
    uses,
)
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    MEMBER,
    UNION,
    Block,
    Core,
    ScanSource,
    UnionSource,
)
from rewriter.interpret import (
    WINDOW,
    UninterpretableError,
    Vector,
    aggregate_call,
    split_windows,
)
from rewriter.passes.split_generators import ARRAY
from rewriter.scalars import windows
from rewriter.scalars.aggregates import name_of
from semiring.arrays.arrow import decoded
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import ascending
from semiring.base import Array

Cells = dict[tuple[str, str, ValueRole], list[pa.Table]]
"""By relation, column and role, the tokens of rows."""


class CellTracer:
    """Follows cells of a capture's answer to cells of its relations.

    Attributes
    ----------
    cells
        The cells that were reached.
    """

    def __init__(self, engine: Engine, sources: Callable[[str], SourceRows]) -> None:
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
            For what is not followed: values in FROM, recursions, generators of unknown places.
        """
        rows = self._engine.rows(block.name)
        outputs = {each.name: each.scalar for each in block.outputs}
        scalar = outputs.get(name, dict(block.keys).get(name))
        if scalar is None:
            self._column(block, GROUP, name, positions, role)
            return
        if isinstance(rows, ElementRows):
            self._of_element(block, rows, name, positions, role)
            return
        scalar, functions = split_windows(scalar)

        @cache
        def window(number: str) -> FrameReader:
            assert isinstance(rows, WindowRows)
            return FrameReader(rows, rows.windowed[name].calls[int(number)])

        def column(alias: str, its: str, at: Array) -> pa.Array:
            if alias in (GROUP, UNION):
                return rows.base.take(its, at)
            if functions and alias == WINDOW:
                return window(its).values(at)
            if isinstance(rows, MemberRows):
                resolve = rows.members.resolve(at, rows.members.base)
                return resolve(alias, its).to_arrow(len(at))
            return self._engine.base(block.lookups_by_alias[alias].block.name).scalar(its, at)

        for use, at in taken(uses(scalar), positions, column):
            if functions and use.alias == WINDOW:
                written = functions[int(use.name)]
                self._of_window(block, window(use.name), written, at, use.role.then(role))
                continue
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
            raise not_followed("the rows that a generator makes")

    def _of_element(
        self, block: Block, rows: ElementRows, name: str, positions: Array, role: ValueRole
    ) -> None:
        """Add the cells behind a column of the rows that a generator makes."""
        inner, owners = self._engine.blocks[rows.inner], rows.owners[positions]
        if name in rows.passed:
            self.trace(inner, rows.passed[name], ascending(owners), role)
            return
        if name == rows.place:
            return
        array = next(each.scalar for each in inner.outputs if each.name == ARRAY)
        written = elements(replace(rows.generator, argument=array))
        if written is None or split_windows(array)[1]:
            self.trace(inner, ARRAY, ascending(owners), ValueRole.COMPUTED.then(role))
            return
        of_inner = self._engine.rows(inner.name)
        assert isinstance(of_inner, MemberRows)
        places = rows.known[1].places[positions]
        for number, scalars in enumerate(written):
            scalar = scalars[rows.made.index(name)]
            self._read(inner, of_inner.members, uses(scalar), owners[places == number], role)

    def _of_window(
        self,
        block: Block,
        window: FrameReader,
        written: windows.Window,
        positions: Array,
        role: ValueRole,
    ) -> None:
        """Add the cells behind a window function of some rows."""
        members, own = window.rows.members, windows.called(written).expressions
        if is_ranking(window.call):
            among = window.rows_within(window.partitions(), positions)
            for key in written.args["order"].expressions:
                self._read(block, members, deciding_uses(key.this), among, role)
            return
        source = window.row_of_value(positions)
        if source is not None:
            found = source >= 0
            self._read(block, members, uses(own[0]), ascending(source[found]), role)
            if window.call.ignores_nulls:
                among = window.rows_within(extent(window.call, window.placement), positions)
                self._read(block, members, deciding_uses(own[0]), among, role)
            if window.call.function in OFFSETS and len(own) > 2:
                self._read(block, members, uses(own[2]), positions[~found], role)
            return
        aggregate, frames = windows.aggregate_of(written), window.frames()
        if is_choosing(aggregate):
            at, owners = window.rows_of_each(frames, positions)
            self._of_call(block, members, aggregate, at, owners, window.values(positions), role)
        else:
            among = window.rows_within(frames, positions)
            self._read(block, members, aggregate_uses(aggregate), among, role)

    def _read(
        self,
        block: Block,
        members: Members,
        read: Iterator[ColumnUse],
        positions: Array,
        role: ValueRole,
    ) -> None:
        """Add the cells behind the columns that a scalar reads of some members."""

        def column(alias: str, its: str, at: Array) -> pa.Array:
            return members.resolve(at, members.base)(alias, its).to_arrow(len(at))

        for use, at in taken(read, positions, column):
            self._of_members(block, members, use.alias, use.name, at, use.role.then(role))

    def _of_group(
        self, block: Block, rows: GroupRows, name: str, positions: Array, role: ValueRole
    ) -> None:
        members, owners = rows.grouping.members_of(positions)
        if rows.members.base_alive is not None:
            there = rows.members.base_alive[members]
            members, owners = members[there], owners[there]
        call = dict(block.aggregates).get(name)
        if call is None:
            self._read(block, rows.members, uses(dict(block.keys)[name]), members, role)
            return
        result = rows.base.take(name, positions)
        self._of_call(block, rows.members, call, members, owners, result, role)

    def _of_call(
        self,
        block: Block,
        members: Members,
        call: Scalar,
        positions: Array,
        owners: Array,
        results: pa.Array,
        role: ValueRole,
    ) -> None:
        """Add the cells behind an aggregate.

        Parameters
        ----------
        positions, owners
            The members that it sees, and for each the number of its result.
        """
        if not is_choosing(call):
            self._read(block, members, aggregate_uses(call), positions, role)
            return
        arguments = [each.evaluate for each in aggregate_call(call).arguments]
        values = [self._values(each, members, positions) for each in arguments]
        result = results.take(pa.array(owners))
        is_chosen = same(values[0], decoded(result).cast(values[0].type))
        is_chosen &= _extremes(values[1:], owners, least=name_of(call) == "min_by")
        chosen = ascending(positions[is_chosen])
        for use in aggregate_uses(call):
            own = positions if use.role is ValueRole.CHOSEN else chosen
            self._read(block, members, iter((use,)), ascending(own), role)
        if len(values) == 1:
            # Any other value may become the extreme.
            self._read(block, members, aggregate_uses(call), ascending(positions), ValueRole.CHOSEN)

    @staticmethod
    def _values(evaluate: Callable[..., Vector], members: Members, positions: Array) -> pa.Array:
        try:
            vector = evaluate(members.resolve(positions, members.base))
        except UninterpretableError as error:
            raise not_followed(f"the argument {error} of an aggregate that chooses") from error
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
            raise not_followed("the rows that a generator makes")
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
        self.trace(lookup.block, name, ascending(found), role)

    def _of_core(
        self,
        block: Block,
        members: Members,
        core: Core,
        read: Iterator[ColumnUse],
        positions: Array,
        role: ValueRole,
    ) -> None:
        reader = CoreReader(self._sources, block, members, core)
        for use, at in taken(read, positions, reader.column):
            part = use.role.then(role)
            if use.alias in reader.scans:
                self._add(block, members, reader.scans[use.alias], use.name, at, part)
            elif use.alias in reader.generators:
                for inside, own in reader.generated(use, at):
                    self._of_core(block, members, core, inside, own, part)
            elif use.alias in block.lookups_by_alias:
                self._of_members(block, members, use.alias, use.name, at, part)
            else:
                source = next((s for s in core.sources if s.alias == use.alias), None)
                if not isinstance(source, UnionSource):
                    raise not_followed("values in FROM, or a recursion")
                place = [name for name, _ in source.branches[0].select].index(use.name)
                for branch in source.branches:
                    inside = uses(branch.select[place][1])
                    self._of_core(block, members, branch, inside, at, part)

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
        number = scan_number(block, scan)
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
