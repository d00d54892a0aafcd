"""Window pruning: unread window functions are not computed.

A model of dbt may number its rows although the query over the model does not read the numbers. Rows
of the query then depend on no other rows of the windows, and conditions on its answer can be pushed
below them.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from itertools import compress

from rewriter.algebra import (
    Aggregate,
    Attribute,
    Filter,
    Join,
    Project,
    Relation,
    Scalar,
    Sort,
    Windows,
    references,
    walk,
    with_inputs,
)


def prune_windows(root: Relation) -> Relation:
    """Return a query without unread window functions."""
    operators = list(walk(root))
    if not any(isinstance(operator, Windows) for operator in operators):
        return root
    live: dict[int, set[str]] = {id(operator): set() for operator in operators}
    live[id(root)] = _ids(root.attributes)
    for operator in reversed(operators):
        for each in operator.inputs:
            live[id(each)] |= _read(operator, each, live[id(operator)])
    done: dict[int, Relation] = {}
    for operator in operators:
        if isinstance(operator, Windows):
            pruned = _without_calls(operator, done[id(operator.input)], live[id(operator)])
        elif isinstance(operator, Project):
            pruned = _without_items(operator, done[id(operator.input)])
        else:
            pruned = with_inputs(operator, lambda each: done[id(each)])
        done[id(operator)] = pruned
    return done[id(root)]


def _read(operator: Relation, below: Relation, live: Set[str]) -> Set[str]:
    """Return the attributes of an input that an operator reads, given the read ones of its own."""
    match operator:
        case Project(output=output, scalars=scalars):
            items = list(compress(scalars, (attribute.id in live for attribute in output)))
            # A projection without items would have no rows to count.
            return _referred(items or scalars[:1])
        case Windows(output=output, calls=calls):
            wanted = (attribute.id in live for attribute in output)
            return live | _referred(compress(calls, wanted))
        case Filter(predicate=predicate):
            return live | _referred([predicate])
        case Sort(keys=keys):
            return live | _referred(key.scalar for key in keys)
        case Aggregate(keys=grouped, aggregates=aggregates):
            return _referred((*grouped, *aggregates))
        case Join(condition=condition):
            return live | _referred([] if condition is None else [condition])
    return _ids(below.attributes)


def _without_calls(operator: Windows, below: Relation, live: Set[str]) -> Relation:
    kept = [attribute.id in live for attribute in operator.output]
    if not any(kept):
        return below
    if all(kept) and below is operator.input:
        return operator
    output, calls = compress(operator.output, kept), compress(operator.calls, kept)
    return replace(operator, input=below, output=tuple(output), calls=tuple(calls))


def _without_items(operator: Project, below: Relation) -> Relation:
    """Return a projection without the items that read attributes its input no longer has."""
    if below is operator.input:
        return operator
    known = _ids(below.attributes)
    kept = [_referred([scalar]) <= known for scalar in operator.scalars]
    output, scalars = compress(operator.output, kept), compress(operator.scalars, kept)
    return Project(below, tuple(output), tuple(scalars))


def _referred(scalars: Iterable[Scalar]) -> set[str]:
    return {name for scalar in scalars for name in references(scalar)}


def _ids(attributes: Iterable[Attribute]) -> set[str]:
    return {attribute.id for attribute in attributes}
