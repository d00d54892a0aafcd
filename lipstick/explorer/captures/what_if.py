"""The answer without some inputs, in one scenario or in several side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.capture.capture import Capture
from lipstick.capture.manifest import RelationRecord
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.input_rows import source_columns, source_files, source_schema
from lipstick.explorer.cells import cells, columns, parsed
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.explorer.table_windows import condition

LISTED = 200
"""Keys that are written one by one, at most, where a condition describes them."""

_PART = re.compile(r"\s*(?P<column>[^<>=!\s]+|`(?:[^`]|``)+`)\s*(?P<rest>(<=|>=|<>|!=|=|<|>).*)")
_COMPARED = re.compile(r"(?P<op><=|>=|<>|!=|=|<|>)\s*(?P<value>.*)", re.DOTALL)
_OPERATORS = {"=": "==", "<>": "!="}


def conditions_of(record: RelationRecord, text: str) -> list[tuple[str, str]]:
    """Return the columns of conditions, each with its comparison.

    Raises
    ------
    ExploreError
        Where a part is no condition on a column of the relation.
    """
    conditions = []
    for part in re.split(r"\s+and\s+", text, flags=re.IGNORECASE):
        match = _PART.fullmatch(part)
        column = "" if match is None else match["column"].strip("`")
        if match is None or column not in (*record.token, *record.columns):
            raise ExploreError(
                f"{part!r} is no condition on a column of {record.name}.\nWrite one of its columns "
                f"({', '.join(record.columns)}), one of = <> < <= > >=, and a value; "
                "'and' between several."
            )
        conditions.append((column, match["rest"]))
    return conditions


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
        "pc.": "import pyarrow.compute as pc",
        "ds.": "import pyarrow.dataset as ds",
    }
    imports = [line for name, line in needed.items() if name in text]
    return "\n".join([*imports, "import lipstick", "", text])


def _read(capture: Capture, name: str, text: str, read: str) -> str:
    """The Python that reads the keys of the rows that meet conditions."""
    record = capture.manifest.relations[name]
    conditions = conditions_of(record, text)
    key = list(record.token)
    if {column for column, _ in conditions} <= set(key):
        schema, source = capture._token_types()[name], f"capture.memory.tokens({name!r})"
        filtered = f"{source}.filter({_filter(schema, conditions)})"
        return f"{read} = {filtered}"
    files = [str(path) for path in source_files(record)]
    arguments = f"columns={key!r}, filter={_filter(source_schema(record), conditions)}"
    return f"{read} = ds.dataset({files!r}).to_table({arguments})"


def _filter(schema: pa.Schema, conditions: list[tuple[str, str]]) -> str:
    parts = []
    for column, rest in conditions:
        match = _COMPARED.fullmatch(rest.strip())
        assert match is not None  # it was a condition
        value = match["value"].strip()
        if len(value) > 1 and value[0] == value[-1] == "'":
            value = value[1:-1].replace("''", "'")
        type_ = schema.field(column).type
        if pa.types.is_decimal(type_):
            type_ = pa.decimal256(76, max(type_.scale, 20))
        elif pa.types.is_integer(type_) and not re.fullmatch(r"[+-]?\d+", value):
            type_ = pa.float64()
        (literal,) = parsed([value], type_).to_pylist()
        operator = _OPERATORS.get(match["op"], match["op"])
        parts.append(f"(pc.field({column!r}) {operator} pc.scalar({_plain(literal)}))")
    return " & ".join(parts)


def _plain(literal: object) -> str:
    """A value as it is written; decimals without the digits that their type adds."""
    normalize = getattr(literal, "normalize", None)
    return repr(literal if normalize is None else normalize())


SHOWN = 200
"""Rows that differ which are shown at most."""

ROWS = 20_000
"""Rows that are struck out one by one at most."""

BESIDE = 6
"""Scenarios side by side at most."""

_KINDS = ("changed", "deleted", "added")


def what_if(capture: Capture, params: Params, budget: Budget) -> dict[str, Any]:
    """The rows that would differ, with their old and new values.

    Parameters
    ----------
    params
        ``scenarios``: at most `BESIDE`, each with ``delete``: per relation a list of keys, and
        ``where``: per relation conditions on its columns.
    """
    given = params.items("scenarios")
    if not 0 < len(given) <= BESIDE:
        raise ExploreError(f"Give 1 to {BESIDE} scenarios.")
    answers = []
    for scenario in given:
        tokens = deletion(capture, Params(scenario))
        budget.check()
        result = capture.memory.what_if(tokens)
        changes = result.changes
        budget.check()
        answers.append(
            _differences(changes)
            | {
                "method": result.method,
                "struck": {name: table.num_rows for name, table in tokens.items()},
                "python": copied(capture, tokens, Params(scenario)),
            }
        )
    return {"columns": columns(capture.memory.answer().schema), "scenarios": answers}


def _differences(changes: pa.Table) -> dict[str, Any]:
    """The rows that are not as they were."""
    kinds = changes.column("_change")
    counts = {each["values"]: each["counts"] for each in kinds.value_counts().to_pylist()}
    places = np.flatnonzero(np.asarray(pc.not_equal(kinds, "unchanged")))
    shown = changes.take(pa.array(places[:SHOWN]))
    old, new = (pa.Table.from_struct_array(shown.column(side)) for side in ("old", "new"))
    words = shown.column("_change").to_pylist()
    rows = []
    for number, kind, before, after in zip(
        places[:SHOWN].tolist(), words, cells(old), cells(new), strict=True
    ):
        rows.append(
            {
                "row": number if kind != "added" else None,
                "change": kind,
                "old": None if kind == "added" else before,
                "new": None if kind == "deleted" else after,
            }
        )
    return {
        "counts": {kind: counts.get(kind, 0) for kind in (*_KINDS, "unchanged")},
        "rows": rows,
        "differing": len(places),
    }


def deletion(capture: Capture, scenario: Params) -> dict[str, pa.Table]:
    """The tokens that a scenario strikes out, per relation.

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
            tables_by_relation.setdefault(name, []).append(_by_conditions(capture, name, str(text)))
    tables = {}
    for name, parts in tables_by_relation.items():
        whole = pa.concat_tables(part.cast(types[name]) for part in parts)
        tables[name] = whole.group_by(whole.column_names).aggregate([])
    return tables


