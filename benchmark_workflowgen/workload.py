"""The protocol of the benchmark's workloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from lipstick.workflow import Run, Workflow


class Workload(Protocol):
    """One run: a workflow, its initial state, and the input of every execution.

    All of it follows from parameters and a seed.
    """

    @property
    def executions(self) -> int:
        """The limit on executions."""

    @property
    def workflow(self) -> Workflow:
        """The workflow."""

    def state(self) -> Mapping[str, Mapping[str, pa.Table]]:
        """Return the initial state, by module and relation."""

    def input(self, execution: int) -> Mapping[str, Any]:
        """Return the input of an execution, from 0."""

    def ended(self, run: Run, execution: int) -> bool:
        """Return True if a run is over after an execution."""
