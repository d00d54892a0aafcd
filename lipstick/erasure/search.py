"""Search of files for values that were erased: in cells of tables, and in bytes of anything else.

Parquet, ORC, CSV and lines of JSON are read as tables, texts as texts; blocks of Avro are
decompressed and searched as bytes. Whatever can only be searched as bytes, or not read at all, is
reported as not searched: a compressed file holds values that no search of bytes finds.
"""

from __future__ import annotations

import gzip
import html
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.orc
import pyarrow.parquet as pq

SHORTEST_PART = 5
"""Texts of fewer characters are looked for as whole cells alone."""
DISTINCTIVE = 100_000
"""Integers from here on are looked for in every column, smaller ones in columns of their name."""
_ROWS = 65_536
_PATTERNS = 400
"""Texts in one regular expression."""
_LARGEST = 512 * 2**20
"""Files of more bytes that are no tables are reported as not searched."""
_WITHOUT_VALUES = (b"crc\0", b"PFA1")
"""Beginnings of files of checksums (Hadoop), and of bitmaps and sketches (Puffin)."""
_BITMAPS = "deletion_vector_"
"""The beginning of the names of Delta's files with the numbers of deleted rows."""
_TABLES_OF_TEXT = (".csv", ".json", ".jsonl", ".tsv")
_TRUNCATED = {"_delta_log": 32, "metadata": 16}
"""Folders whose files have prefixes of values: the characters that statistics are cut to."""


@dataclass(frozen=True, slots=True)
class ErasedValues:
    """Values of a column that erased rows have and no remaining row has."""

    relation: str
    column: str
    values: tuple[str | int, ...]
    """Texts or integers."""

    @property
    def is_text(self) -> bool:
        """True for texts."""
        return bool(self.values) and isinstance(self.values[0], str)


@dataclass(frozen=True, slots=True)
class Finding:
    """A file with erased values."""

    path: str
    relation: str
    column: str
    """The column of the erased rows that the values are from."""
    place: str
    """The column that has them, or ``bytes``, ``path``."""
    text: bool
    """True for texts; integers may stand for something else."""
    count: int
    """The number of cells or places."""


@dataclass(frozen=True, slots=True)
class Unsearched:
    """A place that could not be searched as a whole, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search of folders."""

    findings: tuple[Finding, ...]
    unsearched: tuple[Unsearched, ...]
    files: int
    bytes: int


