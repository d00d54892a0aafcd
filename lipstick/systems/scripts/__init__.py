"""Provenance of Python scripts: the workflow read from the text.

References
----------
Huq, Apers, Wombacher, *An Inference-Based Framework to Manage Data Provenance in Geoscience
Applications*, IEEE TGRS.
"""

from __future__ import annotations

from lipstick.systems.scripts.answers import Assumption, Dependence, Line
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.provenance import (
    ScriptProvenance,
    script_provenance,
    text_provenance,
)

__all__ = [
    "Assumption",
    "Dependence",
    "Line",
    "ScriptError",
    "ScriptProvenance",
    "script_provenance",
    "text_provenance",
]
