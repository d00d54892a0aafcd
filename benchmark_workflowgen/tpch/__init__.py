"""TPC-H: keys of the tables and, in Spark SQL, the 22 queries, a file each.

The texts come from the TPC-H specification, with its validation parameters.
"""

from __future__ import annotations

from importlib.resources import files

KEYS: dict[str, tuple[str, ...]] = {
    "customer": ("c_custkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
    "nation": ("n_nationkey",),
    "orders": ("o_orderkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "region": ("r_regionkey",),
    "supplier": ("s_suppkey",),
}

NUMBERS = range(1, 23)


def query(number: int) -> str:
    """Return a query."""
    return (files(__name__) / f"{number}.sql").read_text(encoding="utf-8")
