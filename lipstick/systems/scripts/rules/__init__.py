"""The rules that make the final graph of the initial one, in the paper's three sets and order.

A rule is a function of a graph: it replaces every subgraph that its left-hand side matches by its
right-hand side, and returns the number of replacements. A set of rules is a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.rules.flow_transformation import (
    conditional,
    earlier_iterations,
    function_call,
    loop_over_data,
    loop_over_products,
)
from lipstick.systems.scripts.rules.graph_maintenance import (
    intermediate_of_computing,
    intermediate_of_source,
    output,
    persistence,
)
from lipstick.systems.scripts.rules.model_modification import (
    constant_into_computing,
    constant_into_source,
    view_into_computing,
    view_into_source,
)

Rule: TypeAlias = Callable[[ScriptGraph], int]

FLOW_TRANSFORMATION: tuple[Rule, ...] = (
    conditional,
    function_call,
    loop_over_products,
    loop_over_data,
    earlier_iterations,
)
"""Control dependence becomes data dependence (section IV-C)."""

GRAPH_MAINTENANCE: tuple[Rule, ...] = (
    persistence,
    intermediate_of_source,
    intermediate_of_computing,
    output,
)
"""Persistence is passed on, and intermediate views go (section IV-D)."""

MODEL_MODIFICATION: tuple[Rule, ...] = (
    constant_into_source,
    constant_into_computing,
    view_into_computing,
    view_into_source,
)
"""Constants and views become properties of PEs (section IV-E)."""

RULES: tuple[Rule, ...] = (*FLOW_TRANSFORMATION, *GRAPH_MAINTENANCE, *MODEL_MODIFICATION)


def rewrite(graph: ScriptGraph, rules: tuple[Rule, ...] = RULES) -> dict[str, int]:
    """Apply rules one after the other, each as often as it matches; the graph is changed.

    Returns
    -------
    dict
        By rule how often it was applied.
    """
    return {rule.__name__: rule(graph) for rule in rules}
