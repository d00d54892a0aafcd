"""Samples of a plan as TABLESAMPLE."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from rewriter.catalyst.errors import unsupported
from rewriter.catalyst.selects import Rows
from rewriter.errors import UnsupportedError


def sampled(rows: Rows, bounds: tuple[float, float], seed: int, *, with_replacement: bool) -> Rows:
    """Return a sample of rows that are one relation: those whose drawn number is in the bounds.

    Raises
    ------
    UnsupportedError
        With replacement, a negative seed, or of a share that is no percentage from zero on
        (``randomSplit``).
    """
    least, share = bounds
    percent = Decimal(repr(share)) * 100
    if with_replacement:
        raise unsupported(
            "a sample with replacement has no rule", "Take a sample(False, ...), or track it."
        )
    if seed < 0:
        raise unsupported("a sample with a negative seed has no rule", "Give a seed from zero on.")
    if least or float(percent) / 100.0 != share:
        raise of_a_part()
    sample = exp.TableSample(
        percent=exp.Literal.number(f"{percent.normalize():f}"),
        seed=exp.Literal.number(seed),
    )
    select = rows.select.copy()
    select.args["from_"].this.set("sample", sample)
    return replace(rows, select=select)


def of_a_part() -> UnsupportedError:
    """Return the refusal of one of several samples that are drawn together."""
    return unsupported(
        "a sample of a part of the unit interval has no rule",
        "Take a sample() of a fraction, or track the parts of randomSplit().",
    )
