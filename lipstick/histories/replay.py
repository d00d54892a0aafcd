"""Statements replayed over other rows: what every version would have been.

A hypothetical version is the real one, less some rows and with others (:class:`Bags`). A statement
is replayed over the rows that this difference concerns, so that the cost is that of the
difference: of MERGE the rows whose keys occur in it, of UPDATE and DELETE its own rows. Where the
rows concerned are not known beforehand, the statement is replayed over the whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lipstick.errors import StatementError, UnsupportedError
from lipstick.histories.chain import Chain, HistoryStep
from lipstick.histories.sql_engine import ConcernedRows, ReplayedRows, SqlEngine
from lipstick.tracking.views import quoted_name
from rewriter.statements import (
    Bags,
    Delete,
    Insert,
    MergeInto,
    Reenactment,
    Relations,
    Replace,
    Statement,
    Truncate,
    beside_source,
    difference,
    hypothetical,
    keys_of,
    passes_rows,
    reenact,
    row_by_row,
    rows_of,
    source_query,
    sources_of,
    union_all,
    with_columns,
    within,
)

_TARGET = "_lipstick_rows"


@dataclass(frozen=True, slots=True)
class StatementEffect:
    """Queries of the rows that a statement touched, and of the rows that it made.

    Parameters
    ----------
    became
        The touched rows after it, and the inserted rows.
    ambiguous
        The touched rows that several rows of the source match; None: it is never an error.
    """

    touched: str
    became: str
    ambiguous: str | None


class Replay:
    """The tables of a history after its statements ran over other rows.

    Parameters
    ----------
    chains
        The tables by their dotted names in lower case.
    bases
        Relations that statements read and that do not change: real rows, and what is gone or came.
    begins
        Of tables, the difference of the first version.
    undone
        The names of statements that do not run.
    replaced
        By name, the statements that run in the place of others.
    check
        Holds a statement against its version: the rows that a difference concerns, or the whole of
        it where these are None; and versions that no statement made. None: all are known.
    row_keys
        By table, columns by which the rows are looked up that a difference concerns.
    keys
        By table, columns that name each row of each version, by which rows are left out.
    """

    def __init__(
        self,
        engine: SqlEngine,
        chains: Mapping[str, Chain],
        events: Sequence[HistoryStep],
        bases: Mapping[str, Bags],
        begins: Mapping[str, Bags],
        undone: frozenset[str] = frozenset(),
        replaced: Mapping[str, Statement] | None = None,
        check: Callable[[HistoryStep, Sequence[ConcernedRows] | None], None] | None = None,
        row_keys: Mapping[str, Sequence[str]] | None = None,
        keys: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._keys = keys or {}
        self._row_keys = row_keys or {}
        self._check = check
        self._engine = engine
        self._chains = chains
        self._events = events
        self._bases = bases
        self._undone = undone
        self._replaced = replaced or {}
        self.state = {
            name: begins.get(name, Bags(chain.versions[chain.first]))
            for name, chain in chains.items()
        }
        self._versions = {name: chain.first for name, chain in chains.items()}

    def run(self) -> Mapping[str, Bags]:
        """Return the difference of the last version of each table."""
        for step in self._events:
            self.state[step.table] = self._after(step)
            self._versions[step.table] = step.version
        for table, chain in self._chains.items():
            bags = self._with_columns(table, self.state[table], self._versions[table], chain.last)
            self.state[table] = replace(bags, real=chain.versions[chain.last])
        return self.state

    def stand_before(self, step: HistoryStep) -> None:
        """Let every table be the real version that it was when a statement ran."""
        chains = self._chains
        self.state = {name: Bags(chain.versions[chain.first]) for name, chain in chains.items()}
        for other in self._events[: self._events.index(step)]:
            self.state[other.table] = Bags(chains[other.table].versions[other.version])
        self.state[step.table] = Bags(self._real_before(step))

    def relations(self, step: HistoryStep) -> Relations:
        """Return the real relations that a statement read."""
        views = self._views(step, step.statement, hypothetically=False)
        return self._relations(step.statement, self._real_before(step), views)

    def reenacted(
        self, step: HistoryStep, relations: Relations | None = None, over: Relations | None = None
    ) -> Reenactment:
        """Return the reenactment of a statement over the real version before it.

        Parameters
        ----------
        relations
            The real relations that it read, where they are known.
        over
            What the reenactment reads in their place.
        """
        return self._reenacted(step, step.statement, relations or self.relations(step), over)

    def equates_alike(self, written: Reenactment, relations: Relations) -> bool:
        """Return True if MERGE equates expressions of the same types over target and source."""
        return bool(written.keys) and self._alike(written, relations)

    # -- one statement ---------------------------------------------------------------------

    def _after(self, step: HistoryStep) -> Bags:
        chain = self._chains[step.table]
        now = self._before(step, self.state[step.table], self._versions[step.table])
        self.state[step.table] = now
        real = chain.versions[step.version]
        if step.name in self._undone:
            self._checked(step)
            return self._unexecuted(step, real)
        statement = self._replaced.get(step.name)
        if statement is not None:
            self._checked(step, ())
            return self._whole(step, statement, real)
        changed = {name for name in sources_of(step.statement) if self._bags(step, name).changed}
        if not now.changed and not changed:
            return Bags(real)
        replayed = self._incremental(step, step.statement, now, real, bool(changed))
        if replayed is None:
            self._checked(step)
            return self._whole(step, step.statement, real)
        self._checked(step, replayed.concerned)
        return replayed.bags

    def _checked(self, step: HistoryStep, concerned: Sequence[ConcernedRows] | None = None) -> None:
        if self._check is not None:
            self._check(step, concerned)

    def _unexecuted(self, step: HistoryStep, real: str) -> Bags:
        """Return the version before as a difference of the one after."""
        before, chain = self.state[step.table], self._chains[step.table]
        columns, later = chain.shapes[chain.before_step(step)], chain.shapes[step.version]
        adds = isinstance(step.statement, MergeInto) and step.statement.evolves
        if not columns.alike(later) and (adds or not columns.evolved(later)):
            raise StatementError(
                f"The statement {step.name!r} gave {step.table} other columns: what comes after it "
                "cannot run without it.\nReplace it by one that gives the same columns."
            )
        effect = self.effect(step)
        if effect is None:
            both = rows_of(before.real), rows_of(real)
            rows, after = difference(*both), difference(*both[::-1])
        else:
            rows, after = effect.touched, effect.became
        came = [rows, *([rows_of(before.came)] if before.came else [])]
        gone = [after, *([rows_of(before.gone)] if before.gone else [])]
        return self._normal(real, union_all(gone), union_all(came))

    def effect(self, step: HistoryStep) -> StatementEffect | None:
        """Return what a statement changed of the real version before it; None: all, perhaps.

        The rows that it touched are read once.
        """
        relations = self.relations(step)
        touched = self.reenacted(step, relations).touched
        if touched is None:
            return None
        merges = isinstance(step.statement, MergeInto)
        rows = self._stored(touched) if merges else self._engine.view(touched)
        over = Relations(rows, relations.views, relations.source)
        written = self.reenacted(step, relations, over)
        return StatementEffect(rows_of(rows), written.rows, written.ambiguous)

    def _incremental(
        self, step: HistoryStep, statement: Statement, now: Bags, real: str, changed: bool
    ) -> ReplayedRows | None:
        """Replay over the rows that the difference concerns; None: they are not known."""
        if row_by_row(statement):
            gone, came = (self._of_rows(step, statement, rows) for rows in (now.gone, now.came))
            return ReplayedRows(self._normal(real, gone, came), self._concerned(step, now, gone))
        if isinstance(statement, MergeInto):
            return self._merged(step, statement, now, real, changed)
        if isinstance(statement, Insert | Replace):
            return self._inserted(step, statement, now, real, changed)
        return None

    def _concerned(
        self, step: HistoryStep, now: Bags, expected: str | None
    ) -> Sequence[ConcernedRows] | None:
        """Return what a statement made of the rows that are gone; None: they have no key."""
        if now.gone is None:
            return ()
        key = self._row_keys.get(step.table)
        if key is None:
            return None
        columns = [quoted_name([_TARGET, column]) for column in key]
        keys = self._stored(keys_of([(rows_of(now.gone), _TARGET, columns)]))
        return [ConcernedRows(keys, _TARGET, columns, expected)]

    def _of_rows(self, step: HistoryStep, statement: Statement, rows: str | None) -> str | None:
        if rows is None:
            return None
        return self._reenacted(step, statement, Relations(rows)).rows

    def _inserted(
        self, step: HistoryStep, statement: Insert | Replace, now: Bags, real: str, changed: bool
    ) -> ReplayedRows | None:
        gone: list[str] = []
        came: list[str] = []
        whole = isinstance(statement, Replace)
        if isinstance(statement, Insert):
            if step.dynamic and statement.overwrites:
                return None
            kept = self._kept(step, statement)
            if kept is not None:
                gone += self._parts(step, kept, now.gone)
                came += self._parts(step, kept, now.came)
            elif not statement.overwrites:
                gone += [rows_of(now.gone)] if now.gone else []
                came += [rows_of(now.came)] if now.came else []
            whole = statement.overwrites and kept is None
        if changed:
            # Where the query brings all rows, the real version has them.
            old = (
                real
                if whole
                else self._new_rows(
                    step, statement, self._views(step, statement, hypothetically=False)
                )
            )
            new = self._new_rows(step, statement, self._views(step, statement, hypothetically=True))
            gone.append(rows_of(old))
            came.append(rows_of(new))
        old_rows, new_rows = (union_all(rows) if rows else None for rows in (gone, came))
        after = self._normal(real, old_rows, new_rows)
        passed_on = not changed and not whole
        return ReplayedRows(after, self._concerned(step, now, old_rows) if passed_on else None)

    def _parts(self, step: HistoryStep, kept: Statement, rows: str | None) -> list[str]:
        query = self._of_rows(step, kept, rows)
        return [] if query is None else [query]

    def _kept(self, step: HistoryStep, statement: Insert) -> Statement | None:
        """Return the statement that removes what an INSERT replaces; None: nothing, or all."""
        if statement.replaced is not None:
            return Delete(statement.text, statement.table, None, statement.replaced)
        static = tuple(a for a in statement.partition if a.value is not None)
        if statement.overwrites and static:
            return Truncate(statement.text, statement.table, static)
        return None

    def _new_rows(
        self, step: HistoryStep, statement: Insert | Replace, views: Mapping[str, str]
    ) -> str:
        """Return a view of the rows that a query brings, with the table's columns."""
        if isinstance(statement, Insert):
            statement = Insert(
                statement.text,
                statement.table,
                statement.query,
                statement.columns,
                statement.by_name,
                statement.partition,
            )
        before = self._engine.view(f"{rows_of(self._real_before(step))} WHERE FALSE")
        return self._engine.view(
            self._reenacted(step, statement, self._relations(statement, before, views)).rows
        )

    def _merged(
        self, step: HistoryStep, statement: MergeInto, now: Bags, real: str, changed: bool
    ) -> ReplayedRows | None:
        before = self._relations(
            statement, now.real, self._views(step, statement, hypothetically=False)
        )
        after = self._relations(
            statement, now.real, self._views(step, statement, hypothetically=True)
        )
        written = self._reenacted(step, statement, before)
        if not written.keys or not self._alike(written, before):
            return None
        if any(self._bags(step, name).changed for name in beside_source(statement)):
            return None
        targets, sources = ([pair[side] for pair in written.keys] for side in (0, 1))
        alias, source_alias = written.aliases
        assert before.source is not None
        assert after.source is not None
        differing = list[tuple[str, str, list[str]]]()
        sides: tuple[str | None, str | None] = (None, None)
        if changed:
            sides = self._source_difference(step, statement, before.source, after.source)
            differing += [(rows_of(rows), source_alias, sources) for rows in sides if rows]
        differing += [(rows_of(rows), alias, targets) for rows in (now.gone, now.came) if rows]
        keys = self._engine.store(keys_of(differing)) if differing else None
        if keys is None:
            return ReplayedRows(Bags(real), ())
        values = self._engine.literals(keys)
        own, source = (
            self._stored(within(rows_of(rows), its_alias, expressions, keys, values))
            for rows, its_alias, expressions in (
                (now.real, alias, targets),
                (before.source, source_alias, sources),
            )
        )
        would_be, new_source = (
            self._engine.view(hypothetical(Bags(rows, gone, came)))
            for rows, gone, came in ((own, now.gone, now.came), (source, *sides))
        )
        was = self._reenacted(step, statement, Relations(own, before.views, source))
        then = self._reenacted(step, statement, Relations(would_be, after.views, new_source))
        self._check_unambiguous(step, then)
        concerned = ConcernedRows(keys, alias, targets, was.rows)
        return ReplayedRows(self._normal(real, was.rows, then.rows), [concerned])

    def _source_difference(
        self, step: HistoryStep, statement: MergeInto, before: str, after: str
    ) -> tuple[str | None, str | None]:
        """Return the rows that the source of a MERGE has less, and more, than it had."""
        name = passes_rows(statement.source)
        if name is None:
            return self._engine.differences(rows_of(before), rows_of(after))
        bags = self._bags(step, name)
        gone, came = (
            None if rows is None else source_query(statement, {name: rows})
            for rows in (bags.gone, bags.came)
        )
        first, second = (None if q is None else self._engine.store(q) for q in (gone, came))
        return first, second

    def _stored(self, query: str) -> str:
        """Compute a query and return a view of its rows."""
        stored = self._engine.store(query)
        if stored is not None:
            return stored
        return self._engine.view(f"{rows_of(self._engine.view(query))} WHERE FALSE")

    def _alike(self, written: Reenactment, relations: Relations) -> bool:
        """Return True if the keys of target and source are of the same types."""
        assert relations.source is not None
        alias, source_alias = written.aliases
        target = keys_of([(rows_of(relations.before), alias, [k for k, _ in written.keys])])
        source = keys_of([(rows_of(relations.source), source_alias, [k for _, k in written.keys])])
        shapes = self._engine.shape(target), self._engine.shape(source)
        return [c.type for c in shapes[0].columns] == [c.type for c in shapes[1].columns]

    def _whole(self, step: HistoryStep, statement: Statement, real: str) -> Bags:
        """Replay a statement over the whole table."""
        views = self._views(step, statement, hypothetically=True)
        before = self._engine.view(hypothetical(self.state[step.table]))
        written = self._reenacted(step, statement, self._relations(statement, before, views))
        self._check_unambiguous(step, written)
        after = rows_of(self._engine.view(written.rows))
        return self._normal(real, rows_of(real), after)

    # -- parts -----------------------------------------------------------------------------

    def _normal(self, real: str, gone: str | None, came: str | None) -> Bags:
        """Return a difference whose sides have no row in common."""
        if gone is None and came is None:
            return Bags(real)
        left = None if gone is None else rows_of(self._engine.view(gone))
        right = None if came is None else rows_of(self._engine.view(came))
        if left is None or right is None:
            return Bags(
                real,
                None if left is None else self._engine.store(left),
                None if right is None else self._engine.store(right),
            )
        return Bags(real, *self._engine.differences(left, right))

    def _relations(
        self,
        statement: Statement,
        before: str,
        views: Mapping[str, str],
    ) -> Relations:
        query = source_query(statement, views)
        source = None if query is None else self._engine.view(query)
        return Relations(before, views, source)

    def _reenacted(
        self,
        step: HistoryStep,
        statement: Statement,
        relations: Relations,
        over: Relations | None = None,
    ) -> Reenactment:
        shape, source = self._chains[step.table].shapes[step.version], None
        if relations.source is not None:
            source = self._engine.shape(rows_of(relations.source))
        dynamic = step.dynamic and isinstance(statement, Insert) and statement.overwrites
        if dynamic and not shape.partitions:
            raise UnsupportedError(
                f"INSERT OVERWRITE replaced the partitions of its rows in {step.table}, whose "
                "partition columns are not known",
                "Set spark.sql.sources.partitionOverwriteMode to static where the table has none.",
                statement.text,
            )
        return reenact(statement, shape, over or relations, source, dynamic=step.dynamic)

    def _check_unambiguous(self, step: HistoryStep, written: Reenactment) -> None:
        if written.ambiguous is not None and self._engine.store(written.ambiguous) is not None:
            raise StatementError(
                f"The statement {step.name!r} would fail: several rows of its source match one "
                f"row of {step.table}.\nDelete or undo something else as well, or replace the "
                "statement by one whose source has a row for each."
            )

    def _views(
        self, step: HistoryStep, statement: Statement, *, hypothetically: bool
    ) -> dict[str, str]:
        """Return views of the relations that a statement reads, by their names in it."""
        views = {}
        for name in sources_of(statement):
            bags = self._bags(step, name)
            if hypothetically and bags.changed:
                views[name] = self._engine.view(hypothetical(bags, self._keys.get(name, ())))
            else:
                views[name] = bags.real
        return views

    def _bags(self, step: HistoryStep, name: str) -> Bags:
        """Return the difference of the relation that a name in a statement denotes."""
        name = step.reads.get(name, name)
        known = self.state.get(name) or self._bases.get(name)
        if known is None:
            raise StatementError(
                f"The statement {step.name!r} reads {name!r}, which the history does not know.\n"
                f"Track it, ls.track({name!r}, ...), before the history is reenacted."
            )
        return known

    def _real_before(self, step: HistoryStep) -> str:
        chain = self._chains[step.table]
        before = chain.before_step(step)
        return self._before(step, Bags(chain.versions[before]), before).real

    def _before(self, step: HistoryStep, bags: Bags, version: int) -> Bags:
        """Return the rows before a step with the columns that its table had after it."""
        if isinstance(step.statement, Replace):
            return bags
        return self._with_columns(step.table, bags, version, step.version)

    def _with_columns(self, table: str, bags: Bags, version: int, until: int) -> Bags:
        """Return the rows of a version with the columns of a later one."""
        chain = self._chains[table]
        for shapes in chain.evolutions(version, until):
            real = self._engine.view(with_columns(bags.real, *shapes))
            gone, came = (
                None if view is None else self._engine.view(with_columns(view, *shapes))
                for view in (bags.gone, bags.came)
            )
            bags = Bags(real, gone, came)
        return bags
