"""The answer without some inputs, in one scenario or in several side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lipstick.capture.capture import Capture
from lipstick.capture.manifest import RelationRecord
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.input_rows import source_columns, source_files, source_schema
from lipstick.explorer.cells import cells, columns, parsed
from lipstick.explorer.conditions import TypedCondition, read_change, read_condition
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.explorer.table_windows import TableWindows

LISTED = 200
"""Keys that are written one by one, at most, where a condition describes them."""


def copied(capture: Capture, tokens: Mapping[str, pa.Table], scenario: Params) -> str:
    """Return the Python that asks what would be without some tokens.

    Parameters
    ----------
    tokens
        The tokens of the scenario, per relation.
    """
    lines: list[str] = []
    given: list[str] = []
    where, keys = scenario.mapping("where"), scenario.mapping("delete")
    for name, table in tokens.items():
        text = str(where.get(name, ""))
        if table.num_rows > LISTED and text.strip() and not keys.get(name):
            read = f"rows{len(lines) or ''}"
            lines.append(_read(capture, name, text, read))
            given.append(f"    {name!r}: {read},")
            continue
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        listed = ", ".join(repr(key[0] if len(key) == 1 else key) for key in rows)
        given.append(f"    {name!r}: [{listed}],")
    opening = f"capture = lipstick.open({str(capture.directory)!r})"
    statements = [opening, *lines, "capture.what_if(delete={", *given, "}).changes"]
    text = "\n".join(statements)
    needed = {
        "datetime.": "import datetime",
        "Decimal(": "from decimal import Decimal",
        "pa.": "import pyarrow as pa",
        "pc.": "import pyarrow.compute as pc",
        "ds.": "import pyarrow.dataset as ds",
        "pq.": "import pyarrow.parquet as pq",
        "zoneinfo.": "import zoneinfo",
    }
    imports = [line for name, line in needed.items() if name in text]
    return "\n".join([*imports, "import lipstick", "", text])


def _read(capture: Capture, name: str, text: str, read: str) -> str:
    """The Python that reads the keys of the rows that meet conditions."""
    record = capture.manifest.relations[name]
    found = _condition(record, text)
    key = list(record.token)
    if set(found.columns) <= set(key):
        schema, source = capture._token_types()[name], f"capture.memory.tokens({name!r})"
        return f"{read} = {source}.filter({found.python(schema)})"
    files = [str(path) for path in source_files(record)]
    schema = source_schema(record)
    arguments = f"columns={key!r}, filter={found.python(schema)}"
    return f"{read} = ds.dataset({files!r}{_read_as(schema, files, found)}).to_table({arguments})"


def _read_as(schema: pa.Schema, files: list[str], found: TypedCondition) -> str:
    """Return the schema to read columns with that files have in types that are not filtered."""
    stored = pq.read_schema(files[0])
    others = [name for name in found.columns if stored.field(name).type != schema.field(name).type]
    if not others:
        return ""
    read = f"pq.read_schema({files[0]!r})"
    for name in others:
        is_text = pa.types.is_string(schema.field(name).type)
        type_ = "pa.string()" if is_text else "pa.timestamp('us', 'UTC')"
        read += f".set({stored.get_field_index(name)}, pa.field({name!r}, {type_}))"
    return f", {read}"


SHOWN = 200
"""Rows that differ which are shown at most."""

ROWS = 20_000
"""Rows that are removed one by one at most."""

BESIDE = 6
"""Scenarios side by side at most."""

_KINDS = ("changed", "deleted", "added")


class Hypothetical:
    """The answer in one scenario, over the answer as it is.

    Attributes
    ----------
    deleted
        The tokens that are removed, per relation.
    unused
        Per relation the number of these that took no part in the query.
    updated
        The number of rows with new values, per relation.
    """

    def __init__(self, capture: Capture, scenario: Params) -> None:
        self.deleted = deletion(capture, scenario)
        self.unused = {
            name: tokens.join(
                capture.memory.tokens(name), tokens.column_names, join_type="left anti"
            ).num_rows
            for name, tokens in self.deleted.items()
        }
        updates = {n: str(t) for n, t in scenario.mapping("update").items() if str(t).strip()}
        if updates and self.deleted:
            raise ExploreError(
                "A scenario removes rows or changes values.\nDo the other in a scenario beside it."
            )
        if updates:
            new = {name: _updated(capture, name, text) for name, text in updates.items()}
            self.updated = {name: table.num_rows for name, table in new.items()}
            result = capture.memory.what_if_updated(new)
            self.python = ""
        else:
            self.updated = {}
            result = capture.memory.what_if(self.deleted)
            self.python = copied(capture, self.deleted, scenario)
        self.result = result
        self.method = result.method
        self._changes = changes = result.changes
        self.kinds = changes.column("_change").combine_chunks()
        old, new = (pa.Table.from_struct_array(changes.column(side)) for side in ("old", "new"))
        self.answer = capture.memory.answer()
        self.new = new
        cut = result.cut
        self._cut: dict[int, dict[str, Any]] = {}
        if cut is not None and cut.num_rows:
            rows, ranks = (cut.column(name).to_pylist() for name in ("_row", "_place"))
            after = zip(ranks, cells(cut.select(new.column_names)), strict=True)
            self._cut = {
                row: {"change": "deleted", "cells": its, "place": rank}
                for row, (rank, its) in zip(rows, after, strict=True)
            }
        count = self.answer.num_rows
        # Rows that are added stand after the answer's own, which keep their places.
        shown = pa.concat_tables([old.slice(0, count), new.slice(count)])
        self.differing = np.flatnonzero(np.asarray(pc.not_equal(self.kinds, "unchanged")))
        self._all = TableWindows(shown)
        self._differing = TableWindows(shown.take(pa.array(self.differing)))

    def counts(self) -> dict[str, int]:
        """The number of rows per kind of change."""
        counts = {each["values"]: each["counts"] for each in self.kinds.value_counts().to_pylist()}
        return {kind: counts.get(kind, 0) for kind in (*_KINDS, "unchanged")}

    def window(self, params: Params) -> dict[str, Any]:
        """Return rows of the answer as they are, each with what it would be.

        Parameters
        ----------
        params
            As :meth:`Windows.window` takes them; ``differing``: only rows that would differ.
        """
        if params.flag("differing"):
            window = self._differing.window(params)
            window["places"] = self.differing[window["places"]].tolist()
        else:
            window = self._all.window(params)
        places = pa.array(window["places"], pa.int64())
        kinds = self.kinds.take(places).to_pylist()
        after = cells(self.new.take(places))
        window["after"] = [
            None
            if kind == "unchanged"
            else self._cut.get(place)
            or {"change": kind, "cells": None if kind == "deleted" else new}
            for place, kind, new in zip(window["places"], kinds, after, strict=True)
        ]
        return window

    @property
    def removed(self) -> dict[str, int]:
        """The number of rows that are removed, per relation."""
        return {name: table.num_rows for name, table in self.deleted.items()}

    def changes(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Return the rows that would differ: ``change``, ``old`` and ``new``, as values."""
        found = self._changes.take(pa.array(self.differing[:limit]))
        rows = (found.column(name).to_pylist() for name in ("_change", "old", "new"))
        return [{"change": c, "old": o, "new": n} for c, o, n in zip(*rows, strict=True)]

    def described(self) -> dict[str, Any]:
        """Return the counts of rows, and the first that would differ."""
        window = self.window(Params({"differing": True, "offset": 0, "limit": SHOWN}))
        rows = zip(window["places"], window["rows"], window["after"], strict=True)
        return {
            "counts": self.counts(),
            "differing": len(self.differing),
            "rows": [
                {
                    "row": None if after["change"] == "added" else place,
                    "change": after["change"],
                    "old": None if after["change"] == "added" else old,
                    "new": after["cells"],
                }
                | ({"place": after["place"]} if "place" in after else {})
                for place, old, after in rows
            ],
            "method": self.method,
            "removed": self.removed,
            "updated": self.updated,
            "unused": {name: count for name, count in self.unused.items() if count},
            "python": self.python,
        }


