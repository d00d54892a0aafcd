"""Rows of real versions and effects of statements, kept from one question for the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from lipstick.histories.chain import Chain
from lipstick.histories.sql_engine import SqlEngine, StatementEffect, rows_of_versions, stored
from rewriter.statements import (
    ROWS,
    alive_at,
    column_names,
    rows_of,
    within,
)

_KEPT: Final = 8
"""Sets of keys, and effects of statements, that are kept; the one used longest ago goes first."""


@dataclass(slots=True, eq=False)
class _KnownKeys:
    """Keys of a table: their view, the queries of their rows by version, and checked statements."""

    of: tuple[str, ...]
    view: str
    keys: pa.Table
    found: dict[int, str] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)


class KnownRows:
    """Rows of versions by their keys, and what statements changed.

    The first question about some keys looks them up in all later versions of the table at once;
    questions about these keys, or about some of them, read what was found. Of the last eight sets
    of keys, each of at most 100,000, the rows are kept, and of the last eight statements that were
    undone or compared whole what they changed. What goes beyond is looked up anew.

    Attributes
    ----------
    effects
        By statement, what it changed of the real version before it; None: all, perhaps.
    """

    def __init__(self, engine: SqlEngine) -> None:
        self._engine = engine
        self._keys: list[_KnownKeys] = []
        self.effects: dict[str, StatementEffect | None] = {}

    def near(
        self, table: str, chain: Chain, version: int, expressions: Sequence[str], keys: str
    ) -> str:
        """Return the query of the rows of a version whose key is in a view of keys.

        Parameters
        ----------
        table
            The name of the chain's table.
        expressions
            The expressions of the key over the alias :data:`rewriter.statements.ROWS`.
        keys
            A stored view, as :func:`rewriter.statements.keys_of` gives it.
        """
        known = self._known((table, *expressions), keys)
        if known is None:
            query = within(rows_of(chain.versions[version]), ROWS, expressions, keys)
            return rows_of(stored(self._engine, query))
        found = known.found
        if version not in found:
            found |= self._look_up(chain, chain.alike_from(version), expressions, known.view)
        rows = found[version]
        return rows if known.view == keys else within(rows, ROWS, expressions, keys)

    def widened(self, table: str, expressions: Sequence[str], keys: str) -> tuple[str, set[str]]:
        """Return a view of known keys that has all keys of another, and its checked statements.

        Checked are statements whose versions have the expected rows with all of these keys; more
        are added to the set.
        """
        known = self._known((table, *expressions), keys)
        return (keys, set()) if known is None else (known.view, known.checked)

    def _known(self, of: tuple[str, ...], keys: str) -> _KnownKeys | None:
        """Return what is known of all keys in a view; None: they are too many to be held."""
        alike = [known for known in self._keys if known.of == of]
        found = next((known for known in alike if known.view == keys), None)
        wanted = self._engine.held(keys) if found is None else found.keys
        if wanted is None:
            return None
        if found is None:
            wider = (known for known in alike if _covers(known.keys, wanted))
            found = min(wider, key=lambda known: known.keys.num_rows, default=None)
        found = found or _KnownKeys(of, keys, wanted)
        others = [known for known in self._keys if known is not found]
        self._keys = [*others[1 - _KEPT :], found]
        return found

    def _look_up(
        self, chain: Chain, numbers: Sequence[int], expressions: Sequence[str], keys: str
    ) -> dict[int, str]:
        """Look rows up in versions with the same columns; return the queries of the found rows."""
        engine, values = self._engine, self._engine.literals(keys)

        def near(query: str) -> str:
            return within(query, ROWS, expressions, keys, values)

        names, columns = chain.shapes[numbers[0]].names, column_names(expressions, ROWS)
        wanted = None if columns is None else engine.held(keys)
        if columns is not None and wanted is not None:
            spelt = {name.lower(): name for name in names}
            wanted = wanted.rename_columns([spelt[name.lower()] for name in columns])
        view = rows_of_versions(engine, chain, numbers, near, wanted)
        return {number: alive_at(n, view, names) for n, number in enumerate(numbers)}

    def keep_effect(self, step: str, effect: StatementEffect | None) -> None:
        """Keep what a statement changed."""
        self.effects.pop(step, None)
        self.effects[step] = effect
        if len(self.effects) > _KEPT:
            del self.effects[next(iter(self.effects))]


def _covers(known: pa.Table, wanted: pa.Table) -> bool:
    """Return True if one table has each row of another; False also where it is unknown."""
    if known.schema.types != wanted.schema.types:
        return False
    try:
        others = wanted.join(known, known.column_names, join_type="left anti")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # nested keys
        return False
    return bool(others.num_rows == 0)
