"""From operators to blocks: one function per operator of the algebra.

Select, project, join and union merge into one core; a grouping, a LIMIT below something else, or a
union of groupings closes a block, whose tuples the core above refers to.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    BagDifference,
    Constant,
    CorrelatedScalar,
    Draw,
    ExistenceJoin,
    Filter,
    FirstRows,
    Generate,
    InnerJoin,
    Iteration,
    Level,
    Limit,
    LocalSort,
    OneRow,
    OuterJoin,
    OuterValues,
    Project,
    Relation,
    Sample,
    ScalarSubquery,
    Scan,
    SemiJoin,
    Sort,
    UnionAll,
    Watermarked,
    Windows,
    reference_counts,
    walk,
)
from rewriter.blocks import (
    Block,
    TokenSource,
)
from rewriter.lower.context import BlockNames, LoweringContext, Open, OpenCore
from rewriter.lower.generators import lower_generate
from rewriter.lower.inputs import derived, finished, lowered
from rewriter.lower.nondeterminism import lower_random
from rewriter.lower.observed import observed
from rewriter.lower.outer_joins import lower_outer_join
from rewriter.lower.rows import (
    lower_aggregate,
    lower_constant,
    lower_filter,
    lower_first_rows,
    lower_inner_join,
    lower_ordered,
    lower_project,
    lower_scan,
    lower_windows,
)
from rewriter.lower.semi_joins import lower_semi_join, lower_subquery
from rewriter.lower.set_operations import lower_set_operation
from rewriter.passes import Observer, log, rewritten
from rewriter.scalars.comparable import Conversions


def lower_query(
    root: Relation,
    tokens: Mapping[str, TokenSource],
    sql: str = "",
    converted: Conversions = MappingProxyType({}),
    observe: Observer = log,
) -> Block:
    """Cut a query into blocks and return the one that yields its answer.

    Parameters
    ----------
    root
        The query; its attributes become the outputs of the block, in order.
    tokens
        The view that each tracked relation is read from, and the columns of its token.
    sql
        The user's text, for the excerpts of errors.
    converted
        The types that both sides of equalities of outer, semi and anti joins are converted to.
    observe
        Receives each pass that changed something.

    Raises
    ------
    UnsupportedError
        Where an operator has no rule for what it is applied to.
    """
    root = rewritten(root, observe)
    views = {tokens[scan.relation].view for scan in walk(root) if isinstance(scan, Scan)}
    context = LoweringContext(
        tokens, sql, converted, observed(root), observe, lower_operator, names=BlockNames(views)
    )
    counts = reference_counts(root)
    for operator in walk(root):
        context.readers[operator] = counts[id(operator)]
    for operator in walk(root):
        if isinstance(operator, OuterValues):
            context.share(operator.input)
    return finished(context, lowered(context, root), root.attributes, context.names.root)


def lower_operator(context: LoweringContext, relation: Relation) -> Open:
    """Lower an operator by the rule for its kind."""
    match relation:
        case Scan():
            return lower_scan(context, relation)
        case OneRow() | Constant() | Iteration():
            return lower_constant(context, relation)
        case Filter():
            return lower_filter(context, relation)
        case FirstRows() | Watermarked():
            return lower_first_rows(context, relation)
        case Project():
            return lower_project(context, relation)
        case InnerJoin():
            return lower_inner_join(context, relation)
        case SemiJoin() | AntiJoin():
            return lower_semi_join(context, relation)
        case OuterJoin():
            return lower_outer_join(context, relation)
        case ScalarSubquery() | CorrelatedScalar() | ExistenceJoin() | OuterValues():
            return lower_subquery(context, relation)
        case Generate():
            return lower_generate(context, relation)
        case Aggregate():
            return lower_aggregate(context, relation)
        case UnionAll() | BagDifference():
            return lower_set_operation(context, relation)
        case Windows() | Draw() | Sample() | Level():
            return _lower_beside_rows(context, relation)
        case Sort() | LocalSort() | Limit():
            return lower_ordered(context, relation)
    raise TypeError(f"no rule for {type(relation).__name__}")


def _lower_beside_rows(
    context: LoweringContext, relation: Windows | Draw | Sample | Level
) -> OpenCore:
    match relation:
        case Windows():
            return lower_windows(context, relation)
        case Level():
            return derived(context, relation.input, relation.span)
        case Draw() | Sample():
            return lower_random(context, relation)
