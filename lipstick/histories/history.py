"""Histories: the statements that made tables, and questions about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from lipstick.errors import TrackingError, UnsupportedError
from lipstick.histories.engine import SparkReplayEngine
from lipstick.histories.hypothetical import HypotheticalTables
from lipstick.histories.replay import Chain, HistoryStep, Replay
from lipstick.histories.rows import CellOrigin, RowVersion, changed_versions, same_values
from lipstick.histories.steps import (
    ExecutedStatement,
    Versions,
    chain_of,
    check_replacements,
    check_versions,
    read_statement,
    steps_of,
    untracked_sources,
)
from lipstick.questions.deletion import resolve_deletion
from lipstick.tracking.tracker import Tracked
from lipstick.tracking.unknown_keys import check_deletion
from rewriter.statements import Bags, over_relations, rows_of, sources_of
from semiring.door import checked

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame
    from lipstick.questions.what_if import WhatIf
    from lipstick.sessions import Session

Keys: TypeAlias = str | Sequence[str]


@checked
class TableHistory:
    """Tables with their versions, and the statements that made each of them.

    Made by :meth:`lipstick.Session.reenact`. Every version is reenacted from the one before it and
    compared with the real one, as a bag. The last version of each table is tracked under its name,
    or the last part of it: queries read it, and ``what_if`` follows deletions through all
    statements.

    Raises
    ------
    StatementError
        When a version is not what the statement makes of the one before; some rows are shown.
    UnsupportedError, NotUnderstoodError
        For statements that have no rule.
    TrackingError
        When versions, sources or keys are missing.
    """

    def __init__(
        self,
        session: Session,
        tables: Mapping[str, Versions],
        statements: Sequence[str | ExecutedStatement],
        key: Keys | Mapping[str, Keys],
    ) -> None:
        self._session = session
        self.spark = spark = session.spark
        self.engine = SparkReplayEngine(spark, session.store / "replays", session.add_view)
        self._names = {name.lower(): name for name in tables}
        self._chains = {
            name.lower(): chain_of(spark, self.engine, name, versions)
            for name, versions in tables.items()
        }
        self._steps = steps_of(spark, self._chains, statements)
        untracked_sources(self._chains, self._steps, lambda name: name in self._tracked())
        check_versions(spark, self.engine, self._chains, self._steps, self._bases({}))
        self._keys = {}
        for name, shown in self._names.items():
            its = key.get(shown) if isinstance(key, Mapping) else key
            if its is None:
                raise TrackingError(
                    f"No key of {shown!r} is given.\nGive columns, or '*': reenact(..., "
                    f"key={{{shown!r}: ...}})."
                )
            self._keys[name] = its
            given, last = tables[shown], self._chains[name].last
            relation = shown.rpartition(".")[2]
            if isinstance(given, str):
                self._session.track(relation, given, its, at=last)
            else:
                self._session.track(relation, spark.table(self._chains[name].versions[last]), its)

    # -- what it is ------------------------------------------------------------------------

    @property
    def statements(self) -> Mapping[str, str]:
        """The texts of the statements by their names, in their order."""
        return {step.name: step.statement.text for step in self._steps}

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(self._names.values())

    def version(self, table: str, number: int) -> DataFrame:
        """Return the rows of a version of a table."""
        chain = self._chain(table)
        if number not in chain.versions:
            raise TrackingError(
                f"{table!r} has no version {number}.\n"
                f"Its versions are {', '.join(map(str, chain.versions))}."
            )
        return self.spark.table(chain.versions[number])

    def __repr__(self) -> str:
        counts = (f"{name} ({len(self._chain(name).versions)} versions)" for name in self.tables)
        return f"<lipstick history of {', '.join(counts)}, {len(self._steps)} statements>"

    # -- hypothetical tables ---------------------------------------------------------------

    def what_if(
        self,
        delete: Mapping[str, Any] | None = None,
        *,
        undo: Sequence[str] = (),
        replace: Mapping[str, str] | None = None,
    ) -> HypotheticalTables:
        """Return what the tables would be had rows not been there, or statements been others.

        Later statements are replayed over the rows that this concerns.

        Parameters
        ----------
        delete
            By relation a predicate or keys; see :meth:`lipstick.Capture.what_if`. A table of the
            history is named with its first version, ``orders@0``: the rows before all statements.
        undo
            The names of statements that do not run.
        replace
            By the name of a statement, the text of the one that runs in its place.

        Raises
        ------
        StatementError
            When a statement would fail: a row of its target is matched by several of the source.
        """
        names = {step.name: step for step in self._steps}
        for name in (*undo, *(replace or {})):
            if name not in names:
                raise TrackingError(
                    f"There is no statement {name!r}.\nThere are {', '.join(names) or 'none'}."
                )
        if both := set(undo) & set(replace or {}):
            raise TrackingError(f"{min(both)!r} is undone and replaced.\nAsk one of both.")
        spark = self.spark
        if replace:
            check_replacements(spark)
        others = {name: read_statement(spark, text) for name, text in (replace or {}).items()}
        for name, other in others.items():
            if ".".join(other.table).lower() != names[name].table:
                raise TrackingError(
                    f"{name!r} changes {names[name].table!r}, and what replaces it "
                    f"{'.'.join(other.table)!r}.\nReplace it by a statement over the same table."
                )
        substitutes = [
            HistoryStep(name, other, names[name].table, names[name].version, names[name].reads)
            for name, other in others.items()
        ]
        untracked_sources(self._chains, substitutes, lambda name: name in self._tracked())
        delete = {name.lower(): what for name, what in (delete or {}).items()}
        begins, gone = self._deleted(delete)
        replay = Replay(
            *(self.engine, self._chains, self._steps, self._bases(gone), begins),
            *(frozenset(undo), others),
        )
        return HypotheticalTables(self, replay.run())

    def concerns(self, names: Iterable[str]) -> bool:
        """Return True if deletions of some relations may change the tables."""
        return any(name.lower() in self.sources or "@" in name for name in names)

    @property
    def sources(self) -> frozenset[str]:
        """The relations that statements read, and the first versions of the tables, lower case."""
        read = {
            step.reads.get(name, name)
            for step in self._steps
            for name in _sources(step)
            if step.reads.get(name, name) not in self._chains
        }
        first = {f"{name}@{chain.first}" for name, chain in self._chains.items()}
        return frozenset(read | first)

    def table_of(self, relation: str) -> str | None:
        """Return the table whose last version is tracked as a relation; None: it is of none."""
        found = (name for name in self._names if name.rpartition(".")[2] == relation.lower())
        return next(found, None)

    def key_of(self, table: str) -> Keys:
        """Return the key that names the rows of a table."""
        return self._keys[table]

    def what_if_of(
        self,
        frame: AnnotatedFrame,
        delete: Mapping[str, Any],
        cascade: Any,
        undo: Sequence[str],
        replace: Mapping[str, str],
        *,
        strict: bool,
    ) -> WhatIf[DataFrame]:
        """Return the answer of a query over the tables as they would be.

        Raises
        ------
        UnsupportedError
            For ``cascade``.
        """
        if cascade:
            raise UnsupportedError(
                "cascade is not followed through statements",
                "Delete the rows of the children as well.",
                frame.query,
            )
        of_sources = {n: what for n, what in delete.items() if self.concerns([n])}
        tables = self.what_if(of_sources, undo=undo, replace=replace)
        fates = {}
        for name, tracked in frame.relations.items():
            fate = tables.fate(tracked) if self.table_of(name) else None
            if fate is not None:
                fates[name.lower()] = fate
        own = frame._concerning({n: what for n, what in delete.items() if "@" not in n})
        capture = frame.capture
        deletion = resolve_deletion(self.spark, capture.cluster.readable, own)
        check_deletion(capture, own, deletion.tokens, strict=strict)
        return capture.cluster.what_if_replayed(deletion, fates)

    # -- questions about rows --------------------------------------------------------------

    def rows(self, table: str, key: Any) -> list[RowVersion]:
        """Return the versions of a row, each with the statement that made it.

        Parameters
        ----------
        key
            The value of the table's key; a tuple where it has several columns.
        """
        name, chain = self.name_of(table), self._chain(table)
        columns = self._key_columns(name)
        values = key if isinstance(key, tuple) else (key,)
        if len(values) != len(columns):
            raise TrackingError(
                f"A key of {table!r} has {len(columns)} values ({', '.join(columns)}), "
                f"not {len(values)}."
            )
        found: dict[int, list[Row]] = {number: [] for number in chain.versions}
        parts = []
        for number, view in chain.versions.items():
            rows = self.spark.table(view)
            for column, value in zip(columns, values, strict=True):
                rows = rows.where(F.col(f"`{column}`").eqNullSafe(F.lit(value)))
            fields = F.struct(*(F.col(f"`{c}`") for c in rows.columns))
            parts.append((number, rows.select(F.lit(number).alias("version"), fields.alias("row"))))
        if len({rows.schema["row"].dataType.json() for _, rows in parts}) == 1:
            whole = parts[0][1]
            for _, rows in parts[1:]:
                whole = whole.unionAll(rows)
            collected = whole.collect()
        else:
            collected = [row for _, rows in parts for row in rows.collect()]
        for row in collected:
            found[row["version"]].append(row["row"])
        twice = next((number for number, rows in found.items() if len(rows) > 1), None)
        if twice is not None:
            raise TrackingError(
                f"Version {twice} of {table!r} has several rows of the key {key!r}.\n"
                "Reenact the history with a key that is unique in all versions."
            )
        made_by = {step.version: step.name for step in self._steps if step.table == name}
        return list(changed_versions(found, made_by))

    def blame(self, table: str, key: Any) -> dict[str, CellOrigin]:
        """Return by column the statement that gave a row of the last version its value.

        Raises
        ------
        TrackingError
            When the last version has no such row.
        """
        versions = self.rows(table, key)
        if not versions or versions[-1].new is None:
            raise TrackingError(f"The last version of {table!r} has no row of the key {key!r}.")
        cells: dict[str, CellOrigin] = {}
        for each in versions:
            if each.new is None:
                cells.clear()
                continue
            for column, value in each.new.asDict().items():
                known = cells.get(column)
                if known is None or not same_values(known.value, value):
                    cells[column] = CellOrigin(column, value, each.statement, each.version)
        return cells

    def since(self, table: str, condition: str) -> RowVersion | None:
        """Return the version at which a condition over a table became true.

        Versions are bisected, as by ``git bisect``: of a condition that is true more than once in
        between, one of the versions at which it became true is returned.

        Parameters
        ----------
        condition
            A query of one value, TRUE or not, over the table by its name.

        Returns
        -------
        The version, its statement, and the values before and after; None: it is not true of the
        last version. A condition that is true of the first version has no statement.
        """
        name, chain = self.name_of(table), self._chain(table)
        numbers = list(chain.versions)
        answers: dict[int, Row] = {}

        def holds(place: int) -> bool:
            number = numbers[place]
            if number not in answers:
                answers[number] = self._ask(name, chain.versions[number], condition)
            return answers[number][0] is True

        if not holds(len(numbers) - 1):
            return None
        if holds(0):
            return RowVersion(numbers[0], None, "there", None, answers[numbers[0]])
        low, high = 0, len(numbers) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        made_by = {step.version: step.name for step in self._steps if step.table == name}
        number = numbers[high]
        old, new = answers[numbers[low]], answers[number]
        return RowVersion(number, made_by.get(number), "became true", old, new)

    def _ask(self, table: str, view: str, condition: str) -> Row:
        spark = self.spark
        rows = spark.sql(over_relations(condition, {table: view})).limit(2).collect()
        if len(rows) != 1 or len(rows[0]) != 1:
            raise TrackingError(
                "The condition of since() is a query of one row with one value, such as "
                f"SELECT sum(amount) > 100 FROM {table}."
            )
        return rows[0]

    # -- parts -----------------------------------------------------------------------------

    def _tracked(self) -> Mapping[str, Tracked]:
        return {name.lower(): tracked for name, tracked in self._session.tracked.items()}

    def name_of(self, table: str) -> str:
        if table.lower() not in self._chains:
            raise TrackingError(
                f"The history has no table {table!r}.\nIt has {', '.join(self.tables)}."
            )
        return table.lower()

    def _chain(self, table: str) -> Chain:
        return self._chains[self.name_of(table)]

    def _key_columns(self, table: str) -> tuple[str, ...]:
        key = self._keys[table]
        if key == "*":
            raise TrackingError(
                f"The rows of {table!r} are named by all their values (key='*').\n"
                "Reenact the history with a key to ask for the versions of a row."
            )
        return (key,) if isinstance(key, str) else tuple(key)

    def _bases(self, gone: Mapping[str, str]) -> dict[str, Bags]:
        """Return the relations that statements read, with views of their deleted rows."""
        bases = {}
        pinned = self._session._views.pinned
        for step in self._steps:
            for name in _sources(step):
                stands_for = step.reads.get(name, name)
                if stands_for not in self._chains and stands_for not in bases:
                    bases[stands_for] = Bags(pinned[stands_for], gone.get(stands_for))
        for name, view in pinned.items():
            if self.table_of(name) is None:
                bases.setdefault(name, Bags(view, gone.get(name)))
        return bases

    def _deleted(self, delete: Mapping[str, Any]) -> tuple[dict[str, Bags], dict[str, str]]:
        """Return the first versions less their deleted rows, and deleted rows of relations."""
        begins, gone = {}, {}
        tracked = self._tracked()
        for name, what in delete.items():
            table, at, number = name.rpartition("@")
            if at and table in self._chains:
                chain = self._chains[table]
                if number != str(chain.first):
                    raise TrackingError(
                        f"{name!r} is not the first version of {table!r}.\nRows of "
                        f"{table}@{chain.first} are deleted, and statements undone."
                    )
                view = self._first_rows(table, what)
                begins[table] = Bags(chain.versions[chain.first], view)
                continue
            relation = tracked.get(name)
            if relation is None or name not in self.sources:
                raise TrackingError(
                    f"No statement of the history reads {name!r}.\n"
                    f"They read {', '.join(sorted(self.sources))}."
                )
            view_of = self._rows_of_tokens(relation, what)
            if view_of is not None:
                gone[name] = view_of
        return begins, gone

    def _first_rows(self, table: str, what: Any) -> str | None:
        """Return a view of rows of the first version; None: none are selected."""
        chain = self._chains[table]
        rows = self.spark.table(chain.versions[chain.first])
        if isinstance(what, str | Column):
            selected = rows.where(what)
        else:
            columns = self._key_columns(table)
            keys = [key if isinstance(key, tuple) else (key,) for key in what]
            schema = rows.select(*(f"`{column}`" for column in columns)).schema
            wanted = self.spark.createDataFrame(keys, schema)
            match = [rows[f"`{c}`"].eqNullSafe(wanted[f"`{c}`"]) for c in columns]
            selected = rows.join(wanted, match, "left_semi")
        return self.engine.store(rows_of(self.engine.named(selected)))

    def _rows_of_tokens(self, relation: Tracked, what: Any) -> str | None:
        """Return a view of the deleted rows of a relation; None: none are."""
        spark = self.spark
        deletion = resolve_deletion(spark, {relation.name: relation.record}, {relation.name: what})
        tokens: pa.Table = deletion.tokens[relation.name]
        if not tokens.num_rows:
            return None
        rows, gone = spark.table(relation.view), spark.createDataFrame(tokens)
        match = [rows[f"`{c}`"].eqNullSafe(gone[f"`{c}`"]) for c in relation.token]
        deleted = rows.join(gone, match, "left_semi")
        own = deleted.select(*(f"`{column}`" for column in relation.columns))
        return self.engine.store(rows_of(self.engine.named(own)))


def _sources(step: HistoryStep) -> frozenset[str]:
    return sources_of(step.statement)
