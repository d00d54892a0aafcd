"""The access-control semiring: the clearance needed to see a tuple.

Carrier: PUBLIC < CONFIDENTIAL < SECRET < TOP_SECRET < NEVER with min and max. Source: Green,
Tannen, PODS 2017 (after Foster, Green, Tannen, *Annotated XML*, PODS 2008).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.base import Array
from semiring.errors import ValuationError
from semiring.semirings.lattice import TotallyOrdered


class Clearance(IntEnum):
    """Levels of clearance, from seen by all to seen by nobody."""

    PUBLIC = 0
    CONFIDENTIAL = 1
    SECRET = 2
    TOP_SECRET = 3
    NEVER = 4

    def __str__(self) -> str:
        return self.name


class AccessControl(TotallyOrdered[Clearance]):
    """The least clearance that sees some derivation whole: (levels, min, max, NEVER, PUBLIC).

    Values are levels or their names. a ⊖ b = NEVER if b ≤ a, else a. Arrays are int8 codes; in
    Arrow a level is its name.
    """

    name = "AccessControl"
    dtype = np.dtype(np.int8)
    arrow_type = pa.string()
    better = np.minimum
    zero: Clearance = Clearance.NEVER
    one: Clearance = Clearance.PUBLIC

    def times(self, a: Clearance, b: Clearance) -> Clearance:
        return max(a, b)

    def check(self, value: Any) -> Clearance:
        if isinstance(value, Clearance):
            return value
        if isinstance(value, str) and value.upper() in Clearance.__members__:
            return Clearance[value.upper()]
        raise ValuationError(
            f"{value!r} is not a level of clearance; use one of {', '.join(Clearance.__members__)}"
        )

    def unpack(self, array: Array) -> list[Clearance]:
        return [Clearance(code) for code in array.tolist()]

    def times_array(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)

    def to_arrow(self, array: Array) -> pa.Array:
        names = pa.array(list(Clearance.__members__), pa.string())
        return names.take(pa.array(array, pa.int8()))
