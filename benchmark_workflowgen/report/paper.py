"""The paper's own numbers, beside which ours are shown.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.4. On a laptop of
2010, Pig Latin in local mode; figure 5c on a Hadoop cluster of 27 machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEALERSHIPS = {10: (2.7, 7.0), 100: (3.8, 11.9)}
_ARCTIC = {"parallel": 16.5, "dense": 20.0, "serial": 35.0}

PARALLELISM = (
    "The paper (Figure 5c): about 50 % better with 2 to 4 reducers, with provenance and without."
)
GRAPHS = (
    "The paper's numbers for graphs (its sections 5.5 and 5.6) are not quoted: they were not at "
    "hand."
)


def quoted(kind: str, parameters: Mapping[str, Any]) -> str:
    """Return the paper's figures for a setting, or an empty text.

    Parameters
    ----------
    kind, parameters
        The kind and the parameters of the experiment.
    """
    if kind == "dealerships" and parameters.get("cars") == 5_000:
        figures = _DEALERSHIPS.get(int(parameters.get("executions", 0)))
        if figures is not None and not {"cores", "shuffle_partitions"} & set(parameters):
            plain, tracked = figures
            return f"{plain} s → {tracked} s, {tracked / plain:.1f}×"
    if kind == "arctic" and parameters.get("stations") == 24:
        month = parameters.get("selectivity", "month") == "month"
        overhead = _ARCTIC.get(str(parameters.get("topology", "parallel")))
        if month and overhead is not None:
            return f"{1 + overhead / 100:.3g}×"
    return ""
