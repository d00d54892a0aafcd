"""Annotations evaluated in a semiring: on their circuit, or with conditions as a tail yields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.formal import Formal
from lipstick.engines.memory.formal.checked import check_values, switched_on
from lipstick.engines.memory.formal.functions import typed
from lipstick.engines.memory.formal.tokens import ValuedTokens
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.reach import members_of, tokens
from lipstick.engines.memory.scenarios import alone
from rewriter.analysis.conditional import conditional, has_difference, shown_joins
from rewriter.emit import VALUE
from semiring.base import Array, Semiring
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.columns import Columns
from semiring.columns.arrays import ArrayColumns
from semiring.encodings.folds import group
from semiring.encodings.valuation import Valuation
from semiring.token import Token
from semiring.value import Value


def evaluate(
    engine: Engine,
    formal: Formal,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    *,
    merged: bool = False,
) -> pa.Table:
    """The answer's columns, then ``_value``: the annotation of each row in a semiring.

    Parameters
    ----------
    merged
        Rows that are equal are one, annotated with their sum, in the order of the first of each.

    Raises
    ------
    CapabilityError
        Where the semiring has no monus and there is a difference, or a condition that a deletion
        may decide is on tuples valued neither 0 nor 1.
    """
    state = engine.base(engine.root.name)
    answer = engine.columns(state, state.ordered)
    if conditional(engine.root):
        columns, values = conditional_values(engine, formal, semiring, valuations, state.ordered)
    else:
        if has_difference(engine.root) and not semiring.has_monus:
            semiring.monus(semiring.one, semiring.one)
        columns, values = formal.evaluate(semiring, valuations, formal.gates(state.ordered))
    if merged:
        codes, first = distinct(answer, len(state.ordered))
        answer = [column.take(pa.array(first)) for column in answer]
        order, offsets = group(codes, len(first))
        values = columns.fold(values if order is None else columns.take(values, order), offsets)
    value_column = columns.to_arrow(values)
    return pa.Table.from_arrays([*answer, value_column], names=[*engine.manifest.names, VALUE])


def conditional_values(
    engine: Engine,
    formal: Formal,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    ordered: Array,
) -> tuple[Columns[Any], Any]:
    """The annotations of rows of a query with conditions, and the operations on them.

    Where every token is 0 or 1 they say what is in the answer without the tuples valued 0.
    """
    gone = valued_zero(engine, semiring, valuations)
    if gone is not None:
        annotations_now = _in_world(engine, semiring, gone, ordered)
        if switched_on():
            value = ValuedTokens(formal.tokens, semiring, valuations).of
            check_values(formal, semiring, value, ordered, semiring.unpack(annotations_now))
        return ArrayColumns(semiring, {}), annotations_now
    return formal.evaluate(semiring, valuations, formal.gates(ordered))


def valued_zero(
    engine: Engine, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
) -> dict[str, pa.Table] | None:
    """Per relation the tokens that are valued 0; None where some are neither 0 nor 1."""
    zeros = {}
    for name, record in engine.manifest.relations.items():
        if not record.token or valuations[name].constant_one:
            continue
        table = tokens(engine, name)
        values = valuations[name].lookup(
            [column.combine_chunks() for column in table.columns], table.num_rows
        )
        ones = np.array([value == semiring.one for value in semiring.unpack(values)], np.bool_)
        zero = ~semiring.nonzero_array(values)
        if not (ones | zero).all():
            return None
        zeros[name] = table.filter(pa.array(zero))
    return zeros


def evaluate_potential(
    engine: Engine,
    formal: Formal,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
) -> pa.Table:
    """The rows of the answers of all worlds, then ``_value``: see :class:`Memory`.

    Raises
    ------
    CapabilityError
        As :func:`evaluate`.
    """
    value = ValuedTokens(formal.tokens, semiring, valuations).of
    rows = list(formal.rows())
    gates = np.array([row.gate for row in rows], dtype=np.int64)
    annotated, values = formal.evaluate(semiring, valuations, gates)
    occurring = frozenset[Token]().union(
        *(part.tokens for row in rows for part in row.values if isinstance(part, Value))
    )
    there = {token: np.array([not semiring.is_zero(value(token))], np.bool_) for token in occurring}
    world = PossibleWorlds(there, 1)
    columns = []
    for number, output in enumerate(engine.root.outputs):
        kind = formal.columns.type(engine.root.name, output.name)
        plain = world.values([row.values[number] for row in rows])[:, 0]
        columns.append(typed(plain.tolist(), kind))
    value_column = annotated.to_arrow(values)
    return pa.Table.from_arrays([*columns, value_column], names=[*engine.manifest.names, VALUE])


def _in_world(
    engine: Engine, semiring: Semiring[Any], gone: Mapping[str, pa.Table], ordered: Array
) -> Array:
    states = engine.states({name: alone(table) for name, table in gone.items()})
    state = states[engine.root.name]
    counts = np.zeros(len(ordered), dtype=np.int64)
    there = np.flatnonzero(state.present[ordered])
    counts[there] = state.copies(ordered[there])
    members = members_of(engine.rows(engine.root.name))
    for alias in shown_joins(engine.root):
        # A row with its partner is another one than the row without.
        assert members is not None
        lookup = members.outer_lookups[alias]
        before = lookup.find(ordered[there], members.base)
        counts[there[lookup.find(ordered[there], states.__getitem__) != before]] = 0
    return semiring.pack([semiring.from_int(count) for count in counts.tolist()])
