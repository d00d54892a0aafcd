"""Modules with state, and workflows of them: definitions, files, runs.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 2.

Runs are imported when they are first used: to read and check a workflow needs no Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lipstick.workflow.loops import Loop
from lipstick.workflow.module import Module, Specification
from lipstick.workflow.query import FrameFunction, Query, Sql, StateQuery
from lipstick.workflow.relation import Relation
from lipstick.workflow.shape import Edge
from lipstick.workflow.workflow import Workflow

if TYPE_CHECKING:
    from lipstick.workflow.run import Run, open_run

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
    from lipstick.workflow import run

    return getattr(run, name)