class ScenarioViews:
    """Scenarios over one capture; the latest stay computed."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._of_text = lru_cache(maxsize=2 * BESIDE)(self._computed)

    def _computed(self, text: str) -> Hypothetical:
        return Hypothetical(self._capture, Params(json.loads(text)))

    def of(self, given: Any) -> Hypothetical:
        """Return the answer in a scenario: ``delete`` and ``where``, or ``update``."""
        if not isinstance(given, dict):
            raise ExploreError("A scenario has values by name.")
        chosen = {name: given[name] for name in ("delete", "where", "update") if given.get(name)}
        return self._of_text(json.dumps(chosen, sort_keys=True))

    def beside(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the rows that would differ, with their old and new values.

        Parameters
        ----------
        params
            ``scenarios``: at most `BESIDE`, each with ``delete``: per relation a list of keys, and
            ``where``: per relation a condition on its columns; or with ``update``: per relation new
            values of a column.
        """
        given = params.items("scenarios")
        if not 0 < len(given) <= BESIDE:
            raise ExploreError(f"Give 1 to {BESIDE} scenarios.")
        answers = []
        for scenario in given:
            answers.append(self.of(scenario).described())
            budget.check()
        return {"columns": columns(self._capture.memory.answer().schema), "scenarios": answers}


def deletion(capture: Capture, scenario: Params) -> dict[str, pa.Table]:
    """The tokens that a scenario removes, per relation.

    Raises
    ------
    ExploreError
        For relations that the query does not read, keys of other types, conditions that are none.
    """
    types = capture._token_types()
    tables_by_relation: dict[str, list[pa.Table]] = {}
    for name, keys in scenario.mapping("delete").items():
        tables_by_relation.setdefault(name, []).append(_by_keys(_schema(types, name), name, keys))
    for name, text in scenario.mapping("where").items():
        if str(text).strip():
            _schema(types, name)
            tables_by_relation.setdefault(name, []).append(_by_condition(capture, name, str(text)))
    tables = {}
    for name, parts in tables_by_relation.items():
        whole = pa.concat_tables(part.cast(types[name]) for part in parts)
        tables[name] = whole.group_by(whole.column_names).aggregate([])
    return tables


