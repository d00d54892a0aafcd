"""FROM: relations joined in every way there is."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.oracle.expressions import Column, literal, predicate, stable
from tests.oracle.queries.draw import SMALL, From, Table
from tests.oracle.queries.shapes import Shapes
from tests.oracle.queries.tables import Tables

_INNER: Final = ("comma", "comma", "inner", "inner", "using", "semi", "cross")
_OTHER: Final = ("LEFT", "RIGHT", "FULL", "anti", "anti", "using LEFT", "using RIGHT", "using FULL")
_SIDES: Final = ("LEFT", "RIGHT", "FULL")
_OPERATORS: Final = ("<", "<=", ">", ">=", "<>", "<=>")


class Joins(Tables, Shapes, ABC):
    """Draws FROM clauses."""

    def from_clause(self, depth: int, count: int) -> From:
        """Return a FROM clause of about so many relations."""
        if count > 1 and self.chance(0.07):
            return self._natural()
        table = self._table(depth)
        scope = table.scope
        plain = " " not in table.sql.replace(" AS ", "")
        if count == 1 and plain and self.chance(0.2):
            scope = tuple(column.referred(column.name) for column in scope)
        clause = From(f"FROM {table.sql}", scope, table.size, partial=table.partial)
        reads = table.reads
        comma = False
        for _ in range(count - 1):
            right = self._table(depth if self.chance(0.6) else 0)
            styles = _OTHER if self.chance(0.4) else _INNER
            style = "comma" if comma else self.rng.choice(styles)
            comma = comma or style == "comma"
            clause = self._joined(clause, style, right, reads)
            clause = replace(clause, partial=clause.partial or right.partial)
            reads |= right.reads
        return clause

    def _table(self, depth: int) -> Table:
        shaped = self.shaped() if self.chance(0.06) else None
        return shaped or self.table(depth)

    def _joined(self, left: From, style: str, right: Table, reads: frozenset[str]) -> From:
        using, side = style.startswith("using"), style.removeprefix("using ")
        side = side if side in _SIDES else ""
        if using:
            common = _common(left.scope, right.scope)
            if common:
                names = self.rng.sample(common, min(len(common), self.rng.choice((1, 1, 2))))
                return self._using(left, side, right, reads, names)
            style = side or "inner"
        if side:
            return self._outer(left, side, right, reads)
        return self._inner(left, style, right)

    def _inner(self, left: From, style: str, right: Table) -> From:
        scope, size = left.scope + right.scope, left.size * right.size
        pair = self.pair(left.scope, right.scope)
        if pair is None or (style == "cross" and size > 300):
            style = "inner" if style == "cross" else style
        if pair is None:
            # Nothing to join on: a product, kept small by a filter on the smaller side.
            if size > SMALL:
                return left
            separator = ", " if style == "comma" else " CROSS JOIN "
            return replace(left, sql=f"{left.sql}{separator}{right.sql}", scope=scope, size=size)
        if style == "cross":
            return replace(left, sql=f"{left.sql} CROSS JOIN {right.sql}", scope=scope, size=size)
        if size / 6 > SMALL:
            return left
        condition = f"{pair[0].sql} = {pair[1].sql}"
        self.decides(*pair)
        if style == "comma":
            joined = f"{left.sql}, {right.sql}"
            return replace(
                left, sql=joined, scope=scope, size=size / 6, conjuncts=(*left.conjuncts, condition)
            )
        if self.chance(0.15):
            extra = predicate(self.rng, scope, 0)
            self.decides(extra)
            condition += f" AND {extra.sql}"
        if style == "semi":
            return replace(left, sql=f"{left.sql} LEFT SEMI JOIN {right.sql} ON {condition}")
        if style == "anti":
            self.subtracts(right.reads)
            word = self.rng.choice(("LEFT ANTI JOIN", "ANTI JOIN"))
            return replace(left, sql=f"{left.sql} {word} {right.sql} ON {condition}")
        word = self.rng.choice(("JOIN", "INNER JOIN"))
        return replace(
            left, sql=f"{left.sql} {word} {right.sql} ON {condition}", scope=scope, size=size / 6
        )

    def _outer(self, left: From, side: str, right: Table, reads: frozenset[str]) -> From:
        size = left.size * right.size
        if size / 6 > SMALL:
            return left
        self._subtracts_kept(side, reads, right.reads)
        condition, selective = self._outer_condition(left.scope, right.scope, size)
        word = f"{side} {self.rng.choice(('', 'OUTER '))}JOIN"
        return replace(
            left,
            sql=f"{left.sql} {word} {right.sql} ON {condition}",
            scope=left.scope + right.scope,
            size=(size / 6 if selective else size) + left.size + right.size,
        )

    def _outer_condition(
        self, left: Sequence[Column], right: Sequence[Column], size: float
    ) -> tuple[str, bool]:
        """Return a condition of an outer join, and whether it selects few of the pairs."""
        pair = self.pair(left, right)
        both = [*left, *right]
        extra = predicate(self.rng, both if self.chance(0.4) else right, 0)
        if pair is None or (size < 300 and self.chance(0.05)):
            self.decides(extra)
            return extra.sql, False
        self.decides(*pair)
        if size < SMALL and self.chance(0.15):
            operator = self.rng.choice(_OPERATORS)
            return f"{pair[0].sql} {operator} {pair[1].sql}", False
        condition = f"{pair[0].sql} = {pair[1].sql}"
        if self.chance(0.35):
            self.decides(extra)
            word = "OR" if size < SMALL and self.chance(0.15) else "AND"
            return f"{condition} {word} {extra.sql}", word == "AND"
        return condition, True

    def _subtracts_kept(self, side: str, left: frozenset[str], right: frozenset[str]) -> None:
        """Note whose rows a padded row needs to be absent."""
        if side in ("LEFT", "FULL"):
            self.subtracts(right)
        if side in ("RIGHT", "FULL"):
            self.subtracts(left)

    def _using(
        self, left: From, side: str, right: Table, reads: frozenset[str], names: Sequence[str]
    ) -> From:
        merged = []
        for name in names:
            left_column = next(column for column in left.scope if column.name == name)
            other = next(column for column in right.scope if column.name == name)
            self.decides(left_column.term, other.term)
            merged.append(_merged(side, left_column, other))
        if side:
            self._subtracts_kept(side, reads, right.reads)
        scope = (*merged, *(c for c in left.scope + right.scope if c.name not in names))
        word = f"{side} JOIN" if side else "JOIN"
        size = left.size * right.size / 6 + (left.size + right.size if side else 0)
        return replace(
            left,
            sql=f"{left.sql} {word} {right.sql} USING ({', '.join(names)})",
            scope=scope,
            size=size,
        )

    def _natural(self) -> From:
        """Join two derived tables that have one column name in common."""
        shared = self.fresh("j")
        side = self.rng.choice(("", "", *_SIDES))
        texts, keys, other_columns, reads, size = [], [], [], [], 1.0
        for _ in range(2):
            table = self.table(0)
            integers = stable(table.scope, frozenset({"int"})) or [literal(self.rng, "int")]
            key, other = self.rng.choice(integers), self.rng.choice(table.scope)
            alias, extra = self.fresh("q"), self.fresh("c")
            texts.append(
                f"(SELECT {key.sql} AS {shared}, {other.term.sql} AS {extra}"
                f" FROM {table.sql}) {alias}"
            )
            self.decides(key)
            keys.append(Column(shared, replace(key, sql=f"{alias}.{shared}")))
            other_columns.append(Column(extra, replace(other.term, sql=f"{alias}.{extra}")))
            reads.append(table.reads)
            size *= table.size
        if side:
            self._subtracts_kept(side, reads[0], reads[1])
        words = f" NATURAL {side} JOIN " if side else " NATURAL JOIN "
        return From(f"FROM {words.join(texts)}", (_merged(side, *keys), *other_columns), size / 6)


def _merged(side: str, left: Column, right: Column) -> Column:
    """Return the one column that USING leaves of two, as it may be referred to anywhere."""
    if side == "RIGHT":
        return right
    if side != "FULL":
        return left
    term = left.term.derived(f"COALESCE({left.term.sql}, {right.term.sql})", right.term)
    return Column(left.name, term)


def _common(left: Sequence[Column], right: Sequence[Column]) -> list[str]:
    """Return the names that USING may have: of one column and one kind on each side."""
    names = [column.name for column in left]
    shared = []
    for column in right:
        if names.count(column.name) == 1 and column.term.kind in ("int", "string", "date"):
            twin = next(other for other in left if other.name == column.name)
            if twin.term.kind == column.term.kind:
                shared.append(column.name)
    return shared
