"""When a tuple is there: annotations as Boolean functions of the tuples they are made of.

Functions are hash-consed, so that equal ones are one number, and kept small by the laws of Boolean
algebra that are cheap to apply. Source: Imieliński, Lipski, *Incomplete Information in Relational
Databases*, JACM 1984 (conditions); Suciu, Olteanu, Ré, Koch, *Probabilistic Databases*, 2011,
chapter 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from semiring.absorption import minimal
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
from semiring.polynomial import Polynomial
from semiring.semirings.counting import Counting
from semiring.semirings.expressions import Expressions
from semiring.token import Token

Annotation: TypeAlias = Polynomial | Expression

_ALGEBRA = Expressions()
_COUNTING = Counting()
_ABSORBING = 512
"""A disjunction of more members is not searched for members that others absorb."""

FALSE, TRUE = 0, 1


class Events:
    """Boolean functions over tokens, by number; 0 is false, 1 is true.

    Attributes
    ----------
    kinds
        By number: ``false``, ``true``, ``token``, ``and``, ``or``, ``not``, or ``leaf`` for an
        annotation that is only evaluated (a condition on aggregated values).
    parts
        By number: the token, the set of numbers, the number, or the annotation.
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
        """Return the function that is true where an annotation is not 0."""
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
        return self._node("leaf", annotation, annotation.tokens)

    def token(self, token: Token) -> int:
        """Return the function that is true where a tuple is there."""
        return self._node("token", token, frozenset((token,)))

    def negation(self, event: int) -> int:
        """Not."""
        if event in (FALSE, TRUE):
            return TRUE - event
        if self.kinds[event] == "not":
            inner: int = self.parts[event]
            return inner
        return self._node("not", event, self.tokens[event])

    def conjunction(self, events: Iterable[int]) -> int:
        """And."""
        return self._joined("and", events, TRUE)

    def disjunction(self, events: Iterable[int]) -> int:
        """Or."""
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
        negated = {self.parts[event] for event in members if self.kinds[event] == "not"}
        if negated & members:
            return TRUE - neutral
        if 1 < len(members) <= _ABSORBING:
            members = minimal(members, self._absorbs(kind), lambda e: len(self.members(e, kind)))
        if not members:
            return neutral
        if len(members) == 1:
            return members.pop()
        tokens = frozenset().union(*(self.tokens[event] for event in members))
        return self._node(kind, frozenset(members), tokens)

    def _absorbs(self, kind: str) -> Callable[[int, int], bool]:
        return lambda a, b: self.members(a, kind) <= self.members(b, kind)

    def members(self, event: int, kind: str) -> frozenset[int]:
        """Return the events that an event joins by the connective other than `kind`, or itself."""
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

    # -- conditioning ------------------------------------------------------------------------

    def given(self, event: int, token: Token, there: bool) -> int:
        """The function once it is known whether a tuple is there."""
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
        if kind == "leaf":
            known = Polynomial.constant(int(there))
            values = {t: known if t == token else Polynomial.token(t) for t in part.tokens}
            return self.of(simplify(Expression.of(part.evaluate(_ALGEBRA, values))))
        parts = (self.given(member, token, there) for member in part)
        return self.conjunction(parts) if kind == "and" else self.disjunction(parts)


def _is_zero_or_one(expression: Expression) -> bool:
    """Return True if an expression is known to be 0 or 1 wherever its tokens are."""
    if isinstance(expression, Constant):
        return expression.n <= 1
    if isinstance(expression, Monus | Product):
        return all(_is_zero_or_one(child) for child in expression.children)
    return isinstance(expression, Atom | Delta | Compare | Condition)
