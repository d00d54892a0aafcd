"""Search of files for values that were erased: in cells of tables, and in bytes of anything else.

Parquet, ORC, CSV and lines of JSON are read as tables, texts as texts; blocks of Avro are
decompressed and searched as bytes. Whatever can only be searched as bytes, or not read at all, is
reported as not searched: a compressed file holds values that no search of bytes finds.

Every file is read once for all values. Of Parquet one column at a time is in memory; columns whose
types hold no such values are not read, nor whole numbers whose statistics exclude them. What a
budget leaves out is reported as not searched.
"""

from __future__ import annotations

import gzip
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.orc
import pyarrow.parquet as pq

from lipstick.erasure.holders import is_remote
from lipstick.erasure.value_search import (
    ErasedValues,
    Hits,
    ValueSearch,
    is_binary,
    is_date,
    is_number,
    is_text,
)
from semiring.errors import BudgetError

_ROWS = 1 << 18
_LARGEST = 512 * 2**20
"""Files of more bytes that are not tables are reported as not searched."""
_WITHOUT_VALUES = (b"crc\0", b"PFA1")
"""Beginnings of files of checksums (Hadoop), and of bitmaps and sketches (Puffin)."""
_BITMAPS = "deletion_vector_"
"""The beginning of the names of Delta's files with the numbers of deleted rows."""
_TABLES_OF_TEXT = (".csv", ".json", ".jsonl", ".tsv")
_TRUNCATED = {"_delta_log": 32, "metadata": 15}
"""Folders whose files have prefixes of values: the characters that statistics have of them.

Iceberg cuts to 16 characters, and replaces the last one of an upper bound by the next.
"""


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
    in_column: bool = False
    """True for dates and times, which other rows may have too."""


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


# --- files --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _FileSearch:
    """The search of one file after another, from several threads, until a moment."""

    search: ValueSearch
    ends: float | None
    findings: list[Finding] = field(default_factory=list)
    unsearched: list[Unsearched] = field(default_factory=list)

    def run(self, file: Path) -> bool:
        """Search a file; return False if the time has passed before."""
        found: dict[tuple[ErasedValues, str], int] = {}

        def add(place: str, hits: Hits) -> None:
            for each, count in hits:
                found[each, place] = found.get((each, place), 0) + count

        if self._ended():
            return False
        try:
            add("path", self.search.path(str(file)))
            self._search(file, add)
        except BudgetError:
            self.unsearched.append(Unsearched(str(file), "the budget ended within it"))
        except (OSError, EOFError, pa.ArrowException, ValueError, zlib.error) as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            self.unsearched.append(Unsearched(str(file), reason[0][:200]))
        self.findings += [
            Finding(
                str(file), each.relation, each.column, place, each.is_text, count, each.in_column
            )
            for (each, place), count in found.items()
        ]
        return True

    def _ended(self) -> bool:
        return self.ends is not None and time.monotonic() > self.ends

    def _search(self, file: Path, add: _Add) -> None:
        with file.open("rb") as opened:
            magic = opened.read(4)
        if magic == b"PAR1":
            self._parquet(file, add)
        elif magic[:3] == b"ORC":
            reader = pa.orc.ORCFile(file)
            for stripe in range(reader.nstripes):
                self._columns(reader.read_stripe(stripe), add)
        elif file.stat().st_size > _LARGEST:
            self.unsearched.append(Unsearched(str(file), f"it has more than {_LARGEST:,} bytes"))
        else:
            self._content(file, add)

    def _parquet(self, file: Path, add: _Add) -> None:
        with pq.ParquetFile(file) as opened:
            for key, value in (opened.metadata.metadata or {}).items():
                if key != b"ARROW:schema":
                    add("bytes", self.search.content(value))
            schema = opened.schema_arrow
            leaves = [_leaf_types(each.type) for each in schema]
            first = np.cumsum([0, *map(len, leaves)]).tolist()
            sized = first[-1] == opened.metadata.num_columns
            encoded = {
                each.name
                for each, place in zip(schema, first, strict=False)
                if sized and is_text(each.type) and _in_dictionaries(opened.metadata, place)
            }
        with pq.ParquetFile(file, read_dictionary=sorted(encoded)) as opened:
            for group in range(opened.metadata.num_row_groups):
                for each, place, kinds in zip(schema, first, leaves, strict=False):
                    if not any(map(_searched, kinds)):
                        continue
                    whole = sized and pa.types.is_integer(each.type)
                    statistics = (
                        opened.metadata.row_group(group).column(place).statistics if whole else None
                    )
                    if statistics is None or self._may_have(each.name, statistics):
                        for batch in opened.iter_batches(
                            _ROWS, [group], [each.name], use_threads=False
                        ):
                            self._columns(batch, add)

    def _may_have(self, name: str, statistics: Any) -> bool:
        """Return False if statistics of whole numbers exclude all values."""
        wanted = self.search.wanted(name)
        if not len(wanted):
            return False
        if not statistics.has_min_max:
            return True
        first = int(np.searchsorted(wanted, statistics.min))
        return first < len(wanted) and int(wanted[first]) <= statistics.max

    def _columns(self, batch: pa.RecordBatch, add: _Add) -> None:
        for each, cells in zip(batch.schema, batch.columns, strict=True):
            for name, leaf in _leaves(each.name, cells):
                if self._ended():
                    raise BudgetError
                add(f"column {name}", self.search.column(name.rpartition(".")[2], leaf))

    def _content(self, file: Path, add: _Add) -> None:
        data, name = file.read_bytes(), file
        if name.suffix == ".gz":
            data, name = gzip.decompress(data), name.with_suffix("")
        cuts = [cut for folder, cut in _TRUNCATED.items() if folder in file.parts]
        cut = min(cuts, default=None)
        if data[:4] == b"Obj\x01":
            for block in avro_blocks(data):
                add("bytes", self.search.content(block, cut))
            return
        add("bytes", self.search.content(data, cut))
        if name.suffix in _TABLES_OF_TEXT:
            table = _as_table(data, name.suffix)
            if table is not None:
                for batch in table.to_batches(max_chunksize=_ROWS):
                    self._columns(batch, add)
                return
        known = data.startswith(_WITHOUT_VALUES) or name.name.startswith(_BITMAPS)
        if not known and not _is_plain(data):
            reason = "its format is not known: its bytes were searched as they are"
            self.unsearched.append(Unsearched(str(file), reason))


