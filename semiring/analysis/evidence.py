"""Prior knowledge: evidence that holds, and blocks of mutually exclusive tuples.

Sources: Koch, Olteanu, *Conditioning Probabilistic Databases*, PVLDB 1(1), 2008 (evidence); Suciu,
Olteanu, Ré, Koch, *Probabilistic Databases*, 2011, section 2.7 (block-independent-disjoint
databases). A choice among the tuples of a block is a chain of independent choices, so that the
methods for independent tuples answer for blocks too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from semiring.boolean.chances import PROBABILITIES, EqualChances, HasTokens, Weights, all_tokens
from semiring.boolean.events import Annotation
from semiring.errors import CapabilityError, ValuationError
from semiring.expression import Expression, simplify
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import replaced
from semiring.token import Token
from semiring.value import Substitution

Given: TypeAlias = "Annotation | Iterable[Annotation] | None"
"""Evidence: an annotation that is not 0, or several; None: no evidence."""

Blocks: TypeAlias = "Callable[[Token], Hashable] | Mapping[Token, Hashable] | None"
"""The block of each tuple; None for a tuple that is independent of all others."""

_ROUNDING = 1e-9


def evidence(given: Given) -> Expression:
    """Return the conjunction, 0 or 1, of all evidence."""
    if given is None:
        return Expression.one()
    if isinstance(given, Polynomial | Expression):
        return Expression.of(given).delta()
    product = Expression.one()
    for annotation in given:
        if not isinstance(annotation, Polynomial | Expression):
            raise CapabilityError(
                f"Evidence is annotations, as polynomials() and compare() make them, not "
                f"{type(annotation).__name__}."
            )
        product = product * Expression.of(annotation).delta()
    return product


def impossible() -> CapabilityError:
    """Return the error of evidence that holds in no world."""
    return CapabilityError(
        "The evidence has probability 0: it holds in no world.\n"
        "Check the evidence, and the weights of its tuples."
    )


def chosen_apart(
    tokens: Iterable[Token], chances: Mapping[Token, float], blocks: Blocks
) -> tuple[Substitution | None, dict[Token, float]]:
    """Return annotations over independent tokens that replace the tokens of blocks.

    The i-th tuple of a block is present if the i-th choice is made and none before it: tᵢ ↦ tᵢ·(1 ⊖
    t₁)···(1 ⊖ tᵢ₋₁), where tᵢ has the probability pᵢ / (1 - p₁ - ... - pᵢ₋₁).

    Parameters
    ----------
    tokens
        The tokens that are asked about: others of their blocks take the rest of the probability.
    chances
        The probability of each tuple; the probabilities of a block add up to 1 at most.

    Returns
    -------
    tuple
        The annotation in the place of each token (None: tokens stay as they are), and the chances
        of the choices.

    Raises
    ------
    ValuationError
        When the probabilities of a block add up to more than 1.
    """
    independent = dict(chances)
    if blocks is None:
        return None, independent
    members: dict[Hashable, list[Token]] = {}
    block_of = blocks if callable(blocks) else blocks.get
    for token in sorted(tokens):
        block = block_of(token)
        if block is not None:
            members.setdefault((token.relation, block), []).append(token)
    instead: dict[Token, Annotation] = {}
    for block, alternatives in members.items():
        rest, none_before = 1.0, Expression.one()
        for token in alternatives:
            chance = chances[token]
            if chance > rest + _ROUNDING:
                raise _more_than_one(block, alternatives, chances)
            independent[token] = min(chance / rest, 1.0) if rest > 0 else 0.0
            instead[token] = simplify(Expression.token(token) * none_before)
            none_before = none_before * Expression.one().monus(Expression.token(token))
            rest = max(rest - chance, 0.0)
    if all(len(alternatives) == 1 for alternatives in members.values()):
        return None, dict(chances)
    return lambda token: instead.get(token) or Polynomial.token(token), independent


def _more_than_one(
    block: Any, alternatives: list[Token], chances: Mapping[Token, float]
) -> ValuationError:
    shown = ", ".join(f"{token} {chances[token]:g}" for token in alternatives[:5])
    more = f" and {len(alternatives) - 5} more" if len(alternatives) > 5 else ""
    return ValuationError(
        f"The probabilities of the block {block[1]!r} of {block[0]} add up to more than 1: "
        f"{shown}{more}.\nAt most one tuple of a block can be present."
    )


def substituted(annotation: Annotation, instead: Substitution | None) -> Annotation:
    """Return an annotation with its tokens replaced."""
    return annotation if instead is None else replaced(annotation, instead)


def independent_chances(
    of: Sequence[HasTokens], weights: Weights, blocks: Blocks
) -> tuple[Substitution | None, Mapping[Token, float]]:
    """Return the probabilities of all tokens, rewritten as independent choices.

    Parameters
    ----------
    of
        Annotations and values, evidence included.
    blocks
        The block of each tuple, as for `chosen_apart`, which returns the same.

    Raises
    ------
    ValuationError
        As `_weights_of`, and when the probabilities of a block add up to more than 1.
    """
    if blocks is None and not isinstance(weights, Mapping) and not callable(weights):
        return None, EqualChances(of, PROBABILITIES.check(weights))
    tokens = all_tokens(of)
    return chosen_apart(tokens, _weights_of(tokens, weights), blocks)


def _weights_of(tokens: frozenset[Token], weights: Weights) -> dict[Token, float]:
    """Return checked probabilities of some tokens.

    Raises
    ------
    ValuationError
        A token without a probability, or one outside of 0 to 1.
    """
    if not isinstance(weights, Mapping) and not callable(weights):
        return dict.fromkeys(tokens, PROBABILITIES.check(weights))
    checked, weight_of = {}, weights.get if isinstance(weights, Mapping) else weights
    for token in tokens:
        weight = weight_of(token)
        if weight is None:
            raise ValuationError(f"No probability is given for {token}.")
        valid = type(weight) is float and 0.0 <= weight <= 1.0
        checked[token] = weight if valid else PROBABILITIES.check(weight)
    return checked
