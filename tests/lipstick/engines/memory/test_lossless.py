"""New values are converted to the types of their columns without loss, or refused."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from lipstick.engines.memory.lossless import DECLARED_TYPE, Declared, lossless
from lipstick.errors import CaptureError

LOSSY: list[tuple[Any, pa.DataType]] = [
    (1.9, pa.int32()),
    (3e9, pa.int32()),
    (float("nan"), pa.int32()),
    (Decimal("1.239"), pa.decimal128(10, 2)),
    (1.239, pa.decimal128(10, 2)),
    (Decimal("123456.1"), pa.decimal128(5, 1)),
    (12345, pa.decimal128(5, 2)),
    (1e300, pa.float32()),
    (2**53 + 1, pa.float64()),
    (datetime(2024, 1, 1, 12), pa.date32()),
    (5, pa.bool_()),
    ("1.9", pa.int32()),
    ("x", pa.int32()),
]
KEPT: list[tuple[Any, pa.DataType, Any]] = [
    (2.0, pa.int32(), 2),
    (5, pa.decimal128(10, 2), Decimal("5.00")),
    (0.25, pa.decimal128(10, 2), Decimal("0.25")),
    (1.5, pa.float32(), 1.5),
    (float("inf"), pa.float32(), float("inf")),
    (Decimal("0.1"), pa.float64(), 0.1),
    (date(2024, 1, 1), pa.timestamp("us"), datetime(2024, 1, 1)),
    ("7", pa.int32(), 7),
    (7, pa.string(), "7"),
    (None, pa.int32(), None),
]


@pytest.mark.parametrize(("value", "kind"), LOSSY, ids=str)
def test_lossy(value: object, kind: pa.DataType) -> None:
    values = pa.concat_arrays([pa.nulls(1, pa.array([value]).type), pa.array([value])])
    with pytest.raises(CaptureError) as raised:
        lossless("cars", "price", values, kind)
    assert f"{value} of 'price' of 'cars' does not fit its type {kind}" in str(raised.value)


@pytest.mark.parametrize(("value", "kind", "new"), KEPT, ids=str)
def test_lossless(value: object, kind: pa.DataType, new: object) -> None:
    converted = lossless("cars", "price", pa.array([value]), kind)
    assert converted.type == kind
    assert converted.to_pylist() == [new]


def test_times_without_a_zone_are_no_instants() -> None:
    times, instants = pa.timestamp("us"), pa.timestamp("us", "UTC")
    values = pa.array([datetime(2024, 1, 1)], times)
    with pytest.raises(CaptureError, match="are times without a zone, and the column has inst"):
        lossless("r", "at", values, instants)
    with pytest.raises(CaptureError, match="are instants, and the column has times without"):
        lossless("r", "at", values.cast(instants), times)
    berlin = values.cast(instants).cast(pa.timestamp("us", "Europe/Berlin"))
    assert lossless("r", "at", berlin, instants).equals(values.cast(instants))


def test_declared_lengths() -> None:
    texts = pa.array(["ab", None])
    varchar, char = (Declared.of({DECLARED_TYPE: kind}) for kind in ("varchar(3)", "char(3)"))
    assert lossless("r", "c", texts, pa.string(), varchar).to_pylist() == ["ab", None]
    assert lossless("r", "c", texts, pa.string(), char).to_pylist() == ["ab ", None]
    with pytest.raises(CaptureError, match=r"abcd of 'c' of 'r' .* type VARCHAR\(3\)"):
        lossless("r", "c", pa.array(["ab", "abcd"]), pa.string(), varchar)
    with pytest.raises(CaptureError, match="is not converted to date32"):
        lossless("r", "c", pa.array([], pa.list_(pa.int32())), pa.date32())
