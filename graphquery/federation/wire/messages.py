"""Messages between a federation and its stores: a header, tables and a sealing end frame.

A message is a sequence of frames, each a letter, a length and bytes: ``H`` the header and tables of
few values as JSON, compressed where that is shorter, ``T`` another table as an Arrow IPC stream
behind its name, compressed if it is large, ``E`` the number of tables and rows and a checksum of
all bytes before. A message without an end was cut off.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from graphquery.errors import WireError
from graphquery.federation.questions.answer import INTERRUPTED

_MOST = 512
"""Limit on the values of a table that travels as JSON."""

_MOST_TOGETHER = 1 << 16
"""Limit on the values of all of a message's tables that travel as JSON."""

_TYPES = {
    str(each): each
    for each in (
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
        pa.string(),
    )
}


def small_tables(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return the tables that travel as JSON: few values, all integers or texts, none NULL."""
    small = {}
    left = _MOST_TOGETHER
    for name, table in tables.items():
        if _is_small(table) and left >= table.num_columns * table.num_rows:
            small[name] = table
            left -= table.num_columns * table.num_rows
    return small


def _is_small(table: pa.Table) -> bool:
    return (
        0 < table.num_columns * max(1, table.num_rows) <= _MOST
        and all(str(column.type) in _TYPES for column in table.columns)
        and not any(column.null_count for column in table.columns)
        and len(set(table.column_names)) == table.num_columns
    )


def texts_of_table(table: pa.Table) -> dict[str, Any]:
    """Return the type and the values of each column."""
    return {
        name: [str(column.type), column.to_pylist()]
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def table_of_texts(columns: Any) -> pa.Table:
    """Return the inverse of `texts_of_table`.

    Raises
    ------
    ValueError
        A document that is not a table.
    """
    try:
        arrays = {
            name: pa.array([_plain(value) for value in values], _TYPES[kind])
            for name, (kind, values) in columns.items()
        }
        return pa.table(arrays)
    except (AttributeError, KeyError, TypeError, OverflowError, pa.ArrowException) as error:
        raise ValueError(f"no table: {error!r}") from error


def _plain(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError("a value that is neither an integer nor a text")
    return value


_FRAME = struct.Struct("<cQ")
_SMALL = 400
"""Size in bytes up to which a table is not compressed."""

SEAL = ("key", "signature")
"""The fields of a seal in an end frame."""

Read = Callable[[int], bytes]
"""Reads up to the given number of bytes; none at the end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a message.

    Parameters
    ----------
    size
        The size of all frames, in bytes.
    header
        The size of the header, in bytes.
    tables
        The number of tables.
    """

    size: int = 1 << 32
    header: int = 1 << 26
    tables: int = 1 << 16


REQUEST = Limits(size=1 << 26, header=1 << 24, tables=16)
"""Default limits of requests."""

REPLY = Limits(size=1 << 30)
"""Default limits of replies."""


@dataclass(frozen=True, slots=True, eq=False)
class WireMessage:
    """A request or a reply.

    Parameters
    ----------
    header, tables
        The content.
    checksum
        The SHA-256 of a received message's frames before the end.
    seal
        The end frame's fields beyond the checksum: the sender's signature (`keys.Signer`).
    """

    header: Mapping[str, Any]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    checksum: str = ""
    seal: Mapping[str, str] = field(default_factory=dict)

    def frames(self, sign: Callable[[str], Mapping[str, str]] | None = None) -> Iterator[bytes]:
        """Yield the message as bytes, frame by frame.

        Parameters
        ----------
        sign
            Returns the seal of a checksum, which the end frame carries; None: no seal.
        """
        digest = hashlib.sha256()
        small = small_tables(self.tables)
        large = {name: table for name, table in self.tables.items() if name not in small}
        frames = [(b"H", _packed_header(self.header, small))]
        frames += [(b"T", _packed(name, table)) for name, table in large.items()]
        for kind, content in frames:
            piece = _FRAME.pack(kind, len(content)) + content
            digest.update(piece)
            yield piece
        rows = sum(len(table) for table in self.tables.values())
        checksum = digest.hexdigest()
        end = {"tables": len(self.tables), "rows": rows, "checksum": checksum}
        end |= {} if sign is None else sign(checksum)
        content = json.dumps(end, separators=(",", ":")).encode()
        yield _FRAME.pack(b"E", len(content)) + content

    def to_bytes(self) -> bytes:
        """Return the message as bytes."""
        return b"".join(self.frames())


def received(read: Read, limits: Limits = REPLY) -> WireMessage:
    """Read a message.

    Raises
    ------
    WireError
        Bytes that are not a message, end before it does, or exceed the limits.
    """
    digest = hashlib.sha256()
    header: dict[str, Any] | None = None
    tables: dict[str, pa.Table] = {}
    left = limits.size
    while True:
        start = _exactly(read, _FRAME.size)
        kind, length = _FRAME.unpack(start)
        left -= length + _FRAME.size
        if left < 0 or (kind != b"T" and length > limits.header):
            raise WireError(
                f"A message of more than {limits.size:,} bytes, or with a header of more than "
                f"{limits.header:,}, is not read.\nAsk for less at once."
            )
        content = _exactly(read, length)
        if kind == b"E":
            checksum = digest.hexdigest()
            seal = _check_end(content, header, tables, checksum)
            assert header is not None  # checked
            return WireMessage(header, tables, checksum, seal)
        digest.update(start + content)
        if kind == b"H" and header is None:
            header, tables, size = _unpacked_header(content, min(left, limits.header))
            left -= size
            if len(tables) > limits.tables:
                raise WireError("The bytes are not a message of a federation.")
        elif kind == b"T" and header is not None and len(tables) < limits.tables:
            name, table, size = _unpacked(content, left)
            left -= size
            tables[name] = table
        else:
            raise WireError("The bytes are not a message of a federation.")


def reader(data: bytes) -> Read:
    """Return a function that reads from bytes in memory."""
    read: Read = io.BytesIO(data).read
    return read


def _exactly(read: Read, count: int) -> bytes:
    parts = []
    while count:
        part = read(min(count, 1 << 20))
        if not part:
            raise WireError("The message ends before its end mark.", INTERRUPTED)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _packed_header(header: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> bytes:
    small = {name: texts_of_table(table) for name, table in tables.items()}
    text = json.dumps([header, small], ensure_ascii=False, separators=(",", ":")).encode()
    shorter: bytes = pa.Codec("zstd").compress(text, asbytes=True)
    if len(shorter) < len(text):
        return len(text).to_bytes(8, "little") + shorter
    return (0).to_bytes(8, "little") + text


def _unpacked_header(content: bytes, limit: int) -> tuple[dict[str, Any], dict[str, pa.Table], int]:
    """Return the header, the small tables, and the number of their compressed bytes."""
    size = int.from_bytes(content[:8], "little")
    if size > limit:
        raise WireError(f"A header of {size:,} bytes is more than is read at once.")
    try:
        data = content[8:]
        if size:
            data = pa.Codec("zstd").decompress(data, size, asbytes=True)
        header, small = json.loads(data)
        tables = {str(name): table_of_texts(columns) for name, columns in small.items()}
    except (ValueError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise WireError(f"The header of the message cannot be read: {error!r}.") from error
    if not isinstance(header, dict):
        raise WireError("The header of the message is not an object.")
    return header, tables, size


def _packed(name: str, table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    size = 0
    if len(data) > _SMALL:
        size, data = len(data), pa.Codec("zstd").compress(data, asbytes=True)
    encoded = name.encode()
    return bytes([len(encoded)]) + encoded + size.to_bytes(8, "little") + data


def _unpacked(content: bytes, limit: int) -> tuple[str, pa.Table, int]:
    """Return a table with its name, and the number of its compressed bytes."""
    try:
        start = 9 + content[0]
        name = content[1 : start - 8].decode()
        size = int.from_bytes(content[start - 8 : start], "little")
        data = content[start:]
        if size > limit:
            raise WireError(f"A table of {size:,} bytes is more than is read at once.")
        if size:
            data = pa.Codec("zstd").decompress(data, size, asbytes=True)
        table = _stream(data)
    except (IndexError, UnicodeDecodeError, ValueError, pa.ArrowException, OSError) as error:
        raise WireError(f"A table of the message cannot be read: {error!r}.") from error
    return name, table, size


def _stream(data: bytes) -> pa.Table:
    """Read an Arrow IPC stream; refuse compressed buffers and more rows than its bytes allow."""
    source = pa.BufferReader(data)
    with contextlib.suppress(EOFError):
        while True:
            metadata = pa.ipc.read_message(source).metadata
            if _is_compressed(metadata.to_pybytes()):
                raise WireError("Tables of a message are compressed whole, not by column.")
    with pa.ipc.open_stream(pa.py_buffer(data)) as stream:
        batches = []
        for batch in stream:
            # Columns without buffers may claim any number of rows.
            if batch.num_rows > 8 * len(data):
                raise WireError("A table of the message has more rows than bytes for them.")
            batches.append(batch)
        table = pa.Table.from_batches(batches, stream.schema)
    table.validate(full=True)
    return table


def _is_compressed(metadata: bytes) -> bool:
    """Return True if the metadata of an Arrow IPC message declare its buffers compressed.

    References
    ----------
    Apache Arrow, *Message.fbs*: the fourth field of a record batch; in a dictionary batch, the
    record batch is the second field.
    """
    root = _offset(metadata, 0)
    kind = _slot(metadata, root, 1)
    header = _slot(metadata, root, 2)
    if not kind or not header or metadata[kind] not in (2, 3):
        return False
    batch = _offset(metadata, header)
    if metadata[kind] == 2:
        inner = _slot(metadata, batch, 1)
        if not inner:
            return False
        batch = _offset(metadata, inner)
    return _slot(metadata, batch, 3) > 0


def _offset(data: bytes, offset: int) -> int:
    return offset + int.from_bytes(data[offset : offset + 4], "little")


def _slot(data: bytes, table: int, field: int) -> int:
    """Return the offset of a field of a flatbuffer's table, or 0 if the table lacks it."""
    start = table - int.from_bytes(data[table : table + 4], "little", signed=True)
    if start < 0 or int.from_bytes(data[start : start + 2], "little") < 6 + 2 * field:
        return 0
    shift = int.from_bytes(data[start + 4 + 2 * field : start + 6 + 2 * field], "little")
    return table + shift if shift else 0


def _check_end(
    content: bytes, header: object, tables: Mapping[str, pa.Table], checksum: str
) -> dict[str, str]:
    """Check the end frame against the frames before it, and return the seal."""
    try:
        end = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise WireError(f"The end of the message cannot be read: {error!r}.") from error
    rows = sum(len(table) for table in tables.values())
    expected = {"tables": len(tables), "rows": rows, "checksum": checksum}
    known = isinstance(end, dict) and {name: end.get(name) for name in expected} == expected
    if header is None or not known:
        raise WireError("The message is not what was sent: its end mark does not fit it.")
    return {name: str(end[name]) for name in SEAL if name in end}
