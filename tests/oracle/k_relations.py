"""Relations annotated in a semiring K, and the algebra over them: an executable definition.

Written for clarity, row by row, to hold the captured annotations against. Source: Green,
Karvounarakis, Tannen, *Provenance Semirings*, PODS 2007, section 3; grouping and aggregates:
Amsterdamer, Deutch, Tannen, PODS 2011; difference: Geerts, Poggi 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from semiring.base import Semiring
from semiring.monoid import Monoid

K = TypeVar("K")
Row = tuple[Any, ...]


@dataclass(frozen=True)
class KRelation(Generic[K]):
    """Annotated rows; those that are equal are annotated with the sum of all."""

    semiring: Semiring[K]
    rows: tuple[tuple[Row, K], ...]

    def table(self) -> dict[Row, K]:
        """Every row once, those annotated 0 left out."""
        values: dict[Row, K] = {}
        for row, value in self.rows:
            values[row] = self.semiring.plus(values.get(row, self.semiring.zero), value)
        return {row: value for row, value in values.items() if not self.semiring.is_zero(value)}

    def _of(self, rows: Iterable[tuple[Row, K]]) -> KRelation[K]:
        return KRelation(self.semiring, tuple(rows))

    def select(self, condition: Callable[[Row], bool]) -> KRelation[K]:
        """σ: rows for which a condition holds."""
        return self._of((row, value) for row, value in self.rows if condition(row))

    def project(self, columns: Callable[[Row], Row]) -> KRelation[K]:
        """π: a function of each row, its annotation kept."""
        return self._of((columns(row), value) for row, value in self.rows)

    def join(self, other: KRelation[K], condition: Callable[[Row, Row], bool]) -> KRelation[K]:
        """⋈: pairs of rows, annotated with products."""
        return self._of(
            (left + right, self.semiring.times(a, b))
            for left, a in self.rows
            for right, b in other.rows
            if condition(left, right)
        )

    def union(self, other: KRelation[K]) -> KRelation[K]:
        """∪: of all, annotations of equal rows to be added."""
        return self._of((*self.rows, *other.rows))

    def distinct(self) -> KRelation[K]:
        """Duplicate elimination: δ of the sum of equal rows."""
        semiring = self.semiring
        return self._of((row, semiring.delta(value)) for row, value in self._sums().items())

    def _sums(self) -> dict[Row, K]:
        sums: dict[Row, K] = {}
        for row, value in self.rows:
            sums[row] = self.semiring.plus(sums.get(row, self.semiring.zero), value)
        return sums

    def minus(self, other: KRelation[K]) -> KRelation[K]:
        """−: the monus of the sums of equal rows."""
        semiring, right = self.semiring, other._sums()
        return self._of(
            (row, semiring.monus(value, right.get(row, semiring.zero)))
            for row, value in self._sums().items()
        )

    def matching(
        self, other: KRelation[K], condition: Callable[[Row, Row], bool], *, absent: bool = False
    ) -> KRelation[K]:
        """⋉: rows times δ of the sum of those that match; ▷: times 1 ⊖ that."""
        semiring, rows = self.semiring, []
        for row, value in self.rows:
            matched = semiring.sum(b for right, b in other.rows if condition(row, right))
            factor = semiring.delta(matched)
            if absent:
                factor = semiring.monus(semiring.one, factor)
            rows.append((row, semiring.times(value, factor)))
        return self._of(rows)

    def aggregate(
        self, keys: Callable[[Row], Row], monoid: Monoid, argument: Callable[[Row], Any]
    ) -> dict[Row, Any]:
        """γ: the aggregated value of every group that is there, specialised to K."""
        semiring = self.semiring
        groups: dict[Row, list[tuple[K, Any]]] = {}
        for row, value in self.rows:
            groups.setdefault(keys(row), []).append((value, argument(row)))
        aggregates = {}
        for key, members in groups.items():
            if semiring.is_zero(semiring.delta(semiring.sum(k for k, _ in members))):
                continue
            if monoid.idempotent:
                copies = [(int(not semiring.is_zero(k)), v) for k, v in members]
            else:
                copies = [(semiring.multiplicity(k), v) for k, v in members]
            aggregates[key] = monoid.aggregate(copies)
        return aggregates
