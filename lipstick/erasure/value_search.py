"""Search of cells, contents and paths for values that were erased, all values in one pass."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lipstick.erasure.patterns import Bytes, PatternSet
from semiring.arrays.segments import ascending

SHORTEST_PART = 5
"""Texts of fewer characters are looked for as whole cells alone."""
DISTINCTIVE = 100_000
"""Integers from here on are looked for in every column, smaller ones in columns of their name."""
_LOWER = np.array([ord(chr(byte).lower()) if byte < 128 else byte for byte in range(256)], np.uint8)
_DIGITS = np.array([48 <= byte < 58 for byte in range(256)])
_OF_WORDS = np.array([byte < 128 and (chr(byte).isalnum() or byte == 95) for byte in range(256)])

Hits: TypeAlias = Iterator[tuple["ErasedValues", int]]
"""Erased values with the number of cells or places that have them."""


@dataclass(frozen=True, slots=True)
class ErasedValues:
    """Values of a column that erased rows have and no remaining row has."""

    relation: str
    column: str
    values: tuple[str | int, ...]
    """Texts or integers; dates and times (of UTC) as texts."""
    in_column: bool = False
    """True for dates and times: they are looked for in columns of the same name alone."""

    @property
    def is_text(self) -> bool:
        """True for texts."""
        return bool(self.values) and isinstance(self.values[0], str) and not self.in_column

    @property
    def leaf(self) -> str:
        """The name of the column, or of the innermost field of it."""
        return self.column.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class _Needles:
    """Texts and numbers to be found within cells and contents, in lower case."""

    patterns: PatternSet
    lengths: NDArray[np.int64]
    owners: NDArray[np.int64]
    """The place of the erased values that each pattern is from."""
    words: NDArray[np.bool_]
    """True for numbers, which letters and digits must not surround."""

    @staticmethod
    def of(texts: Iterable[tuple[int, str, bool]]) -> _Needles:
        """Return patterns of texts, each with its owner, and whether it is a number."""
        listed = list(dict.fromkeys(texts))
        encoded = [text.encode() for _, text, _ in listed]
        return _Needles(
            PatternSet(encoded),
            np.array([len(each) for each in encoded], np.int64),
            np.array([owner for owner, _, _ in listed], np.int64),
            np.array([word for _, _, word in listed], bool),
        )

    def found(
        self, data: Bytes, ends: NDArray[np.int64], *, texts: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return owners and the cells that have something of theirs.

        Parameters
        ----------
        ends
            Where cells begin, and the end of the last one.
        texts
            Cells are texts: one that begins or ends in a digit is not part of a longer number, as
            in 5 Main St and 15 Main St. In other bytes, a digit beside it may be its length.
        """
        numbers, starts = self.patterns.places(data)
        stops = starts + self.lengths[numbers]
        cells = np.searchsorted(ends, starts, "right") - 1
        within = stops <= ends[cells + 1]
        numbers, starts, stops, cells = (x[within] for x in (numbers, starts, stops, cells))
        if (texts or self.words.any()) and len(numbers):
            after = data[np.minimum(stops, len(data) - 1)]
            inner = starts > ends[cells], stops < ends[cells + 1]
            inside = inner[0] & _OF_WORDS[data[starts - 1]] | inner[1] & _OF_WORDS[after]
            split = inner[0] & _DIGITS[data[starts - 1]] & _DIGITS[data[starts]]
            split |= inner[1] & _DIGITS[after] & _DIGITS[data[stops - 1]]
            whole = ~(self.words[numbers] & inside) & ~(texts & split)
            numbers, cells = numbers[whole], cells[whole]
        return self.owners[numbers], cells


