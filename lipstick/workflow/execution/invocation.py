"""An invocation of a module: which one it is, what it is given, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from lipstick.workflow.definition.module import Module
from lipstick.workflow.derivation.nodes import Origin, Values
from lipstick.workflow.execution.fragments import Fragment
from lipstick.workflow.execution.state import StateRelation

CAME = ".new"
"""Behind a state relation: the tuples that an invocation put into it."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """Which invocation of which module, at which node, in which execution."""

    module: Module
    number: int
    node: str
    execution: int

    @property
    def name(self) -> str:
        """``dealer1#3``."""
        return f"{self.module.name}#{self.number}"


@dataclass(frozen=True, slots=True)
class Arriving:
    """An input relation of an invocation: its tuples, the nodes that they and their values are."""

    table: pa.Table
    origin: Origin
    values: Mapping[str, Origin] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leaving:
    """An output of an invocation: its tuples, and the v-nodes of their values."""

    table: pa.Table
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StateChange:
    """What an invocation did to a state relation.

    Parameters
    ----------
    deleted
        The stored nodes of the tuples that left.
    inserted
        The tuples that came.
    state
        The relation after it.
    values
        The v-nodes of the tuples that came.
    """

    deleted: Origin
    inserted: pa.Table
    state: StateRelation
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an invocation gave.

    Parameters
    ----------
    outputs, changes, fragment
        Its outputs, the changes of its state, and its part of the graph.
    started, ended
        When it ran, in UTC.
    """

    outputs: Mapping[str, Leaving]
    changes: Mapping[str, StateChange]
    fragment: Fragment
    started: datetime
    ended: datetime
