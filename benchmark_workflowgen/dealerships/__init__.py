"""The car dealerships of WorkflowGen.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.2.
"""

from __future__ import annotations

from benchmark_workflowgen.dealerships.workload import Buyer, Dealerships

__all__ = ["Buyer", "Dealerships"]
