"""What somebody has struck out, as the Python that strikes it out."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa

from lipstick.capture.capture import Capture
from lipstick.capture.manifest import RelationRecord
from lipstick.explorer.captures.input_rows import source_files, source_schema
from lipstick.explorer.cells import parsed
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params

LISTED = 200
"""Keys that are written one by one where a condition says which they are."""

_PART = re.compile(r"\s*(?P<column>[^<>=!\s]+|`(?:[^`]|``)+`)\s*(?P<rest>(<=|>=|<>|!=|=|<|>).*)")
_COMPARED = re.compile(r"(?P<op><=|>=|<>|!=|=|<|>)\s*(?P<value>.*)", re.DOTALL)
_OPERATORS = {"=": "==", "<>": "!="}


def conditions_of(record: RelationRecord, text: str) -> list[tuple[str, str]]:
    """The columns of conditions, and what is said of each.

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
    """The Python that asks what would be without some tokens.

    Parameters
    ----------
    tokens
        Those of the scenario, per relation.
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