def _schema(types: Mapping[str, pa.Schema], name: str) -> pa.Schema:
    if name not in types:
        known = ", ".join(sorted(types)) or "none"
        raise ExploreError(
            f"The query reads no relation {name!r} with rows to strike out.\nIt reads: {known}."
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
            f"Rows to strike out of {name!r} are at most {ROWS:,} lists of "
            f"{len(schema)} texts: {', '.join(schema.names)}."
        )
    arrays = [parsed([key[i] for key in keys], field.type) for i, field in enumerate(schema)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _by_conditions(capture: Capture, name: str, text: str) -> pa.Table:
    """Return the tuples of a relation that meet conditions on its columns.

    Conditions on its key alone are checked in the capture, others in the relation's source.
    """
    record = capture.manifest.relations[name]
    conditions = conditions_of(record, text)
    wanted = dict.fromkeys([*record.token, *(column for column, _ in conditions)])
    if set(wanted) == set(record.token):
        rows = capture.memory.tokens(name)
    else:
        rows = source_columns(record, list(wanted))
    keep = np.ones(rows.num_rows, dtype=np.bool_)
    for column, rest in conditions:
        mask = pc.fill_null(condition(rows.column(column).combine_chunks(), rest, column), False)
        keep &= np.asarray(mask.to_numpy(zero_copy_only=False), dtype=bool)
    return rows.select(list(record.token)).take(pa.array(np.flatnonzero(keep)))
