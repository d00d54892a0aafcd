"""Questions about a dbt project: followed nodes, rows behind rows, and the impact of rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.errors import PySparkException

import lipstick
from lipstick import display
from lipstick.dataframes.arrow import arrow_rows
from lipstick.engines.route import if_here
from lipstick.engines.spark.local_session import unlogged_errors
from lipstick.errors import LipstickError, NeedsSparkError, first_line
from lipstick.frame import AnnotatedFrame
from lipstick.questions.checks.dbt import failure_bounds
from lipstick.questions.deletion import Deletion, resolve_deletion
from lipstick.questions.diff.answers import answer_key
from lipstick.questions.diff.difference import AnswerDifference
from lipstick.questions.diff.pipeline import pair_answers
from lipstick.systems.dbt.bases import BaseTable, TrackedBases, is_key
from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import DbtProject, ModelQuery, Refusal
from lipstick.systems.dbt.rows import ProjectRows, RowsLeft
from lipstick.systems.dbt.schemas import NodeSchemas
from lipstick.systems.dbt.snapshots import SnapshotLineage, SnapshotVersions, trace_versions
from rewriter.blocks import topological
from semiring.support.door import checked

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A model or test, and the reason why it cannot be followed, or None."""

    node: DbtNode
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class RowLineage:
    """Rows of a model, and the rows of seeds and sources that they were made from, by name.

    Attributes
    ----------
    snapshots
        The versions in snapshots among these rows, and the rows that made them.
    """

    model: DbtNode
    rows: pa.Table
    bases: Mapping[str, pa.Table]
    snapshots: tuple[SnapshotLineage, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeImpact:
    """The change of a model or test without some rows.

    Attributes
    ----------
    changes
        The rows that differ: ``_change`` (changed, deleted or added), ``old`` and ``new``.
    before, after
        The numbers of rows; of a test, of failures.
    ties
        The titles of models, this one or others that it rests on, whose rows depend on the order
        of rows that tie. A build may choose others, as Spark does not define the order.
    """

    node: DbtNode
    changes: pa.Table | None = None
    before: int = 0
    after: int = 0
    ties: tuple[str, ...] = ()
    refusal: Refusal | None = None

    def passes(self, failures: int) -> bool:
        """Return True if a test neither fails nor warns with a number of failures."""
        return all(each.side(failures) is None for each in failure_bounds(self.node.config))

    @property
    def is_changed(self) -> bool:
        """True if some row differs."""
        return self.changes is not None and self.changes.num_rows > 0


@dataclass(frozen=True, slots=True)
class BaseImpact:
    """The models, tests and exposures that depend on some rows of a seed or source.

    Attributes
    ----------
    rows
        The number of these rows.
    models, tests
        The nodes that depend on the seed or source, and their changes without the rows.
    exposures
        The exposures that depend on it, with the models and sources they read that change.
    """

    base: DbtNode
    rows: int
    models: tuple[NodeImpact, ...]
    tests: tuple[NodeImpact, ...]
    exposures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def failing(self) -> tuple[NodeImpact, ...]:
        """The tests that pass and would warn or fail."""
        return tuple(
            test
            for test in self.tests
            if test.refusal is None and test.passes(test.before) and not test.passes(test.after)
        )


@dataclass(frozen=True, slots=True)
class ModelDifference:
    """The difference of a model between two states of a project.

    Attributes
    ----------
    through
        By each edited model that it depends on, the number of rows that differ if only that model
        is edited; None if Spark refuses this.
    """

    node: DbtNode
    difference: AnswerDifference | None = None
    through: Mapping[str, int | None] = field(default_factory=dict)
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class StateDifference:
    """The difference of two states of a project over the same rows.

    Attributes
    ----------
    models
        The edited models that both states have, and models that rest on them.
    edited, added, removed
        The models with another text, and models of one state alone.
    """

    models: tuple[ModelDifference, ...]
    edited: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """True if every model that both have is followed, and has the same rows."""
        return all(m.difference is not None and m.difference.is_empty for m in self.models)


@checked
class TrackedProject:
    """A dbt project whose seeds and sources are tracked in a session.

    Parameters
    ----------
    sources
        The tables and files of sources, by name; :class:`BaseTable` or what ``track`` takes. Seeds
        are read from their files unless they are named here. A model or snapshot that is named is
        a source, with the rows that its table has.
    before
        By the names of incremental models, their tables as they were before the run: the models
        are what the compiled increments make of these.

    Raises
    ------
    LipstickError
        For names that are not seeds, sources or models, and increments that are not followed.
    """

    def __init__(
        self,
        project: DbtProject,
        session: lipstick.Session,
        sources: Mapping[str, Any] | None = None,
        before: Mapping[str, Any] | None = None,
    ) -> None:
        self.session = session
        self._given = project
        self._tables: dict[str, BaseTable] = {}
        self.bases = TrackedBases(session, self._tables)
        self._answers: dict[str, AnnotatedFrame | Refusal] = {}
        self._rows: ProjectRows | None = None
        for name, given in (sources or {}).items():
            node = project.node(name, "seed", "source", "model", "snapshot")
            project = project.with_table(node) if node.kind not in ("seed", "source") else project
            self._tables[node.id] = _base_table(given)
        tables = []
        for name, given in (before or {}).items():
            project, table = project.with_before(project.node(name, "model"))
            self._given, _ = self._given.with_before(self._given.node(name, "model"))
            self._tables[table.id] = _base_table(given)
            tables.append(table)
        self.project = project
        for table in tables:
            refusal = self.bases.track(self.project, table)
            if refusal is not None:
                raise LipstickError(
                    f"The table {table.name} the run cannot be read: {refusal.reason}"
                )
            project.set_columns(table, session.tracked[project.names[table.id]].columns)

    # -- what is followed ----------------------------------------------------------------------

    def check(self) -> list[NodeReport]:
        """Annotate every model and test, and return the refused ones; only analysis runs.

        Each is annotated over the columns of the models that it reads. The model with the most
        models below it is annotated over seeds and sources, too, which refuses projects nested too
        deeply for Spark. Models come in a build order, and tests last.
        """
        models, tests = self.project.models, self.project.tests
        nodes, deepest, reports = [*models, *tests], models[-1:], []
        with NodeSchemas(self) as schemas:
            for node in _shown(nodes, "annotating"):
                answer = schemas.annotated(node)
                refusal = answer if isinstance(answer, Refusal) else None
                if refusal is None and node in deepest and self._refusal(node) is not None:
                    return [NodeReport(each, self._refusal(each)) for each in nodes]
                reports.append(NodeReport(node, refusal))
        return reports

    def _refusal(self, node: DbtNode) -> Refusal | None:
        answer = self.annotated(node)
        return answer if isinstance(answer, Refusal) else None

    # -- rows behind rows ----------------------------------------------------------------------

    def why(self, model: str, where: str | None = None) -> RowLineage:
        """Return the rows of a model or test that satisfy a condition, and the rows behind them.

        The rows of a test are its failures.

        The condition is part of the query, so that its members alone are captured; the rows
        behind them are read by their keys.

        Raises
        ------
        LipstickError
            There is no such model, test or row, or it is refused.
        """
        given = self._given.node(model, "model", "test", "snapshot")
        node = self.project.manifest.nodes[given.id]
        frame = self.annotated(node, where)
        if isinstance(frame, Refusal):
            raise LipstickError(f"{node.title} cannot be asked: {frame.reason}\nSee {frame.place}.")
        rows = frame.capture.memory.answer()
        if not rows.num_rows:
            raise LipstickError(
                f"{node.title} has no rows."
                if where is None
                else f"No row of {node.title} satisfies {where}."
            )
        bases, snapshots = self.behind(frame)
        return RowLineage(given, rows, bases, tuple(snapshots))

    def behind(self, frame: AnnotatedFrame) -> tuple[dict[str, pa.Table], list[SnapshotLineage]]:
        """Return the rows of seeds and sources behind an answer, and versions in snapshots."""
        bases: dict[str, pa.Table] = {}
        snapshots: list[SnapshotLineage] = []
        for name, rows in sorted(frame.lineage().items()):
            base = self.project.by_name.get(name)
            given = None if base is None else self._given.manifest.nodes.get(base.id, base)
            if given is not None and given.kind == "snapshot":
                snapshots += trace_versions(self, SnapshotVersions(given, rows))
            else:
                bases[name if given is None else given.title] = arrow_rows(rows)
        return bases, snapshots

    # -- what rests on rows --------------------------------------------------------------------

    def impact(self, base: str, where: str) -> BaseImpact:
        """Return models, tests and exposures without some rows of a seed or source.

        Every number is that of a full build of the project without these rows, unless tied rows
        decide over it. Each model is computed over the rows of the models that it reads; models
        with more than a million rows, and their readers, are captured over seeds and
        sources.

        Raises
        ------
        LipstickError
            There is no such seed or source, or no row of it satisfies the condition.
        TrackingError
            Spark refuses the condition.
        """
        node = self.project.node(base, "seed", "source")
        refusal = self.bases.track(self.project, node)
        if refusal is not None:
            raise LipstickError(f"{node.title} cannot be read: {refusal.reason}")
        record = self.session.tracked[self.project.names[node.id]].record
        deletion = resolve_deletion(self.session.spark, {record.name: record}, {record.name: where})
        rows = deletion.tokens[record.name].num_rows
        if not rows:
            raise LipstickError(f"No row of {node.title} satisfies {where}.")
        resting = [
            each
            for each in (*self._given.models, *self._given.tests)
            if self._given.rests_on(each, node)
        ]
        nodes = self.project.manifest.nodes
        tables = [each for each in resting if nodes[each.id].kind != each.kind]
        self._rows = self._rows or ProjectRows(self)
        with self._rows.without(node, deletion) as left:
            impacts = [
                self._impact(each, deletion, tables, left)
                for each in _shown(resting, "asking")
                if each.materialized != "ephemeral"
            ]
        models = tuple(each for each in impacts if each.node.kind != "test")
        tests = tuple(each for each in impacts if each.node.kind == "test")
        changed = {each.node.id: each.node.title for each in models if each.is_changed}
        unknown = (each.node for each in models if each.refusal is not None)
        changed |= {each.id: f"{each.title} (not known)" for each in unknown}
        changed[node.id] = node.title
        exposures = {
            each.name: tuple(changed[parent] for parent in each.parents if parent in changed)
            for each in self._given.manifest.of_kind("exposure")
            if self._given.rests_on(each, node)
        }
        return BaseImpact(node, rows, models, tests, exposures)

    def _impact(
        self, node: DbtNode, deletion: Deletion, tables: Sequence[DbtNode], left: RowsLeft
    ) -> NodeImpact:
        """Return the change of a node without rows of a base.

        Parameters
        ----------
        tables
            The models and snapshots on the way that are read as their tables stand.
        """
        for each in tables:
            if node.id == each.id or self._given.rests_on(node, each):
                reason = f"it rests on {each.title}, which is read as its table stands"
                return NodeImpact(node, refusal=Refusal(reason, each.file))
        assert self._rows is not None
        found = if_here(partial(self._rows.changes, node, left), NeedsSparkError)
        if found is None:
            return self._captured_impact(node, deletion)
        if isinstance(found, Refusal):
            return NodeImpact(node, refusal=found)
        return NodeImpact(node, found.changes, found.before, found.after, tuple(sorted(found.ties)))

    def _captured_impact(self, node: DbtNode, deletion: Deletion) -> NodeImpact:
        """Return the change of a node by its captured query over seeds and sources."""
        frame = self.annotated(node)
        if isinstance(frame, Refusal):
            return NodeImpact(node, refusal=frame)
        breaks_ties = any(block.breaks_ties for block in topological(frame.plan.root))
        ties = (node.title,) if breaks_ties else ()
        try:
            with unlogged_errors():
                if not deletion.tokens.keys() & frame.plan.relations.keys():
                    changes = pa.table({"_change": pa.array([], pa.string())})
                    before = after = frame.count()
                    return NodeImpact(node, changes, before, after, ties)
                changed = frame.capture.cluster.changes_without(deletion)
        except (LipstickError, PySparkException) as error:
            return NodeImpact(node, refusal=Refusal(first_line(error), node.file))
        return NodeImpact(node, *changed, ties)

    # -- other states --------------------------------------------------------------------------

    def diff(self, other: DbtProject) -> StateDifference:
        """Compare models over the same rows in a different state of the project and in this one.

        All models are compared whose text differs, or that depend on such a model.
        """
        state = self.over(self.project.with_state(other))
        edited = self.project.edited(state.project)
        mine, theirs = self.project.manifest.nodes, state.project.manifest.nodes
        models = []
        for node in _shown(self.project.models, "comparing"):
            if node.id not in theirs or node.materialized == "ephemeral":
                continue
            through = [
                each
                for each in edited
                if each.id == node.id
                or self.project.rests_on(node, each)
                or state.project.rests_on(theirs[node.id], theirs[each.id])
            ]
            if through:
                models.append(self._difference(node, state, through))
        added = tuple(n.title for n in self.project.models if n.id not in theirs)
        removed = tuple(n.title for n in state.project.models if n.id not in mine)
        return StateDifference(tuple(models), tuple(n.title for n in edited), added, removed)

    def _difference(
        self, node: DbtNode, state: TrackedProject, edited: Sequence[DbtNode]
    ) -> ModelDifference:
        """Compare a model with its other state, given the edited models that it depends on."""
        old = state.project.manifest.nodes[node.id]
        before, after = state.annotated(old), self.annotated(node)
        for answer in (before, after):
            if isinstance(answer, Refusal):
                return ModelDifference(node, refusal=answer)
        assert isinstance(before, AnnotatedFrame)
        assert isinstance(after, AnnotatedFrame)
        tables = before.toArrow(), after.toArrow()
        key = answer_key([before.plan.root, after.plan.root], [t.column_names for t in tables])
        if key is None:
            columns = [*self.project.uniquely_tested(node), *tables[1].column_names]
            unique = ((c,) for c in columns if all(is_key(table, c) for table in tables))
            key = next(unique, None)
        through: dict[str, int | None] = {}
        try:
            difference = _compared(*tables, key)
            for each in edited:
                rows: pa.Table | None = tables[1]
                if len(edited) > 1:
                    alone = self.over(state.project.with_text(each, self.project)).annotated(old)
                    rows = None if isinstance(alone, Refusal) else alone.toArrow()
                number = None if rows is None else _count(_compared(tables[0], rows, key))
                through[each.title] = number
        except LipstickError as error:
            return ModelDifference(node, refusal=Refusal(first_line(error), node.file))
        return ModelDifference(node, difference, through)

    # -- seeds, sources and queries ------------------------------------------------------------

    def over(self, project: DbtProject, bases: TrackedBases | None = None) -> TrackedProject:
        """Return another project over the same seeds and sources, or over different ones."""
        other = copy.copy(self)
        other.project, other._answers, other._rows = project, {}, None
        other.bases = bases or self.bases
        return other

    def annotated(
        self, node: DbtNode, where: str | None = None, select: str | None = None
    ) -> AnnotatedFrame | Refusal:
        """Return the annotated answer of a model or test, or a refusal.

        Parameters
        ----------
        where, select
            As for :meth:`DbtProject.query`.
        """
        if where is not None or select is not None:
            return self._annotate(node, where, select)
        if node.id not in self._answers:
            self._answers[node.id] = self._annotate(node)
        return self._answers[node.id]

    def _annotate(
        self, node: DbtNode, where: str | None = None, select: str | None = None
    ) -> AnnotatedFrame | Refusal:
        query = self.tracked_query(node, where, select)
        return query if isinstance(query, Refusal) else self.read(query, node, self.session.sql)

    def tracked_query(
        self, node: DbtNode, where: str | None = None, select: str | None = None
    ) -> ModelQuery | Refusal:
        """Return the query of a node with its seeds and sources tracked, or a refusal."""
        query = self.project.query(node, where, select)
        if isinstance(query, Refusal):
            return query
        for base in query.bases:
            parent = self.project.manifest.nodes[base]
            refusal = self.bases.track(self.project, parent)
            if refusal is not None:
                return Refusal(f"it rests on {parent.title}: {refusal.reason}", node.file)
        return query

    def read(self, query: ModelQuery, node: DbtNode, how: Callable[[str], T]) -> T | Refusal:
        """Return the result of a function on the text of a query, or a refusal."""
        try:
            with unlogged_errors():
                return how(query.sql)
        except PySparkException as error:
            return Refusal(first_line(error), node.file)
        except LipstickError as error:
            return self.project.refusal(query, node, error)


def _shown(nodes: Sequence[DbtNode], doing: str) -> Iterator[DbtNode]:
    """Yield nodes, and show the current one on a progress line."""
    with display.progress(after=2.0) as line:
        for number, node in enumerate(nodes, start=1):
            line(f"{doing} {node.title}, {number:,} of {len(nodes):,}")
            yield node


def _compared(before: pa.Table, after: pa.Table, key: Sequence[str] | None) -> AnswerDifference:
    """Return the difference of two answers by their rows only."""
    return AnswerDifference(before, after, key, pair_answers(before, after, key))


def _count(difference: AnswerDifference) -> int:
    return difference.added + difference.removed + difference.changed


def _base_table(given: Any) -> BaseTable:
    return given if isinstance(given, BaseTable) else BaseTable(given)
