"""The difference of two versions of a script: the steps that differ, and the changed results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

from lipstick.systems.scripts.answers import Line
from lipstick.systems.scripts.model import ScriptNode
from lipstick.systems.scripts.provenance import ScriptProvenance


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
        Variables and files of both versions that are computed in the same way.
    gone, new
        Variables and files that only the old, only the new version has.
    """

    removed: tuple[Line, ...]
    added: tuple[Line, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]


def script_difference(old: ScriptProvenance, new: ScriptProvenance) -> ScriptDifference:
    """Compare two versions of a script by their graphs.

    A node's signature is its own operation and the signatures of the nodes it depends on, so that
    two results are the same if the steps that lead to them are. O(nodes + edges).
    """
    left, right = _signatures(old), _signatures(new)
    before, after = _results(old, left), _results(new, right)
    both = before.keys() & after.keys()
    same = {name for name in both if before[name] == after[name]}
    return ScriptDifference(
        _only(old, new),
        _only(new, old),
        tuple(sorted(both - same)),
        tuple(sorted(same)),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(after.keys() - before.keys())),
    )


def _what_it_does(node: ScriptNode) -> str:
    """Return a text of the node's own properties, without its inputs."""
    facts = (node.name, node.operation, node.views, node.constants, node.reads, node.writes)
    return repr((*facts, node.window, node.trigger, node.unknown))


def _signatures(script: ScriptProvenance) -> dict[int, str]:
    graph = script.final
    waiting = {number: len(edges) for number, edges in graph.incoming.items()}
    order = [number for number, count in waiting.items() if count == 0]
    signatures: dict[int, str] = {}
    for number in order:
        node = graph.nodes[number]
        behind = sorted(signatures[source] for source in graph.predecessors(number))
        text = _what_it_does(node)
        if node.lines:
            text += repr([script.line(place_of_line).text for place_of_line in node.lines])
        signatures[number] = blake2b("|".join([text, *behind]).encode(), digest_size=12).hexdigest()
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


def _steps(script: ScriptProvenance) -> dict[tuple[str, tuple[str, ...]], list[ScriptNode]]:
    graph = script.final
    steps: dict[tuple[str, tuple[str, ...]], list[ScriptNode]] = {}
    for node in graph.nodes.values():
        behind = sorted(_called(graph.nodes[n]) for n in graph.predecessors(node.id))
        steps.setdefault((_what_it_does(node), tuple(behind)), []).append(node)
    return steps


def _called(node: ScriptNode) -> str:
    return node.views[0] if node.views else node.name


def _only(script: ScriptProvenance, other: ScriptProvenance) -> tuple[Line, ...]:
    """The lines of steps that one script has more often than another."""
    own_steps = _steps(script)
    other_counts = Counter({step: len(nodes) for step, nodes in _steps(other).items()})
    lines: dict[Line, None] = {}
    for step, nodes in own_steps.items():
        for node in nodes[other_counts[step] :]:
            if node.operation not in ("union", "selection", "earlier iterations"):
                lines[script.line(node.place)] = None
    return tuple(sorted(lines))
