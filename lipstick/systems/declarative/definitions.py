"""The outputs and flows of a declarative pipeline, read as PySpark reads them."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.dataframes.jvm import Plan, active, elements, frame_of
from lipstick.errors import LipstickError, first_line
from lipstick.systems.declarative.changes import ChangeFlow
from rewriter.statements import split_statements

if TYPE_CHECKING:
    from pyspark.pipelines.cli import PipelineSpec

MATERIALIZED_VIEW = "materialized view"
STREAMING_TABLE = "streaming table"
TEMPORARY_VIEW = "temporary view"
SINK = "sink"

_CURRENT = ("_activeSession", "_instantiatedSession")
"""The attributes of SparkSession that active() and getOrCreate() return."""
_SPEC_NAMES = ("spark-pipeline.yaml", "spark-pipeline.yml")


@dataclass(frozen=True, slots=True)
class FlowDefinition:
    """A query that writes to an output.

    Attributes
    ----------
    frame
        Returns the frame of its rows.
    merges
        Whether it is an AUTO CDC flow.
    settings
        The settings of Spark that it runs with, beside the pipeline's.
    namespace
        The catalog and schema that a statement before it has set.
    place
        The file, from the project's folder, and the line.
    """

    name: str
    target: str
    frame: Callable[[], DataFrame]
    place: str
    settings: Mapping[str, str] = field(default_factory=dict)
    namespace: tuple[str, ...] = ()
    merges: bool = False


@dataclass(frozen=True, slots=True)
class OutputDefinition:
    """A table, view or sink of a pipeline: its kind, and the catalog and schema of its name."""

    name: str
    kind: str
    place: str
    namespace: tuple[str, ...] = ()


class Definitions:
    """The outputs and flows of a project, in the order of its files.

    Parameters
    ----------
    path
        The specification, or the folder that has one.
    spark
        The classic session that definitions are evaluated in.

    Raises
    ------
    LipstickError
        There is no such specification, or a definition cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], spark: SparkSession) -> None:
        self.path = find_specification(path)
        self.folder = self.path.parent.resolve()
        self.spark = spark
        self.outputs: list[OutputDefinition] = []
        self.flows: list[FlowDefinition] = []
        try:
            from pyspark.pipelines.cli import load_pipeline_spec
        except ImportError as error:
            raise LipstickError(
                f"Declarative pipelines cannot be read: {error}.\n"
                'They are part of PySpark from 4.1: pip install "pyspark[pipelines]>=4.1".'
            ) from error
        try:
            self.specification: PipelineSpec = load_pipeline_spec(self.path)
        except PySparkException as error:
            raise LipstickError(f"{self.path}: {error}") from error

    def read(self) -> None:
        """Import the Python files, and read the SQL files."""
        from pyspark.pipelines.graph_element_registry import graph_element_registration_context

        with self.evaluating(), graph_element_registration_context(_registry(self)):
            for library in self.specification.libraries:
                for file in sorted(self.folder.glob(library.include)):
                    if file.is_file() and "__pycache__" not in file.parts:
                        self._read_file(file)

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Make the project's folder and session current, as in a pipeline run."""
        folder = Path.cwd()
        current = {name: getattr(SparkSession, name) for name in _CURRENT}
        os.chdir(self.folder)
        for name in _CURRENT:
            setattr(SparkSession, name, self.spark)
        try:
            with active(self.spark):
                yield
        finally:
            for name, session in current.items():
                setattr(SparkSession, name, session)
            os.chdir(folder)

    def _read_file(self, file: Path) -> None:
        place = str(file.relative_to(self.folder))
        try:
            if file.suffix == ".py":
                self._import(file)
            elif file.suffix == ".sql":
                self.read_sql(file.read_text(encoding="utf-8"), place)
            else:
                raise LipstickError("it is neither Python nor SQL")
        except Exception as error:  # the project's own code runs
            problem = f"{self.path}: {place} cannot be read: {first_line(error)}"
            raise LipstickError(problem) from error

    def _import(self, file: Path) -> None:
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        module.__dict__["spark"] = self.spark
        spec.loader.exec_module(module)

    # -- Python ------------------------------------------------------------------------------

    def add_output(self, output: Any) -> None:
        """Add an output of PySpark's pipelines."""
        kinds = {
            "MaterializedView": MATERIALIZED_VIEW,
            "StreamingTable": STREAMING_TABLE,
            "TemporaryView": TEMPORARY_VIEW,
        }
        kind = kinds.get(type(output).__name__, SINK)
        self.outputs.append(OutputDefinition(output.name, kind, self._place(output)))

    def add_flow(self, flow: Any) -> None:
        """Add a flow of PySpark's pipelines; one of AUTO CDC has no function."""
        name, function = flow.name or flow.target, getattr(flow, "func", None)
        rows = function or ChangeFlow.of_python(self.spark, flow).rows
        settings, place = dict(flow.spark_conf), self._place(flow)
        self.flows.append(
            FlowDefinition(name, flow.target, rows, place, settings, merges=function is None)
        )

    def _place(self, element: Any) -> str:
        location = element.source_code_location
        return f"{os.path.relpath(location.filename, self.folder)}:{location.line_number}"

    # -- SQL ---------------------------------------------------------------------------------

    def read_sql(self, text: str, file: str) -> None:
        """Add the outputs and flows of a SQL file.

        Raises
        ------
        LipstickError
            A statement is none of a pipeline.
        """
        parser = self.spark._jsparkSession.sessionState().sqlParser()
        settings: dict[str, str] = {}
        namespace: tuple[str, ...] = ()
        at = 0
        for statement in split_statements(text):
            at = text.index(statement, at)
            place = f"{file}:{1 + text.count(chr(10), 0, at)}"
            at += len(statement)
            plan = parser.parsePlan(statement)
            kind = str(plan.getClass().getSimpleName())
            if kind == "SetCommand" and plan.kv().isDefined():
                pair = plan.kv().get()
                settings[str(pair._1())] = str(pair._2().get()) if pair._2().isDefined() else ""
            elif kind in ("SetNamespaceCommand", "SetCatalogAndNamespace", "SetCatalogCommand"):
                namespace = _namespace(plan, kind, namespace)
            else:
                add = _Adding(self, place, dict(settings), namespace)
                add.statement(plan, kind)


