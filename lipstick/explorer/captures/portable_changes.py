"""The members and aggregates by which a saved page changes values that only aggregates read.

A page has the members of the query's one grouping, with the rows that they are made from, and how
each aggregate is computed from them; `page/changes.js` reads it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal import Formal
from lipstick.engines.memory.formal.functions import ScalarFunction
from lipstick.engines.memory.lossless import Declared
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.store import OPEN_WITH_SPARK, every
from lipstick.engines.memory.updates import follow
from lipstick.explorer.cells import plain_value
from rewriter.analysis.value_columns import updated_columns
from rewriter.interpret import AggregateCall, interpret
from semiring.base import Array
from semiring.circuit.gates import OPEN
from semiring.errors import LipstickError

_UNUSED, _SETTLED = -1, -2
"""Of an aggregate that nothing shown reads, and of one that no deletion changes: no gate."""


class Changeable:
    """The members of the grouping that answers, and its aggregates.

    Attributes
    ----------
    tokens
        Per scan the token of each member, -1 without one; no scan where values are not followed
        through the query.
    """

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
        self.tokens: list[Array] = []
        try:
            self._rows = rows = follow(formal.engine, ()).rows
            # Also groups that are in no answer while values are as they are.
            positions = every(formal.domains.size(rows.block.name))
            self._found, self._groups, factors = formal.domains.grouped(rows, positions)
            assert factors is None
            self._calls = {name: call for name, call in rows.calls.items() if call.arguments}
            values, block = formal.aggregates.values, rows.block
            self._gates = [values(block.name, name, positions) for name in self._calls]
        except LipstickError as error:
            self._refused = str(error)
            return
        scans = range(len(block.tokens))
        self.tokens = [formal.tokens.of_members(rows.members, n, self._found) for n in scans]

    def exported(self, below: Array, tokens: Array) -> dict[str, Any]:
        """Return them for a page that has some gates and tokens, ascending.

        Returns
        -------
        dict
            ``refused``, where values are not followed through the query: why; or

            - ``group``: per member the place of its group, less that of the member before;
            - ``scans``: per scan its relation, and ``tokens``, the same of each member's token;
            - ``read``: per relation and column the places among ``columns`` that have its values,
              or why it is not changed; a column that is not there takes no part in the query;
            - ``columns``: what aggregates read of members: a column of a scan, or ``values``;
            - ``calls``: the aggregates, with the gate of each group.
        """
        if not self.tokens:
            return {"refused": self._refused}
        rows, members = self._rows, self._rows.members
        names = dict.fromkeys(
            name
            for call in self._calls.values()
            for argument in call.arguments
            for _, name in argument.columns
        )
        places = {name: place for place, name in enumerate(names)}
        return {
            "group": np.diff(self._groups, prepend=0).tolist(),
            "scans": [
                {
                    "relation": token.relation,
                    "tokens": np.diff(np.searchsorted(tokens, own), prepend=0).tolist(),
                }
                for token, own in zip(members.block.tokens, self.tokens, strict=True)
            ],
            "read": _read(self._formal, members, places),
            "columns": [_column(members, name, self._found) for name in names],
            "calls": [
                _call(members, call, rows.type(name), places)
                | {"gates": _numbered(self._formal, gates, below)}
                for (name, call), gates in zip(self._calls.items(), self._gates, strict=True)
            ],
        }


def _numbered(formal: Formal, gates: Array, below: Array) -> list[int]:
    places = np.searchsorted(below, gates)
    held = np.append(below, -1)[places] == gates
    missing = np.where(formal.circuit.gates.has(gates, OPEN), _UNUSED, _SETTLED)
    shown: list[int] = np.where(held, places, missing).tolist()
    return shown


def _read(formal: Formal, members: Members, places: dict[str, int]) -> dict[str, dict[str, Any]]:
    block = members.block
    schema = formal.engine.manifest.schemas.get(block.name, {}).get("members", {"fields": []})
    declared = {f["name"] for f in schema["fields"] if Declared.of(f["metadata"]).text}
    read: dict[str, dict[str, Any]] = {}
    for relation, record in formal.engine.manifest.relations.items():
        of_relation = read.setdefault(relation, {})
        for column in record.columns:
            held = updated_columns(block, relation, column)
            if held is None:
                of_relation[column] = (
                    "decides which rows are joined, selected or grouped, or is stored as part of "
                    f"an expression.\n{OPEN_WITH_SPARK}"
                )
            elif declared & set(held.values()):
                of_relation[column] = (
                    "is CHAR or VARCHAR, whose length this page does not know.\n"
                    "Ask the capture itself: lipstick explore PATH"
                )
            elif held:
                of_relation[column] = [places[name] for name in held.values() if name in places]
    return read


def _column(members: Members, name: str, found: Array) -> dict[str, Any]:
    assert members.block.core is not None
    column = interpret(dict(members.block.core.select)[name]).column
    scans = [token.alias for token in members.block.tokens]
    if column is not None and column[0] in scans:
        return {"scan": scans.index(column[0]), "name": column[1]}
    assert members.dataset is not None
    return {"values": [plain_value(v) for v in members.dataset.take(name, found).to_pylist()]}


def _call(
    members: Members, call: AggregateCall, result: pa.DataType, places: dict[str, int]
) -> dict[str, Any]:
    """Return an aggregate over columns of members; without ``steps`` the page has no value of it.

    Returns
    -------
    dict
        ``quotient`` is the digits of an AVG of decimals after the point, else None.
    """
    assert members.dataset is not None
    operands = [[places[name] for _, name in each.columns] for each in call.arguments]
    written = {"text": call.text, "operands": operands}
    types = [[members.dataset.type(name) for _, name in a.columns] for a in call.arguments]
    functions = [ScalarFunction(*pair) for pair in zip(call.arguments, types, strict=True)]
    steps = [function.steps(plain_value) for function in functions]
    if call.function is None or None in steps:
        return written
    return written | {
        "monoid": call.function,
        "distinct": call.distinct,
        "steps": steps,
        "quotient": result.scale if pa.types.is_decimal(result) else None,
    }
