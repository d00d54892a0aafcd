"""Versions of tables as queries over their first versions and the sources of statements.

The version ``orders@3`` is a relation that queries read: a view whose text is the reenactment of
the statement that made it, over the version before it. Binding unfolds it, so that annotations,
values and lineage of such a query are in tokens of the first version, ``orders@0``, and of the
relations that statements read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame

from lipstick.errors import UnsupportedError
from lipstick.histories.chain import HistoryStep
from lipstick.histories.replay import Replay
from lipstick.histories.steps import KnownHistory
from rewriter import ViewText
from rewriter.statements import (
    MergeInto,
    Reenactment,
    Relations,
    Replace,
    duplicate_source_keys,
    over_relations,
    references,
    rows_of,
    sources_of,
    with_columns,
)


class VersionViews:
    """The versions of a history's tables as views, which are defined when a query reads them.

    Parameters
    ----------
    defined
        Where the session looks views up, by name in lower case; they are added to it.
    register
        Makes a temporary view that the session drops in the end.
    """

    def __init__(
        self,
        history: KnownHistory,
        defined: dict[str, ViewText],
        register: Callable[[DataFrame, str], None],
    ) -> None:
        self._register = register
        self._history = history
        self._defined = defined

    def define(self, table: str, version: int) -> str:
        """Define a version of a table and the versions that it is made of; return its name.

        Raises
        ------
        UnsupportedError
            When a MERGE among the statements might fail had other rows been there, since several
            rows of its source might match one row: such a world has no answer. When Iceberg might
            remove rows with NULL that SQL keeps.
        """
        history = self._history
        chain, steps = history._chains[table], history._steps
        name = f"{history._relations[table]}@{version}"
        made = {step.version for step in steps_over(steps, table)}
        if version == chain.first and version not in made:
            return self._state(table, 0)
        if name.lower() not in self._defined:
            later = chain.after(version)
            until = next(
                (n for n, s in enumerate(steps) if s.table == table and s.version in later),
                len(steps),
            )
            self._define(name, rows_of(self._at(table, until, version)), chain.versions[version])
        return name

    def _state(self, table: str, until: int) -> str:
        """Return the relation that a table was before the step of a number."""
        history = self._history
        relation = history._relations[table]
        steps = steps_over(history._steps[:until], table)
        if not steps:
            name = f"{relation}@{history._chains[table].first}"
            if name.lower() not in history._tracked:
                history._first[table](name)
            return name
        step = steps[-1]
        name = f"{relation}@{step.version}/{step.name}"
        if name.lower() not in self._defined:
            self._define(name, self._text(step), history._chains[table].versions[step.version])
        return name

    def _text(self, step: HistoryStep) -> str:
        """Return a version as a query over the version before and what the statement read."""
        history, number = self._history, self._history._steps.index(step)
        views = {}
        for known in sources_of(step.statement):
            stands_for = step.reads.get(known, known)
            own = stands_for in history._chains
            views[known] = self._state(stands_for, number) if own else stands_for
        replay = history._replay_before(step)
        relations = replay.relations(step)
        replay.check_nulls(step, step.statement, relations.before, whichever=True)
        written = replay.reenacted(step, relations)
        if written.ambiguous is not None:
            self._check_never_ambiguous(step, replay, relations, written)
        if isinstance(step.statement, Replace):
            before = self._state(step.table, number)
        else:
            before = self._at(step.table, number, step.version)
        text = replay.reenacted(step, relations, Relations(before, views)).rows
        for relation in {before, *views.values()}:
            known_view = self._defined.get(relation.lower())
            if known_view is not None and references(text, relation) > 1:
                self._defined[relation.lower()] = replace(known_view, once=True)
        return text

    def _at(self, table: str, until: int, version: int) -> str:
        """Return the relation before the step of a number, with the columns of a later version."""
        history, name = self._history, self._state(table, until)
        chain, steps = history._chains[table], steps_over(history._steps[:until], table)
        start = steps[-1].version if steps else chain.first
        rows = chain.versions[start]
        for number, shapes in enumerate(chain.evolutions(start, version)):
            text, name = with_columns(name, *shapes), f"{name}/columns {number} for {version}"
            rows = history.engine.view(with_columns(rows, *shapes))
            if name.lower() not in self._defined:
                self._define(name, text, rows)
        return name

    def _define(self, name: str, text: str, rows: str) -> None:
        self._defined[name.lower()] = ViewText(name, text)
        self._register(self._history.engine.frame(rows_of(rows)), name)

    def _check_never_ambiguous(
        self, step: HistoryStep, replay: Replay, relations: Relations, written: Reenactment
    ) -> None:
        """Check that no row is matched twice, whichever rows are there."""
        assert isinstance(step.statement, MergeInto)
        chains = self._history._chains
        fixed = (name for name in relations.views if step.reads.get(name, name) not in chains)
        keys = [key for _, key in written.keys]
        query = duplicate_source_keys(step.statement, keys, written.aliases[1], frozenset(fixed))
        if query is not None and replay.equates_alike(written, relations):
            engine = self._history.engine
            if not query or not engine.frame(over_relations(query, relations.views)).head(1):
                return
        raise UnsupportedError(
            f"several rows of the source of {step.name!r} might match one row, had other rows been "
            "there",
            "Give it a source with one row for each key: group it by the key, or number the rows "
            "of a key and take the first. what_if() of a query over the last version answers.",
            step.statement.text,
        )


def steps_over(steps: list[HistoryStep], table: str) -> list[HistoryStep]:
    """Return the steps that change a table."""
    return [step for step in steps if step.table == table]
