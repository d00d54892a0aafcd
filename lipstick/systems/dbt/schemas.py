"""Models annotated one by one, over empty relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pyspark.sql import functions as F

from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import Refusal
from lipstick.tracking.source import read_source
from lipstick.tracking.tracker import ROW_COLUMN, NamedRows, Naming

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame
    from lipstick.systems.dbt.questions import TrackedProject


class NodeSchemas:
    """Models and tests, each annotated over the columns of the models that it reads.

    Reading a project thus takes time linear in its models, rather than in the models below each.
    The names of models are tracked until the context ends, and as they are needed.
    """

    def __init__(self, tracked: TrackedProject) -> None:
        self._tracked = tracked
        self._project, self._session = tracked.project, tracked.session
        self._answers: dict[str, AnnotatedFrame | Refusal] = {}
        self._names: set[str] = set()

    def annotated(self, node: DbtNode) -> AnnotatedFrame | Refusal:
        """Annotate a node after the models that it reads, or return a refusal."""
        if node.id not in self._answers:
            self._answers[node.id] = self._annotate(node)
        return self._answers[node.id]

    def _annotate(self, node: DbtNode) -> AnnotatedFrame | Refusal:
        whole = self._tracked.tracked_query(node)
        if isinstance(whole, Refusal):
            return whole
        for parent in self._project.read_by(node):
            if parent.kind in ("seed", "source"):
                continue
            answer = self.annotated(parent)
            if isinstance(answer, Refusal):
                return answer.of_reader(parent)
            if not self._is_shown(self._project.names[parent.id], answer):
                return self._tracked.annotated(node)
        return self._tracked.read(self._project.own_query(node), node, self._session.sql)

    def _is_shown(self, name: str, answer: AnnotatedFrame) -> bool:
        """Track an empty relation with the columns of an answer, unless the name is in use."""
        if name not in self._names and name not in self._session.tracked:
            rows = self._session.spark.createDataFrame([], answer.schema)
            source = read_source(self._session.spark, rows)
            numbered = rows.withColumn(ROW_COLUMN, F.lit(0).cast("bigint"))
            named = NamedRows(numbered, Naming.ROWS, (ROW_COLUMN,))
            self._session._track(name, source, named)
            self._names.add(name)
        return name in self._names

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._names:
            self._session.untrack(self._names.pop())
