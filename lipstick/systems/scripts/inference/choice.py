"""The choice of an inference method (Fig. 16), by what is kept, known and varying."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LOW_SELECTIVITY = 0.5
"""Below this share of selected tuples NULLs would outnumber them; the paper gives no number."""


class Method(StrEnum):
    """The methods that give the provenance of a PE's outputs, or the reason for none."""

    BASIC = "basic"
    PROBABILISTIC = "probabilistic"
    MULTI_STEP = "multi-step"
    EXPLICIT = "explicit"
    SKIPPED = "skipped"
    """The output was not kept: it is part of a chain that a later PE ends."""
    COLLECT = "collect"
    """Distributions are missing: they are to be collected first."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The circumstances of a PE that decide which method fits.

    Parameters
    ----------
    selectivity
        Of a variable ratio: the share of the window's tuples that it selects; None: constant ratio.
    offline
        Whether all data was collected before it was processed.
    distributions
        Whether the distributions of delay and sampling time are known.
    """

    output_persistent: bool = True
    source_persistent: bool = True
    selectivity: float | None = None
    offline: bool = False
    distributions: bool = True
    delay_varies: bool = True
    sampling_varies: bool = True


@dataclass(frozen=True, slots=True)
class StorageChoice:
    """A method and why; `nulls` is whether the PE has to put out NULL for what it leaves out."""

    method: Method
    why: str
    nulls: bool = False


def choose(situation: Situation) -> StorageChoice:
    """The method for a PE, by the decisions of Fig. 16 in their order."""
    s = situation
    if not s.output_persistent:
        return StorageChoice(Method.SKIPPED, "its output is not kept")
    nulls = s.selectivity is not None
    if s.selectivity is not None and s.selectivity < LOW_SELECTIVITY:
        return StorageChoice(
            Method.EXPLICIT, f"it selects {s.selectivity:.0%} of its input, which NULLs outnumber"
        )
    if s.offline:
        return StorageChoice(Method.BASIC, "the data was collected beforehand", nulls)
    if not s.distributions:
        return StorageChoice(
            Method.COLLECT, "delays and sampling times have not been observed", nulls
        )
    if not s.delay_varies and not s.sampling_varies:
        return StorageChoice(Method.BASIC, "delay and sampling time do not vary", nulls)
    if not s.source_persistent:
        return StorageChoice(
            Method.MULTI_STEP, "views between it and the source are not kept", nulls
        )
    return StorageChoice(Method.PROBABILISTIC, "delay or sampling time varies", nulls)