class ValueSearch:
    """Searches cells, texts and paths for erased values, whatever their case."""

    def __init__(self, erased: Sequence[ErasedValues]) -> None:
        self._texts = [
            (each, pa.array(sorted({str(v).lower() for v in each.values}), pa.large_string()))
            for each in erased
            if each.is_text
        ]
        self._numbers = [
            (each, pa.array(sorted(set(each.values)), pa.int64()))
            for each in erased
            if each.values and not each.is_text
        ]

    def column(self, name: str, cells: pa.Array) -> Iterator[tuple[ErasedValues, int]]:
        """Yield erased values with the number of cells of a column that have them."""
        kind = cells.type
        if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
            yield from self._in_numbers(name, cells)
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield from self._in_texts(name, cells.cast(pa.large_string()))
        elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            for each, patterns in self._patterns(None):
                found = sum(_count(cells, pattern) for pattern in patterns)
                if found:
                    yield each, found

    def _in_numbers(self, name: str, cells: pa.Array) -> Iterator[tuple[ErasedValues, int]]:
        try:
            numbers = cells.cast(pa.int64())
        except pa.ArrowInvalid:  # values beyond 64 bits are none of those searched for
            numbers = pc.cast(cells, pa.int64(), safe=False)
        for each, values in self._numbers:
            wanted = values
            if not _same_name(name, each.column):
                wanted = values.filter(pc.greater_equal(pc.abs(values), DISTINCTIVE))
            found = pc.sum(pc.is_in(numbers, value_set=wanted)).as_py() if len(wanted) else 0
            if found:
                yield each, found

    def _in_texts(self, name: str, cells: pa.Array) -> Iterator[tuple[ErasedValues, int]]:
        counted = pc.value_counts(cells.drop_null())
        if not len(counted):
            return
        texts, counts = pc.utf8_lower(counted.field(0)), counted.field(1)
        for each, values in self._texts:
            hit = pc.is_in(texts, value_set=values)
            for pattern in _patterns([v for v in values.to_pylist() if len(v) >= SHORTEST_PART]):
                hit = pc.or_(hit, pc.match_substring_regex(texts, pattern))
            if found := pc.sum(counts.filter(hit)).as_py():
                yield each, found
        for each, values in self._numbers:
            every = _same_name(name, each.column)
            as_texts = [str(v) for v in values.to_pylist() if every or abs(v) >= DISTINCTIVE]
            hit = pc.is_in(texts, value_set=pa.array(as_texts, pa.large_string()))
            for pattern in _number_patterns(v for v in as_texts if len(v) > SHORTEST_PART):
                hit = pc.or_(hit, pc.match_substring_regex(texts, pattern))
            if found := pc.sum(counts.filter(hit)).as_py():
                yield each, found

    def content(self, data: bytes, cut: int | None = None) -> Iterator[tuple[ErasedValues, int]]:
        """Yield erased values with the number of places in bytes that have them.

        Parameters
        ----------
        cut
            The number of characters that texts may have been truncated to.
        """
        cell = pa.array([data], pa.large_binary())
        for each, patterns in self._patterns(cut):
            if found := sum(_count(cell, pattern) for pattern in patterns):
                yield each, found

    def _patterns(self, cut: int | None) -> Iterator[tuple[ErasedValues, list[str]]]:
        for each, values in self._texts:
            texts = [v[:cut] for v in values.to_pylist() if len(v) >= SHORTEST_PART]
            escaped = (f(v) for v in texts for f in (str, _in_json, html.escape))
            yield each, list(_patterns(dict.fromkeys(escaped)))
        for each, values in self._numbers:
            numbers = list(map(str, values.to_pylist()))
            large = (text for text in numbers if abs(int(text)) >= DISTINCTIVE)
            # Members of objects of JSON, escaped too, as statistics are in logs of tables.
            member = rf'(?i:{re.escape(each.column)})(?:_\d+)?\\*"\s*:\s*'
            members = (member + pattern[2:] for pattern in _number_patterns(iter(numbers)))
            yield each, [*_number_patterns(large), *members]

    def path(self, path: str) -> Iterator[tuple[ErasedValues, int]]:
        """Yield erased values that a path has, as partitions of tables put them there."""
        text = unquote(path).lower()
        for each, values in self._texts:
            parts = {part.partition("=")[2] or part for part in text.split("/")}
            wanted = values.to_pylist()
            if any(v in parts or (len(v) >= SHORTEST_PART and v in text) for v in wanted):
                yield each, 1
        for each, values in self._numbers:
            named = {f"{each.column.lower()}={value}" for value in values.to_pylist()}
            if named & set(text.split("/")):
                yield each, 1


def _same_name(name: str, column: str) -> bool:
    """Return True for the name of a column, as captures number it too: ``id``, ``id_2``."""
    return re.fullmatch(re.escape(column) + r"(_\d+)?", name, re.IGNORECASE) is not None


def _patterns(texts: Sequence[str] | Mapping[str, None]) -> Iterator[str]:
    listed = list(texts)
    for start in range(0, len(listed), _PATTERNS):
        yield "(?i:" + "|".join(map(re.escape, listed[start : start + _PATTERNS])) + ")"


def _number_patterns(numbers: Iterator[str]) -> Iterator[str]:
    listed = list(numbers)
    for start in range(0, len(listed), _PATTERNS):
        yield r"\b(?:" + "|".join(listed[start : start + _PATTERNS]) + r")\b"


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _count(cells: pa.Array, pattern: str) -> int:
    return pc.sum(pc.count_substring_regex(cells, pattern)).as_py() or 0


# --- files --------------------------------------------------------------------------------------


def search_folders(search: ValueSearch, roots: Sequence[str]) -> SearchResult:
    """Search every file below some paths."""
    findings: list[Finding] = []
    unsearched: list[Unsearched] = []
    seen = set[Path]()
    size = 0
    for root in roots:
        if re.match(r"[a-z][a-z0-9+.-]+://", root) and not root.startswith("file:"):
            unsearched.append(Unsearched(root, "it is on no local disk"))
            continue
        top = Path(unquote(root.removeprefix("file://").removeprefix("file:")))
        if not top.exists():
            unsearched.append(Unsearched(root, "there is no such file or folder"))
            continue
        files = [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file())
        for file in files:
            if file in seen:
                continue
            seen.add(file)
            try:
                size += file.stat().st_size
                findings += _in_file(search, file, unsearched)
            except (OSError, pa.ArrowException, ValueError) as error:
                reason = str(error).strip().splitlines() or [type(error).__name__]
                unsearched.append(Unsearched(str(file), reason[0][:200]))
    return SearchResult(tuple(findings), tuple(unsearched), len(seen), size)


