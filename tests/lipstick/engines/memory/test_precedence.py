"""The precedence of rows in an order: of whole columns as of each pair of rows by sorting both."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.engines.memory.formal.cuts import Precedes

VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [None, 1, 2, 3],
    pa.decimal128(10, 2): [None, Decimal("1.00"), Decimal("2.50")],
    pa.string(): [None, "a", "b", "é", ""],
    pa.float64(): [None, 1.0, float("nan"), -0.0, 0.0],
    pa.date32(): [None, date(2020, 1, 1), date(2021, 1, 1)],
    pa.bool_(): [None, True, False],
}


@pytest.mark.parametrize("seed", range(40))
def test_columns_are_compared_as_rows_are(seed: int) -> None:
    drawn = random.Random(seed)
    types = [drawn.choice(list(VALUES)) for _ in range(drawn.randint(1, 3))]
    precedes = Precedes([(drawn.random() < 0.5, drawn.random() < 0.5) for _ in types], types)
    cases = [tuple(drawn.choice(VALUES[kind]) for kind in types * 2) for _ in range(50)]
    columns = [np.empty(50, dtype=object) for _ in types * 2]
    for place, column in enumerate(columns):
        column[:] = [case[place] for case in cases]
    assert precedes.of_operands(columns.__getitem__) == precedes(cases)
