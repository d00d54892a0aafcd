"""Annotations as Boolean functions of the presence of tuples.

Functions are hash-consed, so that equal ones have one number, and kept small by cheap laws of
Boolean algebra. Source: Imieliński, Lipski, *Incomplete Information in Relational Databases*, JACM
1984 (conditions); Suciu, Olteanu, Ré, Koch, *Probabilistic Databases*, 2011, chapter 5.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key
from itertools import groupby
from math import gcd, lcm
from typing import Any, TypeAlias

from semiring.comparison import FLIPPED, compare_values
from semiring.errors import CapabilityError, ExactnessError
from semiring.expression import (
    Atom,
    Compare,
    Condition,
    Constant,
    Delta,
    Expression,
    Monus,
    Product,
    Sum,
    simplify,
)
from semiring.monomials import minimal
from semiring.polynomial import Polynomial
from semiring.semirings.counting import Counting
from semiring.semirings.expressions import Expressions
from semiring.tensor import Tensor
from semiring.token import Token
from semiring.value import Value

Annotation: TypeAlias = Polynomial | Expression

_ALGEBRA = Expressions()
_COUNTING = Counting()
_ABSORBING = 512
"""Number of members up to which a disjunction is searched for absorbed members."""

_RANGE = 1 << 18
"""Limit on the range of a sum that is taken apart."""

_TRUE_OF: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _value_order(a: tuple[Annotation, Any], b: tuple[Annotation, Any]) -> int:
    """Return terms in the order of MIN."""
    return -1 if compare_values("<", a[1], b[1]) else 1


FALSE, TRUE = 0, 1


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """A condition on the weighted sum of the functions that hold.

    Attributes
    ----------
    items
        Functions, by number, with their weights.
    op, bound
        The relation.
    some
        At least one function must hold, too.
    """

    items: frozenset[tuple[int, int]]
    op: str
    bound: Fraction
    some: bool

    @property
    def monotone(self) -> bool:
        """True if a sum that meets the condition still does when more functions hold."""
        return self.op in (">", ">=") and all(weight > 0 for _, weight in self.items)

    def holds(self, total: int) -> bool:
        """Return True if a sum meets the condition."""
        return _TRUE_OF[self.op](total, self.bound)


def _exact(value: Any) -> Fraction | None:
    """Return an integer or a finite decimal as a fraction, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    if isinstance(value, Decimal) and not value.is_finite():
        return None
    return Fraction(value)


