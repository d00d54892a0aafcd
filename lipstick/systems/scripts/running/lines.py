"""The lines of an event, by the text."""

from __future__ import annotations

from dataclasses import replace

from lipstick.systems.scripts.answers import Dependence
from lipstick.systems.scripts.errors import ScriptNameError
from lipstick.systems.scripts.provenance import ScriptProvenance
from lipstick.systems.scripts.running.record import Event


def asked(
    provenance: ScriptProvenance, event: Event, *, forwards: bool = False
) -> Dependence | None:
    """Return the dependence of an event, back or ``forwards``; None where the text shows none.

    For an event in a function, the answer has the lines that its own line and its calls share:
    the line alone stands for all calls of the function, the call for all that the function does.
    """
    questions = [f"{file}:{number}" for file, number in event.places]
    if event.places and event.library == "python" and event.kind == "write":
        # It is written by other lines than the one that opens it.
        questions = [event.name, *questions[1:]]
    answers = []
    for question in questions:
        try:
            answers.append((provenance.concerns if forwards else provenance.depends)(question))
        except ScriptNameError:
            continue
    if not answers:
        return None
    common = set.intersection(*(set(answer.lines) for answer in answers))
    first = answers[0]
    return replace(first, lines=tuple(line for line in first.lines if line in common))


def is_beside(provenance: ScriptProvenance, source: Event, event: Event) -> bool:
    """Return True if a read of the same line as a collect is of another part of its expression."""
    if event.kind != "collect" or source.places[:1] != event.places[:1] or not event.places:
        return False
    file, line = event.places[0]
    try:
        nodes = provenance.nodes(f"{file}:{line}")
    except ScriptNameError:
        return False
    calls = {node.id for node in nodes if node.operation == "call" and node.name == event.name}
    reads = {
        node.id
        for node in nodes
        if node.operation == "call" and (node.reads or node.name == source.name)
    }
    if not calls or not reads or event.name == source.name:
        return False
    return reads.isdisjoint(provenance.reached(calls))
