"""The queries of a specification as data frames of Spark, and as SQL that Lipstick reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.dataframes import plain_frame, query_text
from lipstick.errors import LipstickError
from lipstick.tracking.tracker import Tracked
from lipstick.workflow.definition.module import Specification
from lipstick.workflow.definition.queries import Step
from lipstick.workflow.definition.query import FrameFunction, Sql
from lipstick.workflow.errors import ModuleQueryError


class StepQueries:
    """The queries of one specification, over the relations as a session shows them.

    Parameters
    ----------
    spark
        The names of relations are those of its views.
    """

    def __init__(self, spark: SparkSession, specification: Specification) -> None:
        self._spark = spark
        self._specification = specification

    def named(self, step: Step, relations: Iterable[str]) -> set[str]:
        """Which of some relations a step can read: those whose names occur in its text."""
        if isinstance(step.query, FrameFunction):
            return {name.lower() for name in step.query.reads(step.what)}
        text = f"{step.name} {step.query.text}" if step.role == "delete" else step.query.text
        return {name for name in map(str.lower, relations) if name in text.lower()}

    def deletion(self, step: Step) -> DataFrame:
        """The keys, or rows, that a step deletes."""
        if not isinstance(step.query, Sql) or step.query.selects:
            return self.frame(step)
        relation = self._specification.state[step.name]
        columns = [F.col(f"`{name}`") for name in relation.key or relation.names]
        try:
            deleted = self._spark.table(f"`{step.name}`").where(step.query.sql).select(*columns)
            deleted.schema  # noqa: B018 - Connect analyses here
            return deleted
        except PySparkException as error:
            raise ModuleQueryError(
                f"{self._specification.name}: {step.what} is no predicate over it: "
                f"{step.query.text.strip()}\n{error}"
            ) from error

    def text(self, step: Step, tracked: Mapping[str, Tracked]) -> str:
        """The query of a step as SQL."""
        if isinstance(step.query, Sql):
            return step.query.sql
        assert isinstance(step.query, FrameFunction)
        names = step.query.reads(f"{self._specification.name}: {step.what}")
        read = [tracked[name.lower()] for name in names]
        return query_text(self._spark, self.frame(step), read)

    def frame(self, step: Step) -> DataFrame:
        """The query of a step as a data frame, over the relations as they are bound."""
        if isinstance(step.query, Sql):
            return self._spark.sql(step.query.sql)
        assert isinstance(step.query, FrameFunction)
        owner = f"{self._specification.name}: {step.what}"
        frame = step.query.frame(owner, lambda name: self._spark.table(f"`{name}`"))
        try:
            return plain_frame(frame)
        except LipstickError as error:
            raise ModuleQueryError(
                f"{owner}: {step.query.reference} gives no data frame: {error}"
            ) from error
