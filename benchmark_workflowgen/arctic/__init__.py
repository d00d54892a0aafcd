"""The Arctic stations of WorkflowGen.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.2.
"""

from __future__ import annotations

from benchmark_workflowgen.arctic.climate import generate
from benchmark_workflowgen.arctic.files import StationFileError, read_stations
from benchmark_workflowgen.arctic.topology import SELECTIVITIES, TOPOLOGIES, arctic
from benchmark_workflowgen.arctic.workload import ArcticStations

__all__ = [
    "SELECTIVITIES",
    "TOPOLOGIES",
    "ArcticStations",
    "StationFileError",
    "arctic",
    "generate",
    "read_stations",
]
