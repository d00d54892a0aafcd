"""Runs: sequences of executions in a store, with their outputs as tables and as exports.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definition 2.3.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from graphquery import Around, ProvenanceGraph
from graphquery.federation import Offer, export_dataset, is_dataset
from graphquery.store import Snapshot, Store
from graphquery.store.crossing import channel_id
from graphquery.store.format import check_format
from lipstick.sessions import Session
from lipstick.workflow.definition.functions import Imports
from lipstick.workflow.definition.shape import Shape, invocation_numbers
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.invocation import Invocation
from lipstick.workflow.execution.ledger import (
    TYPES,
    documents,
    is_done,
    stored_output,
    stored_state,
)
from lipstick.workflow.execution.runner import WorkflowRunner
from lipstick.workflow.execution.tables import remember_structs
from semiring.support.door import checked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from graphquery.distributed.graph import SparkGraph
    from lipstick.workflow.definition.shape import Shape
    from lipstick.workflow.definition.workflow import Workflow


@checked
class Run:
    """The executions of a workflow in a store; see ``run`` and :func:`open_run`.

    Every answer is of the current store, also while executions are appended.

    Parameters
    ----------
    store
        Its directory.
    spark
        Outputs and states are data frames of this session; None: Arrow tables.
    """

    def __init__(self, workflow: Workflow, store: Store, spark: SparkSession | None = None) -> None:
        self.workflow = workflow
        self._store = store
        self._tables: StoredTables = (
            ArrowTables(store.path) if spark is None else FrameTables(spark)
        )

    @property
    def path(self) -> Path:
        """The store's directory."""
        return self._store.path

    @property
    def snapshot(self) -> Snapshot:
        """The current content of the store."""
        return self._store.snapshot()

    @property
    def tracked(self) -> bool:
        """True if the run has provenance."""
        return bool(documents(self.snapshot)["tracked"])

    @cached_property
    def _shape(self) -> Shape:
        return self.workflow.shape

    @property
    def executions(self) -> int:
        """The number of complete executions."""
        snapshot, count = self.snapshot, 0
        while all(is_done(snapshot, i) for i in invocations(self._shape, count)):
            count += 1
        return count

    def invocation(self, execution: int, node: str) -> Invocation:
        """Return the invocation at a node in an execution.

        Raises
        ------
        WorkflowError
            When there is no such node.
        """
        if node not in self._shape.nodes:
            raise WorkflowError(
                f"The workflow {self.workflow.name} has no node {node!r}.\n"
                f"Its nodes are: {', '.join(self._shape.nodes)}."
            )
        in_execution = invocations(self._shape, execution)
        return next(invocation for invocation in in_execution if invocation.node == node)

    def times(self, invocation: str) -> tuple[datetime, datetime]:
        """Return the start and end of an invocation, in UTC.

        Parameters
        ----------
        invocation
            Its name, ``dealer1#3``.

        Raises
        ------
        WorkflowError
            When it is not done.
        """
        record = self.snapshot.records.get(invocation, {})
        if "started" not in record:
            raise WorkflowError(
                f"The run in {self.path} has no invocation {invocation!r} that is done."
            )
        started, ended = (datetime.fromisoformat(record[key]) for key in ("started", "ended"))
        return started, ended

    # -- what came of it -------------------------------------------------------------------

    def output(
        self, execution: int, node: str | None = None, relation: str | None = None
    ) -> DataFrame | pa.Table:
        """Return an output of an execution.

        Parameters
        ----------
        execution
            Its number, from 0.
        node
            Any node; None: the output node, if there is one only.
        relation
            An output of its module; None: its only one.

        Raises
        ------
        WorkflowError
            Unknown nodes and relations, and executions that have not reached the node.
        """
        node = node if node is not None else _only(self._shape.outputs, "output nodes", "node=")
        invocation = self.invocation(execution, node)
        outputs = invocation.module.outputs
        if relation is None:
            relation = _only(outputs, f"outputs at {node}", "relation=")
        if relation not in outputs:
            raise WorkflowError(
                f"Node {node} has no output {relation!r}.\nIts outputs: {', '.join(outputs)}."
            )
        return self._tables.shown(stored_output(self.snapshot, invocation, relation).table)

    def state(self, module: str, relation: str, after: int | None = None) -> DataFrame | pa.Table:
        """Return a state relation of a module.

        Parameters
        ----------
        after
            The execution after which, from 0; -1: the initial state. None: as it is now.

        Raises
        ------
        WorkflowError
            Unknown modules and relations, and executions that are not complete.
        """
        owner = self.workflow.modules.get(module)
        if owner is None:
            raise WorkflowError(
                f"The workflow {self.workflow.name} has no module {module!r}.\n"
                f"Its modules are: {', '.join(self.workflow.modules)}."
            )
        if relation not in owner.state:
            raise WorkflowError(
                f"Module {module} has no state relation {relation!r}.\n"
                f"Its state: {', '.join(owner.state) or 'none'}."
            )
        snapshot = self.snapshot
        per_execution = sum(m.name == module for m in self._shape.nodes.values())
        if after is None:
            until = 0
            while f"{module}#{until + 1}" in snapshot.records:
                until += 1
        else:
            until = (after + 1) * per_execution
            if after < -1 or (until and f"{module}#{until}" not in snapshot.records):
                raise WorkflowError(
                    f"Execution {after} is not done for {module}.\n"
                    f"Whole executions so far: {self.executions}."
                )
        return self._tables.shown(stored_state(snapshot, owner, until)[relation].table)

    def graph(
        self,
        *,
        modules: Collection[str] = (),
        executions: Collection[int] = (),
        relations: Collection[str] = (),
    ) -> ProvenanceGraph:
        """Return the provenance graph; with conditions, of matching nodes and their ancestors.

        Raises
        ------
        WorkflowError
            For a run without provenance.
        """
        around = Around(modules, executions, relations)
        snapshot = self._with_provenance()
        restricted = bool(modules or executions or relations)
        return ProvenanceGraph.build(
            snapshot.segments.values(),
            snapshot.edges,
            lambda file, column: snapshot.read(file, [column]).column(column),
            around if restricted else None,
        )

    def spark_graph(self, folder: str | os.PathLike[str], **limits: int) -> SparkGraph:
        """Return the provenance graph as data frames, for graphs larger than memory.

        Parameters
        ----------
        folder
            A new folder that Spark's workers reach, as they must the store; delete it when the
            graph is no longer needed.
        **limits
            `rounds` and `bring`; see :meth:`graphquery.distributed.graph.SparkGraph.build`.

        Raises
        ------
        WorkflowError
            For a run without provenance, or opened without a Spark session.
        """
        from graphquery.distributed.graph import SparkGraph

        snapshot = self._with_provenance()
        return SparkGraph.build(
            self._tables.session(),
            snapshot.segments.values(),
            snapshot.edges,
            lambda file: str(snapshot.path(file)),
            os.fspath(folder),
            columns=lambda file, column: snapshot.read(file, [column]).column(column),
            **limits,
        )

    def _with_provenance(self) -> Snapshot:
        if not self.tracked:
            raise WorkflowError(
                f"The run in {self.path} has no provenance: it ran with tracked=False.\n"
                "Run the workflow with tracked=True into another store."
            )
        return self.snapshot

    def __repr__(self) -> str:
        kind = "tracked" if self.tracked else "plain"
        return f"<{kind} run of {self.workflow.name} in {self.path}: {self.executions} executions>"


