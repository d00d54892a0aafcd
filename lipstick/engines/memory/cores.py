"""Cores computed in this process, over relations and members of other blocks held as tables.

Results equal Spark's, to the type: scalars are evaluated by :mod:`rewriter.interpret`. Everything
else is left to Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import taken_apart
from lipstick.engines.memory.joins import JoinedRows, check_pairs, filtered, interpreted, join
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.state import values
from lipstick.engines.memory.store import every
from lipstick.errors import NeedsSparkError
from rewriter.analysis.potential import (
    certain_conditions,
    certain_having,
    potential_columns,
    potential_lookups,
    stable_generators,
)
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    MEMBER,
    SET_NUMBER,
    UNION,
    Block,
    BlockSource,
    Core,
    Generator,
    IterationSource,
    Kind,
    Named,
    OneRowSource,
    ScanSource,
    Source,
    UnionSource,
    ValuesSource,
    topological,
)
from rewriter.emit.trees import branch_columns
from rewriter.interpret import cast, from_arrow, interpret, unify
from rewriter.passes.split_generators import known_argument
from semiring.arrays.arrow import normal, whole


@dataclass(frozen=True, slots=True)
class CoreInputs:
    """The inputs of a core.

    Parameters
    ----------
    relations
        The tables that views are of, by name.
    limit
        Of the pairs of rows that a join looks at.
    members
        The members of other blocks whose potential tuples the core reads, by block.
    """

    relations: Mapping[str, pa.Table]
    limit: int
    members: Mapping[str, pa.Table] = field(default_factory=dict)


def core_rows(core: Core, inputs: CoreInputs) -> pa.Table:
    """The rows of a core, in the types in which Spark would write them.

    Its semi joins are not asked: they only leave out members that the tail leaves out, too.

    Raises
    ------
    NeedsSparkError, UninterpretableError
        For what only Spark computes, and joins of more pairs.
    CaptureError
        Where a scalar fails, as it does in Spark.
    """
    rows = _selected(core, inputs)
    return rows.cast(pa.schema([_written(column) for column in rows.schema]))


def scanned_views(core: Core) -> Iterator[str]:
    """Yield the views of the relations that a core reads, itself or through other blocks.

    Raises
    ------
    NeedsSparkError
        Where it does what only Spark does.
    """
    _check_plain(core)
    for source in core.sources:
        if isinstance(source, ScanSource | IterationSource):
            yield source.view
        elif isinstance(source, UnionSource):
            for branch in source.branches:
                yield from scanned_views(branch)
        elif isinstance(source, ValuesSource):
            yield from scanned_views(source.core)
        elif isinstance(source, BlockSource):
            for block in topological(source.block):
                if block.core is not None:
                    yield from scanned_views(block.core)
        elif not isinstance(source, OneRowSource):
            raise _left_to_spark(source)


def _written(column: pa.Field) -> pa.Field:
    """A column that is NULL and nothing else is written with a type that Parquet has."""
    return column.with_type(pa.bool_()) if pa.types.is_null(column.type) else column


def _selected(core: Core, inputs: CoreInputs) -> pa.Table:
    _check_plain(core)
    sources = {
        source.alias: _source(source, inputs)
        for source in core.sources
        if not isinstance(source, OneRowSource)
    }
    rows, pending = join(sources, interpreted(core.predicates), inputs.limit)
    for generator in core.generators:
        rows, pending = filtered(_generated(rows, generator, inputs.limit), pending)
    if pending:
        raise NeedsSparkError("A condition reads more than the sources that are held here.")
    return _columns(rows, core.select)


def _columns(rows: JoinedRows, named: Iterable[Named]) -> pa.Table:
    """The values of scalars over rows, by their names."""
    resolve, columns = rows.resolve(), dict(named)
    arrays = [values(interpret(each), resolve, rows.length, None) for each in columns.values()]
    return pa.Table.from_arrays(arrays, names=list(columns))


def _source(source: Source, inputs: CoreInputs) -> pa.Table:
    if isinstance(source, ScanSource | IterationSource) and source.view in inputs.relations:
        return inputs.relations[source.view]
    if isinstance(source, UnionSource):
        return _united([_selected(branch, inputs) for branch in source.branches])
    if isinstance(source, ValuesSource):
        return _distinct(_selected(source.core, inputs))
    if isinstance(source, BlockSource):
        return _potential(source.block, inputs)
    raise _left_to_spark(source)


def _distinct(rows: pa.Table) -> pa.Table:
    """Different rows, each as Spark groups by it."""
    columns = [normal(whole(column)) for column in rows.columns]
    _, first = distinct(columns, rows.num_rows)
    return pa.Table.from_arrays(columns, names=rows.column_names).take(pa.array(first))


def _check_plain(core: Core) -> None:
    if core.once or core.sample is not None or any(g.function for g in core.generators):
        raise NeedsSparkError("Chance, or a function, makes rows: Spark runs it.")


def _left_to_spark(source: Source) -> NeedsSparkError:
    return NeedsSparkError(f"{source.alias} is not a relation that is held here: Spark reads it.")


def _united(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of tables one after the other, each column in the type that holds them all."""
    columns = []
    for number in range(tables[0].num_columns):
        parts = [from_arrow(table.column(number)) for table in tables]
        kind = unify(*(part.type for part in parts))
        arrays = [cast(part, kind).to_arrow(len(part)) for part in parts]
        columns.append(pa.concat_arrays(arrays))
    return pa.Table.from_arrays(columns, names=tables[0].column_names)


