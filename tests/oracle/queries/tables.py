"""Table expressions: relations, CTEs and derived tables, and pairs of columns to compare."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace

from tests.oracle.expressions import INTEGERS, Column, Term, literal, stable
from tests.oracle.queries.draw import Draw, Query, Table


class Tables(Draw, ABC):
    """Draws table expressions."""

    def table(self, depth: int) -> Table:
        """Return a relation, a CTE or a derived table, with an alias."""
        mark = len(self.read)
        text, columns, size = self._source(depth)
        alias = self.fresh("q")
        scope = tuple(column.referred(f"{alias}.{column.name}") for column in columns)
        sql = f"{text} {self.rng.choice(('AS ', ''))}{alias}"
        return Table(sql, scope, size, frozenset(self.read[mark:]))

    def _source(self, depth: int) -> tuple[str, tuple[Column, ...], float]:
        if self.ctes and self.chance(0.6):
            cte = self.rng.choice(self.ctes)
            self.read += sorted(cte.reads)
            return cte.name, cte.query.columns, cte.query.size
        if self.read and self.chance(0.05):
            return self._values()
        if depth > 0 and self.chance(0.45):
            query = self._derived(depth - 1)
            return f"({query.sql})", query.columns, query.size
        relation = self.rng.choice(list(self.database.relations.values()))
        self.read.append(relation.name)
        columns = []
        for item in relation.schema.split(", "):
            name, kind = item.split(" ")
            kind = "decimal" if kind.startswith("decimal") else kind
            columns.append(Column(name, Term(name, kind)))
        return relation.name, tuple(columns), float(relation.data.num_rows)

    def subselect(self, head: str, table: Table, conjuncts: Sequence[str], rest: str = "") -> str:
        """Return a SELECT of a table under conditions, which may refer to a row around it.

        They stand in WHERE, or in a relation of FROM: a derived table, a CTE, the ON of a join.
        """
        if not conjuncts or not self.chance(0.3):
            where = f" WHERE {' AND '.join(conjuncts)}" if conjuncts else ""
            return f"SELECT {head} FROM {table.sql}{where}{rest}"
        condition = " AND ".join(conjuncts)
        alias = table.sql.split()[-1]
        rows = f"SELECT * FROM {table.sql} WHERE {condition}"
        form = self.rng.choice(("derived", "named", "joined"))
        if form == "derived":
            return f"SELECT {head} FROM ({rows}) AS {alias}{rest}"
        if form == "named":
            name = self.fresh("w")
            return f"WITH {name} AS ({rows}) SELECT {head} FROM {name} AS {alias}{rest}"
        if head == "*":
            head = "1"
        single_row = f"(SELECT 1 AS one) AS {self.fresh('o')}"
        return f"SELECT {head} FROM {single_row} JOIN {table.sql} ON {condition}{rest}"

    def _values(self) -> tuple[str, tuple[Column, ...], float]:
        """Return VALUES, with a NULL and perhaps with rows twice."""
        kinds = ("int", "string")
        rows = [[literal(self.rng, kind).sql for kind in kinds] for _ in range(3)]
        self.rng.choice(rows)[self.rng.randrange(2)] = "NULL"
        names = [self.fresh("c") for _ in kinds]
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        text = f"(SELECT * FROM (VALUES {listed}) AS {self.fresh('v')}({', '.join(names)}))"
        columns = [Column(name, Term(name, kind)) for name, kind in zip(names, kinds, strict=True)]
        return text, tuple(columns), 3.0

    def _derived(self, depth: int) -> Query:
        if self.chance(0.5):
            source = self.from_clause(depth, self.rng.choice((1, 1, 2)))
            return self.grouped(source, self.where(source, depth), depth)
        query = self.query(depth)
        total = not any(column.term.unstable for column in query.columns)
        if total and self.chance(0.04):
            self.exact = False
            order = ", ".join(str(i + 1) for i in range(len(query.columns)))
            limit = self.rng.choice((3, 6, 10))
            return replace(query, sql=f"{query.sql} ORDER BY {order} LIMIT {limit}")
        return query

    def pair(self, left: Sequence[Column], right: Sequence[Column]) -> tuple[Term, Term] | None:
        """Return two columns to equate, most often integers of a small range."""
        for kinds in (
            INTEGERS,
            frozenset({"string"}),
            frozenset({"date"}),
            frozenset({"double", "decimal"}),
        ):
            lefts, rights = stable(left, kinds), stable(right, kinds)
            if lefts and rights and self.chance(0.92):
                return self._likely(lefts), self._likely(rights)
        lefts, rights = stable(left, INTEGERS), stable(right, INTEGERS)
        return (lefts[0], rights[0]) if lefts and rights else None

    def _likely(self, terms: Sequence[Term]) -> Term:
        """Return a term to join on, preferring base columns that have small values."""
        common = [term for term in terms if term.sql.split(".")[-1] in ("a", "b", "e", "c", "g")]
        return self.rng.choice(common if common and self.chance(0.7) else terms)
