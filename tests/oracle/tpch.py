"""TPC-H: primary keys, and parameters at scale 0.01."""

from __future__ import annotations

from typing import Final

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}

ALTERED: Final[dict[int, tuple[tuple[str, str], ...]]] = {
    8: (("'BRAZIL'", "'UNITED STATES'"),),
    17: (("'MED BOX'", "'SM PACK'"),),
    18: (("> 300", "> 250"),),
}
"""The standard parameters of these give no row, NULL or zero."""