_Add: TypeAlias = Callable[[str, Hits], None]


def search_folders(
    search: ValueSearch,
    roots: Sequence[str],
    on_step: Callable[[str], None] = lambda step: None,
    budget: float | None = None,
) -> SearchResult:
    """Search every file below some paths, by a thread for each processor.

    Parameters
    ----------
    on_step
        Called about once a second with what is searched, and with the time that remains.
    budget
        The seconds to search in; what is left then is not searched.
    """
    started = time.monotonic()
    unsearched: list[Unsearched] = []
    files = dict(_files(roots, unsearched))
    sizes = {file: file.stat().st_size if file.exists() else 0 for file in files}
    total, searched, reported = sum(sizes.values()), 0, started
    running = _FileSearch(search, None if budget is None else started + budget)
    left: dict[str, list[Path]] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, done in zip(files, pool.map(running.run, files), strict=True):
            if not done:
                left.setdefault(files[file], []).append(file)
                continue
            searched += sizes[file]
            now = time.monotonic()
            if now - reported > 1:
                reported = now
                remains = (now - started) * (total / max(searched, 1) - 1)
                on_step(
                    f"{searched:,} of {total:,} bytes are searched, about {remains:.0f} s remain"
                )
    unsearched += running.unsearched
    for root, missed in left.items():
        amount = f"{len(missed)} files with {sum(sizes[file] for file in missed):,} bytes"
        unsearched.append(Unsearched(root, f"{amount}: the budget of {budget:g} s ended"))
    count = len(files) - sum(map(len, left.values()))
    order = {str(file): number for number, file in enumerate(files)}
    findings = sorted(running.findings, key=lambda found: order[found.path])
    return SearchResult(tuple(findings), tuple(unsearched), count, searched)


def size_of_folders(roots: Sequence[str]) -> tuple[int, int]:
    """Return the number of files below some paths, and of their bytes."""
    sizes = [file.stat().st_size for file, _ in _files(roots, [])]
    return len(sizes), sum(sizes)


def _files(roots: Sequence[str], unsearched: list[Unsearched]) -> Iterator[tuple[Path, str]]:
    """Yield each file below some paths once, with the first path that has it."""
    seen = set[Path]()
    for root in roots:
        if is_remote(root):
            unsearched.append(Unsearched(root, "it is on no local disk"))
            continue
        top = Path(unquote(root.removeprefix("file://").removeprefix("file:")))
        if not top.exists():
            unsearched.append(Unsearched(root, "there is no such file or folder"))
            continue
        for file in [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file()):
            if file not in seen:
                seen.add(file)
                yield file, root


def _is_plain(data: bytes) -> bool:
    """Return True for a text."""
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


def _searched(kind: pa.DataType) -> bool:
    return is_number(kind) or is_text(kind) or is_binary(kind) or is_date(kind)


def _in_dictionaries(metadata: Any, column: int) -> bool:
    """Return True if all pages of a column refer to dictionaries."""
    for group in range(metadata.num_row_groups):
        encodings = metadata.row_group(group).column(column).encodings
        if "PLAIN" in encodings or not any("DICTIONARY" in each for each in encodings):
            return False
    return bool(metadata.num_row_groups)


def _leaf_types(kind: pa.DataType) -> list[pa.DataType]:
    """Return the types of the columns without nesting that a column consists of."""
    if pa.types.is_dictionary(kind):
        return _leaf_types(kind.value_type)
    if pa.types.is_nested(kind):
        parts = [kind.field(number).type for number in range(kind.num_fields)]
        if pa.types.is_map(kind):
            parts = [kind.key_type, kind.item_type]
        return [leaf for part in parts for leaf in _leaf_types(part)]
    return [kind]


def _leaves(name: str, cells: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield the columns without nesting that a column consists of, with their names."""
    kind = cells.type
    if pa.types.is_dictionary(kind) and not is_text(kind.value_type):
        yield from _leaves(name, cells.dictionary_decode())
    elif pa.types.is_struct(kind):
        for part, values in zip(kind, cells.flatten(), strict=True):
            yield from _leaves(f"{name}.{part.name}", values)
    elif pa.types.is_map(kind):
        yield from _leaves(name, cells.keys)
        yield from _leaves(name, cells.items)
    elif pa.types.is_nested(kind):
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
