"""The calculation of a dealer's bid: a black box; nothing here is imported where it runs."""

from __future__ import annotations

from pyspark.sql.functions import udf
from pyspark.sql.types import LongType

LIST_PRICES = {
    "Audi A4": 36_000,
    "Audi A6": 49_000,
    "BMW 3": 38_000,
    "BMW 5": 54_000,
    "Mercedes C": 40_000,
    "Mercedes E": 56_000,
    "Opel Astra": 23_000,
    "Opel Corsa": 17_000,
    "Porsche 911": 98_000,
    "VW Golf": 24_000,
    "VW Jetta": 22_000,
    "VW Passat": 32_000,
}
"""The twelve German models, with their prices in dollars."""


@udf(LongType(), useArrow=False)
def calc_bid(model: str, available: int, sold: int | None, before: int | None) -> int:
    """Return a price in dollars: lower the more cars are in stock, higher the more are sold.

    Parameters
    ----------
    model
        One of :data:`LIST_PRICES`.
    available, sold
        How many cars of the model there are, and how many of these are sold; None for none.
    before
        The least that the buyer was asked for before. A buyer who comes back is offered 1 % less.
    """
    left = max(available - (sold or 0), 0)
    price = LIST_PRICES[model] * (100 - min(left, 400) // 20 + min(sold or 0, 10)) // 100
    return price if before is None else min(price, before * 99 // 100)