@dataclass(frozen=True, slots=True)
class _Adding:
    """The definition of a statement's output and flows."""

    definitions: Definitions
    place: str
    settings: Mapping[str, str]
    namespace: tuple[str, ...]

    def statement(self, plan: Plan, kind: str) -> None:
        if kind == "CreateFlowCommand":
            operation = plan.flowOperation()
            into = str(operation.getClass().getSimpleName())
            if into == "AutoCdcInto":
                self.flow(_name(plan.name()), _name(operation.targetTable()), operation, True)
            elif into == "InsertIntoStatement":
                target = _name(operation.table())
                self.flow(_name(plan.name()), target, operation.query())
            else:
                raise LipstickError(f"{self.place}: a flow does not run {into}")
            return
        kinds = {
            "CreateMaterializedViewAsSelect": (MATERIALIZED_VIEW, "query"),
            "CreateStreamingTableAsSelect": (STREAMING_TABLE, "query"),
            "CreateStreamingTable": (STREAMING_TABLE, ""),
            "CreateStreamingTableAutoCdc": (STREAMING_TABLE, "cdc"),
            "CreateView": ("view", ""),
            "CreateViewCommand": (TEMPORARY_VIEW, "plan"),
        }
        if kind not in kinds:
            raise LipstickError(f"{self.place}: {kind} defines nothing of a pipeline")
        output, query = kinds[kind]
        name = _name(plan.name()) if kind != "CreateViewCommand" else str(plan.name().table())
        if output != "view":  # views of the catalog are expanded by Spark
            self.definitions.outputs.append(
                OutputDefinition(name, output, self.place, self.namespace)
            )
        if query:
            merges = query == "cdc"
            self.flow(name, name, plan if merges else getattr(plan, query)(), merges)

    def flow(self, name: str, target: str, plan: Plan, merges: bool = False) -> None:
        spark = self.definitions.spark
        frame = ChangeFlow.of_sql(spark, plan).rows if merges else lambda: frame_of(spark, plan)
        self.definitions.flows.append(
            FlowDefinition(name, target, frame, self.place, self.settings, self.namespace, merges)
        )


def _name(plan: Plan) -> str:
    """Return the name of an unresolved identifier or relation."""
    is_relation = str(plan.getClass().getSimpleName()) == "UnresolvedRelation"
    parts = plan.multipartIdentifier() if is_relation else plan.nameParts()
    return ".".join(f"`{part}`" if "." in part else str(part) for part in elements(parts))


def _namespace(plan: Plan, kind: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """Return the catalog and schema after a USE statement."""
    if kind == "SetCatalogCommand":
        return (str(plan.catalogName()),)
    if kind == "SetNamespaceCommand":
        return (*before[:1], *map(str, elements(plan.namespace())))
    return tuple(map(str, elements(plan.child().nameParts())))


def find_specification(path: str | os.PathLike[str]) -> Path:
    """Return the specification of a pipeline: a file, or the one in a folder.

    Raises
    ------
    LipstickError
        There is none.
    """
    given = Path(path)
    found = (
        [given] if given.is_file() else [given / n for n in _SPEC_NAMES if (given / n).is_file()]
    )
    if len(found) != 1:
        raise LipstickError(
            f"{given} is not a pipeline: it is neither a specification nor a folder with one.\n"
            f"Name the folder with {' or '.join(_SPEC_NAMES)}."
        )
    return found[0]


def _registry(definitions: Definitions) -> Any:
    """Return a registry of graph elements that collects them as defined."""
    from pyspark.pipelines.graph_element_registry import GraphElementRegistry

    class Registry(GraphElementRegistry):
        def register_output(self, output: Any) -> None:
            definitions.add_output(output)

        def register_flow(self, flow: Any) -> None:
            definitions.add_flow(flow)

        def register_auto_cdc_flow(self, flow: Any) -> None:
            definitions.add_flow(flow)

        def register_sql(self, sql_text: str, file_path: Path) -> None:
            definitions.read_sql(sql_text, str(file_path))

    return Registry()
