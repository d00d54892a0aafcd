"""The in-memory engine: questions answered from a capture directory without Spark.

Its names are imported when they are first used: a session that asks Spark alone loads none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import PotentialRow
    from lipstick.engines.memory.members import ValueLookup
    from lipstick.engines.memory.memory import Memory
    from lipstick.engines.memory.scenarios import Deleted, Scenarios, Updated, Updates
    from lipstick.engines.memory.whatif import MemoryWhatIf
    from lipstick.engines.memory.whatif_many import WhatIfMany

__all__ = [
    "Deleted",
    "Memory",
    "MemoryWhatIf",
    "PotentialRow",
    "Scenarios",
    "Updated",
    "Updates",
    "ValueLookup",
    "WhatIfMany",
]

_MODULES = {
    "formal": ("PotentialRow",),
    "memory": ("Memory",),
    "members": ("ValueLookup",),
    "scenarios": ("Deleted", "Scenarios", "Updated", "Updates"),
    "whatif": ("MemoryWhatIf",),
    "whatif_many": ("WhatIfMany",),
}
_ORIGINS = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _ORIGINS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ORIGINS[name]}"), name)