def invocations(shape: Shape, execution: int) -> tuple[Invocation, ...]:
    """Return the invocations of an execution, in the order that determines its outcome."""
    return tuple(
        Invocation(shape.nodes[node], execution * total + number, node, execution)
        for node, (number, total) in invocation_numbers(shape).items()
    )


def _only(names: Collection[str], what: str, argument: str) -> str:
    if len(names) != 1:
        raise WorkflowError(
            f"There are {len(names)} {what}: {', '.join(names) or 'none'}.\n"
            f"Say which: {argument}..."
        )
    return next(iter(names))


@contextmanager
def runner_of(
    workflow: Workflow,
    session: Session | SparkSession | None,
    store: Path,
    *,
    tracked: bool,
    parallelism: int,
) -> Iterator[WorkflowRunner]:
    """Yield a runner of executions; see :meth:`Workflow.run`."""
    if parallelism < 1:
        raise WorkflowError(f"parallelism is at least 1, not {parallelism}.")
    with nullcontext(session) if session is not None else Session() as running:
        spark = running.spark if isinstance(running, Session) else running
        opened = Store.open(store) if is_store(store) else Store.create(store)
        with (
            opened.writer() as writer,
            WorkflowRunner(
                workflow, spark, writer, tracked=tracked, parallelism=parallelism
            ) as runner,
        ):
            yield runner


