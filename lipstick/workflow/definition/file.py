"""Workflows as YAML files with SQL.

::

    workflow: cars
    specifications:
      dealer:
        input:
          Requests: {columns: {BidId: string, Model: string}, key: BidId}
        state:
          Cars: {columns: {CarId: string, Model: string}, key: CarId}
        output:
          Bids: {columns: {Model: string, Cars: bigint}, key: Model}
        functions: {}                 # name: package.module:function
        query_state:
          relations: {}               # name: SELECT, in order
          delete: {}                  # state relation: predicate, or SELECT of keys
          insert: {}                  # state relation: SELECT of new tuples; both may also be
                                      # lists of statements, INSERT INTO name SELECT ...
          replace: {}                 # state relation: SELECT of all its tuples
        query_output:
          Bids: SELECT Model, count(*) AS Cars FROM Cars JOIN Requests USING (Model) GROUP BY Model
    modules: {dealer1: dealer, dealer2: dealer}
    nodes: {ask: request, bid1: dealer1, bid2: dealer2}
    edges:
      - {from: ask, to: bid1, relations: {Request: Requests}}
    loops:
      - {nodes: [...], back: [{from: ..., to: ...}], times: 3}
    inputs: [ask]
    outputs: [bid1, bid2]

A module that is the only one of its specification, and has its name, need not be declared, nor a
node that has the name of its module: ``nodes`` may be a list of modules.

Functions are named by where they are defined. To import a module runs it, so none is imported
unless whoever reads the file allows it, and SQL that calls Java methods is refused: see
:meth:`Workflow.read`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lipstick.workflow.definition.document import DocumentEntry, dump, load
from lipstick.workflow.definition.document import parse as document_of
from lipstick.workflow.definition.functions import Imports, place
from lipstick.workflow.definition.module import Module, Relation, Specification
from lipstick.workflow.definition.query import FrameFunction, Query, StateQuery
from lipstick.workflow.definition.shape import Edge, Loop
from lipstick.workflow.definition.workflow import Workflow

_SPECIFICATION = ("state", "functions", "query_state")
_STATEMENTS = ("delete", "insert")
"""The sections that accept a list of statements instead of queries by relation."""
_CHANGES = ("relations", "delete", "insert", "replace")


def read(path: Path, imports: Imports = ()) -> Workflow:
    """Read a workflow; see :meth:`Workflow.read`."""
    return _workflow(load(path), path.stem, imports)


def parse(text: str, path: Path, imports: Imports = ()) -> Workflow:
    """Return the workflow of a text, whose name in messages is `path`."""
    return _workflow(document_of(text, path), path.stem, imports)


def _workflow(root: DocumentEntry, name: str, imports: Imports) -> Workflow:
    top = root.mapping(
        ("specifications", "nodes", "inputs", "outputs"),
        ("workflow", "modules", "edges", "loops"),
    )
    with root.located():
        specifications = {
            name: _specification(name, entry, imports)
            for name, entry in top["specifications"].mapping().items()
        }
        modules = _modules(top.get("modules"), specifications)
        nodes = _nodes(top["nodes"], modules, specifications)
        edges = [_edge(entry) for entry in _list(top.get("edges"))]
        loops = [_loop(entry) for entry in _list(top.get("loops"))]
        return Workflow(
            top["workflow"].text() if "workflow" in top else name,
            nodes,
            edges,
            top["inputs"].texts(),
            top["outputs"].texts(),
            loops,
        )


def _list(entry: DocumentEntry | None) -> list[DocumentEntry]:
    return [] if entry is None else entry.sequence()


def _specification(name: str, entry: DocumentEntry, imports: Imports) -> Specification:
    parts = entry.mapping(("input", "output", "query_output"), _SPECIFICATION)
    query = None
    if "query_state" in parts:
        changes = parts["query_state"].mapping((), _CHANGES)
        given: dict[str, Any] = {
            part: _named(e, imports)
            if isinstance(e.value, dict) or part not in _STATEMENTS
            else e.texts()
            for part, e in changes.items()
        }
        with parts["query_state"].located():
            query = StateQuery(given.pop("relations", {}), **given)
    return Specification(
        name,
        _relations(parts["input"]),
        _relations(parts["output"]),
        _named(parts["query_output"], imports),
        state=_relations(parts["state"]) if "state" in parts else {},
        query_state=query,
        functions=_functions(parts["functions"], imports) if "functions" in parts else {},
        imports=imports,
    )


def _functions(entry: DocumentEntry, imports: Imports) -> dict[str, str]:
    """Return the references of functions, by name."""
    return {name: place(reference, imports) for name, reference in entry.named().items()}


def _named(entry: DocumentEntry, imports: Imports) -> dict[str, Any]:
    """Return queries by name, from SQL or references to functions."""
    queries: dict[str, Any] = {}
    for name, query in entry.mapping().items():
        if not isinstance(query.value, dict):
            queries[name] = query.text()
            continue
        reference = query.mapping(("function",), ())["function"]
        with reference.located():
            queries[name] = FrameFunction(place(reference.text(), imports))
    return queries


def _relations(entry: DocumentEntry) -> dict[str, Relation]:
    relations = {}
    for name, inner in entry.mapping().items():
        parts = inner.mapping(("columns",), ("key", "union", "optional"))
        columns = parts["columns"]
        with inner.located():
            relations[name] = Relation(
                columns.text() if isinstance(columns.value, str) else columns.named(),
                parts["key"].texts() if "key" in parts else None,
                union="union" in parts and parts["union"].flag(),
                optional="optional" in parts and parts["optional"].flag(),
            )
    return relations


def _modules(
    entry: DocumentEntry | None, specifications: dict[str, Specification]
) -> dict[str, Module]:
    modules_by_name = {}
    for name, inner in (entry.mapping() if entry is not None else {}).items():
        kind = inner.text()
        if kind not in specifications:
            raise inner.error(
                f"Module {name} is of specification {kind!r}, which there is not.\n"
                f"The specifications are: {', '.join(specifications) or 'none'}."
            )
        with inner.located():
            modules_by_name[name] = Module(name, specifications[kind])
    return modules_by_name


def _nodes(
    entry: DocumentEntry, modules: dict[str, Module], specifications: dict[str, Specification]
) -> dict[str, Module]:
    entries = (
        {inner.text(): inner for inner in entry.sequence()}
        if isinstance(entry.value, list)
        else entry.mapping()
    )
    nodes = {}
    for node, inner in entries.items():
        name = inner.text()
        if name not in modules and name in specifications:
            with inner.located():
                modules[name] = Module(name, specifications[name])
        if name not in modules:
            known = dict.fromkeys([*modules, *specifications])
            raise inner.error(
                f"Node {node} is of module {name!r}, which there is not.\n"
                f"The modules are: {', '.join(known) or 'none'}."
            )
        nodes[node] = modules[name]
    return nodes


def _edge(entry: DocumentEntry) -> Edge:
    parts = entry.mapping(("from", "to"), ("relations",))
    relations: Any = None
    if "relations" in parts:
        given = parts["relations"]
        relations = given.named() if isinstance(given.value, dict) else given.texts()
    return Edge(parts["from"].text(), parts["to"].text(), relations)


def _loop(entry: DocumentEntry) -> Loop:
    parts = entry.mapping(("nodes", "times"), ("back",))
    back = [_edge(inner) for inner in _list(parts.get("back"))]
    with entry.located():
        return Loop(parts["nodes"].texts(), back, parts["times"].number())


# -- writing ---------------------------------------------------------------------------------


def text(workflow: Workflow) -> str:
    """Return a workflow as YAML that :func:`read` reads."""
    return dump(document(workflow))


def document(workflow: Workflow) -> dict[str, Any]:
    """Return a workflow as a document of plain mappings, lists and texts."""
    specifications = {m.specification.name: m.specification for m in workflow.nodes.values()}
    record: dict[str, Any] = {
        "workflow": workflow.name,
        "specifications": {name: _specified(s) for name, s in specifications.items()},
        "modules": {name: m.specification.name for name, m in workflow.modules.items()},
        "nodes": {node: module.name for node, module in workflow.nodes.items()},
        "edges": [_joined(edge) for edge in workflow.edges],
    }
    if workflow.loops:
        record["loops"] = [
            {"nodes": list(loop.nodes), "back": [*map(_joined, loop.back)], "times": loop.times}
            for loop in workflow.loops
        ]
    return record | {"inputs": list(workflow.inputs), "outputs": list(workflow.outputs)}


def _specified(specification: Specification) -> dict[str, Any]:
    query = specification.query_state
    record: dict[str, Any] = {"input": _schema(specification.inputs)}
    if specification.state:
        record["state"] = _schema(specification.state)
    record["output"] = _schema(specification.outputs)
    if specification.functions:
        record["functions"] = {name: str(at) for name, at in specification.functions.items()}
    if query:
        parts = {part: getattr(query, part) for part in _CHANGES}
        record["query_state"] = {
            part: _queries(queries) for part, queries in parts.items() if queries
        }
    record["query_output"] = _queries(specification.query_output)
    return record


def _queries(queries: Mapping[str, Query]) -> dict[str, Any]:
    return {
        name: {"function": str(query.reference)} if isinstance(query, FrameFunction) else query.text
        for name, query in queries.items()
    }


def _schema(relations: Any) -> dict[str, Any]:
    schemas = {}
    for name, relation in relations.items():
        entry: dict[str, Any] = {"columns": dict(relation.columns)}
        if relation.key:
            entry["key"] = list(relation.key)
        entry.update({flag: True for flag in ("union", "optional") if getattr(relation, flag)})
        schemas[name] = entry
    return schemas


def _joined(edge: Edge) -> dict[str, Any]:
    entry: dict[str, Any] = {"from": edge.source, "to": edge.target}
    if edge.relations is not None:
        entry["relations"] = dict(edge.relations)
    return entry
