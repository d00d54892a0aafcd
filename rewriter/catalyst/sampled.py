"""Samples of a plan as TABLESAMPLE."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from rewriter.catalyst.errors import unsupported
from rewriter.catalyst.selects import Rows
from rewriter.catalyst.tree import Node


def sampled(node: Node, rows: Rows) -> Rows:
    """Return a sample of rows that are one relation.

    Raises
    ------
    UnsupportedError
        With replacement, or of a share that is no percentage from zero on (``randomSplit``).
    """
    share = float(node.fields["upperBound"])
    percent = Decimal(repr(share)) * 100
    if node.fields["withReplacement"]:
        raise unsupported(
            "a sample with replacement has no rule", "Take a sample(False, ...), or track it."
        )
    if float(node.fields["lowerBound"]) or float(percent) / 100.0 != share:
        raise unsupported(
            "a sample of a part of the unit interval has no rule",
            "Take a sample() of a fraction, or track the parts of randomSplit().",
        )
    sample = exp.TableSample(
        percent=exp.Literal.number(f"{percent.normalize():f}"),
        seed=exp.Literal.number(node.fields["seed"]),
    )
    select = rows.select.copy()
    select.args["from_"].this.set("sample", sample)
    return replace(rows, select=select)
