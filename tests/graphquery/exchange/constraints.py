"""Validity of PROV documents: the constraints of W3C PROV-CONSTRAINTS that ours could violate."""

from __future__ import annotations

from collections import Counter

import networkx as nx
from prov.model import (
    ProvActivity,
    ProvDerivation,
    ProvDocument,
    ProvEntity,
    ProvGeneration,
    ProvUsage,
)


def check(document: ProvDocument) -> None:
    """Check typing, uniqueness, and that the events can be put in an order.

    PROV-CONSTRAINTS: 22 and 50 (typing), 55 (entities are not activities), 24 and 39 (generation),
    30 to 42 (ordering, with the strict one of derivations), 51 (impossible derivations).
    """
    entities = {record.identifier for record in document.get_records(ProvEntity)}
    activities = {record.identifier for record in document.get_records(ProvActivity)}
    elements = [*document.get_records(ProvEntity), *document.get_records(ProvActivity)]
    assert len(elements) == len(entities) + len(activities)
    assert not entities & activities
    order = nx.MultiDiGraph()
    generations: Counter[object] = Counter()
    for record in document.get_records(ProvGeneration):
        entity, activity, _ = record.args
        assert entity in entities
        assert activity in activities
        generations[entity] += 1
        order.add_edge(("start", activity), ("gen", entity), strict=False)
        order.add_edge(("gen", entity), ("end", activity), strict=False)
    assert all(count == 1 for count in generations.values())
    for number, record in enumerate(document.get_records(ProvUsage)):
        activity, entity, _ = record.args
        assert entity in entities
        assert activity in activities
        order.add_edge(("gen", entity), ("use", number), strict=False)
        order.add_edge(("start", activity), ("use", number), strict=False)
        order.add_edge(("use", number), ("end", activity), strict=False)
    for record in document.get_records(ProvDerivation):
        derived, of = record.args[:2]
        assert {derived, of} <= entities
        assert derived != of
        order.add_edge(("gen", of), ("gen", derived), strict=True)
    component_of = {}
    for number, component in enumerate(nx.strongly_connected_components(order)):
        component_of.update(dict.fromkeys(component, number))
    for before, after, strict in order.edges(data="strict"):
        assert not (strict and component_of[before] == component_of[after])