class BooleanFunctions:
    """Boolean functions over tokens, by number; 0 is false, 1 is true.

    Attributes
    ----------
    kinds
        By number: ``false``, ``true``, ``token``, ``and``, ``or``, ``not``, ``sum`` for a condition
        on a weighted sum of functions, or ``leaf`` for an annotation that is only evaluated
        (another condition on aggregated values).
    parts
        By number: the token, the set of numbers, the number, the `WeightedSum`, or the annotation.
    tokens
        By number: the tokens that the function may depend on.
    """

    def __init__(self) -> None:
        self.kinds: list[str] = ["false", "true"]
        self.parts: list[Any] = [None, None]
        self.tokens: list[frozenset[Token]] = [frozenset(), frozenset()]
        self._known: dict[tuple[str, Any], int] = {}
        self._conditioned: dict[tuple[int, Token, bool], int] = {}

    # -- construction ------------------------------------------------------------------------

    def of(self, annotation: Annotation) -> int:
        """Return the function that is true if an annotation is not 0."""
        if isinstance(annotation, Polynomial):
            terms = (frozenset(token for token, _ in monomial) for monomial, _ in annotation.terms)
            return self.disjunction(
                self.conjunction(self.token(token) for token in term) for term in set(terms)
            )
        if isinstance(annotation, Constant):
            return TRUE if annotation.n else FALSE
        if isinstance(annotation, Atom):
            return self.token(annotation.of_token)
        if isinstance(annotation, Delta):
            return self.of(annotation.operand)
        if isinstance(annotation, Product):
            return self.conjunction(self.of(factor) for factor, _ in annotation.factors)
        if isinstance(annotation, Sum):
            return self.disjunction(self.of(summand) for summand, _ in annotation.summands)
        if isinstance(annotation, Monus) and _is_zero_or_one(annotation):
            left, right = self.of(annotation.left), self.of(annotation.right)
            return self.conjunction((left, self.negation(right)))
        if not annotation.tokens:
            return TRUE if annotation.evaluate(_COUNTING) else FALSE
        if isinstance(annotation, Compare):
            compared = self._compared(annotation)
            if compared is not None:
                return compared
        return self._node("leaf", annotation, annotation.tokens)

    def token(self, token: Token) -> int:
        """Return the function that is true if a tuple is present."""
        return self._node("token", token, frozenset((token,)))

    def negation(self, event: int) -> int:
        """Return the negation of a function."""
        if event in (FALSE, TRUE):
            return TRUE - event
        if self.kinds[event] == "not":
            inner: int = self.parts[event]
            return inner
        return self._node("not", event, self.tokens[event])

    def conjunction(self, events: Iterable[int]) -> int:
        """Return the conjunction of functions."""
        return self._joined("and", events, TRUE)

    def disjunction(self, events: Iterable[int]) -> int:
        """Return the disjunction of functions."""
        return self._joined("or", events, FALSE)

    def _joined(self, kind: str, events: Iterable[int], neutral: int) -> int:
        members: set[int] = set()
        for event in events:
            if event == TRUE - neutral:
                return event
            if self.kinds[event] == kind:
                members |= self.parts[event]
            elif event != neutral:
                members.add(event)
        if len(members) > 1 and any(self.kinds[event] != "token" for event in members):
            negated = {self.parts[event] for event in members if self.kinds[event] == "not"}
            if negated & members:
                return TRUE - neutral
            if len(members) <= _ABSORBING:
                members = minimal(
                    members, self._absorbs(kind), lambda e: len(self.members(e, kind))
                )
        if not members:
            return neutral
        if len(members) == 1:
            return members.pop()
        tokens = frozenset().union(*(self.tokens[event] for event in members))
        return self._node(kind, frozenset(members), tokens)

    def _absorbs(self, kind: str) -> Callable[[int, int], bool]:
        return lambda a, b: self.members(a, kind) <= self.members(b, kind)

    def members(self, event: int, kind: str) -> frozenset[int]:
        """Return the operands of an event of the connective other than `kind`, or the event
        itself.
        """
        other = "or" if kind == "and" else "and"
        parts: frozenset[int] = self.parts[event] if self.kinds[event] == other else frozenset()
        return parts or frozenset((event,))

    def _node(self, kind: str, part: Any, tokens: frozenset[Token]) -> int:
        key = (kind, part)
        if key not in self._known:
            self._known[key] = len(self.kinds)
            self.kinds.append(kind)
            self.parts.append(part)
            self.tokens.append(tokens)
        return self._known[key]

    # -- conditions on aggregated values -------------------------------------------------------

    def _compared(self, annotation: Compare) -> int | None:
        """Return the event of an aggregate, or of a function of a MIN or MAX, compared with a
        constant.

        None for other comparisons.
        """
        op, operand, bound = annotation.op, annotation.left, annotation.right
        if isinstance(bound, Value):
            op, operand, bound = FLIPPED[op], annotation.right, annotation.left
        if isinstance(bound, Value):
            return None
        if not isinstance(operand, Tensor) or operand.monoid.idempotent:
            return self._of_extreme(operand, op, bound)
        if bound is None or op not in _TRUE_OF:
            return None
        if operand.monoid.name in ("COUNT", "SUM"):
            return self._total(operand, op, bound)
        return None

    def _of_extreme(self, operand: Any, op: str, bound: Any) -> int | None:
        """Return the event of a MIN or MAX, or a function of one, compared with a constant.

        The MIN satisfies the comparison if, for some run of consecutive values that do, a term of
        the run is present and no term before it is. None for other operands.
        """
        from semiring.circuit.values import CircuitApplied

        applied = isinstance(operand, CircuitApplied)
        of = operand.operands if applied else (operand,)
        if len(of) != 1 or not isinstance(of[0], Tensor):
            return None
        (tensor,) = of
        if not tensor.monoid.idempotent:
            return None
        terms = sorted(
            tensor.terms, key=cmp_to_key(_value_order), reverse=tensor.monoid.name == "MAX"
        )
        outcomes = [None, *(value for _, value in terms)]
        if applied:
            try:
                outcomes = operand.outcomes(outcomes)
            except CapabilityError:  # only Spark knows them
                return None
        nothing, *outcomes = outcomes
        held = [compare_values(op, outcome, bound) for outcome in outcomes]
        alternatives: list[int] = []
        before: list[int] = []
        for true, run in groupby(zip(held, terms, strict=True), operator.itemgetter(0)):
            some = [self.of(k) for _, (k, _) in run]
            if true:
                none_before = self.negation(self.disjunction(before))
                alternatives.append(self.conjunction((self.disjunction(some), none_before)))
            before += some
        if compare_values(op, nothing, bound):
            alternatives.append(self.negation(self.disjunction(before)))
        return self.disjunction(alternatives)

    def _total(self, tensor: Tensor, op: str, bound: Any) -> int | None:
        """Return the event of a COUNT or SUM of exact numbers compared with a constant.

        None if the numbers are not exact or their range is too large, or if a term may count more
        than once.
        """
        counts = tensor.monoid.name == "COUNT"
        weights: dict[int, Fraction] = {}
        for annotation, value in tensor.terms:
            number = Fraction(1) if counts else _exact(value)
            counted = self.counted(annotation)
            if number is None or counted is None:
                return None
            for event, n in counted:
                weights[event] = weights.get(event, Fraction(0)) + n * number
        limit = _exact(bound)
        if limit is None:
            return None
        scale = lcm(*(weight.denominator for weight in weights.values()))
        whole = {event: int(weight * scale) for event, weight in weights.items()}
        unit = gcd(*whole.values()) or 1
        whole = {event: weight // unit for event, weight in whole.items()}
        if sum(map(abs, whole.values())) >= _RANGE:
            return None
        return self.weighted_sum(whole, op, limit * scale / unit, some=not counts)

    def counted(self, annotation: Annotation) -> list[tuple[int, int]] | None:
        """Return the functions that an annotation counts, with multiplicities; None if it is no
        such sum.
        """
        if isinstance(annotation, Polynomial):
            return [
                (self.conjunction(self.token(token) for token, _ in monomial), n)
                for monomial, n in annotation.terms
            ]
        if any(most(summand) > 1 for summand, _ in annotation.terms):
            return None
        return [(self.of(summand), n) for summand, n in annotation.terms]

    def weighted_sum(
        self, weights: Mapping[int, int], op: str, bound: Fraction, *, some: bool
    ) -> int:
        """Return the event that the weighted sum of the functions that hold meets a condition.

        Parameters
        ----------
        some
            One of the functions must hold, too: the SUM of no value is NULL.
        """
        total = weights.get(TRUE, 0)
        some = some and TRUE not in weights
        rest = {
            event: weight
            for event, weight in weights.items()
            if event not in (TRUE, FALSE) and (weight or some)
        }
        bound -= total
        holds = _TRUE_OF[op]
        some = some and holds(0, bound)  # otherwise the relation says so itself
        least = sum(min(weight, 0) for weight in rest.values())
        largest = sum(max(weight, 0) for weight in rest.values())
        if op in ("<", "<=", ">", ">=") and holds(least, bound) == holds(largest, bound):
            if not holds(least, bound):
                return FALSE
            return self.disjunction(rest) if some else TRUE
        if not rest:
            return TRUE if holds(0, bound) and not some else FALSE
        if op in (">", ">=") and all(
            weight > 0 and holds(weight, bound) for weight in rest.values()
        ):
            return self.disjunction(rest)
        tokens = frozenset().union(*(self.tokens[event] for event in rest))
        return self._node("sum", WeightedSum(frozenset(rest.items()), op, bound, some), tokens)

    # -- conditioning ------------------------------------------------------------------------

    def given(self, event: int, token: Token, there: bool) -> int:
        """Return the function conditioned on the presence or absence of a tuple."""
        if token not in self.tokens[event]:
            return event
        key = (event, token, there)
        if key not in self._conditioned:
            self._conditioned[key] = self._conditional(event, token, there)
        return self._conditioned[key]

    def _conditional(self, event: int, token: Token, there: bool) -> int:
        kind, part = self.kinds[event], self.parts[event]
        if kind == "token":
            return TRUE if there else FALSE
        if kind == "not":
            return self.negation(self.given(part, token, there))
        if kind == "sum":
            weights: dict[int, int] = {}
            for member, weight in part.items:
                given = self.given(member, token, there)
                weights[given] = weights.get(given, 0) + weight
            return self.weighted_sum(weights, part.op, part.bound, some=part.some)
        if kind == "leaf":
            known = Polynomial.constant(int(there))
            values = {t: known if t == token else Polynomial.token(t) for t in part.tokens}
            return self.of(simplify(Expression.of(part.evaluate(_ALGEBRA, values))))
        parts = (self.given(member, token, there) for member in part)
        return self.conjunction(parts) if kind == "and" else self.disjunction(parts)


def _is_zero_or_one(expression: Expression) -> bool:
    """Return True if an expression is known to be 0 or 1 if its tokens are."""
    if isinstance(expression, Constant):
        return expression.n <= 1
    if isinstance(expression, Monus | Product):
        return all(_is_zero_or_one(child) for child in expression.children)
    return isinstance(expression, Atom | Delta | Compare | Condition)


def most(annotation: Annotation) -> int:
    """Return an upper bound on the multiplicity, over all worlds."""
    if isinstance(annotation, Polynomial):
        return sum(n for _, n in annotation.terms)
    if isinstance(annotation, Constant):
        return annotation.n
    if isinstance(annotation, Product):
        product = 1
        for factor, n in annotation.factors:
            product *= most(factor) ** n
        return product
    if isinstance(annotation, Sum):
        return sum(n * most(summand) for summand, n in annotation.summands)
    return most(annotation.left) if isinstance(annotation, Monus) else 1


def too_hard(decisions: int) -> ExactnessError:
    """Return the error of a function that needs too many decisions."""
    return ExactnessError(
        f"An exact answer needs more than {decisions:,} decisions about single tuples.\n"
        "Allow more, or ask for samples, which state their error."
    )


# -- independence --------------------------------------------------------------------------


def independent(part: Iterable[int], tokens: Sequence[frozenset[Token]]) -> list[list[int]]:
    """Return members in groups that share no token."""
    owner: dict[Token, int] = {}
    shared = [
        (member, owner.setdefault(token, member)) for member in part for token in tokens[member]
    ]
    return [sorted(group) for group in connected_components(part, shared)]


def disjoint(groups: Iterable[frozenset[int]], tokens: Sequence[frozenset[Token]]) -> bool:
    """Return True if groups of members share no token."""
    sets = [frozenset().union(*(tokens[member] for member in group)) for group in groups]
    return sum(map(len, sets)) == len(frozenset().union(*sets))


def connected_components(
    items: Iterable[int], pairs: Iterable[tuple[int, int]]
) -> list[frozenset[int]]:
    """Return the connected components of a graph."""
    parent = {item: item for item in items}

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for a, b in pairs:
        parent[root(a)] = root(b)
    classes: dict[int, set[int]] = {}
    for item in parent:
        classes.setdefault(root(item), set()).add(item)
    return [frozenset(group) for group in classes.values()]
