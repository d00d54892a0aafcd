"""Functions for modules of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.functions import pandas_udf, udf, udtf
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructType


@udf(IntegerType(), useArrow=False)
def twice(number: int) -> int:
    """Double a number."""
    return 2 * number


@pandas_udf(LongType())
def calc_bid(cars: pd.Series) -> int:
    """A price in dollars for the bag of a dealer's cars."""
    return 22_000 - 1_000 * len(cars)


_BIDS = ArrayType(
    StructType().add("BidId", StringType()).add("UserId", StringType()).add("Amount", LongType())
)


@udf(_BIDS, useArrow=False)
def calc_bids(requests: list[Any] | None, available: int | None) -> list[tuple[str, str, int]]:
    """A bid for each request of a bag."""
    price = 22_000 - 1_000 * (available or 0)
    return [(request["BidId"], request["UserId"], price) for request in requests or ()]


class _UpTo:
    def eval(self, number: int) -> Iterator[tuple[int]]:
        for smaller in range(number):
            yield (smaller,)


up_to = udtf(_UpTo, returnType=StructType().add("n", IntegerType())).asDeterministic()

plain = len
