"""The Arctic stations of WorkflowGen.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.2.
"""

from __future__ import annotations

from benchmark_workflowgen.arctic.climate import generate
from benchmark_workflowgen.arctic.workload import (
    SELECTIVITIES,
    TOPOLOGIES,
    ArcticStations,
    arctic,
    read_stations,
)

__all__ = [
    "SELECTIVITIES",
    "TOPOLOGIES",
    "ArcticStations",
    "arctic",
    "generate",
    "read_stations",
]
