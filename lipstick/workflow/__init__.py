"""Modules with state, and workflows of modules: definitions, files, runs.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 2.

The code for runs is imported lazily: reading and checking a workflow needs no Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lipstick.workflow.definition.module import Module, Relation, Specification
from lipstick.workflow.definition.query import FrameFunction, Query, Sql, StateQuery
from lipstick.workflow.definition.shape import Edge, Loop
from lipstick.workflow.definition.workflow import Workflow

if TYPE_CHECKING:
    from lipstick.workflow.execution.run import Run, open_run

__all__ = [
    "Edge",
    "FrameFunction",
    "Loop",
    "Module",
    "Query",
    "Relation",
    "Run",
    "Specification",
    "Sql",
    "StateQuery",
    "Workflow",
    "open_run",
]


def __getattr__(name: str) -> Any:
    if name not in ("Run", "open_run"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lipstick.workflow.execution import run

    return getattr(run, name)
