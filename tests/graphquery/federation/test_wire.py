"""Messages arrive whole and unaltered, or not at all, and no larger than allowed."""

from __future__ import annotations

import contextlib
import hashlib
import json

import numpy as np
import pyarrow as pa
import pytest

from graphquery.errors import WireError
from graphquery.federation.wire.messages import Limits, WireMessage, reader, received

MESSAGE = WireMessage(
    {"op": "head", "text": "ü"},
    {"a": pa.table({"x": np.arange(5000)}), "b": pa.table({"y": pa.array([], pa.string())})},
)
SMALL = pa.table({"n": pa.array([2**64 - 1, 0], pa.uint64()), "t": ["ü", ""]})


def test_messages_arrive_as_they_were_sent() -> None:
    back = received(reader(MESSAGE.to_bytes()))
    assert back.header == MESSAGE.header
    assert {n: t.equals(MESSAGE.tables[n]) for n, t in back.tables.items()} == {
        "a": True,
        "b": True,
    }


@pytest.mark.parametrize(
    ("table", "small"),
    [
        (SMALL, True),
        (SMALL.slice(0, 0), True),
        (pa.table({"x": pa.array([1, None])}), False),
        (pa.table({"x": [1.5]}), False),
        (pa.table([[1], [2]], ["x", "x"]), False),
        (pa.table({"x": range(513)}), False),
    ],
)
def test_tables_of_few_values_travel_as_json(table: pa.Table, small: bool) -> None:
    message = WireMessage({}, {"a": table})
    assert received(reader(message.to_bytes())).tables["a"].equals(table)
    assert [frame[:1] for frame in message.frames()] == [b"H"] + [b"T"] * (not small) + [b"E"]


def test_messages_that_are_cut_off_are_noticed_wherever_it_is() -> None:
    data = MESSAGE.to_bytes()
    for end in [*range(0, len(data), 97), len(data) - 1]:
        with pytest.raises(WireError, match="ends before its end mark"):
            received(reader(data[:end]))


def test_altered_messages_are_noticed() -> None:
    data = MESSAGE.to_bytes()
    for offset in [*range(0, len(data), 53), len(data) - 1]:
        altered = bytearray(data)
        altered[offset] ^= 4
        with pytest.raises(WireError):
            received(reader(bytes(altered)), Limits(size=len(data) + 100))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(size=100), "A message of more than 100 bytes"),
        (Limits(header=5), "or with a header of more than 5"),
        (Limits(tables=1), "are not a message"),
    ],
)
def test_larger_messages_than_allowed_are_not_read(limits: Limits, message: str) -> None:
    with pytest.raises(WireError, match=message):
        received(reader(MESSAGE.to_bytes()), limits)


def _header(content: bytes, size: int = 0) -> bytes:
    """A header as it travels."""
    content = size.to_bytes(8, "little") + content
    return b"H" + len(content).to_bytes(8, "little") + content


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n" + b" " * 100,
        b"H" + (2**63).to_bytes(8, "little"),
        b"H" + (2).to_bytes(8, "little") + b"[]",
        b"H" + (3).to_bytes(8, "little") + b"{]}",
        _header(b"{]}"),
        _header(b"[]"),
        _header(b"[[],{}]"),
        _header(b'[{},{"a":{"x":["int8",[1000]]}}]'),
        _header(b'[{},{"a":{"x":["int8",[true]]}}]'),
        _header(b'[{},{"a":{"x":["float",[1]]}}]'),
        _header(b'[{},{"a":{"x":["int8",[1]],"y":["int8",[]]}}]'),
        _header(b"x", 10**15),
        _header(pa.Codec("zstd").compress(bytes(10**6), asbytes=True), 10),
        b"E" + (2).to_bytes(8, "little") + b"{}",
        b"T" + (2).to_bytes(8, "little") + b"\x01a",
    ],
)
def test_other_bytes_are_no_message(data: bytes) -> None:
    with pytest.raises(WireError):
        received(reader(data))


def _message(table: bytes, size: int = 0) -> bytes:
    """The bytes of a message whose only table is given as it travels."""
    digest = hashlib.sha256()
    pieces = []
    content = b"\x01a" + size.to_bytes(8, "little") + table
    for kind, part in ((b"H", bytes(8) + b"[{},{}]"), (b"T", content)):
        pieces.append(kind + len(part).to_bytes(8, "little") + part)
        digest.update(pieces[-1])
    end = {"tables": 1, "rows": 1, "checksum": digest.hexdigest()}
    part = json.dumps(end, separators=(",", ":")).encode()
    return b"".join([*pieces, b"E", len(part).to_bytes(8, "little"), part])


def _stream(table: pa.Table, compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (_message(_stream(pa.table({"x": [1] * 9000}), "zstd")), "compressed whole, not by column"),
        (_message(_stream(pa.table({"x": pa.nulls(10**9)}))), "more rows than bytes"),
        (_message(pa.Codec("zstd").compress(bytes(10**7), asbytes=True), 10**7), "than is read"),
        (_message(pa.Codec("zstd").compress(bytes(10**7), asbytes=True), 10), "cannot be read"),
        (_message(b"\xff" * 200), "cannot be read"),
    ],
)
def test_small_messages_that_grow_in_being_read_are_refused(data: bytes, message: str) -> None:
    assert len(data) < 20_000
    with pytest.raises(WireError, match=message):
        received(reader(data), Limits(size=10**6))


def test_tables_that_are_written_here_are_known_not_to_be_compressed_inside() -> None:
    text = pa.table({"d": pa.array(["a", "b"]).dictionary_encode(), "x": [1, 2]})
    data = _message(_stream(text)).replace(b'"rows":1', b'"rows":2')
    assert received(reader(data)).tables["a"].equals(text)


@pytest.mark.parametrize("seed", range(200))
def test_random_bytes_in_a_table_are_refused_or_read_but_never_harm(seed: int) -> None:
    random = np.random.default_rng(seed)
    data = bytearray(_stream(pa.table({"x": np.arange(20), "s": ["é"] * 20})))
    for offset in random.integers(0, len(data), 3):
        data[offset] = random.integers(256)
    with contextlib.suppress(WireError):
        received(reader(_message(bytes(data)).replace(b'"rows":1', b'"rows":20')))
