"""A self-check that compares annotations with the query's tail over the remaining members.

Switched on by the environment variable ``LIPSTICK_CHECK``: the rows of all annotations are checked
in a few worlds, too, and must have the multiplicities of the annotations, and the values of the
formal values.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import typed_values
from lipstick.engines.memory.formal.tokens import Annotation
from lipstick.engines.memory.scenarios import alone
from lipstick.engines.memory.state import State
from lipstick.errors import CapabilityError, CaptureError, LipstickError
from lipstick.tracking.naming import stored_key
from rewriter.analysis.conditional import shown_joins
from semiring.base import Array, Semiring
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.token import Token, normal_value
from semiring.value import Value

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal

SWITCH = "LIPSTICK_CHECK"
_WORLDS = 6
_MOST = 400
"""Limit on checked rows, and on the tokens of a row: the check is meant for small data."""


def switched_on() -> bool:
    """Return True if the environment asks for annotations to be checked."""
    return os.environ.get(SWITCH, "0") not in ("", "0")


def check(formal: Formal, positions: Array, annotations: Sequence[Annotation]) -> None:
    """Compare annotations of rows of the answer with the remaining rows in some worlds.

    Raises
    ------
    AssertionError
        With the row, the world, and both counts.
    """
    tokens = sorted(frozenset[Token]().union(*(k.tokens for k in annotations)))
    if not len(positions) or max(len(positions), len(tokens)) > _MOST:
        return
    chance = random.Random(len(tokens))
    for share in (1.0, 0.9, 0.75, 0.5, 0.5, 0.25)[:_WORLDS]:
        kept = {token for token in tokens if chance.random() < share}
        gone = [token for token in tokens if token not in kept]
        try:
            tables = _tables(formal, gone)
            states = formal.engine.states({name: alone(t) for name, t in tables.items()})
        except CaptureError:
            # Only Spark answers this deletion, or the query fails in this world.
            continue
        there = {token: np.array([token in kept], np.bool_) for token in tokens}
        _compare(formal, states, positions, annotations, PossibleWorlds(there, 1), gone)


def check_values(
    formal: Formal,
    semiring: Semiring[Any],
    value: Callable[[Token], Any],
    positions: Array,
    values: Sequence[Any],
) -> None:
    """Compare rows' values in a semiring with the values of their annotations.

    Raises
    ------
    AssertionError
        With both values.
    """
    if len(positions) > _MOST:
        return
    try:
        annotations = formal.shown(positions)
        expected = [annotation.evaluate(semiring, value) for annotation in annotations]
    except LipstickError:
        # Only Spark knows a condition, or a row depends on too many others.
        return
    for annotation, actual, annotated in zip(annotations, values, expected, strict=True):
        if actual != annotated:
            raise AssertionError(
                f"A row is {actual!r} in {semiring.name} and its annotation gives {annotated!r}: "
                f"{annotation.truncated(None)}\nPlease report this, with the query."
            )


def _tables(formal: Formal, gone: Sequence[Token]) -> dict[str, pa.Table]:
    from lipstick.engines.memory.reach import tokens

    tables = {}
    for name in {token.relation for token in gone}:
        record = formal.engine.manifest.relations[name]
        keys = [stored_key(record.naming, token.key) for token in gone if token.relation == name]
        schema = tokens(formal.engine, name).schema
        columns = [
            pa.array([key[number] for key in keys], field.type)
            for number, field in enumerate(schema)
        ]
        tables[name] = pa.table(columns, schema=schema)
    return tables


def _compare(
    formal: Formal,
    states: dict[str, State],
    positions: Array,
    annotations: Sequence[Annotation],
    world: PossibleWorlds,
    gone: Sequence[Token],
) -> None:
    root = formal.engine.root
    state = states[root.name]
    present = state.present[positions]
    counts = np.zeros(len(positions), dtype=np.int64)
    counts[present] = state.copies(positions[present])
    if shown_joins(root):
        members = formal.domains.members(root.name)
        for alias in shown_joins(root):
            lookup = members.lookups[alias]
            same = lookup.find(positions, members.base) == lookup.find(
                positions, states.__getitem__
            )
            counts[~same] = 0
    for index, annotation in enumerate(annotations):
        try:
            expected = int(world.counts([annotation])[0, 0])
        except LipstickError:
            # Only Spark knows a condition, or it fails in this world.
            continue
        if expected != counts[index]:
            raise _wrong(
                f"A row occurs {counts[index]} times and its annotation gives {expected}",
                annotation.truncated(None),
                gone,
            )
    there = np.flatnonzero(counts > 0)
    if len(there) and not shown_joins(root):
        _compare_values(formal, state, positions[there], world, gone)


def _compare_values(
    formal: Formal,
    state: State,
    positions: Array,
    world: PossibleWorlds,
    gone: Sequence[Token],
) -> None:
    root = formal.engine.root
    for output in root.outputs:
        if output.stable:
            continue
        try:
            column = formal.columns.column(root.name, output.name, positions)
        except CapabilityError:
            # Only Spark knows the type of the values.
            continue
        values = formal.reading.listed(column)
        formal_tokens = frozenset[Token]().union(
            *(value.tokens for value in values if isinstance(value, Value))
        )
        if not formal_tokens <= world.tokens:
            continue
        kind = formal.columns.type(root.name, output.name)
        try:
            annotated = world.values(values)[:, 0].tolist()
            expected = state.take(output.name, positions).to_pylist()
        except LipstickError:
            # Only Spark knows a value.
            continue
        for value_said, other, value in zip(
            typed_values(annotated, kind), expected, values, strict=True
        ):
            if not _same(value_said, other):
                raise _wrong(
                    f"A value is {other!r} and its annotation gives {value_said!r}",
                    str(value),
                    gone,
                )


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True))
    return bool(normal_value(a) == normal_value(b))


def _wrong(what: str, text: str, gone: Sequence[Token]) -> AssertionError:
    without = ", ".join(map(str, gone)) or "nothing"
    advice = "Please report this, with the query."
    return AssertionError(f"{what}, without {without}: {text}\n{advice}")
