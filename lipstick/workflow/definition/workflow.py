"""Workflows: nodes labelled by modules, edges labelled by relations, inputs and outputs.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definition 2.2.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from lipstick.workflow.definition.functions import Imports
from lipstick.workflow.definition.module import Module, Specification
from lipstick.workflow.definition.shape import (
    Edge,
    Loop,
    Shape,
    check,
    flows,
    unfold,
)
from lipstick.workflow.errors import DefinitionError
from semiring.support.door import checked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lipstick.sessions import Session
    from lipstick.workflow.execution.run import Run


@checked
@dataclass(frozen=True, slots=True)
class Workflow:
    """A connected DAG of modules.

    Parameters
    ----------
    name
        Of the workflow.
    nodes
        The module that labels each node. One module may label several nodes, which share its
        state and run in the order of this mapping where the graph leaves it open.
    edges
        From node to node; see :class:`Edge`.
    inputs, outputs
        The input and output nodes.
    loops
        Bounded loops; see :class:`Loop`.

    Raises
    ------
    WorkflowError
        A subclass for every condition of Definitions 2.1 and 2.2 that does not hold.

    Notes
    -----
    Two remarks on Definition 2.2. Several edges may lead into one relation if it is declared
    `union`, and none if it is declared `optional`.
    """

    name: str
    nodes: Mapping[str, Module]
    edges: tuple[Edge, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    loops: tuple[Loop, ...] = ()

    def __init__(
        self,
        name: str,
        nodes: Mapping[str, Module],
        edges: Iterable[Edge | tuple[str, str] | tuple[str, str, Any]],
        inputs: str | Iterable[str],
        outputs: str | Iterable[str],
        loops: Iterable[Loop] = (),
    ) -> None:
        edge_list = tuple(edge if isinstance(edge, Edge) else Edge(*edge) for edge in edges)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "nodes", MappingProxyType(dict(nodes)))
        object.__setattr__(self, "edges", edge_list)
        object.__setattr__(self, "inputs", _names(inputs))
        object.__setattr__(self, "outputs", _names(outputs))
        object.__setattr__(self, "loops", tuple(loops))
        check(self.shape, self.declared)

    # -- what it is ------------------------------------------------------------------------

    @property
    def declared(self) -> Shape:
        """Nodes and edges as written, with loops folded."""
        return Shape(self.nodes, self.edges, self.inputs, self.outputs)

    @property
    def shape(self) -> Shape:
        """Nodes and edges with loops unfolded, as they run."""
        return unfold(self.declared, self.loops)

    @property
    def modules(self) -> Mapping[str, Module]:
        """The modules by name."""
        return {module.name: module for module in self.nodes.values()}

    @property
    def _specifications(self) -> Mapping[str, Specification]:
        return {m.specification.name: m.specification for m in self.nodes.values()}

    def flows(self, edge: Edge) -> Mapping[str, str]:
        """Return the relations that an edge carries: from S_out of its start to S_in of its end."""
        return flows(self.shape, edge)

    def validate(self) -> None:
        """Check also the columns that queries read and return, without Spark or running anything.

        The structure was checked when the workflow was created.

        Raises
        ------
        ImportNotAllowedError
            For functions that a file names, from modules that were not allowed.
        WorkflowError
            For queries that read relations they do not have, or do not give what is declared.
        lipstick.errors.QueryError
            For SQL that is not understood, with its place in the text.
        """
        from lipstick.workflow.definition.steps import check_queries

        self.check_imports()
        for specification in self._specifications.values():
            check_queries(specification)

    def check_imports(self) -> None:
        """Refuse functions, Java methods and programs in a file that its reader has not allowed.

        Raises
        ------
        ImportNotAllowedError
            For the first one.
        """
        for specification in self._specifications.values():
            specification.check_imports()

    # -- files -----------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, imports: Imports = ()) -> Workflow:
        """Read a workflow from a YAML file.

        Parameters
        ----------
        imports
            The modules from which the functions that the file names may be imported, with those
            below them, and the Java classes that ``reflect`` and ``java_method`` in its SQL may
            call; True: any, and also programs (``TRANSFORM``) and statements that write. To import
            a module runs it: allow the modules that you trust.

        Raises
        ------
        DefinitionError
            When the file cannot be read or is not shaped as a workflow, with its line.
        WorkflowError
            When a condition does not hold, with the line that violates it.
        """
        from lipstick.workflow.definition.file import read

        return read(Path(path), imports)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the workflow to a YAML file that :meth:`read` reads."""
        from lipstick.workflow.definition.file import text

        try:
            Path(path).write_text(text(self), encoding="utf-8")
        except OSError as error:
            raise DefinitionError(f"The workflow cannot be written to {path}: {error}") from error

    # -- runs ------------------------------------------------------------------------------

    def run(
        self,
        session: Session | SparkSession | None,
        inputs: Sequence[Mapping[str, Any]],
        *,
        store: str | os.PathLike[str],
        state: Mapping[str, Mapping[str, Any]] | None = None,
        first: int = 0,
        tracked: bool = True,
        parallelism: int = 1,
        exports: Mapping[str, str | os.PathLike[str]] | None = None,
    ) -> Run:
        """Run a sequence of executions, from the first invocation that is not stored yet.

        Parameters
        ----------
        session
            A lipstick session or SparkSession; None starts Spark for the time of the run.
        inputs
            Per execution the relations of the input nodes: ``{node: {relation: rows}}``, or
            ``{relation: rows}`` where only one input node has the relation. Rows are a data
            frame, an Arrow table, a list of tuples or of dicts, or the path of a file.
        store
            The directory of the run. What it has is not repeated, and must have the same inputs.
        state
            The initial state, ``{module: {relation: rows}}``; omitted relations are empty.
        first
            The number of the execution that ``inputs`` begins with.
        tracked
            False: plain Spark, without provenance.
        parallelism
            The limit on simultaneous invocations. The outcome does not depend on it.
        exports
            By output, ``node/relation``, a folder for what each execution gives: other stores
            import it from ``folder/number``.

        Raises
        ------
        ImportNotAllowedError
            For functions that a file names, from modules that were not allowed.
        WorkflowError
            For inputs or an initial state that do not fit.
            For a store of another workflow or other inputs, and exports that are not outputs.
        """
        from graphquery.store import Store
        from lipstick.workflow.execution.run import Run, export_outputs, parsed_exports, runner_of

        self.check_imports()
        exported = parsed_exports(self.shape, exports or {})
        path = Path(store).absolute()  # Spark has another working directory
        with runner_of(self, session, path, tracked=tracked, parallelism=parallelism) as runner:
            runner.begin(state or {})
            runner.run(inputs, first)
        done = Run(self, Store.open(path), cast("Any", getattr(session, "spark", session)))
        export_outputs(done, exported)
        return done

    # -- how it looks ----------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<workflow {self.name}: {len(self.shape.nodes)} nodes, {len(self.modules)} modules>"

    def _repr_html_(self) -> str:
        from lipstick.workflow.definition.diagram import workflow_svg

        return workflow_svg(self.name, self.shape)


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
