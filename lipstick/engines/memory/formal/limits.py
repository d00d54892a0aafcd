"""Limits on the input tuples that a row may depend on."""

from __future__ import annotations

from semiring.errors import ExactnessError

MOST = 20_000
"""Limit on the rows that one row depends on through an order, a window, or changing keys."""


def too_many(what: str) -> ExactnessError:
    """Return the error of a row that depends on too many others."""
    return ExactnessError(
        f"{what}: annotations of the answer would be too large.\n"
        "Ask what_if() for the effect of a deletion."
    )
