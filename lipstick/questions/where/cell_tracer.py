"""Cells followed through the blocks of a capture, whole columns of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.member_groups import in_sets
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.state import known_values, same
from lipstick.engines.memory.unions import UnionRows
from lipstick.engines.memory.window_frames import FrameRanges
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.engines.memory.windows import (
    MOST_IN_FRAMES,
    computed,
    extent,
    is_ranking,
    placed,
    row_of_value,
)
from lipstick.errors import NeedsSparkError
from lipstick.questions.why.sources import SourceRows
from rewriter.algebra import Scalar
from rewriter.analysis.column_lineage import (
    OFFSETS,
    ColumnUse,
    ValueRole,
    aggregate_uses,
    captured_columns,
    deciding_uses,
    elements,
    generated_uses,
    is_choosing,
    uses,
)
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    MEMBER,
    SET_NUMBER,
    UNION,
    Block,
    Core,
    Generator,
    MatchKind,
    ScanSource,
    UnionSource,
)
from rewriter.interpret import (
    WINDOW,
    Interpreted,
    WindowCall,
    aggregate_call,
    from_arrow,
    interpret,
    split_windows,
)
from rewriter.passes.split_generators import ARRAY
from rewriter.scalars import windows
from rewriter.scalars.aggregates import name_of
from semiring.arrays.arrow import decoded
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.errors import CapabilityError

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
            return self._engine.base(block.by_alias[alias].block.name).scalar(its, at)

        for use, at in taken(uses(scalar), positions, column):
            if functions and use.alias == WINDOW:
                written = functions[int(use.name)]
                self._of_window(window(use.name), written, at, use.role.then(role))
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
            self._of_group(rows, name, positions, role)
        elif isinstance(rows, GroupRows | MemberRows):
            self._of_members(rows.members, alias, name, positions, role)
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
            self._read(of_inner.members, uses(scalar), owners[places == number], role)

    def _of_window(
        self, window: FrameReader, written: windows.Window, positions: Array, role: ValueRole
    ) -> None:
        """Add the cells behind a window function of some rows."""
        members, own = window.rows.members, windows.called(written).expressions
        if is_ranking(window.call):
            among = window.rows_within(window.partitions(), positions)
            for key in written.args["order"].expressions:
                self._read(members, deciding_uses(key.this), among, role)
            return
        source = window.row_of_value(positions)
        if source is not None:
            found = source >= 0
            self._read(members, uses(own[0]), ascending(source[found]), role)
            if window.call.ignores_nulls:
                among = window.rows_within(extent(window.call, window.placement), positions)
                self._read(members, deciding_uses(own[0]), among, role)
            if window.call.function in OFFSETS and len(own) > 2:
                self._read(members, uses(own[2]), positions[~found], role)
            return
        aggregate, frames = windows.aggregate_of(written), window.frames()
        if is_choosing(aggregate):
            at, owners = window.rows_of_each(frames, positions)
            self._of_call(members, aggregate, at, owners, window.values(positions), role)
        else:
            among = window.rows_within(frames, positions)
            self._read(members, aggregate_uses(aggregate), among, role)

    def _read(
        self,
        members: Members,
        read: Iterator[ColumnUse],
        positions: Array,
        role: ValueRole,
        number: int = 0,
    ) -> None:
        """Add the cells behind the columns that a scalar reads of some members.

        ``number`` is that of the grouping set that the members are in.
        """

        def column(alias: str, its: str, at: Array) -> pa.Array:
            numbers = np.full(len(at), number)
            return in_sets(members.resolve(at, members.base), numbers)(alias, its).to_arrow(len(at))

        for use, at in taken(read, positions, column):
            self._of_members(members, use.alias, use.name, at, use.role.then(role))

    def _of_group(self, rows: GroupRows, name: str, positions: Array, role: ValueRole) -> None:
        call = dict(rows.members.block.aggregates).get(name)
        if call is None:
            key = dict(rows.members.block.keys)[name]
            for number, groups in _by_set(rows, positions):
                members, _ = rows.grouping.present_members(groups)
                self._read(rows.members, uses(key), members, role, number)
            return
        members, owners = rows.grouping.present_members(positions)
        result = rows.base.take(name, positions)
        self._of_call(rows.members, call, members, owners, result, role)

    def _of_call(
        self,
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
            self._read(members, aggregate_uses(call), positions, role)
            return
        arguments = aggregate_call(call).arguments
        values = [self._values(each, members, positions) for each in arguments]
        result = results.take(pa.array(owners))
        is_chosen = same(values[0], decoded(result).cast(values[0].type))
        is_chosen &= _extremes(values[1:], owners, least=name_of(call) == "min_by")
        chosen = ascending(positions[is_chosen])
        for use in aggregate_uses(call):
            own = positions if use.role is ValueRole.CHOSEN else chosen
            self._read(members, iter((use,)), ascending(own), role)
        if len(values) == 1:
            # Any other value may become the extreme.
            self._read(members, aggregate_uses(call), ascending(positions), ValueRole.CHOSEN)

    @staticmethod
    def _values(argument: Interpreted, members: Members, positions: Array) -> pa.Array:
        try:
            resolve = members.resolve(positions, members.base)
            return decoded(known_values(argument, resolve, len(positions)))
        except NeedsSparkError as error:
            what = f"the argument {argument.text} of an aggregate that chooses"
            raise not_followed(what) from error

    def _of_members(
        self, members: Members, alias: str, name: str, positions: Array, role: ValueRole
    ) -> None:
        if alias == EXPANDED or not len(positions):
            return
        if alias == MEMBER:
            core = members.block.core
            assert core is not None
            self._of_core(members, core, uses(dict(core.select)[name]), positions, role)
            return
        lookup = members.block.by_alias.get(alias)
        if lookup is None:
            raise not_followed("the rows that a generator makes")
        inner = self._engine.base(lookup.block.name)
        if alias in members.lookups:
            found = members.lookups[alias].refer(positions, members.base)
            found = found[found >= 0]
            found = found[inner.present[found]]
        elif lookup.kind is MatchKind.ONE:
            found = np.flatnonzero(inner.present)
        else:
            found = members.references.of(lookup, positions)
            found = found[found >= 0]
        self.trace(lookup.block, name, ascending(found), role)

    def _of_core(
        self,
        members: Members,
        core: Core,
        read: Iterator[ColumnUse],
        positions: Array,
        role: ValueRole,
    ) -> None:
        reader = CoreReader(self._sources, members, core)
        for use, at in taken(read, positions, reader.column):
            part = use.role.then(role)
            if use.alias in reader.scans:
                self._add(members, reader.scans[use.alias], use.name, at, part)
            elif use.alias in reader.generators:
                for inside, own in reader.generated(use, at):
                    self._of_core(members, core, inside, own, part)
            elif use.alias in members.block.by_alias:
                self._of_members(members, use.alias, use.name, at, part)
            else:
                source = next((s for s in core.sources if s.alias == use.alias), None)
                if not isinstance(source, UnionSource):
                    raise not_followed("values in FROM, or a recursion")
                place = [name for name, _ in source.branches[0].select].index(use.name)
                for branch in source.branches:
                    inside = uses(branch.select[place][1])
                    self._of_core(members, branch, inside, at, part)

    def _add(
        self, members: Members, scan: ScanSource, column: str, positions: Array, role: ValueRole
    ) -> None:
        record = self._engine.manifest.relations[scan.relation]
        if not record.token:
            return
        number = scan_number(members.block, scan)
        absent = members.tokens.index(number).absent
        own = positions if absent is None else positions[~absent[positions]]
        dataset = members.dataset
        assert dataset is not None
        columns = [dataset.take(name, own) for name in members.block.tokens[number].columns]
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


Column: TypeAlias = Callable[[str, str, Array], pa.Array]
"""Reads a column of an alias at some positions."""


class FrameReader:
    """A window function over the rows of a block that are there."""

    def __init__(self, rows: WindowRows, call: WindowCall) -> None:
        self.rows = rows
        self.call = call
        self._there = np.flatnonzero(rows.base_present())
        self._resolve = rows.members.resolve(self._there, rows.members.base)
        self.placement = placed(call, self._resolve, len(self._there))

    def values(self, positions: Array) -> pa.Array:
        """Return the values of some rows."""
        found = computed(self.call, self._resolve, len(self._there))
        return found.take(pa.array(np.searchsorted(self._there, positions)))

    def row_of_value(self, positions: Array) -> Array | None:
        """Return the rows whose values the given ones have, -1 for none; None: it computes."""
        found = row_of_value(self.call, self._resolve, len(self._there), self.placement)
        if found is None:
            return None
        own = found[np.searchsorted(self._there, positions)]
        return np.where(own < 0, -1, np.append(self._there, -1)[own])

    def partitions(self) -> FrameRanges:
        """Return the partition of each place."""
        return FrameRanges(self.placement.start, self.placement.stop)

    def frames(self) -> FrameRanges:
        """Return the frame of each place."""
        bounds = self.call.frame
        found = None if bounds is None else self.placement.ranges(bounds)
        if found is None:
            raise not_followed(f"{self.call.text}, whose frame only Spark knows")
        return found

    def rows_within(self, ranges: FrameRanges, positions: Array) -> Array:
        """Return the rows in the ranges of some rows."""
        return np.sort(self._there[self.placement.rows[self._own(ranges, positions).covered()]])

    def rows_of_each(self, ranges: FrameRanges, positions: Array) -> tuple[Array, Array]:
        """Return the rows in the range of each row, and for each the number of its owner."""
        own = self._own(ranges, positions)
        if int(own.sizes.sum()) > MOST_IN_FRAMES:
            raise not_followed(f"{self.call.text} of so many rows at once")
        places, _ = own.expanded()
        owners = np.repeat(np.arange(len(positions)), own.sizes)
        return self._there[self.placement.rows[places]], owners

    def _own(self, ranges: FrameRanges, positions: Array) -> FrameRanges:
        return ranges.of(self.placement.place[np.searchsorted(self._there, positions)])


class CoreReader:
    """The columns that scalars of a core read, for some members."""

    def __init__(self, sources: Callable[[str], SourceRows], members: Members, core: Core) -> None:
        self._sources = sources
        self._block = members.block
        self._members = members
        self._captured = captured_columns(core) if core is members.block.core else {}
        self.scans = {s.alias: s for s in core.sources if isinstance(s, ScanSource)}
        self._made: dict[str, list[Array]] = {}
        self.generators = {alias: each for each in core.generators for alias in each.aliases}

    def column(self, alias: str, its: str, at: Array) -> pa.Array:
        """Return a column, of the members or of the rows that they are made of."""
        generator = self.generators.get(alias)
        written = None if generator is None else elements(generator)
        if generator is not None and written is not None and its in generator.columns:
            place = generator.columns.index(its)
            value = pa.nulls(len(at))
            for scalars, held in zip(written, self._places(generator, at), strict=True):
                own = _evaluated(scalars[place], at, self.column)
                try:
                    value = pc.if_else(pa.array(held), own, value.cast(own.type))
                except pa.ArrowInvalid as error:
                    raise not_followed("an array of numbers of several types") from error
            return value
        if alias not in self.scans or (alias, its) in self._captured:
            return self._known(alias, its, at)
        source = self._sources(self.scans[alias].relation)
        rows = source.rows_of(self._members, scan_number(self._block, self.scans[alias]))[at]
        if not source.whole:
            raise CapabilityError(
                f"Which branch was taken depends on {source.name}, which cannot be read.\n"
                "Open the capture with Spark, or give the rows: sources={...}."
            )
        if its not in source.schema.names:
            raise not_followed(f"a condition on the nested column {its}")
        return decoded(source.column(its)).take(pa.array(rows, mask=rows < 0))

    def generated(self, use: ColumnUse, at: Array) -> Iterator[tuple[Iterator[ColumnUse], Array]]:
        """Yield the columns behind a column of a generator, and the members that they are of."""
        generator = self.generators[use.alias]
        written = elements(generator)
        if written is None:
            yield generated_uses(generator, use.name), at
        elif use.name in generator.columns:
            place = generator.columns.index(use.name)
            for scalars, held in zip(written, self._places(generator, at), strict=True):
                yield uses(scalars[place]), at[held]

    def _known(self, alias: str, its: str, at: Array) -> pa.Array:
        """Return a column that members have, or the rows that they refer to."""
        stored = self._captured.get((alias, its))
        if stored is None and alias not in self._block.by_alias:
            raise not_followed("a condition on values in FROM, or on a generator")
        read = (alias, its) if stored is None else (MEMBER, stored)
        return self._members.resolve(at, self._members.base)(*read).to_arrow(len(at))

    def _places(self, generator: Generator, at: Array) -> list[Array]:
        """Return, for each row of a constructor, a Boolean per member: it is made of this row."""
        if generator.alias not in self._made:
            every = np.arange(self._members.count)
            self._made[generator.alias] = self._rows_made(generator, every)
        return [held[at] for held in self._made[generator.alias]]

    def _rows_made(self, generator: Generator, at: Array) -> list[Array]:
        """Return the same of all members.

        By the place of the row if members have it, else by its values. Of rows with equal values
        each is there if the members are as many, and is given to one of them.
        """
        written = elements(generator) or []
        if generator.position is not None:
            with suppress(CapabilityError):
                place = self._known(generator.position_alias, generator.position, at)
                return [_equal(place, pa.scalar(number)) for number in range(len(written))]
        found = [np.ones(len(at), dtype=np.bool_) for _ in written]
        for number, name in enumerate(generator.columns):
            with suppress(CapabilityError):
                value = self._known(generator.alias, name, at)
                for row, scalars in enumerate(written):
                    made = _evaluated(scalars[number], at, self.column)
                    found[row] &= same(value, decoded(made).cast(value.type))
        dataset = self._members.dataset
        assert dataset is not None
        names = dict.fromkeys(name for token in self._block.tokens for name in token.columns)
        tokens = [dataset.take(name, at) for name in names]
        codes, _ = distinct([*tokens, *map(pa.array, found)], len(at))
        fitting = np.sum(found, axis=0)
        if ((fitting > 1) & (np.bincount(codes)[codes] != fitting)).any():
            raise not_followed("a generator whose rows the capture does not distinguish")
        order = np.argsort(codes, kind="stable")
        starts = np.cumsum(np.bincount(codes)) - np.bincount(codes)
        rank = np.empty(len(at), dtype=np.int64)
        rank[order] = np.arange(len(at)) - starts[codes[order]]
        # The rank-th of the members that are alike is made of the rank-th row that fits them.
        fits = np.cumsum(found, axis=0) - 1
        return [
            held & ((fitting == 1) | (nth == rank)) for held, nth in zip(found, fits, strict=True)
        ]


def scan_number(block: Block, scan: ScanSource) -> int:
    """Return the number of the tokens of a scan."""
    found = [n for n, t in enumerate(block.tokens) if t.relation == scan.relation]
    exact = [n for n in found if block.tokens[n].alias == scan.alias]
    if len(exact or found) != 1:
        raise not_followed("a relation that is read several times by branches of UNION")
    return (exact or found)[0]


def _equal(column: pa.Array, value: pa.Scalar) -> Array:
    held: Array = pc.equal(column, value).fill_null(False).to_numpy(zero_copy_only=False)
    return held


def taken(
    read: Iterator[ColumnUse], positions: Array, column: Column
) -> Iterator[tuple[ColumnUse, Array]]:
    """Yield the columns that are read, and the positions at which their guards hold."""
    for use in read:
        at = positions
        for condition, wanted in use.guards:
            at = at[_holds(condition, at, column) == wanted] if len(at) else at
        yield use, at


def _holds(condition: Scalar, at: Array, column: Column) -> Array:
    held = _evaluated(condition, at, column).fill_null(False).to_numpy(zero_copy_only=False)
    return np.asarray(held, dtype=np.bool_)


def _evaluated(scalar: Scalar, at: Array, column: Column) -> pa.Array:
    condition = interpret(scalar)
    try:
        return known_values(
            condition, lambda alias, name: from_arrow(column(alias, name, at)), len(at)
        )
    except NeedsSparkError as error:
        raise not_followed(f"the condition {condition.text}") from error


def _by_set(rows: GroupRows, groups: Array) -> Iterator[tuple[int, Array]]:
    """Yield the number of each grouping set, and the groups of it; 0 where there are no sets."""
    own = (EXPANDED, SET_NUMBER)
    number = next((name for name, key in rows.grouping.keys if key.column == own), None)
    if number is None:
        yield 0, groups
        return
    numbers = rows.base.take(number, groups).to_numpy(zero_copy_only=False)
    for each in np.unique(numbers):
        yield int(each), groups[numbers == each]


def not_followed(what: str) -> CapabilityError:
    return CapabilityError(
        f"Cells are not followed through {what}.\n"
        "column_lineage() has the columns that the value comes from, and lineage() the rows."
    )
