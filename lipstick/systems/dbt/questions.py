"""Questions about a dbt project: nodes that are followed, rows behind rows, what rests on rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import CaptureError
from lipstick.frame import AnnotatedFrame
from lipstick.questions.checks.dbt import failure_bounds
from lipstick.systems.dbt.errors import DbtError
from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import DbtProject, Refusal
from lipstick.systems.dbt.seeds import read_seed, seed_frame
from semiring.door import checked
from semiring.errors import LipstickError

_UNCHANGED = "unchanged"

_LITERAL_KEYS = 1000
"""The number of keys up to which rows are looked up by literals."""


@dataclass(frozen=True, slots=True)
class BaseTable:
    """The rows of a source: a path of files or the name of a table, and the columns of its key."""

    source: Any
    key: str | tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A model or test, and why it cannot be followed; None: it can."""

    node: DbtNode
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class RowLineage:
    """Rows of a model, and the rows of seeds and sources that they were made from, by name."""

    model: DbtNode
    rows: pa.Table
    bases: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class NodeImpact:
    """The change of a model or test without some rows.

    Attributes
    ----------
    changes
        The rows that differ: ``_change`` (changed, deleted or added), ``old`` and ``new``.
    before, after
        The numbers of rows; of a test, of failures.
    """

    node: DbtNode
    changes: pa.Table | None = None
    before: int = 0
    after: int = 0
    refusal: Refusal | None = None

    def passes(self, failures: int) -> bool:
        """Return True if a test passes with a number of failures."""
        return failure_bounds(self.node.config).side(failures) is None

    @property
    def is_changed(self) -> bool:
        """True if some row differs."""
        return self.changes is not None and self.changes.num_rows > 0


