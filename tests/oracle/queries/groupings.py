"""GROUP BY with HAVING, and aggregates without it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace

from tests.oracle.expressions import NUMBERS, Column, compared, literal, scalar
from tests.oracle.queries.aggregates import Aggregates
from tests.oracle.queries.draw import From, Query
from tests.oracle.queries.windows import Windows


class Groupings(Aggregates, Windows, ABC):
    """Draws groupings."""

    def item(self, column: Column) -> str:
        """Return an item of a select list."""
        if column.term.sql.split(".")[-1] == column.name:
            return column.term.sql
        return f"{column.term.sql} {self.rng.choice(('AS ', ''))}{column.name}"

    def grouped(self, source: From, where: str, depth: int) -> Query:
        """Return a SELECT with GROUP BY."""
        keys = self._keys(source.scope)
        values = [
            Column(self.fresh("v"), self.aggregate(source.scope))
            for _ in range(self.rng.randint(0 if keys else 1, 3))
        ]
        values = [self._post(value) if self.chance(0.15) else value for value in values]
        columns = [*keys, *values]
        if keys and self.chance(0.12):
            window = self.window(columns, [key.term for key in keys])
            columns += [Column(self.fresh("w"), window)] if window is not None else []
        if self.chance(0.2):
            self.rng.shuffle(columns)
        if values and self.chance(0.08):
            # A key that is grouped by and not an output.
            columns.remove(keys[0])
        by = self._in_sets(keys) or ", ".join(self._key_text(key, columns) for key in keys)
        having = self._having(source.scope, keys, values, depth)
        text = ", ".join(self.item(column) for column in columns)
        self.decides(*(key.term for key in keys))
        sql = f"SELECT {text} {source.text}{where} GROUP BY {by}{having}"
        out = tuple(columns)
        return Query(sql, out, max(source.size / 2, 1), True)

    def _keys(self, scope: Sequence[Column]) -> list[Column]:
        candidates = [column for column in scope if not column.term.unstable]
        keys: dict[str, Column] = {}
        for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3))):
            column = self.rng.choice(candidates) if candidates else None
            if column is None:
                break
            if self.chance(0.2):
                term = scalar(self.rng, candidates, column.term.kind)
                column = Column(self.fresh("k"), term)
            if column.name not in {key.name for key in keys.values()}:
                keys.setdefault(column.term.sql, column)
        return list(keys.values()) or [Column(self.fresh("k"), literal(self.rng, "string"))]

    def _in_sets(self, keys: Sequence[Column]) -> str:
        """Return a GROUP BY of several grouping sets, now and then."""
        texts = [key.term.sql for key in keys]
        if not self.chance(0.12) or not all("." in text for text in texts):
            return ""
        all_of = ", ".join(texts)
        forms = [f"ROLLUP ({all_of})", f"CUBE ({all_of})", f"GROUPING SETS (({all_of}), ())"]
        if len(texts) > 1:
            rest = ", ".join(texts[1:])
            forms.append(f"GROUPING SETS (({all_of}), {texts[-1]}, ({rest}), ())")
            forms.append(f"{texts[0]}, {self.rng.choice(('ROLLUP', 'CUBE'))} ({rest})")
        return self.rng.choice(forms)

    def _key_text(self, key: Column, columns: Sequence[Column]) -> str:
        generated = key.term.sql.split(".")[-1] != key.name
        if key not in columns:
            return key.term.sql
        position = str(columns.index(key) + 1)
        if not any(mark in key.term.sql for mark in (".", " ", "(")) and generated:
            return position
        options = [key.term.sql, key.term.sql, position]
        named = generated and key.name.startswith("k")
        return self.rng.choice([*options, key.name] if named else options)

    def _post(self, value: Column) -> Column:
        """Return an expression over an aggregate."""
        term = value.term
        if term.kind in NUMBERS and self.chance(0.6):
            sql = self.rng.choice(("COALESCE({0}, 0)", "({0} + 1)", "({0} * 2)"))
            return replace(value, term=term.derived(sql.format(term.sql), bound=term.bound * 3))
        tail = f"CASE WHEN COUNT(*) > 2 THEN {term.sql} END"
        return replace(value, term=term.derived(tail))

    def _having(
        self, scope: Sequence[Column], keys: Sequence[Column], values: Sequence[Column], depth: int
    ) -> str:
        if not self.chance(0.25):
            return ""
        roll = self.rng.random()
        plain = [key.term for key in keys if "." in key.term.sql and "(" not in key.term.sql]
        if roll < 0.15 and plain:
            test = compared(self.rng, self.rng.choice(plain), ())
            self.decides(test)
            return f" HAVING {test.sql}"
        self.exact = False
        seen = [value.term for value in values if not value.term.unstable]
        numbers = [term for term in seen if term.kind in NUMBERS]
        if roll < 0.3 and numbers and depth > 0:
            operator = self.rng.choice((">=", "<=", "<>"))
            return f" HAVING {self.rng.choice(numbers).sql} {operator} {self.scalar_subquery().sql}"
        if roll < 0.5 or not seen:
            comparison = self.rng.choice(("> 1", ">= 2", "< 4", "<> 2", ">= 1", "< 7"))
            return f" HAVING COUNT(*) {comparison}"
        value = self.rng.choice(seen) if self.chance(0.6) else self.aggregate(scope, True)
        first = compared(self.rng, value, seen).sql
        if self.chance(0.2):
            first = f"({first} OR COUNT(*) >= {self.rng.randint(1, 4)})"
        return f" HAVING {first}"

    def totals(self, source: From, where: str) -> Query:
        """Return a SELECT of aggregates without GROUP BY."""
        values = [
            Column(self.fresh("v"), self.aggregate(source.scope))
            for _ in range(self.rng.randint(1, 4))
        ]
        text = ", ".join(f"{value.term.sql} AS {value.name}" for value in values)
        having = ""
        if self.chance(0.08):
            self.exact = False
            having = f" HAVING COUNT(*) > {self.rng.randint(0, 3)}"
        return Query(f"SELECT {text} {source.text}{where}{having}", tuple(values), 1.0, True)