def is_store(path: Path) -> bool:
    """Return True if a path is a store, whatever is in it."""
    from graphquery.store.format import FORMAT_FILE

    return (path / FORMAT_FILE).exists()


@checked
def open_run(
    path: str | os.PathLike[str], spark: SparkSession | None = None, *, imports: Imports = ()
) -> Run:
    """Open a stored run.

    Parameters
    ----------
    path
        The directory that was the store of ``workflow.run``.
    spark
        Outputs and states are data frames of this session; None: Arrow tables.
    imports
        Modules whose functions may be imported when its workflow runs again; see
        :meth:`Workflow.read`. What it has stored is read without any.

    Raises
    ------
    WorkflowError
        When the store holds no run.
    graphquery.store.StoreError
        When the directory is not a store.
    """
    from lipstick.workflow.definition.file import parse

    store = Store.open(path)
    snapshot = store.snapshot()
    document = documents(snapshot)
    remember_structs(snapshot.records[TYPES])
    return Run(parse(document["text"], Path(path) / "workflow", imports), store, spark)


def parsed_exports(
    shape: Shape, exports: Mapping[str, str | os.PathLike[str]]
) -> dict[tuple[str, str], Path]:
    """Return the folders of exported outputs, ``node/relation``, by node and relation.

    Raises
    ------
    WorkflowError
        For an output that there is not.
    """
    folders = {}
    for text, folder in exports.items():
        node, _, relation = text.partition("/")
        if node not in shape.nodes or relation not in shape.nodes[node].outputs:
            known = [f"{n}/{r}" for n, module in shape.nodes.items() for r in module.outputs]
            raise WorkflowError(
                f"There is no output {text!r} to export.\nThere are {', '.join(known)}."
            )
        folders[node, relation] = Path(folder)
    return folders


def export_outputs(run: Run, exports: Mapping[tuple[str, str], Path]) -> dict[str, str]:
    """Export outputs of all executions that are done, each to a folder of its own.

    The dataset is called ``workflow/node/relation``, its versions by the number of the execution,
    and so are the folders within the one given. What is there already, and outputs without
    tuples, are passed over.

    Returns
    -------
    dict
        By folder, the identity of the channel.

    Raises
    ------
    WorkflowError
        For a run without provenance.
    graphquery.federation.FederationError
        A folder has something else in it.
    """
    if exports and not run.tracked:
        raise WorkflowError(
            f"The run in {run.path} has no provenance, which exports need.\n"
            "Run the workflow with tracked=True into another store."
        )
    store = check_format(run.path).store
    channels = {}
    for (node, relation), root in exports.items():
        name = f"{run.workflow.name}/{node}/{relation}"
        for execution in range(run.executions):
            segment = f"{run.invocation(execution, node).name}/{relation}"
            folder = root / str(execution)
            channel = channel_id(store, name, str(execution))
            if is_dataset(folder) and Offer.read(folder).channel == channel:
                channels[str(folder)] = channel
            elif segment in run.snapshot.segments:
                with Store.open(run.path).writer() as writer:
                    arguments = (writer, segment, name, str(execution), folder)
                    channels[str(folder)] = export_dataset(*arguments)
    return channels


class StoredTables(Protocol):
    """Presents the tables in the store of a run."""

    def shown(self, table: pa.Table) -> DataFrame | pa.Table:
        """Return a table in the form for callers."""

    def session(self) -> SparkSession:
        """Return the session in which graphs larger than memory are built."""


class ArrowTables:
    """Presents tables unchanged, for runs that were opened without Spark."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def shown(self, table: pa.Table) -> pa.Table:
        """Return the table."""
        return table

    def session(self) -> NoReturn:
        """Refuse: there is no session.

        Raises
        ------
        WorkflowError
            Always.
        """
        raise WorkflowError(
            f"The run in {self._path} was opened without Spark.\n"
            "Open it with a session: open_run(path, spark)."
        )


class FrameTables:
    """Presents tables as data frames of a session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def shown(self, table: pa.Table) -> DataFrame:
        """Return the table as a data frame."""
        from lipstick.dataframes.arrow import frame_of_arrow

        return frame_of_arrow(self._spark, table)

    def session(self) -> SparkSession:
        """Return the session."""
        return self._spark
