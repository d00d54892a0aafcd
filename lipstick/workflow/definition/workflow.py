"""Workflows: nodes labelled by modules, edges labelled by relations, inputs, outputs, a drawing.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definition 2.2.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lipstick.workflow.definition.functions import Imports
from lipstick.workflow.definition.module import Module, Specification
from lipstick.workflow.definition.shape import (
    Edge,
    Loop,
    Shape,
    check,
    execution_order,
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
        InputError
            For inputs or an initial state that do not fit.
        RunError
            For a store of another workflow or other inputs, and exports that are not outputs.
        """
        from lipstick.workflow.execution.run import export_outputs, parsed_exports, run

        self.check_imports()
        exported = parsed_exports(self.shape, exports or {})
        done = run(
            self,
            session,
            inputs,
            store=Path(store).absolute(),  # Spark has another working directory
            state=state or {},
            first=first,
            tracked=tracked,
            parallelism=parallelism,
        )
        export_outputs(done, exported)
        return done

    # -- how it looks ----------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<workflow {self.name}: {len(self.shape.nodes)} nodes, {len(self.modules)} modules>"

    def _repr_html_(self) -> str:
        return svg(self.name, self.shape)


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 132, 44, 196, 76, 16
_MOST = 60
"""The maximum number of drawn nodes; the picture counts the others."""


def svg(name: str, shape: Shape) -> str:
    """Return a workflow as self-contained SVG.

    Input nodes have a thick left side and output nodes a thick right one; a dashed line below a
    module's name leads to its state relations.
    """
    order = execution_order(shape)
    shown, left_out = order[:_MOST], len(order) - _MOST
    places = _places(shape, shown)
    width = max(x for x, _ in places.values()) + _WIDTH + _MARGIN
    height = max(y for _, y in places.values()) + _HEIGHT + _MARGIN
    note = ""
    if left_out > 0:
        height += 20
        note = (
            f'<text x="{_MARGIN}" y="{height - 8}" fill="#555">'
            f"and {left_out} more nodes, not drawn</text>"
        )
    parts = [_edges(shape, places), *(_node(shape, node, places[node]) for node in shown), note]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11" '
        f'role="img" aria-label="{escape(f"Workflow {name}", quote=True)}">'
        f"<title>{escape(name)}</title>"
        '<defs><marker id="lipstick-arrow" markerWidth="8" markerHeight="8" refX="7" refY="3" '
        'orient="auto"><path d="M0,0 L7,3 L0,6 z" fill="#777"/></marker></defs>'
        f"{''.join(parts)}</svg>"
    )


def _places(shape: Shape, shown: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Return the upper left corner of every node, with one column per longest path from an
    input.
    """
    column: dict[str, int] = {}
    rows: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    for node in shown:
        before = [column[edge.source] for edge in shape.incoming(node)]
        column[node] = max(before, default=-1) + 1
        row = rows.get(column[node], 0)
        rows[column[node]] = row + 1
        places[node] = (_MARGIN + column[node] * _ACROSS, _MARGIN + row * _DOWN)
    return places


def _node(shape: Shape, node: str, at: tuple[int, int]) -> str:
    x, y = at
    module = shape.nodes[node]
    label = node if node == module.name else f"{node}: {module.name}"
    parts = [
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="#f4f6fb" '
        'stroke="#5b6b8c"/>',
        f'<text x="{x + _WIDTH // 2}" y="{y + 18}" text-anchor="middle" font-weight="bold">'
        f"{escape(_short(label))}</text>",
    ]
    if module.state:
        state = _short(", ".join(module.state))
        parts.append(
            f'<line x1="{x + 8}" y1="{y + 25}" x2="{x + _WIDTH - 8}" y2="{y + 25}" '
            'stroke="#5b6b8c" stroke-dasharray="3 2"/>'
            f'<text x="{x + _WIDTH // 2}" y="{y + 38}" text-anchor="middle" fill="#555">'
            f"{escape(state)}</text>"
        )
    for side, ends in ((x, shape.inputs), (x + _WIDTH - 4, shape.outputs)):
        if node in ends:
            parts.append(f'<rect x="{side}" y="{y}" width="4" height="{_HEIGHT}" fill="#5b6b8c"/>')
    return "".join(parts)


def _edges(shape: Shape, places: Mapping[str, tuple[int, int]]) -> str:
    from lipstick.workflow.definition.shape import flows

    parts = []
    for edge in shape.edges:
        if edge.source not in places or edge.target not in places:
            continue
        (a, b), (c, d) = places[edge.source], places[edge.target]
        x1, y1, x2, y2 = a + _WIDTH, b + _HEIGHT // 2, c, d + _HEIGHT // 2
        label = ", ".join(
            output if output == other else f"{output} → {other}"
            for output, other in flows(shape, edge).items()
        )
        middle = (x1 + x2) // 2
        parts.append(
            f'<path d="M{x1},{y1} C{middle},{y1} {middle},{y2} {x2},{y2}" fill="none" '
            f'stroke="#777" marker-end="url(#lipstick-arrow)"><title>{escape(label)}</title></path>'
        )
    return "".join(parts)


def _short(text: str, most: int = 20) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
