"""Prior knowledge of a question: probabilities of tuples, evidence, and blocks of tuples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from semiring.errors import ValuationError
from semiring.expression import Expression, sum_of
from semiring.polynomial import Polynomial
from semiring.token import Token
from semiring.value import Value

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture
    from lipstick.questions.methods import Questions

Tokens = frozenset[Token]

Annotation: TypeAlias = Polynomial | Expression

Evidence: TypeAlias = "Annotation | Questions[Any] | Iterable[Annotation | Questions[Any]] | None"
"""The evidence to condition on: annotations that hold, and queries with at least one row."""

BlockColumns: TypeAlias = (
    "Mapping[str, str | Sequence[str] | Mapping[Any, Any]] | Callable[[Token], Any] | None"
)
"""Per relation what puts its tuples into blocks."""


class PriorKnowledge:
    """Prior knowledge about tuples: their probabilities, evidence, and blocks."""

    def __init__(
        self,
        capture: AskedCapture,
        weights: Any,
        default: Any,
        given: Evidence,
        blocks: BlockColumns,
    ) -> None:
        annotations = list(_annotations(given))
        self._tokens = frozenset[Token]().union(*(k.tokens for k in annotations))
        beside = {token.relation for token in self._tokens} - set(capture.manifest.relations)
        self._weights = _Weights(capture, weights, default, beside)
        self.beforehand: dict[str, Any] = {
            "given": annotations or None,
            "blocks": block_function(capture, blocks, beside),
        }

    def weights(self, *of: Annotation | Value) -> dict[Token, float] | float:
        """Return the probabilities of the tokens of values and of the evidence, or the one
        probability of all tokens.
        """
        if self._weights.same is not None:
            return self._weights.same
        return self._weights(self._tokens.union(*(part.tokens for part in of)))


def _annotations(given: Evidence) -> Iterator[Expression]:
    """The annotations of evidence; of a query, that one of its rows is there."""
    if given is None:
        return
    if isinstance(given, Polynomial | Expression):
        yield Expression.of(given)
    elif hasattr(given, "_captured"):
        rows = given._captured.polynomials(None, potential=True)
        yield sum_of((Expression.of(k), 1) for _, k in rows).delta()
    elif isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        for part in given:
            yield from _annotations(part)
    else:
        raise ValuationError(
            f"Evidence is annotations, or queries, not {type(given).__name__}: take annotations "
            "from polynomials(), conditions from semiring.expression.compare()."
        )


class _Weights:
    """Probabilities of tokens, each looked up once; `same` if all have one.

    Parameters
    ----------
    beside
        Relations of the evidence which the query does not read.
    """

    def __init__(
        self, capture: AskedCapture, weights: Any, default: Any, beside: Collection[str] = ()
    ) -> None:
        number = isinstance(weights, int | float)
        self.same = float(weights) if number else None
        self._known: dict[Token, float] = {}
        self._beside = frozenset(beside)
        self._others: Callable[[Token], float] | None = None
        if beside and not number:
            self._others = _plain_weights(weights, default)
            if isinstance(weights, Mapping):
                weights = {name: w for name, w in weights.items() if name not in self._beside}
        if isinstance(weights, Mapping):
            weights = {name: _function_of(of_relation) for name, of_relation in weights.items()}
        self._values = None if number else capture._token_weights(weights, default)

    def __call__(self, tokens: Tokens) -> dict[Token, float]:
        assert self._values is not None
        new = sorted(token for token in tokens if token not in self._known)
        if self._others is not None:
            others = [token for token in new if token.relation in self._beside]
            self._known.update((token, self._others(token)) for token in others)
            new = [token for token in new if token.relation not in self._beside]
        self._known.update(zip(new, self._values(new), strict=True))
        return {token: self._known[token] for token in tokens}


def _function_of(weights: Any) -> Any:
    """One number for all tuples of a relation, as a function of the token."""
    return (lambda _: float(weights)) if isinstance(weights, int | float) else weights


def _plain_weights(weights: Any, default: Any) -> Callable[[Token], float]:
    """The weights of tuples of relations which the query does not read."""

    def weight(token: Token) -> float:
        of_relation = weights.get(token.relation, default) if isinstance(weights, Mapping) else None
        if callable(weights):
            return float(weights(token))
        if isinstance(of_relation, Mapping):
            key = token.key[0] if len(token.key) == 1 else token.key
            value = of_relation.get(key, of_relation.get(token.key, default))
            return 1.0 if value is None else float(value)
        if callable(of_relation):
            return float(of_relation(token))
        if isinstance(of_relation, int | float):
            return float(of_relation)
        raise ValuationError(
            f"The query does not read {token.relation}, of which there is evidence: give the "
            "weights of its tuples as a number, a mapping from keys to numbers, or a function of "
            "the token."
        )

    return weight


def block_function(
    capture: AskedCapture, blocks: BlockColumns, beside: Collection[str] = ()
) -> Callable[[Token], Hashable] | None:
    """Return the block of each token, None of a token that is independent of all others.

    Raises
    ------
    ValuationError
        For relations that take no part, columns that they do not have, and columns other than keys
        where there is no Spark to look them up.
    """
    if blocks is None:
        return None
    if callable(blocks):
        return _block_by(blocks)
    if not isinstance(blocks, Mapping):
        raise ValuationError(
            "blocks are given per relation, {'cars': ['model']}, or as a function of the token, "
            f"not as {type(blocks).__name__}."
        )
    by_relation: dict[str, Callable[[Token], Hashable]] = {}
    for name, spec in blocks.items():
        record = capture.manifest.relations.get(name)
        if record is None and name not in beside:
            raise ValuationError(
                f"The query does not read {name!r}: give blocks of "
                f"{', '.join(sorted(capture.manifest.relations))}."
            )
        if isinstance(spec, Mapping):
            by_relation[name] = _block_of_key(spec)
        elif record is None:
            raise ValuationError(
                f"The query does not read {name}, of which there is evidence: give its blocks as a "
                "mapping from keys."
            )
        else:
            columns = [spec] if isinstance(spec, str) else spec
            if not isinstance(columns, Sequence) or not all(isinstance(c, str) for c in columns):
                raise ValuationError(
                    f"blocks of {name!r} are {spec!r}: give columns, ['model'], or a mapping from "
                    "keys to blocks."
                )
            from lipstick.questions.valuation import block_of_columns

            by_relation[name] = block_of_columns(record, columns, capture.engine.spark)

    def block(token: Token) -> Hashable:
        of_relation = by_relation.get(token.relation)
        return None if of_relation is None else of_relation(token)

    return block


def _block_by(function: Callable[[Token], Hashable]) -> Callable[[Token], Hashable]:
    """Return a user's function of tokens whose errors name the token."""

    def block(token: Token) -> Hashable:
        try:
            found = function(token)
            hash(found)
        except Exception as error:
            raise ValuationError(f"blocks({token}) failed: {error!r}.") from error
        return found

    return block


def _block_of_key(blocks: Mapping[Any, Any]) -> Callable[[Token], Hashable]:
    def block(token: Token) -> Hashable:
        key = token.key[0] if len(token.key) == 1 else token.key
        found: Hashable = blocks.get(key)
        return found

    return block
