"""Blocks with window functions: one tuple per member, its values from other members too."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.order import Key
from lipstick.engines.memory.places import (
    NOTHING,
    beside,
    contains,
    everywhere,
    matches,
    pack,
    positions_of,
    scenarios_of,
)
from lipstick.engines.memory.state import (
    SORT,
    AskedValue,
    Context,
    State,
    Supposed,
    Take,
    as_type,
    known_values,
    needs_spark,
    overlay,
    spread,
    values,
)
from lipstick.engines.memory.store import Dataset
from lipstick.engines.memory.window_frames import (
    FrameRanges,
    Placed,
    WindowPartitions,
    moves,
)
from lipstick.engines.memory.window_value import MovedRows, is_followed
from lipstick.engines.memory.windows import computed, extent, placed
from rewriter.blocks import Block
from rewriter.interpret import (
    WINDOW,
    AggregateCall,
    Interpreted,
    Vector,
    WindowCall,
    Windowed,
    from_arrow,
    windowed,
)
from semiring.arrays.segments import ascending, expand, mask_of, union
from semiring.base import Array

FOLLOWED = 4
"""The value of one row is computed alone where so many times as many rows would be computed."""

_COUNTED = ("row_number", "rank")
_DENSE = "dense_rank"
_ADDING = ("AVG", "SUM")
_COUNT = AggregateCall("COUNT(*)", "COUNT", False, ())


class WindowRows(MemberRows):
    """The tuples of a block with window functions.

    In a scenario the values of window functions are computed anew where partitions lose or gain
    rows, or rows have other values; when they are first asked for.
    """

    def __init__(
        self, block: Block, stored: Dataset | None, members: Members, context: Context
    ) -> None:
        super().__init__(block, stored, members, context)
        scalars = {output.name: output.scalar for output in block.outputs}
        scalars |= {f"{SORT}{number}": key.scalar for number, key in enumerate(block.order)}
        by_name = {name: windowed(scalar) for name, scalar in scalars.items()}
        self.windowed: Mapping[str, Windowed] = {n: w for n, w in by_name.items() if w.calls}
        """The outputs and sort keys with window functions."""
        self._by_partition: dict[tuple[str, ...], WindowPartitions] = {}
        self._placements: dict[Hashable, Placed] = {}

    def _base_take(self, name: str, positions: Array) -> pa.Array:
        if name not in self.windowed:
            return super()._base_take(name, positions)
        if self._stored is None or not self.block.unique_identity:
            # There are no captured rows, or which of them is whose is not known.
            return self._base_computed(name, positions)
        there = np.flatnonzero(self.members.was_alive(positions))
        return spread(super()._base_take(name, positions[there]), there, len(positions))

    @cached_property
    def _base_computed(self) -> Take:
        rows = np.flatnonzero(self.base_present())
        whole = _Touched(rows, np.zeros_like(rows), np.ones(len(rows), dtype=np.bool_))
        return self._known(dict.fromkeys(self.windowed, whole), self.context, super()._base_take)

    def _known(
        self, computed_at: Mapping[str, _Touched], context: Context, otherwise: Take
    ) -> Take:
        """Values that are computed at some places of each output, when first asked for."""
        known: dict[str, pa.Array] = {}

        def take(name: str, places: Array) -> pa.Array:
            if name not in self.windowed:
                return otherwise(name, places)
            touched = computed_at[name]
            if name not in known:
                known[name] = self._computed(name, touched, context)
            found, rows = matches(places, touched.places)
            found, rows = found[touched.settled[rows]], rows[touched.settled[rows]]
            if len(found) == len(places):
                return known[name].take(pa.array(rows))
            index = np.full(len(places), -1, dtype=np.int64)
            index[found] = rows
            computed_there = known[name].take(pa.array(index, mask=index < 0))
            if context is self.context:
                return computed_there
            rest = np.flatnonzero(index < 0)
            return overlay(computed_there, rest, self.base.take(name, places[rest]))

        return take

    def _needed(self, asked: AskedValue | None) -> Array | None:
        """See :class:`MemberRows`; a value of a window comes from other rows too."""
        is_plain = asked is not None and asked.output not in self.windowed
        return super()._needed(asked) if is_plain else None

    def _read(self, asked: AskedValue | None) -> tuple[Interpreted, ...]:
        """See :class:`MemberRows`; with what windows are over."""
        chosen = (w for name, w in self.windowed.items() if asked is None or name == asked.output)
        return (*super()._read(asked), *(scalar for w in chosen for scalar in _scalars(w)))

    def _supposed(
        self, context: Context, suspects: Array, was: Array, now: Array, asked: AskedValue | None
    ) -> State:
        """See :class:`MemberRows`.

        Rows of the partitions that suspects were in, or are in now, may have other values.
        """
        arriving = suspects[now]
        if asked is not None and self._is_followed(asked.output, len(suspects)):
            return self._at_row(context, suspects, was, now, asked)
        touched = {
            name: self._partitions(window, suspects, was, arriving, context)
            for name, window in self.windowed.items()
            if asked is None or name == asked.output
        }
        take = self._known(touched, context, self._plain(context))
        changed = union(suspects, *(part.places[part.settled] for part in touched.values()))
        size = self.members.size(context)
        return Supposed(self.base, size, take, changed, suspects[was != now])

    def _is_followed(self, name: str, suspects: int) -> bool:
        """Return True if the value of one row is computed from what its frame loses and gains.

        All rows are sorted for that, which pays where many would have other values.
        """
        window = self.windowed.get(name)
        if window is None or not all(map(is_followed, window.calls)):
            return False
        sizes = [self._partitioned(call) for call in window.calls]
        rows = max(each.row_count // max(each.count, 1) for each in sizes)
        return suspects * rows > FOLLOWED * (sizes[0].row_count + suspects)

    def _at_row(
        self, context: Context, suspects: Array, was: Array, now: Array, asked: AskedValue
    ) -> State:
        """The value of one row, and which rows are there."""
        rows = np.flatnonzero(self.base_present())
        moved = MovedRows(self.members, rows, suspects[was], suspects[now], context)
        plain, window = self._plain(context), self.windowed[asked.output]

        def take(name: str, places: Array) -> pa.Array:
            if name != asked.output:
                return plain(name, places)
            columns = [moved.value(call, places) for call in window.calls]
            return self._read_windows(name, columns, places, context)

        own = pack(ascending(scenarios_of(suspects)), asked.positions)
        changed = union(suspects, own)
        size = self.members.size(context)
        return Supposed(self.base, size, take, changed, suspects[was != now])

    def _partitions(
        self, window: Windowed, suspects: Array, was: Array, arriving: Array, context: Context
    ) -> _Touched:
        """The rows that are there now in partitions with suspects."""
        reach = self._bounded(window)
        if reach is not None:
            old = suspects[was]
            if contains(old, arriving).all():
                return self._neighbours(window.calls[0], reach, suspects, old, arriving)
        partitions = {_texts(call.partition): call for call in window.calls}
        if len(partitions) > 1:
            # Partitions of one window overlap those of another.
            scenarios = ascending(scenarios_of(suspects))
            together = everywhere(scenarios, np.flatnonzero(self.base_present()))
        else:
            (call,) = partitions.values()
            if self._is_reranked(window, len(suspects)):
                return self._reranked(call, suspects, suspects[was], arriving, context)
            partitioned = self._partitioned(call)
            of_old = partitioned.of_rows[positions_of(suspects[was])]
            of_new = partitioned.find(self._keys(call, arriving, context), len(arriving))
            hit = union(
                np.sort(pack(scenarios_of(suspects[was]), of_old)),
                np.sort(beside(arriving, of_new)[of_new >= 0]),
            )
            rows, owners = partitioned.index.rows(positions_of(hit))
            together = np.sort(beside(hit[owners], rows))
        places = union(together[~contains(suspects, together)], arriving)
        return _Touched(places, scenarios_of(places), np.ones(len(places), dtype=np.bool_))

    def _bounded(self, window: Windowed) -> int | None:
        """Return the number of rows before and after a row that decide its value.

        None unless frames have a bounded number of rows, in an order that no deletion changes.
        """
        windows = {_window(call) for call in window.calls}
        call = window.calls[0]
        scalars = [*call.partition, *(key.scalar for key in call.order)]
        if len(windows) > 1 or any(s.run is None for s in scalars):
            return None
        if not all(map(self.members.is_stable, scalars)):
            return None
        distances = [0]
        for each in window.calls:
            extent_of_each = each.extent
            if extent_of_each is None or not extent_of_each.rows:
                return None
            if extent_of_each.start is None or extent_of_each.end is None:
                return None
            distances += [abs(extent_of_each.start), abs(extent_of_each.end)]
        return max(distances)

    def _neighbours(
        self, call: WindowCall, reach: int, suspects: Array, old: Array, arriving: Array
    ) -> _Touched:
        """Return the rows near suspects that were there, and the rows that decide their values.

        Parameters
        ----------
        old
        The suspects that were there.
        """
        rows = np.flatnonzero(self.base_present())
        placement = self._base_placed(call, rows)
        at = placement.place[np.searchsorted(rows, positions_of(old))]
        scenarios = scenarios_of(old)
        by_place = np.lexsort([at, scenarios])
        at, scenarios = at[by_place], scenarios[by_place]
        _, number, counts = np.unique(scenarios, return_inverse=True, return_counts=True)
        near = reach + counts[number]
        low = np.maximum(at - 2 * near, placement.start[at])
        high = np.minimum(at + 2 * near + 1, placement.stop[at])
        # Ranges that meet are one.
        first = np.ones(len(at), dtype=np.bool_)
        first[1:] = (scenarios[1:] != scenarios[:-1]) | (low[1:] > high[:-1])
        begins = np.flatnonzero(first)
        ends = np.append(begins[1:], len(at))[: len(begins)] - 1
        low, high, near = low[begins], high[ends], near[begins]
        numbers, segments = expand(low, high)
        before = (numbers - low[segments] >= near[segments]) | (
            low[segments] <= placement.start[numbers]
        )
        after = (high[segments] - numbers > near[segments]) | (
            high[segments] >= placement.stop[numbers]
        )
        places = pack(scenarios[begins][segments], rows[placement.rows[numbers]])
        kept = ~contains(suspects, places) | contains(arriving, places)
        places, segments, settled = places[kept], segments[kept], (before & after)[kept]
        by_place = np.argsort(places)
        return _Touched(places[by_place], segments[by_place], settled[by_place])

    def _is_reranked(self, window: Windowed, suspects: int) -> bool:
        """Return True if partitions are ranked anew between the places of suspects alone.

        All rows are sorted for that, with the suspects, which pays where these are many.
        """
        call = window.calls[0]
        if len(window.calls) > 1 or call.function not in (*_COUNTED, _DENSE):
            return False
        partitioned = self._partitioned(call)
        count = partitioned.row_count
        return suspects * count // max(partitioned.count, 1) > 4 * (count + suspects)

    def _reranked(
        self, call: WindowCall, suspects: Array, old: Array, arriving: Array, context: Context
    ) -> _Touched:
        """Return the rows between the old and the new places of suspects."""
        rows = np.flatnonzero(self.base_present())
        scalars = [*call.partition, *(key.scalar for key in call.order)]
        columns = [
            pa.concat_arrays([before, as_type(now, before.type)])
            for before, now in zip(
                self._scalars(scalars, rows, self.context),
                self._scalars(scalars, arriving, context),
                strict=True,
            )
        ]
        width = len(call.partition)
        keys = [
            Key(column, key.descending, key.nulls_first)
            for column, key in zip(columns[width:], call.order, strict=True)
        ]
        length = len(rows) + len(arriving)
        placement = Placed(columns[:width], keys, length)
        at = np.searchsorted(rows, positions_of(old))
        dense = call.function == _DENSE
        found = moves(placement, len(rows), at, scenarios_of(old), scenarios_of(arriving), dense)
        places = pack(found.scenarios, rows[found.rows])
        kept = ~contains(suspects, places)
        places = np.concatenate([places[kept], arriving])
        segments = np.concatenate([found.segments[kept], found.of_new])
        by_place = np.argsort(places)
        places, segments = places[by_place], segments[by_place]
        settled = np.ones(len(places), dtype=np.bool_)
        return _Touched(places, segments, settled, found.before[segments])

    def _base_placed(self, call: WindowCall, rows: Array) -> Placed:
        key = _window(call)
        if key not in self._placements:
            self._placements[key] = self._placed(call, rows)
        return self._placements[key]

    def _keys(self, call: WindowCall, places: Array, context: Context) -> list[pa.Array]:
        """Return the values by which a window function partitions rows."""
        return self._scalars(call.partition, places, context)

    def _scalars(
        self, scalars: Sequence[Interpreted], places: Array, context: Context
    ) -> list[pa.Array]:
        """Return the values of scalars at some places."""
        resolve = self.members.resolve(places, context)
        return [known_values(scalar, resolve, len(places)) for scalar in scalars]

    def _partitioned(self, call: WindowCall) -> WindowPartitions:
        """The rows that are there without deletion, by the partitions of a window function."""
        key = _texts(call.partition)
        if key not in self._by_partition:
            rows = np.flatnonzero(self.base_present())
            columns = self._keys(call, rows, self.context)
            self._by_partition[key] = WindowPartitions(columns, rows, self.members.count)
        return self._by_partition[key]

    def check(self) -> None:
        """See :class:`Rows`; sums of floats are Spark's, unless captured."""
        if self._stored is None and self._adds_floats():
            raise needs_spark(f"Spark adds up floats of {self.block.name}, in an order of its own.")
        super().check()

    def _adds_floats(self) -> bool:
        """Return True if some value depends on the order in which numbers are added up."""
        resolve = self.members.resolve(NOTHING, self.context)
        calls = (call.aggregate for windows in self.windowed.values() for call in windows.calls)
        return any(
            call.function in _ADDING and _is_rounded(values(argument, resolve, 0, None).type, call)
            for call in calls
            if call is not None
            for argument in call.arguments
        )

    # -- what values are made of -----------------------------------------------------------

    def deciding(self, positions: Array) -> Array:
        """Positions, sorted: the given ones, and those whose rows their values come from.

        Raises
        ------
        NeedsSparkError
            When only Spark knows them.
        """
        rows = np.flatnonzero(self.base_present())
        chosen = np.searchsorted(rows, positions)
        wanted = mask_of(chosen, len(rows))
        for windows in self.windowed.values():
            for call in windows.calls:
                placement = self._placed(call, rows)
                ranges = extent(call, placement)
                wanted[placement.rows[ranges.of(placement.place[chosen]).covered()]] = True
        return rows[wanted]

    def aggregated(self, name: str) -> AggregateCall | None:
        """The aggregate that an output is, over the rows of its frame; None for other outputs.

        ROW_NUMBER and RANK count the rows before, and the row itself.
        """
        call = self._only_call(name)
        if call is None:
            return None
        return _COUNT if call.function in _COUNTED else call.aggregate

    def frames(self, name: str, positions: Array, rows: Array) -> tuple[Array, FrameRanges]:
        """The rows that an aggregate over a window is over, in order, and its frames among them.

        Parameters
        ----------
        positions
            The positions of the rows that the frames are of.
        rows
            The positions, sorted, of the rows that the window is over.

        Raises
        ------
        NeedsSparkError
            When only Spark knows them.
        """
        call = self._only_call(name)
        assert call is not None
        rows = union(rows, positions)
        placement = self._placed(call, rows)
        at = placement.place[np.searchsorted(rows, positions)]
        ranges = extent(call, placement)
        if call.function == "rank":
            # Rows that tie are not counted, but for the row itself: it is the last of the range.
            first = placement.peers()[1]
            ranges = FrameRanges(ranges.start, first + 1)
        return rows[placement.rows], ranges.of(at)

    def seen(self, name: str, positions: Array, rows: Array) -> tuple[Array, Array]:
        """The members that an aggregate over a window sees at some positions, and their owners.

        Parameters and errors as of `frames`.
        """
        ordered, ranges = self.frames(name, positions, rows)
        places, offsets = ranges.expanded()
        seen = ordered[places]
        if self.is_rank(name):
            seen[offsets[1:] - 1] = positions
        return seen, np.repeat(np.arange(len(positions)), np.diff(offsets))

    def is_rank(self, name: str) -> bool:
        """Return True if an output is a rank: its frames end with the row itself, not its ties."""
        call = self._only_call(name)
        return call is not None and call.function == "rank"

    def follows_deletions(self, name: str) -> bool:
        """Return True if a deletion is known to only take members from the frames of an aggregate.

        It is False where frames count rows, and where rows are partitioned or sorted by values that
        a deletion may change.
        """
        call = self._only_call(name)
        if call is None or call.extent is None:
            return False
        bounds = (call.extent.start, call.extent.end)
        counted = call.extent.rows and any(bound not in (None, 0) for bound in bounds)
        scalars = [*call.partition, *(key.scalar for key in call.order)]
        computable = all(scalar.run is not None for scalar in scalars)
        return not counted and computable and all(map(self.members.is_stable, scalars))

    def _only_call(self, name: str) -> WindowCall | None:
        """The window function that an output is, if it is nothing else."""
        window = self.windowed.get(name)
        if window is None or window.scalar.column != (WINDOW, "0"):
            return None
        (call,) = window.calls
        return call

    def _placed(self, call: WindowCall, rows: Array) -> Placed:
        return placed(call, self.members.resolve(rows, self.context), len(rows))

    # -- values under a deletion -----------------------------------------------------------

    def _computed(self, name: str, touched: _Touched, context: Context) -> pa.Array:
        """The values of an output at some places."""
        window, places = self.windowed[name], touched.places
        resolve = self.members.resolve(places, context)
        segments = pa.array(touched.segments)
        columns = [computed(call, resolve, len(places), segments) for call in window.calls]
        if touched.before is not None:
            ranks = columns[0].to_numpy() + touched.before
            columns = [pa.array(ranks, columns[0].type)]

        return self._read_windows(name, columns, places, context)

    def _read_windows(
        self, name: str, columns: list[pa.Array], places: Array, context: Context
    ) -> pa.Array:
        """The values of an output, from the ones of its window functions."""
        resolve = self.members.resolve(places, context)

        def column(alias: str, of: str) -> Vector:
            return from_arrow(columns[int(of)]) if alias == WINDOW else resolve(alias, of)

        return known_values(self.windowed[name].scalar, column, len(places), self.type(name))


@dataclass(frozen=True, slots=True)
class _Touched:
    """Rows over which the values of an output are computed.

    Attributes
    ----------
    places
        Sorted.
    segments
        The segment number of each row; a row sees no row of another segment.
    settled
        Boolean array: the rows whose segment has all that decides their values.
    before
        Of ranks, the number that each one's partition has before its segment; None: none.
    """

    places: Array
    segments: Array
    settled: Array
    before: Array | None = None


def _texts(scalars: Iterable[Interpreted]) -> tuple[str, ...]:
    return tuple(scalar.text for scalar in scalars)


def _window(call: WindowCall) -> Hashable:
    """The partition and order of a window function."""
    keys = ((key.scalar.text, key.descending, key.nulls_first) for key in call.order)
    return _texts(call.partition), tuple(keys)


def _scalars(window: Windowed) -> Iterator[Interpreted]:
    """The scalars that the window functions of an output read."""
    for call in window.calls:
        yield from (*call.partition, *(key.scalar for key in call.order), *call.arguments)


def _is_rounded(kind: pa.DataType, call: AggregateCall) -> bool:
    """Return True if sums are of floats, in which Spark averages integers too."""
    return pa.types.is_floating(kind) or (call.function == "AVG" and pa.types.is_integer(kind))