class ValueSearch:
    """Searches cells, texts and paths for erased values, whatever their case."""

    def __init__(self, erased: Sequence[ErasedValues]) -> None:
        self._erased = [each for each in erased if each.values]
        self._texts = {
            owner: sorted({lowered for v in each.values for lowered in _lower(str(v))})
            for owner, each in enumerate(self._erased)
            if each.is_text
        }
        self._numbers = {
            owner: np.array(sorted({int(v) for v in each.values}), np.int64)
            for owner, each in enumerate(self._erased)
            if not each.is_text and not each.in_column
        }
        self._dates = {
            owner: {form for value in each.values for form in _forms(str(value))}
            for owner, each in enumerate(self._erased)
            if each.in_column
        }
        self._short = {
            owner: pa.array([v for v in texts if len(v) < SHORTEST_PART], pa.large_string())
            for owner, texts in self._texts.items()
        }
        self._in_cells = _Needles.of([*self._parts(None), *self._distinctive()])
        self._in_contents = dict[int | None, _Needles]()
        self._members = {
            owner: self._member(owner, rb'(?:\\*")?(-?\d+)(?![\w.])')
            for owner, values in self._numbers.items()
            if (np.abs(values) < DISTINCTIVE).any()
        }
        self._members |= {
            owner: self._member(owner, rb'\\*"([0-9tz :.+-]+)') for owner in self._dates
        }

    def _member(self, owner: int, value: bytes) -> re.Pattern[bytes]:
        """Return the pattern of a member of an object of JSON that has the name of a column."""
        name = re.escape(self._erased[owner].leaf.lower().encode())
        # Escaped too, as statistics are in logs of tables.
        return re.compile(rb'"' + name + rb'(?:_\d+)?\\*"\s*:\s*' + value)

    def _parts(self, cut: int | None) -> Iterator[tuple[int, str, bool]]:
        for owner, texts in self._texts.items():
            for text in texts:
                if len(text) >= SHORTEST_PART:
                    yield owner, text[:cut], False

    def _distinctive(self) -> Iterator[tuple[int, str, bool]]:
        for owner, numbers in self._numbers.items():
            for number in numbers[np.abs(numbers) >= DISTINCTIVE].tolist():
                yield owner, str(number), True

    def wanted(self, name: str) -> NDArray[np.int64]:
        """Return the numbers to look for in a column of a name, sorted."""
        found = [self._of_column(owner, name) for owner in self._numbers]
        return ascending(np.concatenate(found)) if found else np.empty(0, np.int64)

    def has_dates_of(self, name: str) -> bool:
        """Return True if dates or times are looked for in columns of a name."""
        return any(same_name(name, self._erased[owner].leaf) for owner in self._dates)

    def _of_column(self, owner: int, name: str) -> NDArray[np.int64]:
        numbers = self._numbers[owner]
        if same_name(name, self._erased[owner].leaf):
            return numbers
        return numbers[np.abs(numbers) >= DISTINCTIVE]

    def column(self, name: str, cells: pa.Array) -> Hits:
        """Yield erased values with the number of cells of a column that have them."""
        kind, often = cells.type, None
        if pa.types.is_dictionary(kind):
            used = cells.indices.drop_null().to_numpy(zero_copy_only=False)
            # Values that no cell has are in the file nevertheless.
            often = np.maximum(np.bincount(used, minlength=len(cells.dictionary)), 1)
            cells, kind = cells.dictionary, cells.type.value_type
        if self.has_dates_of(name) and (is_date(kind) or is_text(kind)):
            yield from self._among_dates(name, cells)
        if is_number(kind):
            yield from self._among_numbers(name, cells)
        elif is_text(kind):
            yield from self._among_texts(name, cells, often)
        elif is_binary(kind):
            yield from self._among_binaries(name, cells, often)

    def _among_numbers(self, name: str, cells: pa.Array) -> Hits:
        wanted, kind = self.wanted(name), cells.type
        if not len(wanted):
            return
        exact = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0)
        target = pa.int64() if exact else pa.float64()
        numbers = pc.cast(cells, target, safe=False)  # beyond 64 bits are none of those wanted
        if not _among(numbers, wanted):
            return
        for owner in self._numbers:
            if found := _among(numbers, self._of_column(owner, name)):
                yield self._erased[owner], found

    def _among_dates(self, name: str, cells: pa.Array) -> Hits:
        if pa.types.is_timestamp(cells.type):
            zone = cells.type.tz and "UTC"
            cells = cells.cast(pa.timestamp("us", zone), safe=False).cast(pa.timestamp("us"))
        texts = cells.cast(pa.large_string())
        if not is_text(cells.type):
            texts = pc.replace_substring_regex(texts, r"\.0+$", "")
        texts = pc.ascii_lower(texts)
        for owner, forms in self._dates.items():
            if same_name(name, self._erased[owner].leaf):
                among = pc.is_in(texts, value_set=pa.array(sorted(forms), pa.large_string()))
                if found := int(pc.sum(among).as_py() or 0):
                    yield self._erased[owner], found

    def _among_binaries(self, name: str, cells: pa.Array, often: Any) -> Hits:
        try:
            texts = cells.cast(pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid:
            data, ends = _flat(cells.cast(pa.large_binary()))
            yield from self._counted(*self._in_cells.found(_LOWER[data], ends), often)
        else:
            yield from self._among_texts(name, texts, often)

    def _among_texts(self, name: str, cells: pa.Array, often: Any) -> Hits:
        texts = cells.cast(pa.large_string())
        data, ends = _flat(texts)
        if len(data) and data.max() >= 128:
            texts = pc.utf8_lower(texts)
            data, ends = _flat(texts)
        else:
            data = _LOWER[data]
            texts = pc.ascii_lower(texts) if any(map(len, self._short.values())) else texts
        found = [self._in_cells.found(data, ends, texts=True)]
        whole = [(owner, short) for owner, short in self._short.items() if len(short)]
        for owner in self._numbers:
            if same_name(name, self._erased[owner].leaf):
                whole.append((owner, pa.array(map(str, self._numbers[owner].tolist()), texts.type)))
        for owner, values in whole:
            cell = np.flatnonzero(pc.is_in(texts, value_set=values).to_numpy(zero_copy_only=False))
            found.append((np.full(len(cell), owner), cell))
        owners, places = (np.concatenate(each) for each in zip(*found, strict=True))
        yield from self._counted(owners, places, often)
        yield from self._among_members(data)

    def _counted(self, owners: NDArray[np.int64], cells: NDArray[np.int64], often: Any) -> Hits:
        """Yield erased values with the number of cells that have something of theirs."""
        for owner in ascending(owners).tolist():
            own = ascending(cells[owners == owner])
            yield self._erased[owner], len(own) if often is None else int(often[own].sum())

    def _among_members(self, data: Bytes) -> Hits:
        """Yield small numbers and dates of members of objects of JSON with a column's name."""
        for owner, pattern in self._members.items():
            values = pattern.findall(data.data)
            if not values:
                continue
            if owner in self._dates:
                known = [form.encode() for form in self._dates[owner]]
            else:
                numbers = self._numbers[owner]
                known = [str(n).encode() for n in numbers[np.abs(numbers) < DISTINCTIVE].tolist()]
            if found := int(np.isin(np.array(values), np.array(known)).sum()):
                yield self._erased[owner], found

    def content(self, content: bytes, cut: int | None = None) -> Hits:
        """Yield erased values with the number of places in bytes that have them.

        Parameters
        ----------
        cut
            The number of characters that texts may have been truncated to.
        """
        if content.isascii():
            data = _LOWER[np.frombuffer(content, np.uint8)]
        else:
            text = pa.array([content.decode("utf-8", "replace")], pa.large_string())
            data, _ = _flat(pc.utf8_lower(text))
        if cut not in self._in_contents:
            escaped = (
                (owner, write(text).lower(), word)
                for owner, text, word in self._parts(cut)
                for write in (str, _in_json, html.escape)
            )
            self._in_contents[cut] = _Needles.of([*escaped, *self._distinctive()])
        owners, _ = self._in_contents[cut].found(data, np.array([0, len(data)], np.int64))
        for owner, count in zip(*np.unique(owners, return_counts=True), strict=True):
            yield self._erased[owner], int(count)
        yield from self._among_members(data)

    def path(self, path: str) -> Hits:
        """Yield erased values that a path has, as partitions of tables put them there."""
        text = unquote(path).lower()
        parts = {part.partition("=")[2] or part for part in text.split("/")}
        for owner, texts in self._texts.items():
            if any(v in parts or (len(v) >= SHORTEST_PART and v in text) for v in texts):
                yield self._erased[owner], 1
        own = {owner: set(map(str, numbers.tolist())) for owner, numbers in self._numbers.items()}
        for owner, written in (own | self._dates).items():
            prefix = f"{self._erased[owner].leaf.lower()}="
            named = {p.removeprefix(prefix) for p in text.split("/") if p.startswith(prefix)}
            if named & written:
                yield self._erased[owner], 1


def _forms(moment: str) -> set[str]:
    """Return the ways in which a date or a time of UTC is written, in lower case."""
    day, _, clock = moment.partition(" ")
    if not clock:
        return {day}
    seconds, _, fraction = clock.partition(".")
    fraction = fraction.ljust(6, "0")
    clocks = {f"{seconds}.{fraction}", f"{seconds}.{fraction[:3]}", clock}
    clocks |= {f"{seconds}.{fraction}".rstrip("0").rstrip(".")}
    return {f"{day}{sign}{each}{end}" for sign in " t" for each in clocks for end in ("", "z")}


def _lower(text: str) -> set[str]:
    """Return a text in lower case: as cells are, and with its ASCII letters alone."""
    lowered = pc.utf8_lower(pa.scalar(text)).as_py()
    return {lowered, bytes(_LOWER[np.frombuffer(text.encode(), np.uint8)]).decode()}


def _flat(cells: pa.Array) -> tuple[Bytes, NDArray[np.int64]]:
    """Return the bytes of large texts or binaries one after another, and where cells begin."""
    if cells.null_count:
        cells = pc.fill_null(cells, b"" if pa.types.is_large_binary(cells.type) else "")
    _, ends, data = cells.buffers()
    if not len(cells) or data is None:
        return np.empty(0, np.uint8), np.zeros(len(cells) + 1, np.int64)
    places = np.frombuffer(ends, np.int64)[cells.offset : cells.offset + len(cells) + 1]
    return np.frombuffer(data, np.uint8)[places[0] : places[-1]], places - places[0]


def _among(cells: pa.Array, values: NDArray[np.int64]) -> int:
    found = pc.sum(pc.is_in(cells, value_set=pa.array(values).cast(cells.type)))
    return int(found.as_py() or 0)


def is_number(kind: pa.DataType) -> bool:
    """Return True for the types of numbers."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def is_date(kind: pa.DataType) -> bool:
    """Return True for the types of dates and of times of a day."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_text(kind: pa.DataType) -> bool:
    """Return True for the types of texts."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()
    )


def is_binary(kind: pa.DataType) -> bool:
    """Return True for the types of bytes."""
    fixed = pa.types.is_fixed_size_binary(kind)
    return bool(fixed or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def same_name(name: str, column: str) -> bool:
    """Return True for the name of a column, as captures number it too: ``id``, ``id_2``."""
    return re.fullmatch(re.escape(column) + r"(_\d+)?", name, re.IGNORECASE) is not None


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]
