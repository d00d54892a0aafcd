"""Workflows to start from."""

from __future__ import annotations

from importlib.resources import as_file, files

from lipstick.workflow.definition.workflow import Workflow


def dealership() -> Workflow:
    """The car dealership of the paper: four dealers bid, the best one may sell a car.

    Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Figure 1.
    """
    with as_file(files(__name__) / "dealership.yaml") as path:
        return Workflow.read(path, imports=[__name__])
