"""Provenance graphs in exchange formats: Parquet, GraphML, DOT, W3C PROV, OpenLineage."""

from __future__ import annotations

from graphquery.exchange.dot import to_dot
from graphquery.exchange.graphml import write_graphml
from graphquery.exchange.openlineage import to_openlineage
from graphquery.exchange.parquet import read_parquet, write_parquet
from graphquery.exchange.prov import to_prov

__all__ = [
    "read_parquet",
    "to_dot",
    "to_openlineage",
    "to_prov",
    "write_graphml",
    "write_parquet",
]
