"""Statements over the real versions of tables, and the relations that they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lipstick.errors import StatementError, UnsupportedError
from lipstick.histories.chain import Chain, HistoryStep
from lipstick.histories.lookups import KnownRows
from lipstick.histories.sql_engine import SqlEngine, StatementEffect, stored
from lipstick.tracking.formats.iceberg import VersionedIceberg
from rewriter.statements import (
    Bags,
    Insert,
    Matching,
    MergeInto,
    Reenactment,
    Relations,
    Replace,
    Statement,
    Update,
    beside_source,
    doubtful_removal,
    hypothetical,
    is_by_place,
    keys_of,
    over_rows,
    reenact,
    rows_of,
    source_query,
    sources_of,
    with_columns,
    with_places,
)


@dataclass
class RealVersions:
    """The tables of a history, at the statement that is looked at.

    Parameters
    ----------
    chains
        The tables by their dotted names in lower case.
    bases
        Relations that statements read and that do not change: real rows, and what is gone or came.
    known
        What others over the same versions found in these; None: nothing.
    keys
        By table, columns that name each row of each version, by which rows are left out.
    readable
        Raises the error about a relation whose rows are about to be read and are gone.

    Attributes
    ----------
    state
        By table, the difference to the real version: none but in a :class:`Replay`.
    """

    engine: SqlEngine
    chains: Mapping[str, Chain]
    events: Sequence[HistoryStep]
    bases: Mapping[str, Bags]
    known: KnownRows | None = None
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    readable: Callable[[str], None] = field(default=lambda relation: None, kw_only=True)
    state: dict[str, Bags] = field(init=False)

    def __post_init__(self) -> None:
        self.engine.renew()
        self._known = self.known or KnownRows(self.engine)
        self.state = {n: Bags(chain.versions[chain.first]) for n, chain in self.chains.items()}

    def stand_before(self, step: HistoryStep) -> None:
        """Let every table be the real version that it was when a statement ran."""
        self.state = {n: Bags(chain.versions[chain.first]) for n, chain in self.chains.items()}
        for other in self.events[: self.events.index(step)]:
            self.state[other.table] = Bags(self.chains[other.table].versions[other.version])
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
        if not written.keys:
            return False
        assert relations.source is not None
        alias, source_alias = written.aliases
        target = keys_of([(rows_of(relations.before), alias, [k for k, _ in written.keys])])
        source = keys_of([(rows_of(relations.source), source_alias, [k for _, k in written.keys])])
        shapes = self.engine.shape(target), self.engine.shape(source)
        return [c.type for c in shapes[0].columns] == [c.type for c in shapes[1].columns]

    def effect(self, step: HistoryStep) -> StatementEffect | None:
        """Return what a statement changed of the real version before it; None: all, perhaps.

        The rows that it touched are read once.
        """
        effects = self._known.effects
        if step.name not in effects:
            relations, effect = self.relations(step), None
            before = self._touchable(step, relations)
            own = Relations(before, relations.views, relations.source)
            touched = self.reenacted(step, relations, own).touched
            if touched is not None:
                rows = stored(self.engine, touched, few=not isinstance(step.statement, MergeInto))
                over = Relations(rows, relations.views, relations.source)
                written = self.reenacted(step, relations, over)
                became = self.computed(step.statement, written.rows)
                effect = StatementEffect(rows_of(rows), became, written.ambiguous)
            self._known.keep_effect(step.name, effect)
        return effects[step.name]

    def _touchable(self, step: HistoryStep, relations: Relations) -> str:
        """Return a view of the rows before a statement that it may touch.

        Of MERGE these have a key of its source, if that has few rows.
        """
        chain, statement = self.chains[step.table], step.statement
        version, source = chain.before_step(step), relations.source
        same = relations.before == chain.versions[version] and source is not None
        if not (same and isinstance(statement, MergeInto)) or statement.of(Matching.BY_SOURCE):
            return relations.before
        assert source is not None
        written = self.reenacted(step, relations)
        few = self.engine.count_here(rows_of(source)) is not None
        if not few or not self.equates_alike(written, relations):
            return relations.before
        targets, sources = ([pair[side] for pair in written.keys] for side in (0, 1))
        keys = self.engine.keys([(rows_of(source), written.aliases[1], sources)])
        if keys is None:
            return relations.before
        over_targets = over_rows(targets, written.aliases[0])
        return self.engine.view(self._known.near(step.table, chain, version, over_targets, keys))

    def computed(self, statement: Statement, rows: str) -> str:
        """Return the query of a statement's rows; it is stored if their values are of subqueries.

        In a union with others Spark's optimiser fails on subqueries that are correlated.
        """
        merges = isinstance(statement, MergeInto) and beside_source(statement)
        if merges or (isinstance(statement, Update) and sources_of(statement)):
            return rows_of(stored(self.engine, rows, few=False))
        return rows

    def check_nulls(
        self, step: HistoryStep, statement: Statement, rows: str | None, *, whichever: bool = False
    ) -> None:
        """Refuse rows before a statement that Iceberg may remove, and SQL would not.

        Parameters
        ----------
        rows
            A view of the rows; None: there are none.
        whichever
            Refuse the statement if there may be such rows.

        Raises
        ------
        UnsupportedError
        """
        table = self.chains[step.table].table
        if rows is None or not isinstance(table, VersionedIceberg):
            return
        if doubtful_removal(statement, partitioned=True) is None:
            return  # whatever the partitions are, which Spark is asked for
        partitions = f"SELECT * FROM {table.table}.partitions VERSION AS OF {step.version}"
        unknown = table.path is not None or not step.version
        partitioned = unknown or "partition" in self.engine.shape(partitions).by_name
        removal = doubtful_removal(statement, partitioned=partitioned)
        query = removal and self._reenacted(step, removal, Relations(rows)).touched
        if query and (whichever or self.engine.store(query) is not None):
            raise UnsupportedError(
                f"the condition of {step.name!r} may meet NULL, which SQL keeps and Iceberg may "
                f"remove: it removes whole files of {step.table}, in which NULL differs from every "
                "value",
                "Let the condition say what becomes of NULL, such as AND column IS NOT NULL. "
                "what_if() answers where no row with NULL comes to the statement.",
                statement.text,
            )

    def _relations(
        self,
        statement: Statement,
        before: str,
        views: Mapping[str, str],
    ) -> Relations:
        query = source_query(statement, views)
        if query is not None and is_by_place(statement):
            query = with_places(query, len(self.engine.shape(query).columns))
        source = None if query is None else self.engine.view(query)
        return Relations(before, views, source)

    def _reenacted(
        self,
        step: HistoryStep,
        statement: Statement,
        relations: Relations,
        over: Relations | None = None,
    ) -> Reenactment:
        shape, source = self.chains[step.table].shapes[step.version], None
        if relations.source is not None:
            source = self.engine.shape(rows_of(relations.source))
        if step.columns is not None:
            raise UnsupportedError(
                f"{step.name!r} changed no row of {step.table}, so that no version has the columns "
                "that ALTER TABLE had given it",
                "Ask of versions before it, or track the table anew.",
                statement.text,
            )
        dynamic = step.dynamic and isinstance(statement, Insert) and statement.overwrites
        if dynamic and not shape.partitions:
            raise UnsupportedError(
                f"INSERT OVERWRITE replaced the partitions of its rows in {step.table}, whose "
                "partition columns are not known",
                "Set spark.sql.sources.partitionOverwriteMode to static where the table has none.",
                statement.text,
            )
        return reenact(statement, shape, over or relations, source, dynamic=step.dynamic)

    def _views(
        self, step: HistoryStep, statement: Statement, *, hypothetically: bool
    ) -> dict[str, str]:
        """Return views of the relations that a statement reads, by their names in it."""
        views = {}
        for name in sources_of(statement):
            bags = self._bags(step, name)
            self.readable(step.reads.get(name, name))
            if hypothetically and bags.changed:
                key = self.keys.get(step.reads.get(name, name), ())
                views[name] = self.engine.view(hypothetical(bags, key))
            else:
                views[name] = bags.real
        return views

    def _bags(self, step: HistoryStep, name: str) -> Bags:
        """Return the difference of the relation that a name in a statement denotes."""
        name = step.reads.get(name, name)
        known = self._settled(name) if name in self.state else self.bases.get(name)
        if known is None:
            raise StatementError(
                f"The statement {step.name!r} reads {name!r}, which the history does not know.\n"
                f"Track it, ls.track({name!r}, ...), before the history is reenacted."
            )
        return known

    def _real_before(self, step: HistoryStep) -> str:
        chain = self.chains[step.table]
        before = chain.before_step(step)
        return self._before(step, Bags(chain.versions[before]), before).real

    def _before(self, step: HistoryStep, bags: Bags, version: int) -> Bags:
        """Return the rows before a step with the columns that its table had after it."""
        if isinstance(step.statement, Replace):
            return bags
        return self._with_columns(step.table, bags, version, step.version)

    def _with_columns(self, table: str, bags: Bags, version: int, until: int) -> Bags:
        """Return the rows of a version with the columns of a later one."""
        chain = self.chains[table]
        for shapes in chain.evolutions(version, until):
            real = self.engine.view(with_columns(bags.real, *shapes))
            gone, came = (
                None if view is None else self.engine.view(with_columns(view, *shapes))
                for view in (bags.gone, bags.came)
            )
            bags = Bags(real, gone, came)
        return bags

    def _settled(self, table: str) -> Bags:
        """Return the difference of a table as it is now."""
        return self.state[table]
