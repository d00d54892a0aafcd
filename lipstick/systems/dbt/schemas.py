"""Models annotated one by one, over empty relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import Refusal

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame
    from lipstick.systems.dbt.questions import TrackedProject


class NodeSchemas:
    """Models and tests, each annotated over the columns of the models that it reads.

    Reading a project thus takes time linear in its models, rather than in the models below each.
    """

    def __init__(self, tracked: TrackedProject) -> None:
        self._tracked = tracked
        self._project, self._session = tracked.project, tracked.session
        self._refusals: dict[str, Refusal] = {}
        self._names: dict[str, str] = {}

    def annotated(self, node: DbtNode) -> AnnotatedFrame | Refusal:
        """Annotate a node after the models that it reads, or return a refusal."""
        answer = self._annotate(node)
        if isinstance(answer, Refusal):
            self._refusals[node.id] = answer
        elif node.id in self._project.names:
            name = self._project.names[node.id]
            if name not in self._session.tracked:
                rows = self._session.spark.createDataFrame([], answer.schema)
                self._session.track(name, rows, "*")
                self._names[node.id] = name
        return answer

    def _annotate(self, node: DbtNode) -> AnnotatedFrame | Refusal:
        read = self._project.read_by(node)
        for parent in read:
            if (refusal := self._refusals.get(parent.id)) is not None:
                return refusal.of_reader(parent)
        whole = self._tracked.tracked_query(node)
        if isinstance(whole, Refusal):
            return whole
        models = (each.id for each in read if each.kind not in ("seed", "source"))
        if not self._names.keys() >= {*models}:
            return self._tracked.annotated(node)
        return self._tracked.read(self._project.own_query(node), node, self._session.sql)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in self._names.values():
            self._session.untrack(name)
