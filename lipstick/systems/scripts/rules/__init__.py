"""The rules that make the final graph of the initial one, in the paper's three sets and order.

Each rule is a file with one function, called like it, that takes a graph, replaces every subgraph
that its left-hand side matches by its right-hand side, and returns how often it did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.rules.conditional import conditional
from lipstick.systems.scripts.rules.constant_into_computing import constant_into_computing
from lipstick.systems.scripts.rules.constant_into_source import constant_into_source
from lipstick.systems.scripts.rules.earlier_iterations import earlier_iterations
from lipstick.systems.scripts.rules.function_call import function_call
from lipstick.systems.scripts.rules.intermediate_of_computing import intermediate_of_computing
from lipstick.systems.scripts.rules.intermediate_of_source import intermediate_of_source
from lipstick.systems.scripts.rules.loop_over_data import loop_over_data
from lipstick.systems.scripts.rules.loop_over_products import loop_over_products
from lipstick.systems.scripts.rules.output import output
from lipstick.systems.scripts.rules.persistence import persistence
from lipstick.systems.scripts.rules.view_into_computing import view_into_computing
from lipstick.systems.scripts.rules.view_into_source import view_into_source

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
