"""Statements whose rows depend on aggregated values: conditions of all forms, joins and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.oracle.expressions import INTEGERS, Column, Term, predicate, stable
from tests.oracle.queries.draw import From, Query, Table
from tests.oracle.queries.statements import Statement, Statements

_COMPARED = ("<", "<=", ">", ">=", "=", "<>", "<=>")
_COUNT = Term("COUNT(*)", "bigint", 1e4, aggregated=True)


class ConditionalStatements(Statements):
    """Draws one statement in which something is decided by aggregated values."""

    def conditional(self) -> Statement:
        """Return the statement."""
        shapes = (
            (self._of_groups, 4),
            (self._filtered, 4),
            (self._joined_with_groups, 3),
            (self._asking, 4),
            (self._of_windows, 4),
            (self._regrouped, 3),
            (self._limited, 3),
            (self._below, 3),
            (self._united, 2),
            (self._padded, 3),
            (self._combined, 2),
            (self._totals, 1),
        )
        draw = self.rng.choices([shape for shape, _ in shapes], [often for _, often in shapes])[0]
        query = draw()
        read = tuple(sorted(set(self.read)))
        return Statement(query.sql, None, query.grouping, (), read, read)

    # -- shapes ----------------------------------------------------------------------------

    def _of_groups(self) -> Query:
        return self._groups(self._rows(), having=0.9)

    def _filtered(self) -> Query:
        """A condition above a derived grouping, or above several."""
        g = self._named(self._groups(self._rows(), having=0.2))
        return self._selected(g, f"FROM {g.sql} WHERE {self._condition(g.scope)}")

    def _joined_with_groups(self) -> Query:
        """A join with a grouping: by keys, by values, or by a condition on both."""
        left = self._named(self._groups(self._rows())) if self.chance(0.3) else self.table(0)
        right = self._named(self._groups(self._rows(), having=0.3))
        both = (*left.scope, *right.scope)
        pair = self.pair(left.scope, right.scope)
        if pair is None or self.chance(0.3):
            on = self._condition(both)
        elif self.chance(0.25):
            on = f"{pair[0].sql} = {self._number(right.scope)}"
        else:
            on = f"{pair[0].sql} = {pair[1].sql}"
        where = f" WHERE {self._condition(both)}" if self.chance(0.7) else ""
        joined = replace(left, scope=both)
        return self._selected(joined, f"FROM {left.sql} JOIN {right.sql} ON {on}{where}")

    def _asking(self) -> Query:
        """Rows by memberships and scalar subqueries, which stand anywhere in a condition."""
        table = self.table(0)
        condition = self._condition(table.scope, asks=0.6)
        return self._selected(table, f"FROM {table.sql} WHERE {condition}")

    def _of_windows(self) -> Query:
        """A condition on window functions, of rows or of groups."""
        inner = self._windows_over(self.table(0))
        g = self._named(inner)
        return self._selected(g, f"FROM {g.sql} WHERE {self._condition(g.scope[-2:])}")

    def _regrouped(self) -> Query:
        """A grouping by aggregated values, or of them."""
        if self.chance(0.3):
            g = self._named(self._windows_over(self.table(0)))
        else:
            g = self._named(self._groups(self._rows(), having=0.2))
        source = From(f"FROM {g.sql}", g.scope, 4.0)
        if self.chance(0.2):
            value = self._aggregates(g.scope, 1)[0]
            return Query(f"SELECT {value.sql} AS v {source.sql}", (Column("v", value),), 1.0, True)
        return self._groups(source, having=0.4)

    def _limited(self) -> Query:
        """The first groups or rows in the order of a value."""
        return self._first(self._groups(self._rows(), having=0.3))

    def _below(self) -> Query:
        """A join, a grouping or a membership above the first groups or rows."""
        if self.chance(0.5):
            first = self._first(self._groups(self._rows()))
        else:
            first = self._first_rows(self.table(0))
        g = self._named(first)
        roll = self.rng.random()
        if roll < 0.35:
            return self._groups(From(f"FROM {g.sql}", g.scope, 3.0), having=0.4)
        other = self.table(0)
        pair = self.pair(other.scope, g.scope)
        if pair is None:
            return self._selected(g, f"FROM {g.sql} WHERE {self._condition(g.scope)}")
        if roll < 0.7:
            both = replace(g, scope=(*other.scope, *g.scope))
            on = f"{pair[0].sql} = {pair[1].sql}"
            return self._selected(both, f"FROM {other.sql} JOIN {g.sql} ON {on}")
        word = self.rng.choice(("IN", "NOT IN"))
        membership = f"{pair[0].sql} {word} (SELECT {pair[1].sql} FROM {g.sql})"
        return self._selected(other, f"FROM {other.sql} WHERE {membership}")

    def _united(self) -> Query:
        """A condition, or a grouping, above a union of groups and rows."""
        branches = []
        for number in range(2):
            source = self._rows()
            keys = stable(source.scope, INTEGERS)
            key = self.rng.choice(keys).sql if keys else "1"
            value = self._aggregates(source.scope, 1)[0]
            tail = f" GROUP BY {key}"
            if number and self.chance(0.3):
                value, tail = Term("2", "int", 2.0), ""
            branches.append(f"SELECT {key} AS k, {value.sql} AS v {source.text}{tail}")
        word = self.rng.choice((" UNION ALL ", " UNION ALL ", " UNION "))
        alias = self.fresh("u")
        scope = (
            Column("k", Term(f"{alias}.k", "int")),
            Column("v", Term(f"{alias}.v", "bigint", 1e4, aggregated=True)),
        )
        g = Table(f"({word.join(branches)}) AS {alias}", scope, 6.0, frozenset())
        if self.chance(0.3):
            return self._groups(From(f"FROM {g.sql}", scope, 6.0), having=0.5)
        return self._selected(g, f"FROM {g.sql} WHERE {self._condition(scope)}")

    def _padded(self) -> Query:
        """An outer join with groups or rows, conditions on padded rows, and groups of them."""
        left = self.table(0)
        right = self.table(0)
        if self.chance(0.6):
            right = self._named(self._groups(self._rows(), having=0.3))
        pair = self.pair(left.scope, right.scope)
        on = "FALSE" if pair is None else f"{pair[0].sql} = {pair[1].sql}"
        if self.chance(0.2):
            on += f" AND {self._condition(right.scope, depth=0)}"
        word = self.rng.choice(("LEFT", "LEFT", "RIGHT", "FULL"))
        sql = f"FROM {left.sql} {word} JOIN {right.sql} ON {on}"
        scope = (*left.scope, *right.scope)
        if self.chance(0.2):
            third = self.table(0)
            pair = self.pair(scope, third.scope)
            if pair is not None:
                sql += f" LEFT JOIN {third.sql} ON {pair[0].sql} = {pair[1].sql}"
                scope = (*scope, *third.scope)
        where = f" WHERE {self._condition(scope)}" if self.chance(0.5) else ""
        if self.chance(0.35):
            return self._groups(From(sql, scope, 8.0), where=where, having=0.4)
        return self._selected(replace(left, scope=scope), sql + where)

    def _combined(self) -> Query:
        """EXCEPT and INTERSECT of aggregated values, and DISTINCT."""
        source = self._rows()
        keys = stable(source.scope)
        value = self._aggregates(source.scope, 1)[0]
        by = f" GROUP BY {self.rng.choice(keys).sql}" if keys else ""
        first_query = f"SELECT {value.sql} AS v {source.text}{by}"
        column = (Column("v", replace(value, sql="v")),)
        if self.chance(0.4):
            return Query(first_query.replace("SELECT", "SELECT DISTINCT", 1), column, 3.0, True)
        other = self.table(0)
        number = self._number(other.scope)
        two = f"SELECT {number} AS v FROM {other.sql}"
        if self.chance(0.3):
            first_query, two = two, first_query
        word = self.rng.choice(("EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL"))
        return Query(f"{first_query} {word} {two}", column, 3.0, "ALL" not in word)

    def _totals(self) -> Query:
        """Aggregates of all rows, under a condition."""
        source = self._rows()
        values = self._aggregates(source.scope, 2)
        columns = tuple(Column(self.fresh("v"), value) for value in values)
        items = ", ".join(f"{column.term.sql} AS {column.name}" for column in columns)
        having = self._condition(columns)
        return Query(f"SELECT {items} {source.text} HAVING {having}", columns, 1.0, True)

    # -- parts -----------------------------------------------------------------------------

    def _rows(self) -> From:
        """Return a relation, or a join of two, sometimes with a condition."""
        table = self.table(0)
        sql, scope = f"FROM {table.sql}", table.scope
        if self.chance(0.25):
            other = self.table(0)
            pair = self.pair(scope, other.scope)
            if pair is not None:
                sql += f" JOIN {other.sql} ON {pair[0].sql} = {pair[1].sql}"
                scope = (*scope, *other.scope)
        return From(sql, scope, 6.0)

    def _groups(self, source: From, where: str | None = None, having: float = 0.0) -> Query:
        """Return a grouping: its keys first, unless only its values are selected."""
        if where is None:
            filtered = self.chance(0.2)
            where = f" WHERE {predicate(self.rng, source.scope, 0).sql}" if filtered else ""
        keys = list({term.sql: term for term in self._keys_of(source.scope)}.values())
        values = self._aggregates(source.scope, self.rng.choice((1, 1, 2)))
        columns = [Column(self.fresh("k"), key) for key in keys]
        columns += [Column(self.fresh("v"), value) for value in values]
        by = ", ".join(key.sql for key in keys)
        if len(keys) > 1 and self.chance(0.15):
            by = f"{self.rng.choice(('ROLLUP', 'CUBE'))} ({by})"
        tail = ""
        if self.chance(having):
            more = [Column("", value) for value in self._aggregates(source.scope, 1)]
            tail = f" HAVING {self._condition([*columns, *more], asks=0.15)}"
        items = ", ".join(f"{column.term.sql} AS {column.name}" for column in columns)
        return Query(
            f"SELECT {items} {source.text}{where} GROUP BY {by}{tail}", tuple(columns), 4.0, True
        )

    def _keys_of(self, scope: Sequence[Column]) -> list[Term]:
        plain = [term for term in stable(scope) if term.kind not in ("double", "decimal")]
        if not plain:
            return [Term("1", "int", 1.0)]
        common = [term for term in plain if term.sql.split(".")[-1] in ("a", "b", "c", "e", "g")]
        pool = common if common and self.chance(0.7) else plain
        return self.rng.sample(pool, min(len(pool), self.rng.choice((1, 1, 1, 2))))

    def _aggregates(self, scope: Sequence[Column], count: int) -> list[Term]:
        return [self._aggregate_of_integers(scope) for _ in range(count)]

    def _aggregate_of_integers(self, scope: Sequence[Column]) -> Term:
        """Return an aggregate whose value is an integer."""
        integers = stable(scope, INTEGERS)
        if not integers or self.chance(0.25):
            return _COUNT
        term = self.rng.choice(integers)
        name = self.rng.choice(("SUM", "SUM", "SUM", "MIN", "MAX", "COUNT", "distinct", "other"))
        call = f"{name}({term.sql})"
        if name == "distinct":
            call = f"{self.rng.choice(('COUNT', 'SUM'))}(DISTINCT {term.sql})"
        elif name == "other":
            forms = ("COUNT_IF({} > 1)", "MAX_BY({0}, {0})", "SIZE(COLLECT_SET({}))", "MEDIAN({})")
            call = self.rng.choice(forms).format(term.sql)
        if not call.startswith("SIZE") and self.chance(0.15):
            call += f" FILTER (WHERE {predicate(self.rng, scope, 0).sql})"
        return Term(call, "bigint", 1e4, aggregated=True)

    def _windows_over(self, table: Table) -> Query:
        """Return rows, or groups, with one or two window functions, which are integers."""
        base, scope = f"FROM {table.sql}", table.scope
        if self.chance(0.25):
            g = self._named(self._groups(From(base, scope, 6.0)))
            base, scope = f"FROM {g.sql}", g.scope
        kept = [Column(self.fresh("c"), term) for term in self._few(stable(scope))]
        windows = [Column(self.fresh("w"), self._window_of(scope)) for _ in range(2)]
        columns = [*kept, *windows]
        items = ", ".join(f"{column.term.sql} AS {column.name}" for column in columns)
        return Query(f"SELECT {items} {base}", tuple(columns), 6.0)

    def _window_of(self, scope: Sequence[Column]) -> Term:
        terms = stable(scope)
        integers = stable(scope, INTEGERS) or [Term("1", "int", 1.0)]
        value = self.rng.choice(integers)
        by = f"PARTITION BY {self.rng.choice(terms).sql} " if self.chance(0.5) else ""
        total = ", ".join(term.sql for term in self.rng.sample(terms, len(terms)))
        tied = f"ORDER BY {self.rng.choice(terms).sql}{self.rng.choice(('', ' DESC'))}"
        name = self.rng.choice(
            (
                "ROW_NUMBER()",
                "RANK()",
                "DENSE_RANK()",
                "NTILE(2)",
                "LAG",
                "LEAD",
                "SUM",
                "COUNT",
                "MAX",
            )
        )
        if name in ("RANK()", "DENSE_RANK()"):
            text = f"{name} OVER ({by}{tied})"
        elif name in ("SUM", "COUNT", "MAX"):
            order = self.rng.choice(("", tied, f"ORDER BY {total}"))
            frame = " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW" if order[9:] == total else ""
            frame = frame if self.chance(0.4) else ""
            text = f"{name}({value.sql}) OVER ({by}{order}{frame})"
        elif name in ("LAG", "LEAD"):
            text = f"{name}({value.sql}) OVER ({by}ORDER BY {total})"
        else:
            text = f"{name} OVER ({by}ORDER BY {total})"
        return Term(text, "bigint", 1e4, aggregated=True)

    def _first(self, query: Query) -> Query:
        """Return the first rows of a query, in an order without ties."""
        values = [n for n, column in enumerate(query.columns) if column.term.aggregated]
        rest = [n for n in range(len(query.columns)) if n not in values]
        if self.chance(0.2):
            self.rng.shuffle(values)
        order = [f"{values[0] + 1}{self.rng.choice(('', ' DESC'))}"] if values else []
        order += [str(n + 1) for n in (*rest, *values[1:])]
        offset = f" OFFSET {self.rng.choice((1, 1, 2))}" if self.chance(0.25) else ""
        limit = f"LIMIT {self.rng.choice((1, 1, 2, 2, 3))}{offset}"
        return replace(query, sql=f"{query.sql} ORDER BY {', '.join(order)} {limit}")

    def _first_rows(self, table: Table) -> Query:
        columns = tuple(Column(self.fresh("c"), column.term) for column in table.scope)
        items = ", ".join(f"{column.term.sql} AS {column.name}" for column in columns)
        places = self.rng.sample(range(len(columns)), len(columns))
        order = ", ".join(f"{number + 1}{self.rng.choice(('', ' DESC'))}" for number in places)
        limit = f"ORDER BY {order} LIMIT {self.rng.choice((1, 2, 2, 3))}"
        return Query(f"SELECT {items} FROM {table.sql} {limit}", columns, 3.0)

    def _named(self, query: Query) -> Table:
        alias = self.fresh("g")
        scope = tuple(column.referred(f"{alias}.{column.name}") for column in query.columns)
        return Table(f"({query.sql}) AS {alias}", scope, query.size, frozenset())

    def _selected(self, table: Table, tail: str) -> Query:
        """Return a SELECT of some columns, or of expressions and scalar subqueries."""
        terms = self._few(stable(table.scope), 3)
        columns = [Column(self.fresh("c"), term) for term in terms]
        if self.chance(0.15):
            number = Term(self._number(table.scope), "bigint", 1e4, aggregated=True)
            columns.append(Column(self.fresh("c"), number))
        if self.chance(0.08):
            subquery = self._scalar(table.scope)
            columns.append(Column(self.fresh("c"), Term(subquery, "bigint", 1e4, aggregated=True)))
        items = ", ".join(f"{column.term.sql} AS {column.name}" for column in columns)
        word = "SELECT DISTINCT" if self.chance(0.1) else "SELECT"
        return Query(f"{word} {items} {tail}", tuple(columns), 4.0)

    def _few(self, terms: Sequence[Term], most: int = 2) -> list[Term]:
        return self.rng.sample(list(terms), min(len(terms), self.rng.randint(1, most)))

    # -- conditions ------------------------------------------------------------------------

    def _condition(self, scope: Sequence[Column], depth: int = 2, asks: float = 0.1) -> str:
        """Return a condition over the integers of a scope."""
        if depth > 0 and self.chance(0.4):
            first_condition, two = (self._condition(scope, depth - 1, asks) for _ in range(2))
            form = self.rng.choice(
                (
                    "({0} OR {1})",
                    "({0} OR {1})",
                    "({0} AND {1})",
                    "NOT ({0} AND {1})",
                    "NOT ({0} OR {1})",
                    "CASE WHEN {0} THEN {1} ELSE NOT {1} END",
                    "CASE WHEN {0} THEN {1} END",
                )
            )
            return form.format(first_condition, two)
        if self.chance(asks):
            return self._asked(scope)
        number, small = self._number(scope), self.rng.choice((0, 1, 1, 2, 3, 4, 5))
        operator = self.rng.choice(_COMPARED)
        other = self._number(scope) if self.chance(0.4) else str(small)
        return self.rng.choice(
            (
                f"({number} {operator} {other})",
                f"({number} {operator} {other})",
                f"({number} {operator} {other})",
                f"(2 * {number} {operator} {other} + {small})",
                f"({number} / NULLIF({other}, 0) > {small})",
                f"({number} BETWEEN {small} AND {small} + {self.rng.choice((1, 2, 5))})",
                f"({number} NOT BETWEEN {other} AND {small})",
                f"({number} IN ({small}, {self.rng.choice((1, 2, 7))}))",
                f"({number} NOT IN ({small}, {other}))",
                f"({number} IS NULL)",
                f"({number} IS NOT NULL)",
                f"(NULLIF({number}, {small}) IS NULL)",
                f"(COALESCE({number}, {small}) {operator} {other})",
                f"(CASE WHEN {number} > {small} THEN {other} ELSE {small} END {operator} 2)",
            )
        )

    def _number(self, scope: Sequence[Column]) -> str:
        """Return an integer over a scope: a column, most often an aggregated one, or arithmetic."""
        integers = stable(scope, INTEGERS)
        if not integers:
            return str(self.rng.choice((1, 2, 3)))
        values = [term for term in integers if term.aggregated] or integers
        term = self.rng.choice(values if self.chance(0.75) else integers)
        if self.chance(0.7):
            return term.sql
        other = self.rng.choice(integers).sql
        forms = ("({0} + {1})", "({0} - {1})", "({0} * 2)", "({0} % 3)", "COALESCE({0}, 0)")
        return self.rng.choice(forms).format(term.sql, other)

    def _asked(self, scope: Sequence[Column]) -> str:
        """Return a membership, or a comparison with scalar subqueries."""
        if self.chance(0.5):
            first_value = self._scalar(scope)
            two = self._scalar(scope) if self.chance(0.3) else self._number(scope)
            form = self.rng.choice(
                ("({0} {2} {1})", "({0} {2} {1})", "({1} * 2 {2} {0} + 1)", "({0} IS NULL)")
            )
            return form.format(first_value, two, self.rng.choice(_COMPARED))
        if self.chance(0.4):
            inner = self._groups(self._rows(), having=0.5)
            g = self._named(inner)
            table = g
        else:
            table = self.table(0)
        pair = self.pair(scope, table.scope)
        if pair is None:
            return "TRUE"
        outer, member = pair
        where = f" AND {predicate(self.rng, table.scope, 0).sql}" if self.chance(0.3) else ""
        word = self.rng.choice(("", "NOT "))
        # A subquery names no call of an aggregate outside of it.
        if self.chance(0.5) or "(" in outer.sql:
            tail = where.replace(" AND ", " WHERE ", 1)
            return f"({outer.sql} {word}IN (SELECT {member.sql} FROM {table.sql}{tail}))"
        link = f"{member.sql} = {outer.sql}"
        return f"({word}EXISTS (SELECT 1 FROM {table.sql} WHERE {link}{where}))"

    def _scalar(self, scope: Sequence[Column]) -> str:
        """Return a scalar subquery whose value is an integer, often a correlated one."""
        table = self.table(0)
        value = self._aggregate_of_integers(table.scope)
        pair = self.pair(scope, table.scope) if self.chance(0.5) else None
        conjuncts = []
        if pair is not None and "(" not in pair[0].sql:
            conjuncts.append(f"{pair[1].sql} = {pair[0].sql}")
        if self.chance(0.3):
            conjuncts.append(predicate(self.rng, table.scope, 0).sql)
        where = f" WHERE {' AND '.join(conjuncts)}" if conjuncts else ""
        return f"(SELECT {value.sql} FROM {table.sql}{where})"