def _schema(types: Mapping[str, pa.Schema], name: str) -> pa.Schema:
    if name not in types:
        known = ", ".join(sorted(types)) or "none"
        raise ExploreError(
            f"The query reads no relation {name!r} with rows to remove.\nIt reads: {known}."
        )
    return types[name]


def _by_keys(schema: pa.Schema, name: str, keys: Any) -> pa.Table:
    good = isinstance(keys, list) and len(keys) <= ROWS
    good = good and all(
        isinstance(key, list)
        and len(key) == len(schema)
        and all(part is None or isinstance(part, str) for part in key)
        for key in keys
    )
    if not good:
        raise ExploreError(
            f"Rows to remove of {name!r} are at most {ROWS:,} lists of "
            f"{len(schema)} texts: {', '.join(schema.names)}."
        )
    arrays = [parsed([key[i] for key in keys], field.type) for i, field in enumerate(schema)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _updated(capture: Capture, name: str, text: str) -> pa.Table:
    """Return the keys of a relation's rows that a change is of, and their new values."""
    schema = _schema(capture._token_types(), name)
    record = capture.manifest.relations[name]
    change = read_change(text, name, dict.fromkeys([*record.token, *record.columns]))
    if change.column in record.token:
        raise ExploreError(f"{change.column} is of the key of {name}, which is not changed.")
    condition = change.condition
    wanted = dict.fromkeys(
        [*record.token, change.column, *(condition.columns if condition else ())]
    )
    rows = source_columns(record, list(wanted)).combine_chunks()
    if condition is not None:
        mask = condition.mask(lambda column: rows.column(column).combine_chunks())
        rows = rows.filter(pc.fill_null(mask, False)).combine_chunks()
    keys = rows.select(list(record.token)).cast(schema)
    old = rows.column(change.column).combine_chunks()
    return keys.append_column(change.column, change.values(old))


def _condition(record: RelationRecord, text: str) -> TypedCondition:
    return read_condition(text, record.name, dict.fromkeys([*record.token, *record.columns]))


def _by_condition(capture: Capture, name: str, text: str) -> pa.Table:
    """Return the tuples of a relation that meet a condition on its columns.

    Conditions on its key alone are checked in the capture, others in the relation's source.
    """
    record = capture.manifest.relations[name]
    found = _condition(record, text)
    wanted = dict.fromkeys([*record.token, *found.columns])
    if set(wanted) == set(record.token):
        rows = capture.memory.tokens(name)
    else:
        rows = source_columns(record, list(wanted))
    mask = found.mask(lambda column: rows.column(column).combine_chunks())
    return rows.select(list(record.token)).filter(pc.fill_null(mask, False))
