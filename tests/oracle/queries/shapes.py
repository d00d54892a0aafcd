"""Derived tables of other shapes than their rows': PIVOT, UNPIVOT, structs, arrays and maps."""

from __future__ import annotations

from abc import ABC
from dataclasses import replace

from tests.oracle.expressions import INTEGERS, Column, Term, literal, stable
from tests.oracle.queries.draw import Draw, Table


class Shapes(Draw, ABC):
    """Draws derived tables whose text names all of their columns."""

    def shaped(self) -> Table | None:
        """Return one of them with an alias; None where there is nothing to make it of."""
        mark = len(self.read)
        table = self.table(0)
        make = self.rng.choice(
            (self._as_pivoted, self._as_unpivoted, self._as_nested, self._as_nested)
        )
        shaped_table = make(table)
        return (
            None
            if shaped_table is None
            else replace(shaped_table, reads=frozenset(self.read[mark:]))
        )

    def _as_pivoted(self, table: Table) -> Table | None:
        over = stable(table.scope, frozenset({"int", "string", "boolean"}))
        values = stable(table.scope, INTEGERS)
        keys = stable(table.scope)
        if not over or not values or not keys:
            return None
        by, value, key = (self.rng.choice(terms) for terms in (over, values, keys))
        self.exact = False
        alias, of, group, what = (self.fresh(prefix) for prefix in ("p", "c", "k", "c"))
        listed = dict.fromkeys(literal(self.rng, by.kind).sql for _ in range(2))
        names = [(text, self.fresh("v")) for text in listed]
        word = self.rng.choice(("SUM", "MIN", "MAX"))
        inner = f"SELECT {key.sql} AS {group}, {value.sql} AS {what}, {by.sql} AS {of}"
        among = ", ".join(f"{text} AS {name}" for text, name in names)
        pivot = f"PIVOT ({word}({what}) FOR {of} IN ({among}))"
        sql = f"(SELECT * FROM ({inner} FROM {table.sql}) {pivot})"
        count = value.derived("", kind="bigint", bound=value.bound * 100)
        scope = [Column(group, replace(key, sql=f"{alias}.{group}"))]
        scope += [
            Column(name, replace(count, sql=f"{alias}.{name}", aggregated=True))
            for _, name in names
        ]
        return Table(f"{sql} AS {alias}", tuple(scope), max(table.size / 2, 1), table.reads)

    def _as_unpivoted(self, table: Table) -> Table | None:
        integers = [c for c in table.scope if c.term.kind == "int" and not c.term.unstable]
        if len(integers) < 2:
            return None
        columns = self.rng.sample(integers, 2)
        kept = self.rng.choice(table.scope)
        self.decides(*(column.term for column in columns))
        alias, rest, value, name = (self.fresh(prefix) for prefix in ("p", "c", "v", "n"))
        unpivoted = [(self.fresh("c"), column.term) for column in columns]
        items = [f"{kept.term.sql} AS {rest}", *(f"{t.sql} AS {c}" for c, t in unpivoted)]
        word = self.rng.choice(("", " INCLUDE NULLS"))
        listed = ", ".join(c for c, _ in unpivoted)
        sql = (
            f"(SELECT * FROM (SELECT {', '.join(items)} FROM {table.sql})"
            f" UNPIVOT{word} ({value} FOR {name} IN ({listed})))"
        )
        scope = (
            Column(rest, replace(kept.term, sql=f"{alias}.{rest}")),
            Column(name, Term(f"{alias}.{name}", "string")),
            Column(value, columns[0].term.derived(f"{alias}.{value}", columns[1].term)),
        )
        return Table(f"{sql} AS {alias}", scope, table.size * 2, table.reads)

    def _as_nested(self, table: Table) -> Table | None:
        """Return structs, arrays and maps of a row, and what is read from them again."""
        integers = [c for c in table.scope if c.term.kind == "int" and not c.term.unstable]
        if not integers:
            return None
        first, other = (self.rng.choice(integers).term for _ in range(2))
        rest = self.rng.choice(table.scope).term
        alias, struct, array, mapping = (self.fresh(prefix) for prefix in ("p", "t", "n", "m"))
        sql = (
            f"(SELECT STRUCT({first.sql} AS p, {rest.sql} AS s) AS {struct},"
            f" ARRAY({first.sql}, {other.sql}, 2) AS {array},"
            f" MAP('p', {other.sql}) AS {mapping} FROM {table.sql})"
        )
        numbers = first.derived("", other, bound=max(first.bound, other.bound, 3.0))
        fields = [
            replace(first, sql=f"{alias}.{struct}.p"),
            replace(rest, sql=f"{alias}.{struct}.s"),
            replace(numbers, sql=f"TRY_ELEMENT_AT({alias}.{array}, {self.rng.choice((1, 2, 4))})"),
            replace(numbers, sql=f"ARRAY_MAX({alias}.{array})"),
            replace(numbers, sql=f"SIZE({alias}.{array})", bound=4.0),
            replace(numbers, sql=f"ARRAY_CONTAINS({alias}.{array}, 2)", kind="boolean"),
            replace(numbers, sql=f"SIZE(FILTER({alias}.{array}, x -> x > 1))", bound=4.0),
            replace(numbers, sql=f"SIZE(MAP_KEYS({alias}.{mapping}))", bound=2.0),
        ]
        scope = [
            Column(self.fresh("e"), field)
            for field in [*fields[:2], *self.rng.sample(fields[2:], 3)]
        ]
        return Table(f"{sql} AS {alias}", tuple(scope), table.size, table.reads, partial=True)
