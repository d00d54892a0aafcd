"""Values of tokens: a number for all of a relation, or one of its columns, as somebody chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from lipstick.capture.capture import Capture
from lipstick.engines.memory.reach import lineage
from lipstick.explorer.captures.input_rows import looked_up, source_files, source_schema
from lipstick.explorer.cells import kind
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from semiring.base import Array, Semiring
from semiring.token import Token

Key = tuple[str, ...]
"""A token's key, each part as text."""

_LOOKED_UP = 200_000


def _truth(text: str) -> bool:
    """``true`` or ``1``, ``false`` or ``0``."""
    known = {"true": True, "1": True, "false": False, "0": False}
    if text.strip().lower() not in known:
        raise ValueError(text)
    return known[text.strip().lower()]


def _interval(text: str) -> tuple[float | None, float | None]:
    """Two numbers with two dots between; one that is left out is not a bound."""
    first, dots, last = text.partition("..")
    if not dots:
        raise ValueError(text)
    low, high = (_bound(bound.strip()) for bound in (first, last))
    return low, high


def _bound(text: str) -> float | None:
    if not text:
        return None
    return float(text) if "." in text else int(text)


_PARSED: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "number": float,
    "truth": _truth,
    "level": lambda text: text.strip().upper(),
    "interval": _interval,
}


class Chosen:
    """Return the values of the tokens of each relation.

    Parameters
    ----------
    capture
        Whose tokens.
    sort
        What values are, as the menu of semirings has it; empty where tokens have no other values.
    given
        Per relation a number as text, or ``{"column": name}``; others have the default.

    Raises
    ------
    ExploreError
        For relations and columns that there are not, and texts that are not numbers.
    """

    def __init__(self, capture: Capture, sort: str, given: Mapping[str, Any]) -> None:
        self._capture = capture
        self._sort = sort
        self.numbers: dict[str, Any] = {}
        self.columns: dict[str, str] = {}
        for name, value in given.items():
            if not value:
                continue
            if not sort:
                raise ExploreError("Tokens have no other values in this semiring.")
            if name not in capture.manifest.relations:
                raise ExploreError(f"The query reads no relation {name!r}.")
            if isinstance(value, dict):
                if sort not in ("integer", "number"):
                    raise ExploreError(f"Columns of numbers are not values that are a {sort}.")
                self.columns[name] = self._column(name, Params(value).text("column"))
            else:
                self.numbers[name] = self._number(name, value)

    def _column(self, name: str, column: str) -> str:
        record = self._capture.manifest.relations[name]
        schema = source_schema(record)
        if column not in schema.names or kind(schema.field(column).type) != "number":
            raise ExploreError(f"{name} has no column {column!r} of numbers.")
        return column

    def _number(self, name: str, text: Any) -> Any:
        try:
            return _PARSED[self._sort](str(text))
        except ValueError as error:
            article = "an" if self._sort[0] in "aeiou" else "a"
            told = f"{text!r} is not {article} {self._sort} for the tokens of {name}."
            raise ExploreError(told) from error

    def valuation(self, semiring: Semiring[Any], at: Array) -> Callable[[Token], Any]:
        """The value of every token of some rows, checked to be one of the semiring.

        Parameters
        ----------
        at
            The positions of the rows in the capture.
        """
        read = {name: self._read(name, column, at) for name, column in self.columns.items()}

        def value(token: Token) -> Any:
            if token.relation in read:
                key = tuple(map(str, token.key))
                if key not in read[token.relation]:
                    raise ExploreError(f"{token} is not in the source.")
                return semiring.check(read[token.relation][key])
            if token.relation in self.numbers:
                return semiring.check(self.numbers[token.relation])
            return semiring.default(token)

        return value

    def _read(self, name: str, column: str, at: Array) -> dict[Key, Any]:
        """The values of a column for the input rows of some rows."""
        record = self._capture.manifest.relations[name]
        keys = lineage(self._capture.memory.engine, at).get(name)
        if keys is None or not keys.num_rows:
            return {}
        if keys.num_rows > _LOOKED_UP:
            raise ExploreError(f"{keys.num_rows:,} rows of {name} are too many to look up.")
        rows = looked_up(record, keys)
        parts = [rows.column(part).to_pylist() for part in record.token]
        values = rows.column(column).to_pylist()
        return {
            tuple(map(str, key)): self._plain(value)
            for *key, value in zip(*parts, values, strict=True)
        }

    def _plain(self, value: Any) -> Any:
        if value is None:
            return None
        return int(value) if self._sort == "integer" and int(value) == value else float(value)

    def python(self, opening: str, call: Callable[[str], str]) -> str:
        """Return Python that makes a call with these values, which has their text; "": none."""
        lines = [opening]
        if self.columns:
            lines.insert(0, "import pyarrow.dataset as ds")
        values = [f"    {name!r}: lambda token: {v!r}," for name, v in self.numbers.items()]
        for number, (name, column) in enumerate(self.columns.items()):
            record = self._capture.manifest.relations[name]
            files = [str(path) for path in source_files(record)]
            wanted = [*record.token, column]
            read = f"values{number or ''}"
            lines.append(f"{read} = ds.dataset({files!r}).to_table(columns={wanted!r})")
            cast = "int64" if self._sort == "integer" else "double"
            lines.append(
                f"{read} = {read}.set_column({len(record.token)}, 'value', "
                f"{read}[{column!r}].cast({cast!r}))"
            )
            values.append(f"    {name!r}: {read},")
        given = "\n".join(["{", *values, "}"]) if values else ""
        return "\n".join([*lines, call(given)])


def numeric_columns(capture: Capture) -> dict[str, list[str]]:
    """Return, by relation, the numeric columns of its source; none where it cannot be read."""
    by_relation: dict[str, list[str]] = {}
    for name, record in capture.manifest.relations.items():
        try:
            schema: pa.Schema = source_schema(record)
        except ExploreError:
            by_relation[name] = []
            continue
        there = [field for field in schema if field.name in record.columns]
        by_relation[name] = [field.name for field in there if kind(field.type) == "number"]
    return by_relation
