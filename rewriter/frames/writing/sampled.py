"""Samples of a plan as TABLESAMPLE."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from rewriter.frames.writing.clauses import Close
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.selects import Rows


def sampled(
    close: Close,
    rows: Rows,
    bounds: tuple[float, float],
    seed: int,
    *,
    with_replacement: bool,
) -> Rows:
    """Return a sample of rows: those whose drawn number is in the bounds.

    Raises
    ------
    UnsupportedError
        With replacement, and where TABLESAMPLE does not say it; outside subqueries a filter is in
        its place by then.
    """
    if not rows.single or rows.select.args["from_"].this.args.get("sample"):
        rows = close(rows)
    if with_replacement:
        raise unsupported(
            "a sample with replacement has no rule", "Take a sample(False, ...), or track it."
        )
    if not is_percentage(bounds, seed):
        raise unsupported(
            "a sample in a subquery that is no percentage from a seed has no rule",
            "Take a sample() of a percentage, with a seed from zero on, or track it.",
        )
    sample = exp.TableSample(
        percent=exp.Literal.number(f"{_percent(bounds[1]).normalize():f}"),
        seed=exp.Literal.number(seed),
    )
    select = rows.select.copy()
    select.args["from_"].this.set("sample", sample)
    return replace(rows, select=select)


def condition(bounds: tuple[float, float], seed: int) -> str:
    """Return what is true of the rows of a sample without replacement.

    Their numbers are in its bounds, and ``rand`` of the same seed draws the same ones (Spark's
    ``BernoulliCellSampler`` and ``Rand``).
    """
    least, share = bounds
    number = f"rand({seed}L)"
    return " AND ".join([f"{number} >= {least!r}D"] * (least > 0) + [f"{number} < {share!r}D"])


def is_percentage(bounds: tuple[float, float], seed: int) -> bool:
    """Tell whether TABLESAMPLE says a sample: a share from zero on, of a seed that is a number."""
    least, share = bounds
    return not least and seed >= 0 and float(_percent(share)) / 100.0 == share


def _percent(share: float) -> Decimal:
    return Decimal(repr(share)) * 100
