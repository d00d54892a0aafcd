"""TABLESAMPLE: some of the rows of a relation in FROM."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Limit, Sample
from rewriter.bind.columns.scope import Bound
from rewriter.bind.context import BindContext
from rewriter.bind.fingerprint import unwrap


def bind_sample(bound: Bound, sample: exp.TableSample | None, context: BindContext) -> Bound:
    """Bind a sample of a relation, if there is one.

    A number of rows is a limit, to Spark too: the first ones, in the order of their tokens.

    Raises
    ------
    UnsupportedError
        The number of rows is an expression.
    """
    if sample is None:
        return bound
    source = context.source
    span = source.keyword_before(sample, "TABLESAMPLE")
    size = sample.args.get("size")
    if size is None:
        return Bound(Sample(bound.relation, sample.copy(), span), bound.scope)
    number = unwrap(size)
    if not isinstance(number, exp.Literal) or number.is_string or not str(number.this).isdigit():
        problem = "TABLESAMPLE of an expression is not supported"
        raise source.unsupported(problem, "Give a number of rows.", span or sample)
    return Bound(Limit(bound.relation, int(number.this), 0, span), bound.scope)
