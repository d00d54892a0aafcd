"""Histories: the statements that made tables, and questions about them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import DataFrame

from lipstick.errors import StatementError, TrackingError, UnsupportedError
from lipstick.frame import AnnotatedFrame
from lipstick.histories import ReenactingSession
from lipstick.histories.chain import HistoryStep, reads_in_place
from lipstick.histories.deletions import deleted_rows
from lipstick.histories.engine import reading_versions, shape_of
from lipstick.histories.growing import GrowingHistory, Keys
from lipstick.histories.hypothetical import HypotheticalTables
from lipstick.histories.logs import logged_statements
from lipstick.histories.lookups import KnownRows
from lipstick.histories.names import resolved
from lipstick.histories.replay import Replay
from lipstick.histories.sql_engine import Concerned, ConcernedRows, are_as_expected
from lipstick.histories.steps import (
    ExecutedStatement,
    Versions,
    chain_of,
    check_replacements,
    check_same_rows,
    check_step,
    check_versions,
    read_statement,
    steps_of,
    untracked_sources,
)
from lipstick.histories.version_views import VersionViews
from lipstick.questions.asking import question
from lipstick.questions.deletion import resolve_deletion
from lipstick.questions.what_if import WhatIf
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.names import plain_name
from lipstick.tracking.tracker import Naming
from lipstick.tracking.unknown_keys import check_deletion
from rewriter.dialect import name_parts
from rewriter.statements import Insert, Relations, Replace, names_read, sources_of
from semiring.support.door import checked


@checked
class TableHistory(GrowingHistory):
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

    _session: ReenactingSession

    def __init__(self, session: ReenactingSession) -> None:
        super().__init__(session)
        self._checked = set[str]()
        self.known = KnownRows(self.engine)
        self._views = VersionViews(self, session.version_views, session.add_view)

    def _follow(
        self,
        tables: Mapping[str, Versions],
        statements: Sequence[str | ExecutedStatement],
        key: Keys | Mapping[str, Keys],
    ) -> None:
        """Follow tables through statements that ran; see :meth:`lipstick.Session.reenact`."""
        spark = self.spark
        self._names = {name.lower(): name for name in tables}
        made = {each.version for each in statements if isinstance(each, ExecutedStatement)}
        self._chains = {
            name.lower(): chain_of(spark, self.engine, name, versions, made)
            for name, versions in tables.items()
        }
        self._steps = [self._with_reads(step) for step in steps_of(spark, self._chains, statements)]
        untracked_sources(self._chains, self._steps, lambda name: name in self._tracked)
        check_versions(self.engine, self._chains, self._steps, self._bases({}))
        self._checked = {step.name for step in self._steps}
        for name, shown in self._names.items():
            its = key.get(shown) if isinstance(key, Mapping) else key
            if its is None:
                raise TrackingError(
                    f"No key of {shown!r} is given.\nGive columns, or '*': reenact(..., "
                    f"key={{{shown!r}: ...}})."
                )
            self._keys[name] = its
            self._relations[name] = shown.rpartition(".")[2]
            track = partial(self._track, name, tables[shown])
            self._first[name] = partial(track, self._chains[name].first)
            last = self._chains[name].last
            self._versions[track(last, self._relations[name]).view] = last

    def _with_reads(self, step: HistoryStep) -> HistoryStep:
        """Return a statement with the tables and relations that the names in it mean."""
        reads = dict(step.reads)
        for name, parts in names_read(step.statement).items():
            table = self._table_named(parts) or self._branch_of(step, parts)
            if name not in reads and table is not None:
                reads[name] = table
        statement, relations = resolved(step.statement, self._session.catalog(), reads)
        for name, relation in relations.items():
            reads[name] = self._table_of(relation.name) or relation.name.lower()
        return dataclasses.replace(step, statement=statement, reads=reads)

    def _branch_of(self, step: HistoryStep, parts: Sequence[str]) -> str | None:
        """Return the table of a statement on a branch that it also reads, by its name."""
        named = [versioned_table(self.spark, plain_name(x)) for x in (parts, step.statement.table)]
        own, changed = (found and found[0] for found in named)
        if own is None or changed is None or changed.whole is changed:
            return None
        return step.table if own.identity == changed.identity else None

    def _with_logged(
        self, tables: Mapping[str, Versions], statements: Sequence[str | ExecutedStatement]
    ) -> list[ExecutedStatement]:
        """Return statements and the ones in a table's log; see :meth:`lipstick.Session.reenact`."""
        (name, source), *others = tables.items()
        found = versioned_table(self.spark, source) if isinstance(source, str) else None
        given = {s.version: s for s in statements if isinstance(s, ExecutedStatement) and s.version}
        if found is None or others or len(given) != len(statements):
            raise TrackingError(
                "log=True is of one table of Delta or Iceberg by its name, and of statements with "
                "the version that each made.\nGive reenact({table: table}, "
                "[ExecutedStatement(text, version=...)], key, log=True)."
            )
        table = found[0]
        return logged_statements(
            name, table.history(), lambda version: shape_of(table.schema(version)), given
        )

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
        chain = self._chains[self._name_of(table)]
        if number not in chain.versions:
            raise TrackingError(
                f"{table!r} has no version {number}.\n"
                f"Its versions are {', '.join(map(str, chain.versions))}."
            )
        return self.spark.table(chain.versions[number])

    def __repr__(self) -> str:
        counts = (
            f"{shown} ({len(self._chains[name].versions)} versions)"
            for name, shown in self._names.items()
        )
        return f"<lipstick history of {', '.join(counts)}, {len(self._steps)} statements>"

    # -- hypothetical tables ---------------------------------------------------------------

    def query(self, sql: str) -> AnnotatedFrame:
        """Annotate a query over the tables, with its tokens before all statements.

        Annotations, values and lineage are in tokens of the first versions, ``orders@0``, and of
        the relations that statements read; by ``ls.sql`` they are in tokens of the last
        version. Any version can be read so, also by ``ls.sql``: ``SELECT * FROM `orders@2```.

        Raises
        ------
        UnsupportedError
            When a MERGE might fail had other rows been there, for such a world has no answer.
        """
        text, _ = self._over_tables(
            sql, lambda table: self._define(table, self._chains[table].last)
        )
        return self._session.sql(text)

    def _define(self, table: str, version: int) -> str:
        """Let queries read a version as a query over the first ones; return its name."""
        self.check()
        return self._views.define(self._name_of(table), version)

    @reading_versions()
    def check(self) -> None:
        """Compare reenacted versions that were not yet compared with the real ones.

        Raises
        ------
        StatementError
            Where they differ.
        """
        for step in self._steps:
            self._check_step(step)
        for table in self._chains:
            self._check_same_rows(table)

    def _check_step(self, step: HistoryStep) -> None:
        """Hold a statement against its version, and compare versions without one of its table."""
        if step.name not in self._checked:
            check_step(self.engine, self._chains, step, self._real_replay())
            self._checked.add(step.name)
        self._check_same_rows(step.table)

    def _check_concerned(self, concerned: Sequence[tuple[HistoryStep, ConcernedRows]]) -> None:
        """Compare the versions of statements whole that have not the rows that were expected."""
        alike: dict[tuple[tuple[str, str], ...], list[tuple[HistoryStep, ConcernedRows]]] = {}
        for step, rows in concerned:
            shape = self._chains[step.table].shapes[step.version]
            columns = tuple((column.name, column.type) for column in shape.columns)
            alike.setdefault(columns, []).append((step, rows))
        same = all(are_as_expected(self.engine, [r for _, r in each]) for each in alike.values())
        for step, rows in concerned:
            if same or are_as_expected(self.engine, [rows]):
                rows.checked.add(step.name)
            else:
                self._check_step(step)

    def _real_replay(self) -> Replay:
        bases, readable = self._bases({}), self._check_readable
        return Replay(self.engine, self._chains, self._steps, bases, self.known, readable=readable)

    def _check_same_rows(self, table: str) -> None:
        """Compare versions that no statement made with the versions before them, each once."""
        pending = self._unchanged.get(table, [])
        while pending:
            check_same_rows(self.engine, table, self._chains[table], pending[0])
            pending.pop(0)

    @question("replaying statements")
    @reading_versions()
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
        self._check_named(undo, replace or {})
        substitutes = self._substitutes(replace or {})
        given = self._session.by_relation(delete or {})
        for name in given:
            self._check_readable(name.lower())
        begins, gone = deleted_rows(self, {name.lower(): what for name, what in given.items()})
        pending: list[tuple[HistoryStep, ConcernedRows]] = []
        replay = Replay(
            self.engine,
            self._chains,
            [
                dataclasses.replace(step, reads=substitutes.get(step.name, step).reads)
                for step in self._steps
            ],
            self._bases(gone),
            self.known,
            self._keys_of_sources(),
            begins,
            frozenset(s.name for s in self._steps if {s.name, s.published} & set(undo)),
            {name: step.statement for name, step in substitutes.items()},
            partial(self._check_read, pending),
            self._keys_of_tables(),
            readable=self._check_readable,
        )
        try:
            states = replay.run()
        except StatementError:
            self._check_concerned(pending)  # the cause may be a version that is another
            raise
        self._check_concerned(pending)
        return HypotheticalTables(self, states)

    def _check_read(
        self,
        pending: list[tuple[HistoryStep, ConcernedRows]],
        step: HistoryStep,
        concerned: Concerned,
    ) -> None:
        """Compare a version that is read; if only some rows are, leave these to be compared."""
        if step.name not in self._checked:
            found = concerned()
            if found is None:
                self._check_step(step)
            pending.extend((step, rows) for rows in found or ())
        self._check_same_rows(step.table)

    def _check_named(self, undo: Sequence[str], replace: Mapping[str, str]) -> None:
        """Refuse statements to undo or replace that there are not, and those to do both with."""
        names = [step.name for step in self._steps]
        for name in (*undo, *replace):
            if name not in names:
                raise TrackingError(
                    f"There is no statement {name!r}.\nThere are {', '.join(names) or 'none'}."
                )
        if both := set(undo) & set(replace):
            raise TrackingError(f"{min(both)!r} is undone and replaced.\nAsk one of both.")

    def _substitutes(self, replace: Mapping[str, str]) -> dict[str, HistoryStep]:
        """Return the steps with other statements, by their names."""
        if replace:
            check_replacements(self.spark)
        steps, found = {step.name: step for step in self._steps}, dict[str, HistoryStep]()
        others = {name: read_statement(self.spark, text) for name, text in replace.items()}
        for name, other in others.items():
            if self._table_named(other.table) != steps[name].table:
                raise TrackingError(
                    f"{name!r} changes {steps[name].table!r}, and what replaces it "
                    f"{'.'.join(other.table)!r}.\nReplace it by a statement over the same table."
                )
            found[name] = own = self._with_reads(dataclasses.replace(steps[name], statement=other))
            for step in (each for each in self._steps if each.published == name):
                reads = reads_in_place(own.reads, own.table, step.table)
                found[step.name] = dataclasses.replace(
                    own, name=step.name, table=step.table, version=step.version, reads=reads
                )
        untracked_sources(self._chains, list(found.values()), lambda name: name in self._tracked)
        return found

    def _keys_of_tables(self) -> dict[str, Sequence[str]]:
        """Return the columns of the keys of tables that have one, by table."""
        return {
            table: [key] if isinstance(key, str) else key
            for table, key in self._keys.items()
            if key != "*"
        }

    def _keys_of_sources(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of verified keys of relations outside of the history, by relation."""
        return {
            name: each.token
            for name, each in self._tracked.items()
            if each.naming is Naming.KEY and each.verified and self._table_of(name) is None
        }

    def _concerns(self, names: Iterable[str]) -> bool:
        """Return True if deletions of some relations may change the tables."""
        return any(name.lower() in self._sources or "@" in name for name in names)

    def _version_named(self, relation: str) -> tuple[str, int] | None:
        """Return the table and the version that a name like ``orders@2`` means; None: none."""
        name, at, number = relation.rpartition("@")
        table = self._table_of(name) if at else None
        if table is None or number not in map(str, self._chains[table].versions):
            return None
        return table, int(number)

    def _replay_before(self, step: HistoryStep) -> Replay:
        """Return a replay that stands before a statement, over the real rows."""
        replay = self._real_replay()
        replay.stand_before(step)
        return replay

    def _what_if_of(
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
        known = {name.lower() for name in frame.plan.relations}
        read = {s.reads.get(name, name) for s in self._steps for name in sources_of(s.statement)}
        for name in delete:
            table = None if name.lower() in known else self._table_of(name)
            if table in read:
                first = f"{table}@{self._chains[table].first}"
                raise TrackingError(
                    f"{name!r} has other rows now than when statements read it, and the query "
                    f"does not read it.\nDelete rows of its first version, {first!r}, or undo "
                    "statements."
                )
        of_sources = {n: what for n, what in delete.items() if self._concerns([n])}
        tables = self.what_if(of_sources, undo=undo, replace=replace)
        fates = {}
        for name, tracked in frame.plan.relations.items():
            table = self._table_of(name)
            version = self._versions.get(tracked.view)
            if table and version not in (None, self._chains[table].last):
                raise TrackingError(
                    f"The query reads version {version} of {name!r}, which statements changed "
                    "since.\nAsk it again of the version that is tracked now."
                )
            fate = tables.fate(tracked) if table else None
            if fate is not None:
                fates[name.lower()] = fate
        own = frame._concerning({n: what for n, what in delete.items() if "@" not in n})
        capture = frame.capture
        deletion = resolve_deletion(self.spark, capture.cluster.readable, own)
        check_deletion(capture, own, deletion.tokens, strict=strict)
        return capture.cluster.what_if_replayed(deletion, fates)

    # -- parts -----------------------------------------------------------------------------

    def _name_of(self, table: str) -> str:
        """Return the name in lower case of a table, given it or the relation of its rows.

        Raises
        ------
        TrackingError
            When the history has no such table.
        """
        known = table.lower() in self._chains
        name = table.lower() if known else self._table_named(name_parts(table))
        if name is not None:
            return name
        raise TrackingError(
            f"The history has no table {table!r}.\nIt has {', '.join(self.tables)}."
        )

    def _made_by(self, table: str) -> dict[int, str]:
        """Return by version the statement that made it."""
        steps = (step for step in self._steps if step.table == table and not step.unchanged)
        return {step.version: step.name for step in steps}

    def _read_by(self, step: HistoryStep) -> tuple[str, ...]:
        """Return the tables and relations that a statement read; rows that it added none."""
        read = {step.reads.get(name, name) for name in sources_of(step.statement)}
        if not isinstance(step.statement, Replace | Insert):
            read.add(step.table)
        return tuple(sorted(self._names.get(name, name) for name in read))

    def _annotated_step(self, step: HistoryStep) -> tuple[AnnotatedFrame, dict[str, str]]:
        """Annotate the rows after a statement as a query over what it read, for its columns alone.

        Returns
        -------
        tuple
            The rows, and by relation that stands for an earlier version of a table the table.
        """
        stands_for: dict[str, str] = {}
        number = self._steps.index(step)

        def relation(name: str) -> str:
            if name not in self._chains:
                return name
            chain, own = self._chains[name], f"{name.replace('.', '_')}_before"
            earlier = [each.version for each in self._steps[:number] if each.table == name]
            version = chain.before_step(step) if name == step.table else [chain.first, *earlier][-1]
            if own not in stands_for:
                rows = self.spark.table(chain.versions[version])
                self._session.track(own, rows, "*")
                stands_for[own] = self._names[name]
            return own

        try:
            views = {n: relation(step.reads.get(n, n)) for n in sources_of(step.statement)}
            over = Relations(relation(step.table), views)
            text = self._replay_before(step).reenacted(step, None, over).rows
            return self._session.sql(text), stands_for
        finally:
            for own in stands_for:
                self._session.untrack(own)

    def _key_columns(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table's key.

        Raises
        ------
        TrackingError
            When rows are named by all their values.
        """
        key = self._keys[table]
        if key == "*":
            raise TrackingError(
                f"The rows of {table!r} are named by all their values (key='*').\n"
                "Reenact the history with a key to ask for the versions of a row."
            )
        return (key,) if isinstance(key, str) else tuple(key)
