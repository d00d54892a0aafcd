"""Statements replayed over other rows: what every version would have been.

A hypothetical version is the real one, less some rows and with others (:class:`Bags`). A statement
is replayed over the rows that this difference concerns, so that the cost is that of the
difference: of MERGE the rows whose keys occur in it, of UPDATE and DELETE its own rows. Where the
rows concerned are not known beforehand, the statement is replayed over the whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from lipstick.errors import StatementError
from lipstick.histories.chain import HistoryStep
from lipstick.histories.engine import reading_versions
from lipstick.histories.real_versions import RealVersions
from lipstick.histories.sql_engine import (
    Concerned,
    ConcernedRows,
    ReplayedRows,
    stored,
)
from lipstick.stages.reading import reading
from lipstick.tracking.views import quoted_name
from rewriter.statements import (
    ROWS,
    Bags,
    Delete,
    Insert,
    Matching,
    MergeInto,
    Reenactment,
    Relations,
    Replace,
    Statement,
    Truncate,
    Update,
    beside_source,
    column_names,
    difference,
    hypothetical,
    is_whole,
    keys_of,
    over_rows,
    passes_rows,
    row_by_row,
    rows_of,
    source_query,
    sources_of,
    union_all,
    within,
)

_CHAINED = 8
"""Statements that change each row by itself, up to which their rows are computed together."""


@dataclass
class Replay(RealVersions):
    """The tables of a history after its statements ran over other rows.

    Parameters
    ----------
    begins
        Of tables, the difference of the first version.
    undone
        The names of statements that do not run.
    replaced
        By name, the statements that run in the place of others.
    check
        Holds a statement against its version: the rows that a difference concerns, or the whole of
        it; and versions that no statement made. None: all are known.
    row_keys
        By table, columns by which the rows are looked up that a difference concerns.
    """

    begins: Mapping[str, Bags] = field(default_factory=dict)
    undone: frozenset[str] = frozenset()
    replaced: Mapping[str, Statement] = field(default_factory=dict)
    check: Callable[[HistoryStep, Concerned], None] | None = None
    row_keys: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._concerned_keys: dict[str, str] = {}
        self._lazy: dict[str, int] = {}
        self.state |= self.begins
        self._versions = {name: chain.first for name, chain in self.chains.items()}

    def run(self) -> Mapping[str, Bags]:
        """Return the difference of the last version of each table, as views of the session."""
        for step in self.events:
            replaced = self.replaced.get(step.name)
            text = (replaced or step.statement).text
            accepted = step.accepted and replaced is None
            with reading(text, accepted=accepted, written=True), reading_versions():
                self.state[step.table] = self._after(step)
            self._versions[step.table] = step.version
        for table, chain in self.chains.items():
            version, bags = self._versions[table], self._settled(table)
            bags = self._with_columns(table, bags, version, chain.last)
            gone, came = (v if v is None else self.engine.shown(v) for v in (bags.gone, bags.came))
            self.state[table] = replace(bags, real=chain.versions[chain.last], gone=gone, came=came)
        return self.state

    # -- one statement ---------------------------------------------------------------------

    def _after(self, step: HistoryStep) -> Bags:
        chain = self.chains[step.table]
        keys = self._concerned_keys.pop(step.table, None)
        runs = step.name not in self.undone and step.name not in self.replaced
        if not runs:
            self._lazy.pop(step.table, None)
        elif not row_by_row(step.statement) or self._lazy.get(step.table) == _CHAINED:
            self._settled(step.table)
        now = self._before(step, self.state[step.table], self._versions[step.table])
        self.state[step.table] = now
        real = chain.versions[step.version]
        if step.name in self.undone:
            self._checked(step)
            return self._unexecuted(step, real)
        statement = self.replaced.get(step.name)
        if statement is not None:
            self._checked(step, lambda: ())
            return self._whole(step, statement, real)
        changed = {name for name in sources_of(step.statement) if self._bags(step, name).changed}
        if not now.changed and not changed:
            return Bags(real)
        if row_by_row(step.statement):
            replayed: ReplayedRows | None = self._row_by_row(step, now, real, keys)
        else:
            replayed = self._incremental(step, step.statement, now, real, bool(changed))
        if replayed is None:
            self._checked(step)
            return self._whole(step, step.statement, real)
        self._checked(step, replayed.concerned)
        return replayed.bags

    def _checked(self, step: HistoryStep, concerned: Concerned = lambda: None) -> None:
        if self.check is not None:
            self.check(step, concerned)

    def _unexecuted(self, step: HistoryStep, real: str) -> Bags:
        """Return the version before as a difference of the one after."""
        before, chain = self.state[step.table], self.chains[step.table]
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

    def _incremental(
        self, step: HistoryStep, statement: Statement, now: Bags, real: str, changed: bool
    ) -> ReplayedRows | None:
        """Replay over the rows that the difference concerns; None: they are not known."""
        if isinstance(statement, MergeInto):
            return self._merged(step, statement, now, real, changed)
        if isinstance(statement, Insert | Replace):
            return self._inserted(step, statement, now, real, changed)
        return None

    def _row_by_row(
        self, step: HistoryStep, now: Bags, real: str, keys: str | None
    ) -> ReplayedRows:
        """Replay a statement that changes each row by itself.

        Nothing is computed yet; see :meth:`_settled`.

        Parameters
        ----------
        keys
            A stored view of the keys of all rows of the difference; None: they are not known.
        """
        statement = step.statement
        self.check_nulls(step, statement, now.came)
        become = partial(self._of_rows, step, statement)
        sides = (self._of_rows(step, statement, rows) for rows in (now.gone, now.came))
        gone, came = (None if query is None else self.engine.view(query) for query in sides)
        self._lazy[step.table] = self._lazy.get(step.table, 0) + 1
        concerned = partial(self._concerned, step, now, become, keys)
        return ReplayedRows(Bags(real, gone, came), concerned)

    def _settled(self, table: str) -> Bags:
        """Return the difference of a table as it is now, computed."""
        if self._lazy.pop(table, None):
            real, gone, came = (bags := self.state[table]).real, bags.gone, bags.came
            sides = (None if rows is None else rows_of(rows) for rows in (gone, came))
            self.state[table] = self._normal(real, *sides)
        return self.state[table]

    def _concerned(
        self,
        step: HistoryStep,
        now: Bags,
        effect: Callable[[str], str | None],
        keys: str | None = None,
    ) -> Sequence[ConcernedRows] | None:
        """Return the outcome of a statement for the rows of a difference; None: there is no key.

        Parameters
        ----------
        effect
            Returns the query of the rows that the rows in a view become; None: no row.
        """
        if now.gone is None:
            return ()
        key = self.row_keys.get(step.table)
        if key is None:
            return None
        columns = over_rows([quoted_name([ROWS, column]) for column in key], ROWS)
        if keys is None:
            sides = [rows for rows in (now.gone, now.came) if rows is not None]
            queries = [(rows_of(rows), ROWS, columns) for rows in sides]
            keys = self.engine.keys(queries) or stored(self.engine, keys_of(queries))
        keys, checked = self._known.widened(step.table, columns, keys)
        if not self._assigns(step, key):
            self._concerned_keys[step.table] = keys
        if step.name in checked:
            return ()
        own = self.engine.view(self._near_before(step, now, columns, keys))
        return [ConcernedRows(self._near(step, columns, keys), effect(own), checked)]

    def _near_before(
        self, step: HistoryStep, now: Bags, expressions: Sequence[str], keys: str
    ) -> str:
        """Return the query of the rows with some keys in the real version before a statement."""
        chain, version = self.chains[step.table], self._versions[step.table]
        if now.real == chain.versions[version]:
            return self._known.near(step.table, chain, version, expressions, keys)
        values = self.engine.literals(keys)
        return rows_of(
            stored(self.engine, within(rows_of(now.real), ROWS, expressions, keys, values))
        )

    def _assigns(self, step: HistoryStep, key: Sequence[str]) -> bool:
        """Return True if a statement that changes each row by itself may change its key."""
        if not isinstance(step.statement, Update):
            return False
        columns = self.chains[step.table].shapes[step.version].by_name
        names = {part.lower() for each in step.statement.assignments for part in each.column}
        own = {name.lower() for name in key}
        return bool(names & own) or any(columns[name].generated for name in own)

    def _near(self, step: HistoryStep, expressions: Sequence[str], keys: str) -> str:
        chain = self.chains[step.table]
        return self._known.near(step.table, chain, step.version, expressions, keys)

    def _of_rows(self, step: HistoryStep, statement: Statement, rows: str | None) -> str | None:
        if rows is None:
            return None
        return self._reenacted(step, statement, Relations(rows)).rows

    def _inserted(
        self, step: HistoryStep, statement: Insert | Replace, now: Bags, real: str, changed: bool
    ) -> ReplayedRows | None:
        whole, kept = isinstance(statement, Replace), None
        if isinstance(statement, Insert):
            if step.dynamic and statement.overwrites:
                return None
            self.check_nulls(step, statement, now.came)
            kept = self._kept(step, statement)
            whole = statement.overwrites and kept is None

        def left(rows: str) -> str:
            if kept is None:
                return rows_of(rows)
            return self._reenacted(step, kept, Relations(rows)).rows

        sides = (None if whole else rows for rows in (now.gone, now.came))
        gone, came = ([left(rows)] if rows else [] for rows in sides)
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
        if not passed_on:
            return ReplayedRows(after, lambda: None)
        return ReplayedRows(after, partial(self._concerned, step, now, left))

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
        before = self.engine.view(f"{rows_of(self._real_before(step))} WHERE FALSE")
        return self.engine.view(
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
        if not self.equates_alike(written, before):
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
        keys = self.engine.keys(differing) if differing else None
        if keys is None:
            return ReplayedRows(Bags(real), lambda: ())
        over_targets = over_rows(targets, alias)
        keys, checked = self._known.widened(step.table, over_targets, keys)
        values = self.engine.literals(keys)
        own = self.engine.view(self._near_before(step, now, over_targets, keys))
        partners = within(rows_of(before.source), source_alias, sources, keys, values)

        def concerned() -> Sequence[ConcernedRows]:
            if step.name in checked:
                return ()
            return [ConcernedRows(self._near(step, over_targets, keys), made, checked)]

        by_source = statement.of(Matching.BY_SOURCE)
        if not (changed or by_source) and self.engine.count_here(partners) == 0:
            made = rows_of(own)
            return ReplayedRows(Bags(real, now.gone, now.came), concerned)
        is_held = self.engine.is_held(partners)
        source = (self.engine.view if is_held else partial(stored, self.engine))(partners)
        would_be = self._rows(Bags(own, now.gone, now.came))
        new_source = self._rows(Bags(source, *sides))
        was = self._reenacted(step, statement, Relations(own, before.views, source))
        then = self._reenacted(step, statement, Relations(would_be, after.views, new_source))
        if not self._is_single(step, statement, sources, source_alias):
            self._check_unambiguous(step, then)
        # Not the rows of the version with these keys: a key may have changed.
        made_of = (self.computed(statement, each.rows) for each in (was, then))
        view, gone, came = self.engine.compared(*made_of)
        made = rows_of(view)
        return ReplayedRows(Bags(real, gone, came), concerned)

    def _rows(self, bags: Bags) -> str:
        """Return a view of few hypothetical rows."""
        if not bags.changed:
            return bags.real
        query = hypothetical(bags)
        is_held = self.engine.is_held(query)
        return self.engine.view(query) if is_held else stored(self.engine, query)

    def _is_single(
        self, step: HistoryStep, statement: MergeInto, sources: Sequence[str], alias: str
    ) -> bool:
        """Return True if at most one row of a MERGE's source has any values of its keys.

        Parameters
        ----------
        sources
            The expressions over the source that are equated with ones over the target.
        """
        name, columns = passes_rows(statement.source), column_names(sources, alias)
        if name is None or columns is None or not is_whole(statement.source):
            return False
        key = self.keys.get(step.reads.get(name, name), ())
        if not key or self._bags(step, name).came:
            return False
        return {column.lower() for column in columns} >= {column.lower() for column in key}

    def _source_difference(
        self, step: HistoryStep, statement: MergeInto, before: str, after: str
    ) -> tuple[str | None, str | None]:
        """Return the rows that the source of a MERGE has less, and more, than it had."""
        name = passes_rows(statement.source)
        if name is None:
            return self.engine.differences(rows_of(before), rows_of(after))
        bags = self._bags(step, name)
        if is_whole(statement.source):
            return bags.gone, bags.came
        gone, came = (
            None if rows is None else source_query(statement, {name: rows})
            for rows in (bags.gone, bags.came)
        )
        first, second = (None if q is None else self.engine.store(q) for q in (gone, came))
        return first, second

    def _whole(self, step: HistoryStep, statement: Statement, real: str) -> Bags:
        """Replay a statement over the whole table."""
        views = self._views(step, statement, hypothetically=True)
        before = self.engine.view(hypothetical(self.state[step.table]))
        self.check_nulls(step, statement, before)
        written = self._reenacted(step, statement, self._relations(statement, before, views))
        self._check_unambiguous(step, written)
        after = rows_of(self.engine.view(self.computed(statement, written.rows)))
        return self._normal(real, rows_of(real), after)

    # -- parts -----------------------------------------------------------------------------

    def _normal(self, real: str, gone: str | None, came: str | None) -> Bags:
        """Return a difference whose sides have no row in common."""
        if gone is None and came is None:
            return Bags(real)
        left = None if gone is None else rows_of(self.engine.view(gone))
        right = None if came is None else rows_of(self.engine.view(came))
        if left is None or right is None:
            return Bags(
                real,
                None if left is None else self.engine.store(left),
                None if right is None else self.engine.store(right),
            )
        return Bags(real, *self.engine.differences(left, right))

    def _check_unambiguous(self, step: HistoryStep, written: Reenactment) -> None:
        if written.ambiguous is not None and self.engine.store(written.ambiguous) is not None:
            raise StatementError(
                f"The statement {step.name!r} would fail, or write a row twice: several rows of "
                f"its source match one row of {step.table}.\nDelete or undo something else as "
                "well, or replace the statement by one whose source has a row for each."
            )
