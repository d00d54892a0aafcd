"""Modules with state, and workflows of them: definitions, files, runs.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 2.
"""

from __future__ import annotations

from lipstick.workflow.loops import Loop
from lipstick.workflow.module import Module, Specification
from lipstick.workflow.query import FrameFunction, Query, Sql, StateQuery
from lipstick.workflow.relation import Relation
from lipstick.workflow.run import Run, open_run
from lipstick.workflow.shape import Edge
from lipstick.workflow.workflow import Workflow

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
