"""The circuit of a capture's annotations for a saved page, which evaluates it by itself.

The page has the rows of the answers of all worlds, with the gates of their annotations and formal
values, and the keys and source columns of the tokens that occur; `page/evaluator.js` reads it.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.capture.capture import Capture
from lipstick.capture.manifest import RelationRecord
from lipstick.engines.memory.formal import Formal
from lipstick.engines.memory.formal.functions import ScalarFunction
from lipstick.engines.memory.formal.over_rows import OverRows
from lipstick.engines.memory.reach import members_of
from lipstick.engines.memory.state import SORT
from lipstick.explorer.captures.input_rows import looked_up
from lipstick.explorer.captures.portable_changes import Changeable
from lipstick.explorer.cells import LONGEST, cell, cells, columns, plain_value
from lipstick.explorer.errors import ExploreError
from rewriter.interpret import FailedError, UninterpretableError, Vector
from rewriter.interpret import kind as kind_of
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.circuit.evaluation import COUNTING, ArrayValues, operand_values
from semiring.circuit.gates import (
    AGGREGATED,
    APPLIED,
    COMPARE,
    PLAIN,
    ROWS,
    TENSOR,
    TOKEN,
    WINDOWED,
)
from semiring.circuit.scalars import Scalars
from semiring.errors import LipstickError

EDGES = 200_000
"""Edges of a circuit at most, and members of the blocks of a query."""

TOO_LARGE = (
    "Values are not changed in this page: what that needs was too large for it.\n"
    "Ask the capture itself: lipstick explore PATH"
)

_BITS = 1_000
"""Bits of a sum of doubles in units of the smallest one, at most."""

_FUNCTIONS = (APPLIED, AGGREGATED, ROWS)
"""Kinds of gates with functions; the page has the present values where it cannot evaluate one."""


def portable(capture: Capture, room: int) -> str:
    """Return the circuit of a capture as text: compressed JSON in base 64.

    Parameters
    ----------
    room
        Characters of the text at most; where they do not suffice, it is without what changes of
        values need, or longer.

    Raises
    ------
    ExploreError
        Where it has too many members or edges, before any of it is made where that is known.
    LipstickError
        Where only Spark knows an annotation.
    """
    count = member_count(capture)
    if count > EDGES:
        raise ExploreError(f"its query has {count:,} members, more than {EDGES:,}")
    exported = capture.memory.formally(partial(_exported, capture))
    text = _compressed(exported)
    if len(text) > room:
        exported["changes"] = {
            "refused": "What changes of values need was too large for this page."
        }
        text = _compressed(exported)
    return text


def member_count(capture: Capture) -> int:
    """Return the number of members of all blocks of a query."""
    engine = capture.memory.engine
    blocks = (members_of(engine.rows(name)) for name in engine.blocks)
    return sum(members.count for members in blocks if members is not None)


def _compressed(exported: dict[str, Any]) -> str:
    data = json.dumps(exported, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(data.encode(), 9)).decode()


def _exported(capture: Capture, formal: Formal) -> dict[str, Any]:
    engine = formal.engine
    root, state = engine.root, engine.base(engine.root.name)
    sorting = [
        (f"{SORT}{number}", key.descending, key.nulls_first)
        for number, key in enumerate(root.order)
    ]
    sorting += [(name, False, True) for name in root.tie_break]
    if not root.limited:
        sorting = []
    shown = [output.name for output in root.outputs]
    names = list(dict.fromkeys([*shown, *(name for name, _, _ in sorting)]))
    rows = formal.potential_gates(names)
    store = formal.circuit.gates
    gates = list(rows.values.values())
    is_formal = [store.kind[column] != PLAIN for column in gates]
    used = [column[own] for column, own in zip(gates, is_formal, strict=True)]
    below = store.reachable(np.concatenate([rows.annotations, *used]))
    edges, offsets = store.edges_of(below)
    if len(edges) > EDGES:
        raise ExploreError(f"its annotations have {len(edges):,} edges, more than {EDGES:,}")
    taken = [state.take(name, rows.positions[rows.present]) for name in names]
    labels = [*engine.manifest.names, *(f"sort{at}" for at in range(len(names) - len(shown)))]
    answer = pa.Table.from_arrays(taken, names=labels)
    described = [
        {**column, **_sort(array.type)}
        for column, array in zip(columns(answer.schema), taken, strict=True)
    ]
    for name, _, _ in sorting:
        place = names.index(name)
        doubles = described[place]["sort"] in ("double", "float") and is_formal[place].any()
        if described[place]["sort"] == "other" or doubles:
            raise ExploreError("its LIMIT is by sums of doubles, or by values of other types")
    copies = np.zeros(len(rows.positions), dtype=np.int64)
    copies[rows.present] = state.copies(rows.positions[rows.present])
    # Of rows that are not there the plain values are known, and formal ones are NULL until then.
    plain = formal.circuit.operands.plain_values
    absent = np.flatnonzero(~rows.present)
    others = [
        [
            cell(plain[store.payload[gate]]) if store.kind[gate] == PLAIN else None
            for gate in column[absent].tolist()
        ]
        for column in gates
    ]
    numbers = [np.searchsorted(below, column).tolist() for column in gates]
    changeable = Changeable(formal)
    tokens = store.payload[below[store.kind[below] == TOKEN]]
    tokens = ascending(np.concatenate([tokens, *(own[own >= 0] for own in changeable.tokens)]))
    limit = {
        "offset": root.offset,
        "limit": root.limit,
        "by": [[names.index(name), down, first] for name, down, first in sorting],
    }
    return {
        "circuit": _Circuit(formal, below, edges, offsets).exported(tokens),
        "relations": _relations(capture, formal, tokens),
        "changes": changeable.exported(below, tokens),
        "columns": described,
        "shown": len(shown),
        "limit": limit if root.limited else None,
        "rows": {
            "gate": np.searchsorted(below, rows.annotations).tolist(),
            "position": rows.positions.tolist(),
            "copies": copies.tolist(),
            "cells": [*cells(answer), *map(list, zip(*others, strict=True))],
            "formal": [
                [[at, column[row]] for at, column in enumerate(numbers) if is_formal[at][row]]
                for row in range(len(rows.positions))
            ],
        },
    }


@dataclass(frozen=True, slots=True)
class _Circuit:
    """Some gates of a circuit and their edges."""

    formal: Formal
    below: Array
    edges: Array
    offsets: Array

    def exported(self, page_tokens: Array) -> dict[str, Any]:
        """Return columns of gates and edges; an edge has the distance to its end.

        Parameters
        ----------
        page_tokens
            The tokens that the page has, ascending.
        """
        store, below = self.formal.circuit.gates, self.below
        kind, payload = store.kind[below], store.payload[below].astype(np.int64)
        child = np.searchsorted(below, store.child[self.edges])
        owners = np.repeat(np.arange(len(below)), np.diff(self.offsets))
        label = store.label[self.edges].copy()
        functions, opaque = self._functions(kind, payload)
        # A window function is a place among the values of its rows.
        windowed = np.flatnonzero(kind == WINDOWED)
        opaque[windowed] = opaque[child[self.offsets[windowed]]]
        scalars, unsupported = self._scalars(kind, payload, child, label, owners)
        opaque |= unsupported
        tokens = kind == TOKEN
        payload[tokens] = np.searchsorted(page_tokens, payload[tokens])
        plain, payload[kind == PLAIN] = np.unique(payload[kind == PLAIN], return_inverse=True)
        comparisons, numbers = np.unique(payload[kind == COMPARE], return_inverse=True)
        payload[kind == COMPARE] = numbers
        circuit = self.formal.circuit
        return {
            "kind": kind.tolist(),
            "payload": payload.tolist(),
            "size": np.diff(self.offsets).tolist(),
            "child": (owners - child).tolist(),
            "label": label.tolist(),
            "scalars": scalars,
            "functions": functions,
            "comparisons": [
                (op, plain_value(value))
                for op, value in (circuit.comparisons[number] for number in comparisons.tolist())
            ],
            "plain": [
                plain_value(circuit.operands.plain_values[number]) for number in plain.tolist()
            ],
            "opaque": self._opaque(np.flatnonzero(opaque)),
        }

    def _functions(self, kind: Array, payload: Array) -> tuple[list[Any], Array]:
        """Number the functions that the page evaluates, and return them and the other gates."""
        opaque = np.zeros(len(kind), dtype=np.bool_)
        functions: list[Any] = []
        called = np.isin(kind, _FUNCTIONS)
        for number in ascending(payload[called]).tolist():
            own = called & (payload == number)
            function = self.formal.circuit.operands.functions[number]
            written = None
            if isinstance(function, ScalarFunction):
                written = function.steps(plain_value)
            elif isinstance(function, OverRows):
                written = _window(function)
            payload[own] = len(functions)
            if written is None:
                opaque |= own
            else:
                functions.append(written)
        return functions, opaque

    def _scalars(
        self, kind: Array, payload: Array, child: Array, label: Array, owners: Array
    ) -> tuple[list[dict[str, Any]], Array]:
        """Number the scalars of tensors, and label their edges by places among their values.

        Returns
        -------
        tuple
            The scalars, and a Boolean array: the tensors whose values cannot be written.
        """
        unsupported = np.zeros(len(kind), dtype=np.bool_)
        scalars: list[dict[str, Any]] = []
        tensors = kind == TENSOR
        for number in ascending(payload[tensors]).tolist():
            own = tensors & (payload == number)
            terms = np.flatnonzero(own[owners] & (kind[child] != TENSOR))
            labels, label[terms] = np.unique(label[terms], return_inverse=True)
            written = _scalar(self.formal.circuit.scalars[number], labels)
            payload[own] = len(scalars)
            if written is None:
                unsupported |= own
            else:
                scalars.append(written)
        return scalars, unsupported

    def _opaque(self, places: Array) -> list[tuple[int, str, dict[str, Any] | None]]:
        """Return gates that are not evaluated with their text, and their value now if known."""
        circuit = self.formal.circuit
        gates = self.below[places]
        kinds, payload = circuit.gates.kind[gates], circuit.gates.payload[gates]
        is_value = kinds != ROWS
        values = dict(zip(places[is_value].tolist(), self._now(gates[is_value]), strict=True))
        found: list[tuple[int, str, dict[str, Any] | None]] = []
        for place, kind, number in zip(
            places.tolist(), kinds.tolist(), payload.tolist(), strict=True
        ):
            text = "a sum of numbers that are not finite"
            if kind == WINDOWED:
                text = "a window function"
            elif kind != TENSOR:
                function = circuit.operands.functions[number]
                text = str(getattr(function, "sql", "") or getattr(function, "label", "a function"))
            found.append((place, text, values.get(place)))
        return found

    def _now(self, gates: Array) -> list[dict[str, Any] | None]:
        """Return the values of gates with all input rows; None where only Spark knows one."""
        if not len(gates):
            return []
        circuit = self.formal.circuit
        world = ArrayValues(COUNTING, np.ones(circuit.token_count, dtype=np.int64))
        try:
            return [{"now": plain_value(value)} for value in operand_values(circuit, gates, world)]
        except LipstickError:
            if len(gates) == 1:
                return [None]
        half = len(gates) // 2
        return [*self._now(gates[:half]), *self._now(gates[half:])]


_RANKING = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist")
_FRAMED = {"first": "first_value", "any_value": "first_value", "last": "last_value"}


def _window(function: OverRows) -> dict[str, Any] | None:
    """Return a window function over numbered operands; None where the page cannot compute it."""
    call = function.call
    name = _FRAMED.get(call.function, call.function)
    aggregate, frame = call.aggregate, call.frame
    arguments = len(call.arguments)
    aggregated = () if aggregate is None else aggregate.arguments
    keys = arguments + len(aggregated)
    partition = len(call.partition) - 1  # without the world
    written: dict[str, Any] = {
        "function": name,
        "width": 1 + keys + partition + len(call.order),
        "partition": list(range(keys, keys + partition)),
        "order": [
            [keys + partition + place, key.descending, key.nulls_first]
            for place, key in enumerate(call.order)
        ],
    }
    try:
        written["kind"] = kind_of(function.type)
        if name in _RANKING:
            return written
        if call.ignores_nulls:
            return None
        if name in ("lag", "lead"):
            distance = 1
            if arguments > 1:
                (distance,) = call.arguments[1].evaluate(_no_column).to_arrow(1).to_pylist()
            return written | {"distance": distance, "otherwise": 2 if arguments > 2 else None}
    except (LipstickError, FailedError, UninterpretableError):
        return None
    ends = () if frame is None else (frame.start, frame.end)
    if frame is None or not (frame.rows or all(end in (None, 0) for end in ends)):
        return None
    written["frame"] = {"rows": frame.rows, "start": frame.start, "end": frame.end}
    if name in ("first_value", "last_value"):
        return written | {"operand": None}
    if aggregate is None or aggregate.distinct or len(aggregated) > 1:
        return None
    name = (aggregate.function or "").lower()
    if name not in ("count", "sum", "min", "max", "avg"):
        return None
    return written | {"function": name, "operand": arguments if aggregated else None}


def _no_column(alias: str, name: str) -> Vector:
    raise UninterpretableError(f"{alias}.{name}")


def _scalar(scalars: Scalars, labels: Array) -> dict[str, Any] | None:
    """Return the values of tensors by their places; None where the page cannot add them up."""
    monoid = scalars.monoid
    written: dict[str, Any] = {"monoid": monoid.name, "values": []}
    if monoid.name == "COUNT":
        return written
    values = scalars.values(labels)
    if monoid.idempotent:
        return written | {"values": [plain_value(value) for value in values]}
    if all(type(value) is int for value in values):
        written |= {"sort": "int", "scale": 0, "values": list(map(str, values))}
    elif all(isinstance(value, Decimal) and value.is_finite() for value in values):
        scale = max(0, *(-int(value.as_tuple().exponent) for value in values))
        units = (int(value.scaleb(scale)) for value in values)
        written |= {"sort": "decimal", "scale": scale, "values": list(map(str, units))}
    elif all(isinstance(value, float) and math.isfinite(value) for value in values):
        ratios = [value.as_integer_ratio() for value in values]
        unit = max(below.bit_length() for _, below in ratios) - 1
        integers = [(above << unit) // below for above, below in ratios]
        if max(abs(value) for value in integers).bit_length() > _BITS:
            return None
        written |= {"sort": "double", "unit": -unit, "values": list(map(str, integers))}
    else:
        return None
    finisher = monoid.finisher
    if isinstance(finisher, partial):
        quotient = finisher.keywords["scale"]
    else:
        decimal = finisher is None and written["sort"] == "decimal"
        quotient = min(written["scale"] + 4, 38) if decimal else None
    return written | {"quotient": quotient}


def _sort(kind: pa.DataType) -> dict[str, Any]:
    """Return how the page reads and writes the cells of a type."""
    if isinstance(kind, pa.DictionaryType):
        return _sort(kind.value_type)
    if pa.types.is_decimal(kind):
        return {"sort": "decimal", "scale": kind.scale, "digits": kind.precision}
    if pa.types.is_integer(kind):
        return {"sort": "int", "scale": 0, "bits": kind.bit_width}
    sorts = (
        ("double", pa.types.is_float64),
        ("float", pa.types.is_float32),
        ("text", pa.types.is_string),
        ("text", pa.types.is_large_string),
        ("date", pa.types.is_date32),
        ("truth", pa.types.is_boolean),
    )
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return {"sort": "time"}
    return {"sort": next((name for name, test in sorts if test(kind)), "other")}


def _relations(capture: Capture, formal: Formal, numbers: Array) -> list[dict[str, Any]]:
    """Return the keys and source columns of the tokens with some numbers, by relation."""
    scans = {scan.relation: scan for scan in formal.tokens.scans(numbers)}
    relations, first = [], 0
    for name, record in sorted(capture.manifest.relations.items()):
        if not record.token:
            continue
        keys = pa.table(scans[name].columns, names=list(record.token))
        relations.append(
            {
                "name": name,
                "first": first,
                "keys": cells(keys, None),
                "columns": _source(record, keys),
            }
        )
        first += keys.num_rows
    return relations


def _source(record: RelationRecord, keys: pa.Table) -> list[dict[str, Any]]:
    """Return columns of the source of some tokens; without cells where these cannot be read."""
    try:
        rows = looked_up(record, keys)
    except ExploreError:
        rows = keys
    if rows.num_rows != keys.num_rows:
        rows = keys
    found: list[dict[str, Any]] = []
    for name in dict.fromkeys([*record.token, *record.columns]):
        if name not in rows.column_names:
            found.append({"name": name, "sort": "other"})
            continue
        values = [cell(value, LONGEST + 1) for value in rows.column(name).to_pylist()]
        cut = any(value is not None and len(value) > LONGEST for value in values)
        sort = {"sort": "other"} if cut else _sort(rows.schema.field(name).type)
        found.append({"name": name, **sort, "cells": values})
    return found
