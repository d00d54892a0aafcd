"""The bid calculation of the example's dealers; it runs without imports of this module."""

from __future__ import annotations

from pyspark.sql.functions import udf
from pyspark.sql.types import LongType


@udf(LongType(), useArrow=False)
def calc_bid(available: int, sold: int | None, before: int | None) -> int:
    """Return a price in dollars: lower for every car in stock, higher for every car sold.

    Parameters
    ----------
    available, sold
        How many cars of the model there are, and how many of these are sold; None for none.
    before
        The least that the buyer was asked for before, which is never exceeded.
    """
    price = 22_000 - 1_000 * available + 1_000 * (sold or 0)
    return price if before is None else min(price, before)
