"""Reenactment of MERGE: each row by the first clause that applies to it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import conjuncts
from rewriter.dialect import emit
from rewriter.statements.model import Clause, Matching, MergeInto, TableColumn
from rewriter.statements.scope import has_query, qualified
from rewriter.statements.writer import (
    MATCHED,
    Reenactment,
    StatementWriter,
    bag_union,
    column_of,
    first_case,
    table_of,
)


class MergeWriter(StatementWriter):
    """Writes the reenactment of a MERGE."""

    def merged(self, statement: MergeInto) -> Reenactment:
        conditions = (statement.condition, *(clause.condition for clause in statement.clauses))
        if any(has_query(condition) for condition in conditions):
            raise self._unsupported(
                "a condition of MERGE with a subquery is not reenacted",
                "Join what it reads in the query of USING.",
            )
        matched = statement.of(Matching.MATCHED)
        by_source = statement.of(Matching.BY_SOURCE)
        only_delete = len(matched) == 1 and matched[0].deletes and matched[0].condition is None
        branches: list[exp.Query] = []
        # Of clauses BY SOURCE alone, Delta fails as well, and Iceberg writes the row twice.
        needs_one_match = not only_delete and bool(matched or by_source)
        if matched and not only_delete:
            branches.append(self._joined(matched, by_source))
        elif not by_source and not matched:
            branches.append(self._all())
        else:
            if not matched:
                branches.append(self._all().where(self._matches()))
            branches.append(self._without_partner(by_source))
        inserts = statement.of(Matching.BY_TARGET)
        if inserts:
            branches.append(self._unmatched(inserts))
        touched = self._touched_by(by_source)
        return Reenactment(
            emit(bag_union(branches)),
            emit(self._matched_twice()) if needs_one_match else None,
            self._keys(),
            (self._alias, self._source_alias),
            None if touched is None else emit(touched),
        )

    def _touched_by(self, by_source: Sequence[Clause]) -> exp.Select | None:
        """Return the rows of the target that match, or that a clause BY SOURCE may change."""
        conditions = [self._of_target(clause.condition) for clause in by_source]
        if any(condition is None for condition in conditions):
            return None
        concerned = exp.or_(self._matches(), *(c for c in conditions if c is not None))
        return self._all().where(concerned)

    def _joined(self, matched: Sequence[Clause], by_source: Sequence[Clause]) -> exp.Select:
        """Return the rows of the target with their partners, by the first clause that applies."""
        missed = exp.Is(this=column_of(self._source_alias, MATCHED), expression=exp.null())

        def applies(clause: Clause) -> exp.Expr:
            by_target = clause.matching is Matching.BY_SOURCE
            match = missed.copy() if by_target else exp.Not(this=missed.copy())
            own = self._of_target(clause.condition)
            if own is not None and by_target:
                own = qualified(own, self._alias, self._shape)
            return match if own is None else exp.and_(match, own)

        cases = [(applies(clause), clause) for clause in (*matched, *by_source)]
        rows = self._before(self._clause_values(cases))
        rows = rows.join(self._source_rows(matched=True), on=self._on(), join_type="left")
        return _undeleted(rows, cases)

    def _without_partner(self, by_source: Sequence[Clause]) -> exp.Select:
        """Return the rows of the target that no row of the source matches."""
        cases = [(self._of_target(clause.condition) or exp.true(), clause) for clause in by_source]
        rows = self._before(self._clause_values(cases)).where(exp.Not(this=self._matches()))
        return _undeleted(rows, cases)

    def _clause_values(self, cases: Sequence[tuple[exp.Expr, Clause]]) -> dict[str, exp.Expr]:
        """Return the values that the first clause that applies gives the target's columns."""
        values: dict[str, exp.Expr] = {}
        for column in self._shape.columns:
            given = [
                None if clause.deletes else self._clause_value(clause, column)
                for _, clause in cases
            ]
            if any(value is not None for value in given):
                own = self._column(column.name)
                branches = [
                    (condition, value or own)
                    for (condition, _), value in zip(cases, given, strict=True)
                ]
                values[column.name.lower()] = first_case(branches, own)
        return values

    def _unmatched(self, clauses: Sequence[Clause]) -> exp.Select:
        """Return the rows of the source that match none, as clauses insert them."""
        conditions = [self._of_target(clause.condition) for clause in clauses]
        values = {}
        for column in self._shape.columns:
            given = [
                self._clause_value(clause, column) or self._default(column) for clause in clauses
            ]
            values[column.name.lower()] = (
                given[0]
                if len(clauses) == 1
                else first_case(
                    [
                        (condition.copy() if condition else exp.true(), value)
                        for condition, value in zip(conditions, given, strict=True)
                    ],
                    None,
                )
            )
        rows = self._from_source(values)
        target = exp.alias_(table_of(self._relations.before), self._alias, table=True, quoted=True)
        partner = exp.select("1").from_(target).where(self._on())
        rows = rows.where(exp.Not(this=exp.Exists(this=partner)))
        if all(condition is not None for condition in conditions):
            rows = rows.where(exp.or_(*(c.copy() for c in conditions if c is not None)))
        return rows

    def _matched_twice(self) -> exp.Select:
        numbered = exp.select("*", "monotonically_increasing_id() AS _lipstick_row").from_(
            table_of(self._relations.before)
        )
        rows = exp.select("1 AS _lipstick_ambiguous").from_(
            numbered.subquery(exp.to_identifier(self._alias, quoted=True))
        )
        rows = rows.join(self._source_rows(), on=self._on())
        row = column_of(self._alias, "_lipstick_row")
        return rows.group_by(row).having("count(*) > 1")

    def _matches(self) -> exp.Exists:
        partner = exp.select("1").from_(self._source_rows()).where(self._on())
        return exp.Exists(this=partner)

    def _on(self) -> exp.Expr:
        condition = self._of_target(self._merge.condition)
        assert condition is not None
        return condition

    def _keys(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of expressions over target and source that the condition equates."""
        pairs = []
        for conjunct in conjuncts(self._on()):
            if not isinstance(conjunct, exp.EQ):
                continue
            sides = [self._side(conjunct.this), self._side(conjunct.expression)]
            if sides == ["target", "source"]:
                pairs.append((emit(conjunct.this), emit(conjunct.expression)))
            elif sides == ["source", "target"]:
                pairs.append((emit(conjunct.expression), emit(conjunct.this)))
        return tuple(pairs)

    def _side(self, expression: exp.Expr) -> str | None:
        """Return the side of the join whose columns an expression reads; None: both or neither."""
        sides = set()
        assert self._source is not None
        for column in expression.find_all(exp.Column):
            qualifier, name = column.table.lower(), column.name.lower()
            if qualifier == self._alias.lower():
                sides.add("target")
            elif qualifier == self._source_alias.lower():
                sides.add("source")
            elif not qualifier:
                of_target = name in self._shape.by_name
                if of_target == (name in self._source.by_name):
                    sides.add("?")
                else:
                    sides.add("target" if of_target else "source")
            else:
                sides.add("?")
        return sides.pop() if len(sides) == 1 and "?" not in sides else None

    @property
    def _merge(self) -> MergeInto:
        assert isinstance(self._statement, MergeInto)
        return self._statement

    def _clause_value(self, clause: Clause, column: TableColumn) -> exp.Expr | None:
        """Return the value that a clause gives a column; None: it gives none."""
        if clause.assignments is None:
            assert self._source is not None
            if column.name.lower() not in self._source.by_name:
                if self._merge.evolves:
                    return None
                raise self._unsupported(
                    f"the source has no column {column.name!r}, which * sets",
                    "Name the columns that the clause sets.",
                )
            given = self._source.by_name[column.name.lower()]
            return self._stored(column, column_of(self._source_alias, given.name))
        assigned = self._assigned(clause.assignments)
        value = assigned.get(column.name.lower())
        if value is not None and clause.matching is Matching.BY_SOURCE:
            value = qualified(value, self._alias, self._shape)
        return value


def _undeleted(rows: exp.Select, cases: Sequence[tuple[exp.Expr, Clause]]) -> exp.Select:
    """Return the rows that the first clause that applies does not delete."""
    if not any(clause.deletes for _, clause in cases):
        return rows
    kept = [(condition, exp.convert(not clause.deletes)) for condition, clause in cases]
    return rows.where(first_case(kept, exp.true()))
