"""Streams of provenance events, reduced on arrival to the derivations of outputs from inputs.

Jobs of any kind emit edges of PROV while they run; a parallel reduction keeps the pairs of outputs
and inputs and drops the rest before anything is stored. See Suriarachchi, Withana and Plale, *Big
Provenance Stream Processing for Data Intensive Computations*, and `graphquery.reduction`.
"""

from __future__ import annotations

from lipstick.systems.events.emit import Emitter, Execution
from lipstick.systems.events.errors import EventsError, MessageError, ReducedAwayError
from lipstick.systems.events.files import check_files, reduce_files
from lipstick.systems.events.follow import FolderLook, Follower
from lipstick.systems.events.graph import ReducedGraph
from lipstick.systems.events.reduction import Outcome
from lipstick.systems.events.run_settings import Settings

__all__ = [
    "Emitter",
    "EventsError",
    "Execution",
    "FolderLook",
    "Follower",
    "MessageError",
    "Outcome",
    "ReducedAwayError",
    "ReducedGraph",
    "Settings",
    "check_files",
    "reduce_files",
]
