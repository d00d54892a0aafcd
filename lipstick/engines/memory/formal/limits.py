"""Limits on the search for the input tuples that a row depends on."""

from __future__ import annotations

from semiring.errors import ExactnessError

MOST = 20_000
"""Rows on which one row may depend through an order, a window, or keys that change."""


def too_many(what: str) -> ExactnessError:
    """The error of a row that depends on more than is looked at."""
    return ExactnessError(
        f"{what}: what the answer depends on is not written down as annotations.\n"
        "Ask what_if() for what a deletion does."
    )
