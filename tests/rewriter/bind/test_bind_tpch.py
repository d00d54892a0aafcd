"""TPC-H: the binder takes every query."""

from __future__ import annotations

import pytest

from rewriter.algebra import walk
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation
from tests.oracle.suites import TPCH

COLUMNS = {
    "customer": "c_custkey c_name c_address c_nationkey c_phone c_acctbal c_mktsegment c_comment",
    "lineitem": "l_orderkey l_partkey l_suppkey l_linenumber l_quantity l_extendedprice l_discount"
    " l_tax l_returnflag l_linestatus l_shipdate l_commitdate l_receiptdate l_shipinstruct"
    " l_shipmode l_comment",
    "nation": "n_nationkey n_name n_regionkey n_comment",
    "orders": "o_orderkey o_custkey o_orderstatus o_totalprice o_orderdate o_orderpriority o_clerk"
    " o_shippriority o_comment",
    "part": "p_partkey p_name p_mfgr p_brand p_type p_size p_container p_retailprice p_comment",
    "partsupp": "ps_partkey ps_suppkey ps_availqty ps_supplycost ps_comment",
    "region": "r_regionkey r_name r_comment",
    "supplier": "s_suppkey s_name s_address s_nationkey s_phone s_acctbal s_comment",
}

CATALOG = MemoryCatalog(
    [TrackedRelation(name, tuple(columns.split())) for name, columns in COLUMNS.items()]
)


@pytest.mark.parametrize("number", TPCH.numbers)
def test_binds(number: int) -> None:
    """The query becomes a plan in which every attribute id is made once."""
    root = bind_query(TPCH.query(number), Environment(CATALOG)).root
    assert root.attributes
    ids = [
        attribute.id
        for operator in walk(root)
        for attribute in operator.attributes
        if not any(attribute in child.attributes for child in operator.inputs)
    ]
    assert len(ids) == len(set(ids))