def _generated(rows: JoinedRows, generator: Generator, limit: int) -> JoinedRows:
    """Rows once for each element that a generator makes of them."""
    if generator.position is None:
        raise NeedsSparkError("A function makes rows: Spark runs it.")
    argument = interpret(known_argument(generator))
    arrays = values(argument, rows.resolve(), rows.length, None)
    elements = taken_apart(generator, arrays)
    count = len(elements.places)
    check_pairs(count, limit)
    made = pa.Table.from_arrays(list(elements.columns), names=list(generator.columns))
    numbers = pa.array(elements.places, pa.int32(), mask=elements.places < 0)
    parts = {generator.position_alias: pa.table({generator.position: numbers})}
    if generator.alias in parts:
        made = made.append_column(generator.position, numbers)
    parts[generator.alias] = made
    repeated = rows.take(np.repeat(every(rows.length), elements.sizes))
    return JoinedRows(
        count, {**repeated.parts, **{alias: (t, every(count)) for alias, t in parts.items()}}
    )


# -- potential tuples of other blocks ----------------------------------------------------------


def _potential(block: Block, inputs: CoreInputs) -> pa.Table:
    """Every tuple that a block may have after some deletion: its identity and stable outputs.

    :func:`rewriter.emit.program.potential_query` is the same in SQL.
    """
    columns = potential_columns(block)
    if block.kind is Kind.UNION:
        tuples = []
        for number, branch in enumerate(block.branches):
            rows = JoinedRows.of("t", _potential(branch, inputs))
            tuples.append(_columns(rows, branch_columns(block, number, potential=True)))
        return _columns(JoinedRows.of(UNION, _united(tuples)), columns)
    if block.kind is Kind.GROUP and not block.keys:
        return _columns(JoinedRows(1), columns)
    members = _potential_members(block, inputs)
    if block.kind is Kind.ROWS:
        return _columns(members, columns)
    groups = JoinedRows.of(GROUP, _distinct(_columns(members, block.keys)))
    groups, _ = filtered(groups, interpreted(certain_having(block)))
    return _columns(groups, columns)


def _potential_members(block: Block, inputs: CoreInputs) -> JoinedRows:
    """The members that a block may have, in each of its grouping sets."""
    if block.core is not None:
        if block.name not in inputs.members:
            raise NeedsSparkError(f"The members of {block.name} are not held here.")
        rows = JoinedRows.of(MEMBER, inputs.members[block.name])
    else:
        lookups = potential_lookups(block)
        tables = {lookup.alias: _potential(lookup.block, inputs) for lookup in lookups}
        rows, pending = join(tables, interpreted(certain_conditions(block)), inputs.limit)
        for generator in stable_generators(block):
            rows, pending = filtered(_generated(rows, generator, inputs.limit), pending)
    if not block.sets:
        return rows
    numbers = pa.array(np.tile(every(block.sets), rows.length), pa.int32())
    repeated = rows.take(np.repeat(every(rows.length), block.sets))
    number = (pa.table({SET_NUMBER: numbers}), every(len(numbers)))
    return JoinedRows(len(numbers), {**repeated.parts, EXPANDED: number})