@dataclass(frozen=True, slots=True)
class BaseImpact:
    """The models, tests and exposures that rest on some rows of a seed or source.

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


@checked
class TrackedProject:
    """A dbt project whose seeds and sources are tracked in a session.

    Parameters
    ----------
    sources
        The tables and files of sources, by name; :class:`BaseTable` or what ``track`` takes. Seeds
        are read from their files unless they are named here.

    Raises
    ------
    DbtError
        For names that are no seeds or sources.
    """

    def __init__(
        self,
        project: DbtProject,
        session: lipstick.Session,
        sources: Mapping[str, Any] | None = None,
    ) -> None:
        self.project = project
        self.session = session
        self._tables: dict[str, BaseTable] = {}
        for name, table in (sources or {}).items():
            given = table if isinstance(table, BaseTable) else BaseTable(table)
            self._tables[project.node(name, "seed", "source").id] = given
        self._tracked: dict[str, Refusal | None] = {}
        self._answers: dict[str, AnnotatedFrame | Refusal] = {}

    # -- what is followed ----------------------------------------------------------------------

    def check(self) -> list[NodeReport]:
        """Annotate every model and test, and return which are refused; nothing runs but analysis.

        Models come in an order in which they can be built, and tests last.
        """
        nodes = [*self.project.models, *self.project.tests]
        reports = []
        for node in nodes:
            answer = self._annotated(node)
            reports.append(NodeReport(node, answer if isinstance(answer, Refusal) else None))
        return reports

    # -- rows behind rows ----------------------------------------------------------------------

    def why(self, model: str, where: str) -> RowLineage:
        """Return the rows of a model that satisfy a condition, and the rows behind them.

        The condition is part of the query, so that its members alone are captured; the rows
        behind them are read by their keys.

        Raises
        ------
        DbtError
            There is no such model or row, or the model is refused.
        """
        node = self.project.node(model, "model")
        frame = self._annotated(node, where)
        if isinstance(frame, Refusal):
            raise DbtError(f"{node.title} cannot be asked: {frame.reason}\nSee {frame.place}.")
        rows = frame.capture.memory.answer()
        if not rows.num_rows:
            raise DbtError(f"No row of {node.title} satisfies {where}.")
        titles = self._titles()
        bases = {titles[name]: table for name, table in self._rows_behind(frame)}
        return RowLineage(node, rows, {name: bases[name] for name in sorted(bases)})

    def _rows_behind(self, frame: AnnotatedFrame) -> Iterator[tuple[str, pa.Table]]:
        """Yield the rows of each seed and source that all rows of a frame were made from."""
        try:
            tokens = frame.capture.memory.lineage()
        except CaptureError:  # it needs an expression that only Spark evaluates
            for name, table in frame.lineage().items():
                yield name, table.toArrow()
            return
        for name, keys in tokens.items():
            tracked = frame.relations[name]
            rows = self.session.spark.table(tracked.view)
            if len(tracked.token) == 1 and keys.num_rows <= _LITERAL_KEYS:
                # Files are read by literals, and not by the keys of a join.
                rows = rows.where(F.col(f"`{tracked.token[0]}`").isin(keys.column(0).to_pylist()))
            else:
                wanted = self.session.spark.createDataFrame(keys)
                same = [rows[f"`{key}`"].eqNullSafe(wanted[f"`{key}`"]) for key in tracked.token]
                rows = rows.join(wanted, reduce(and_, same), "left_semi")
            yield name, rows.select(*(f"`{column}`" for column in tracked.columns)).toArrow()

    # -- what rests on rows --------------------------------------------------------------------

    def impact(self, base: str, where: str) -> BaseImpact:
        """Return what models, tests and exposures would be without some rows of a seed or source.

        Every number is that of a full build of the project without these rows.

        Raises
        ------
        DbtError
            There is no such seed or source, or no row of it satisfies the condition.
        """
        node = self.project.node(base, "seed", "source")
        refusal = self._track(node)
        if refusal is not None:
            raise DbtError(f"{node.title} cannot be read: {refusal.reason}")
        tracked = self.session.tracked[self.project.names[node.id]]
        try:
            chosen = tracked.frame(self.session.spark).where(where)
            tokens = chosen.select(*(f"`{column}`" for column in tracked.token)).toArrow()
        except PySparkException as error:
            raise DbtError(f"{where!r} is no condition on {node.title}: {_line(error)}") from error
        if not tokens.num_rows:
            raise DbtError(f"No row of {node.title} satisfies {where}.")
        resting = [each for each in self.project.models if self.project.rests_on(each, node)]
        tests = [each for each in self.project.tests if self.project.rests_on(each, node)]
        models = tuple(
            self._impact(each, tracked.name, tokens)
            for each in resting
            if each.materialized != "ephemeral"
        )
        changed = {each.node.id: each.node.title for each in models if each.is_changed}
        changed[node.id] = node.title
        exposures = {
            each.name: tuple(changed[parent] for parent in each.parents if parent in changed)
            for each in self.project.manifest.of_kind("exposure")
            if self.project.rests_on(each, node)
        }
        of_tests = tuple(self._impact(each, tracked.name, tokens) for each in tests)
        return BaseImpact(node, tokens.num_rows, models, of_tests, exposures)

    def _impact(self, node: DbtNode, relation: str, tokens: pa.Table) -> NodeImpact:
        frame = self._annotated(node)
        if isinstance(frame, Refusal):
            return NodeImpact(node, refusal=frame)
        try:
            if relation not in frame.relations:
                changes = pa.table({"_change": pa.array([], pa.string())})
                before = after = frame.count()
                return NodeImpact(node, changes, before, after)
            capture = frame.capture
            try:
                changes = capture.memory.what_if({relation: tokens}).changes
            except CaptureError:  # it needs an expression that only Spark evaluates
                changes = capture.cluster.what_if({relation: tokens}, None, strict=False).changes
                changes = changes.toArrow()
        except (LipstickError, PySparkException) as error:
            return NodeImpact(node, refusal=Refusal(_line(error), node.file))
        kinds = changes.column("_change")
        before = pc.sum(pc.not_equal(kinds, "added")).as_py() or 0
        after = pc.sum(pc.not_equal(kinds, "deleted")).as_py() or 0
        return NodeImpact(node, changes.filter(pc.not_equal(kinds, _UNCHANGED)), before, after)

    # -- seeds, sources and queries ------------------------------------------------------------

    def _annotated(self, node: DbtNode, where: str | None = None) -> AnnotatedFrame | Refusal:
        """Return the annotated answer of a model or test, or why there is none."""
        if where is not None:
            return self._annotate(node, where)
        if node.id not in self._answers:
            self._answers[node.id] = self._annotate(node, None)
        return self._answers[node.id]

    def _annotate(self, node: DbtNode, where: str | None) -> AnnotatedFrame | Refusal:
        query = self.project.query(node, where)
        if isinstance(query, Refusal):
            return query
        for base in query.bases:
            parent = self.project.manifest.nodes[base]
            refusal = self._track(parent)
            if refusal is not None:
                return Refusal(f"it rests on {parent.title}: {refusal.reason}", node.file)
        try:
            return self.session.sql(query.sql)
        except PySparkException as error:
            return Refusal(_line(error), node.file)
        except LipstickError as error:
            return self.project.refusal(query, node, error)

    def _track(self, base: DbtNode) -> Refusal | None:
        """Track a seed or source when it is first read; return why it cannot be."""
        if base.id not in self._tracked:
            try:
                self._track_rows(base)
                self._tracked[base.id] = None
            except (LipstickError, PySparkException) as error:
                self._tracked[base.id] = Refusal(_line(error), base.file)
        return self._tracked[base.id]

    def _track_rows(self, base: DbtNode) -> None:
        name = self.project.names[base.id]
        if base.id in self._tables:
            table = self._tables[base.id]
            key: Any = table.key
            if key is None and Path(str(table.source)).suffix in (".csv", ".json", ".orc"):
                key = "*"
            options = {"header": "true", "inferSchema": "true"}
            csv = str(table.source).endswith(".csv")
            self.session.track(name, table.source, key, options=options if csv else None)
        elif base.kind == "seed":
            rows, types = read_seed(self.project.folder / base.file, base)
            frame = seed_frame(self.session.spark, rows, types)
            self.session.track(name, frame, self._key(base, rows))
        else:
            raise DbtError(f"no table or file is given for the source {base.title}")

    def _key(self, seed: DbtNode, rows: pa.Table) -> str:
        """Return a column that is tested to be unique, and is; ``*`` if there is none."""
        for test in self.project.manifest.of_kind("test"):
            column = test.column
            if test.test == "unique" and test.parents == (seed.id,) and column in rows.column_names:
                values = rows.column(column)
                if not values.null_count and pc.count_distinct(values).as_py() == len(values):
                    return str(column)
        return "*"

    def _titles(self) -> dict[str, str]:
        known = self.project.manifest.nodes
        return {name: known[each].title for each, name in self.project.names.items()}


def _line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return str(error).strip().partition("\n")[0]
