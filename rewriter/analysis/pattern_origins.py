"""Patterns over a query's answer, traced down to the relations of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    BagDifference,
    CorrelatedScalar,
    ExistenceJoin,
    Filter,
    Generate,
    InnerJoin,
    Limit,
    LocalSort,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Scan,
    SemiJoin,
    Sort,
    UnionAll,
    Windows,
    conjuncts,
    references,
)
from rewriter.scalars.text import substitute


@dataclass(frozen=True, slots=True)
class Path:
    """A scan and the operators above it, lowest first, each with the index of the input below."""

    scan: Scan
    operators: tuple[tuple[Relation, int], ...]


@dataclass(frozen=True, slots=True)
class PatternPart:
    """A condition of a pattern; ``derived`` if only the equality of a join implies it."""

    scalar: Scalar
    derived: bool = False


@dataclass(frozen=True, slots=True)
class PatternTrace:
    """A pattern along a path: the conditions that reach the scan, and the others by operator.

    ``passed`` are the parts over the output of an operator that do go below it.
    """

    candidates: tuple[PatternPart, ...]
    checks: tuple[tuple[Scalar, ...], ...]
    passed: tuple[tuple[Scalar, ...], ...]

    def of_the_pattern(self) -> PatternTrace:
        """Return the trace without implied conditions, unless only these reach the scan."""
        own = tuple(part for part in self.candidates if not part.derived)
        return replace(self, candidates=own) if own else self


_ONE_INPUT = (
    Filter,
    Project,
    Windows,
    Generate,
    Aggregate,
    Sort,
    LocalSort,
    Limit,
    ScalarSubquery,
    CorrelatedScalar,
    SemiJoin,
    AntiJoin,
    ExistenceJoin,
    BagDifference,
)
"""Operators whose rows come from their first input; further inputs are only tested."""


def paths(root: Relation, above: tuple[tuple[Relation, int], ...] = ()) -> Iterator[Path]:
    """Yield the paths from scans whose rows become rows of a plan, without subqueries."""
    if isinstance(root, Scan):
        yield Path(root, above)
        return
    inputs: tuple[Relation, ...] = ()
    if isinstance(root, _ONE_INPUT):
        inputs = root.inputs[:1]
    elif isinstance(root, InnerJoin | OuterJoin | UnionAll):
        inputs = root.inputs
    for place, below in enumerate(inputs):
        yield from paths(below, ((root, place), *above))


def trace(path: Path, pattern: Sequence[Scalar]) -> PatternTrace:
    """Follow conditions over the output of the uppermost operator down a path."""
    parts = [PatternPart(each) for each in pattern]
    checks: list[tuple[Scalar, ...]] = []
    passed: list[tuple[Scalar, ...]] = []
    for operator, place in reversed(path.operators):
        below = [(part, _below(operator, place, part.scalar)) for part in parts]
        stay = [part for part, scalar in below if scalar is None]
        passed.append(tuple(part.scalar for part, scalar in below if scalar is not None))
        checks.append(tuple(part.scalar for part in stay if not part.derived))
        parts = [replace(part, scalar=scalar) for part, scalar in below if scalar is not None]
        parts += [
            PatternPart(new, derived=True)
            for part in stay
            for new in _implied(operator, place, part)
        ]
    return PatternTrace(tuple(parts), tuple(reversed(checks)), tuple(reversed(passed)))


_STRICT = (exp.Column, exp.Identifier, exp.Literal, exp.Neg, exp.Paren, exp.Cast, exp.DataType)


def is_strict_comparison(scalar: Scalar) -> bool:
    """Return True if a condition compares columns and constants, so that it is not true of NULL."""
    bare = scalar.unnest()
    if not isinstance(bare, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        return False
    return all(isinstance(n, _STRICT) for side in (bare.this, bare.expression) for n in side.walk())


def _below(operator: Relation, place: int, scalar: Scalar) -> Scalar | None:
    """Return a condition on the output of an operator as a condition on its input, or None."""
    names = list(references(scalar))
    if not names:
        return scalar
    environment: dict[str, Scalar] = {}
    match operator:
        case Project():
            scalars = zip(operator.output, operator.scalars, strict=True)
            environment = {attribute.id: value for attribute, value in scalars}
        case Aggregate():
            if operator.sets is None:
                keys = zip(operator.key_output, operator.keys, strict=True)
                environment = {attribute.id: value for attribute, value in keys}
        case UnionAll() | BagDifference():
            inputs = operator.inputs[place].attributes
            pairs = zip(operator.output, inputs, strict=True)
            environment = {out.id: into.column() for out, into in pairs}
        case _:
            inputs = operator.inputs[place].attributes
            environment = {attribute.id: attribute.column() for attribute in inputs}
    if not set(names) <= environment.keys():
        return None
    return substitute(scalar, environment)


def _implied(operator: Relation, place: int, part: PatternPart) -> Iterator[Scalar]:
    """Yield the conditions on the other input that equalities of an inner join and ``x =
    constant`` imply.
    """
    scalar = part.scalar.unnest()
    if not (isinstance(operator, InnerJoin) and isinstance(scalar, exp.EQ)):
        return
    if not isinstance(scalar.this, exp.Column) or scalar.expression.find(exp.Column):
        return
    known = {attribute.id for attribute in operator.inputs[place].attributes}
    for condition in conjuncts(operator.condition):
        if not isinstance(condition, exp.EQ):
            continue
        for one, other in (
            (condition.this, condition.expression),
            (condition.expression, condition.this),
        ):
            same = isinstance(one, exp.Column) and one.name == scalar.this.name
            names = set(references(other))
            if same and names and names <= known:
                yield exp.EQ(this=exp.paren(other.copy()), expression=scalar.expression.copy())