def _in_file(search: ValueSearch, file: Path, unsearched: list[Unsearched]) -> list[Finding]:
    found: dict[tuple[ErasedValues, str], int] = {}

    def add(place: str, hits: Iterator[tuple[ErasedValues, int]]) -> None:
        for each, count in hits:
            found[each, place] = found.get((each, place), 0) + count

    add("path", search.path(str(file)))
    with file.open("rb") as opened:
        magic = opened.read(4)
    if magic == b"PAR1":
        for batch in pq.ParquetFile(file).iter_batches(batch_size=_ROWS):
            _add_columns(add, search, batch)
    elif magic[:3] == b"ORC":
        reader = pa.orc.ORCFile(file)
        for stripe in range(reader.nstripes):
            _add_columns(add, search, reader.read_stripe(stripe))
    elif file.stat().st_size > _LARGEST:
        unsearched.append(Unsearched(str(file), f"it has more than {_LARGEST:,} bytes"))
    else:
        _search_content(add, search, file, unsearched)
    return [
        Finding(str(file), each.relation, each.column, place, each.is_text, count)
        for (each, place), count in found.items()
    ]


def _search_content(
    add: Any, search: ValueSearch, file: Path, unsearched: list[Unsearched]
) -> None:
    data, name = file.read_bytes(), file
    if name.suffix == ".gz":
        data, name = gzip.decompress(data), name.with_suffix("")
    cuts = [cut for folder, cut in _TRUNCATED.items() if folder in file.parts]
    cut = min(cuts, default=None)
    if data[:4] == b"Obj\x01":
        for block in avro_blocks(data):
            add("bytes", search.content(block, cut))
        return
    add("bytes", search.content(data, cut))
    if name.suffix in _TABLES_OF_TEXT:
        table = _as_table(data, name.suffix)
        if table is not None:
            for batch in table.to_batches(max_chunksize=_ROWS):
                _add_columns(add, search, batch)
            return
    known = data.startswith(_WITHOUT_VALUES) or name.name.startswith(_BITMAPS)
    if not known and not _is_text(data):
        reason = "its format is not known: its bytes were searched as they are"
        unsearched.append(Unsearched(str(file), reason))


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _as_table(data: bytes, suffix: str) -> pa.Table | None:
    """Return a file as a table; None: it is none, and its text has been searched."""
    source = pa.BufferReader(data)
    try:
        if suffix in (".json", ".jsonl"):
            return pa.json.read_json(source)
        delimiter = "\t" if suffix == ".tsv" else ","
        return pa.csv.read_csv(source, parse_options=pa.csv.ParseOptions(delimiter=delimiter))
    except pa.ArrowException:
        return None


def _add_columns(add: Any, search: ValueSearch, batch: pa.RecordBatch) -> None:
    for field, cells in zip(batch.schema, batch.columns, strict=True):
        for name, leaf in _leaves(field.name, cells):
            add(f"column {name}", search.column(name.rpartition(".")[2], leaf))


def _leaves(name: str, cells: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield the columns without nesting that a column consists of, with their names."""
    kind = cells.type
    if pa.types.is_dictionary(kind):
        yield from _leaves(name, cells.dictionary_decode())
    elif pa.types.is_struct(kind):
        for field, part in zip(kind, cells.flatten(), strict=True):
            yield from _leaves(f"{name}.{field.name}", part)
    elif pa.types.is_map(kind):
        yield from _leaves(name, cells.keys)
        yield from _leaves(name, cells.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _leaves(name, cells.flatten())
    else:
        yield name, cells


# --- Avro ---------------------------------------------------------------------------------------


def avro_blocks(data: bytes) -> Iterator[bytes]:
    """Yield the header of an Avro container file, then its blocks, decompressed.

    Raises
    ------
    ValueError
        For a codec that is not known, and a file that ends early.
    """
    place, codec = 4, "null"
    while count := (step := _long(data, place))[0]:
        place = step[1]
        if count < 0:
            count, place = -count, _long(data, place)[1]
        for _ in range(count):
            key, place = _bytes(data, place)
            value, place = _bytes(data, place)
            if key == b"avro.codec":
                codec = value.decode()
    place = step[1] + 16
    yield data[:place]
    while place < len(data):
        _, place = _long(data, place)
        block, place = _bytes(data, place)
        place += 16
        yield _decompressed(block, codec)


def _decompressed(block: bytes, codec: str) -> bytes:
    if codec == "null":
        return block
    if codec == "deflate":
        return zlib.decompress(block, -15)
    if codec == "zstandard":
        stream = pa.CompressedInputStream(pa.BufferReader(block), "zstd")
        return bytes(stream.read())
    raise ValueError(f"blocks of Avro by the codec {codec} are not read")


def _long(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(data):
            raise ValueError("the Avro file ends early")
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), place


def _bytes(data: bytes, place: int) -> tuple[bytes, int]:
    length, place = _long(data, place)
    return data[place : place + length], place + length
