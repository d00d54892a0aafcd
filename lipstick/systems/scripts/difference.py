"""The difference of two versions of a script: the steps that differ, and the changed results."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

from lipstick.systems.scripts.answers import Line
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.model import ScriptNode
from lipstick.systems.scripts.provenance import WITHOUT_TEXT, ScriptProvenance


@dataclass(frozen=True, slots=True)
class ScriptDifference:
    """The difference of two versions of a script.

    Attributes
    ----------
    removed, added
        Lines whose steps only the old, only the new version has. A step is what it does to what:
        moving it, or renaming what it does not make, is not a difference.
    changed
        Variables and files of both versions that are computed in another way.
    unchanged
        Variables and files of both versions that are computed in the same way, for certain.
    left_open
        The ones whose steps are the same, where a text leaves open whether other lines matter.
    gone, new
        Variables and files that only the old, only the new version has.
    """

    removed: tuple[Line, ...]
    added: tuple[Line, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    left_open: tuple[str, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]


def script_difference(old: ScriptProvenance, new: ScriptProvenance) -> ScriptDifference:
    """Compare two versions of a script by their graphs.

    A node's signature is its own operation and the signatures of the nodes it depends on, so that
    two results are the same if the steps that lead to them are. O(nodes + edges).
    """
    texts, other_texts = _texts(old), _texts(new)
    left, right = _signatures(old, texts), _signatures(new, other_texts)
    before, after = _results(old, left), _results(new, right)
    both = before.keys() & after.keys()
    same = {name for name in both if before[name] == after[name]}
    steps, other_steps = _steps(old, texts), _steps(new, other_texts)
    left_open = set[str]()
    if [file.text for file in old.script.files] != [file.text for file in new.script.files]:
        left_open = {
            name for name in same if not (_is_certain(old, name) and _is_certain(new, name))
        }
    return ScriptDifference(
        _only(old, steps, other_steps),
        _only(new, other_steps, steps),
        tuple(sorted(both - same)),
        tuple(sorted(same - left_open)),
        tuple(sorted(left_open)),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(after.keys() - before.keys())),
    )


_WITHOUT_STATEMENT = WITHOUT_TEXT | {"block", "head", "branch"}
"""Operations that no statement has by itself."""

_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
"""Fields of compound statements that are no part of their heads."""


_Texts: TypeAlias = dict[tuple[int, int], list[str]]
"""By file and line the parts of the text of a statement; names of the script begin with a `#`."""


_Steps: TypeAlias = dict[tuple[str, tuple[str, ...]], list[ScriptNode]]
"""The nodes of a script by what they do to what."""


def _what_it_does(node: ScriptNode) -> str:
    """Return a text of the node's own properties, without its inputs."""
    facts = (node.name, node.operation, node.views, node.constants, node.reads, node.writes)
    return repr((*facts, node.window, node.trigger, node.unknown))


def _texts(script: ScriptProvenance) -> _Texts:
    """Return the statements of a script: nodes have neither places of operands nor their names."""
    texts = {}
    for number, file in enumerate(script.script.files):
        nodes = list(ast.walk(file.tree))
        own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        own |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        for node in nodes:
            if isinstance(node, ast.stmt | ast.ExceptHandler):
                texts[number, node.lineno] = list(_parts(node, own))
            elif isinstance(node, ast.match_case):
                texts[number, node.pattern.lineno] = list(_parts(node, own))
    return texts


def _parts(node: object, own: set[str]) -> Iterator[str]:
    match node:
        case ast.Name(id=name) if name in own:
            yield f"#{name}"
        case ast.AST():
            yield f" ({type(node).__name__}"
            for field, value in ast.iter_fields(node):
                if field not in _BODIES or isinstance(node, ast.expr):
                    yield from _parts(value, own)
            yield ")"
        case list():
            for each in node:
                yield from _parts(each, own)
            yield ","
        case _:
            yield f" {node!r}"


def _written(parts: list[str], names: dict[str, str]) -> str:
    """Return the text of a statement with what its names mean, and with numbers for the others."""
    known = dict(names)
    for part in parts:
        if part.startswith("#"):
            known.setdefault(part, f"#{len(known)}")
    return "".join(known.get(part, part) for part in parts)


def _signatures(script: ScriptProvenance, texts: _Texts) -> dict[int, str]:
    graph = script.final
    waiting = {number: len(edges) for number, edges in graph.incoming.items()}
    order = [number for number, count in waiting.items() if count == 0]
    signatures: dict[int, str] = {}
    for number in order:
        node, names, edges = graph.nodes[number], dict[str, str](), graph.incoming[number]
        for edge in edges:
            read = [edge.variable[1]] if isinstance(edge.variable, tuple) else []
            for name in (*read, *graph.nodes[edge.source].views):
                names.setdefault(f"#{name}", signatures[edge.source])
        behind = [f"{edge.role} {signatures[edge.source]}" for edge in edges]
        if node.operation == "raised":  # it matters what came first
            written_at = [graph.nodes[edge.source].place for edge in edges]
            lines = [(place.file, place.line) for place in written_at]
            behind = [each for _, each in sorted(zip(lines, behind, strict=True))]
        else:
            behind.sort()
        places = [(place.file, n) for place in node.lines for n in range(place.line, place.end + 1)]
        if node.operation not in _WITHOUT_STATEMENT:
            places.insert(0, (node.place.file, node.place.line))
        written = [_written(texts[place], names) for place in places if place in texts]
        text = "|".join([_what_it_does(node), *written, *behind])
        signatures[number] = blake2b(text.encode(), digest_size=12).hexdigest()
        for target in graph.successors(number):
            waiting[target] -= 1
            if waiting[target] == 0:
                order.append(target)
    return signatures


def _results(script: ScriptProvenance, signatures: dict[int, str]) -> dict[str, list[str]]:
    results = {}
    for known in (script.reading.variables, script.reading.files):
        for name, refs in known.items():
            nodes = script.final.resolve((node, key) for node, key, _ in refs)
            if nodes:
                results[name] = sorted(signatures[number] for number in nodes)
    return results


def _steps(script: ScriptProvenance, texts: _Texts) -> _Steps:
    graph = script.final
    steps: _Steps = {}
    for node in graph.nodes.values():
        behind = sorted(_called(graph.nodes[n]) for n in graph.predecessors(node.id))
        place = (node.place.file, node.place.line)
        shown = "" if node.operation in _WITHOUT_STATEMENT else "".join(texts.get(place, ()))
        steps.setdefault((_what_it_does(node) + shown, tuple(behind)), []).append(node)
    return steps


def _called(node: ScriptNode) -> str:
    return node.views[0] if node.views else node.name


def _is_certain(script: ScriptProvenance, name: str) -> bool:
    try:
        return script.depends(name).certain
    except ScriptError:  # a file whose name is computed
        return False


def _only(script: ScriptProvenance, own_steps: _Steps, other_steps: _Steps) -> tuple[Line, ...]:
    """The lines of steps that one script has more often than another."""
    lines: dict[Line, None] = {}
    for step, nodes in own_steps.items():
        for node in nodes[len(other_steps.get(step, ())) :]:
            if node.operation not in WITHOUT_TEXT:
                lines[script.line(node.place)] = None
    return tuple(sorted(lines))
