"""Messages arrive whole and unaltered, or not at all, and no larger than allowed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from graphquery.federation.errors import CutOffError, MessageError
from graphquery.federation.wire import Limits, Message, reader, received

MESSAGE = Message(
    {"op": "head", "text": "ü"},
    {"a": pa.table({"x": np.arange(5000)}), "b": pa.table({"y": pa.array([], pa.string())})},
)


def test_messages_arrive_as_they_were_sent() -> None:
    back = received(reader(MESSAGE.to_bytes()))
    assert back.header == MESSAGE.header
    assert {n: t.equals(MESSAGE.tables[n]) for n, t in back.tables.items()} == {
        "a": True,
        "b": True,
    }


def test_messages_that_are_cut_off_are_noticed_wherever_it_is() -> None:
    data = MESSAGE.to_bytes()
    for end in [*range(0, len(data), 97), len(data) - 1]:
        with pytest.raises(CutOffError, match="ends before its end mark"):
            received(reader(data[:end]))


def test_altered_messages_are_noticed() -> None:
    data = MESSAGE.to_bytes()
    for place in [*range(0, len(data), 53), len(data) - 1]:
        altered = bytearray(data)
        altered[place] ^= 4
        with pytest.raises(MessageError):
            received(reader(bytes(altered)), Limits(size=len(data) + 100))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(size=100), "A message of more than 100 bytes"),
        (Limits(header=5), "or with a header of more than 5"),
        (Limits(tables=1), "are no message"),
    ],
)
def test_larger_messages_than_allowed_are_not_read(limits: Limits, message: str) -> None:
    with pytest.raises(MessageError, match=message):
        received(reader(MESSAGE.to_bytes()), limits)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n" + b" " * 100,
        b"H" + (2**63).to_bytes(8, "little"),
        b"H" + (2).to_bytes(8, "little") + b"[]",
        b"H" + (3).to_bytes(8, "little") + b"{]}",
        b"E" + (2).to_bytes(8, "little") + b"{}",
        b"T" + (2).to_bytes(8, "little") + b"\x01a",
    ],
)
def test_other_bytes_are_no_message(data: bytes) -> None:
    with pytest.raises(MessageError):
        received(reader(data))
