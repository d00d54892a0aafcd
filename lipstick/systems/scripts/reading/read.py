"""The initial graph of a script (Huq et al., section IV-B)."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from lipstick.systems.scripts.facts import Catalogue
from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import Place
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.expressions import evaluate
from lipstick.systems.scripts.reading.frames import Frame
from lipstick.systems.scripts.reading.opaque import reads_of
from lipstick.systems.scripts.reading.statements import walk
from lipstick.systems.scripts.reading.values import Library, Reference, Value
from lipstick.systems.scripts.script_text import Script

_SMALLEST_BUDGET = 30_000
_NODES_PER_LINE = 30


@dataclass(slots=True)
class Reading:
    """The initial graph of a script, and what it holds at its end.

    Attributes
    ----------
    variables
        By name of a global variable, what its last version is.
    files
        By name of a file, table or hidden state, such as ``<stdout>``, what its last version is.
    opaque
        The places that are not followed, and why.
    anything
        The places among them that may read and change whatever the script has.
    open_files
        What the text leaves open about all files and hidden state at the end.
    """

    graph: ScriptGraph
    variables: dict[str, tuple[Reference, ...]]
    files: dict[str, tuple[Reference, ...]]
    opaque: list[tuple[Place, str]]
    anything: list[tuple[Place, str]]
    open_files: tuple[Reference, ...]


def read(script: Script, facts: Catalogue) -> Reading:
    """Read a script into its initial graph; nothing of it is run.

    O(nodes) but for functions, whose bodies are read at every call, up to a size from which on
    they are black boxes that say so.
    """
    context = Context(script, facts, evaluate=evaluate, walk=walk, runs=reads_of)
    main = script.main
    lines = main.text.count("\n") + 1
    context.budget = max(_SMALLEST_BUDGET, _NODES_PER_LINE * lines)
    if "global " in main.text or "nonlocal " in main.text:
        context.globals_declared = {
            name
            for node in ast.walk(main.tree)
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }
    scope = context.fresh()
    context.frames.append(Frame((scope,), 0))
    if main.cells:
        _read_cells(context)
    else:
        walk(context, main.tree.body)
    context.dead = False
    variables = {}
    for key in list(context.state.current):
        if isinstance(key, tuple) and key[0] == scope:
            value = context.lookup(key)
            if value is not None and not isinstance(value.target, Library):
                variables[str(key[1])] = context.filled(value).refs
    files = {}
    for name, region in context.named.items():
        held = context.lookup(region)
        if held is not None and held.refs:
            files[name] = held.refs
    left = context.lookup(context.world) or Value()
    for refs in (*variables.values(), *files.values(), left.refs):
        context.graph.results += [(node, key) for node, key, _ in refs]
    context.graph.drop_unread_doubts()
    return Reading(
        context.graph,
        variables,
        files,
        list(context.opaque),
        list(context.anything),
        left.refs,
    )


def _read_cells(context: Context) -> None:
    main = context.script.main
    statements = iter(main.tree.body)
    statement = next(statements, None)
    for cell in main.cells:
        context.instance = 0
        statements_of_cell = []
        while statement is not None and statement.lineno < cell.start + cell.count:
            statements_of_cell.append(statement)
            statement = next(statements, None)
        context.enter(f"cell {cell.name}", "cell")
        walk(context, statements_of_cell)
        context.dead = False
    context.instance = 0
