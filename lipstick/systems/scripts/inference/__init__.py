"""Fine-grained provenance by inference: which input tuples an output was made of, from times alone.

References
----------
Huq, Apers, Wombacher, *An Inference-Based Framework to Manage Data Provenance in Geoscience
Applications*, IEEE TGRS, section V.
"""

from __future__ import annotations

from lipstick.systems.scripts.inference.choice import Method, Situation, StorageChoice, choose
from lipstick.systems.scripts.inference.distribution import Distribution
from lipstick.systems.scripts.inference.element import ProcessingElement
from lipstick.systems.scripts.inference.infer import (
    basic,
    by_sequence,
    multi_step,
    one_to_one,
    posterior,
    probabilistic,
    trigger_origin,
)
from lipstick.systems.scripts.inference.offset import Offset, offset_accuracy, optimal_offset
from lipstick.systems.scripts.inference.ranges import Ranges, Score
from lipstick.systems.scripts.inference.stored_views import InferredInputs, StoredView, infer_output
from lipstick.systems.scripts.inference.timed_views import View

__all__ = [
    "Distribution",
    "InferredInputs",
    "Method",
    "Offset",
    "ProcessingElement",
    "Ranges",
    "Score",
    "Situation",
    "StorageChoice",
    "StoredView",
    "View",
    "basic",
    "by_sequence",
    "choose",
    "infer_output",
    "multi_step",
    "offset_accuracy",
    "one_to_one",
    "optimal_offset",
    "posterior",
    "probabilistic",
    "trigger_origin",
]
