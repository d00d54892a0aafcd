"""GROUP, COGROUP and FLATTEN in a module: bags of two relations by key, and one taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lipstick.workflow import Module, Relation, Specification, Workflow

pytestmark = [pytest.mark.spark, pytest.mark.classic]

REQUEST = Relation("UserId string, BidId string, Model string", key="BidId")
OFFER = Relation("BidId string, Model string, Available bigint", key="BidId")

DEALER = Specification(
    "dealer",
    {"Requests": REQUEST},
    {"Offers": OFFER},
    {
        "ByModel": "SELECT Model, collect_list(struct(UserId, BidId)) AS Bag "
        "FROM Requests GROUP BY Model",
        "NumCars": "SELECT Model, count(*) AS Available FROM Cars GROUP BY Model",
        "AllInfo": "SELECT coalesce(r.Model, c.Model) AS Model, r.Bag, c.Available "
        "FROM ByModel r FULL JOIN NumCars c ON r.Model = c.Model",
        "Offers": "SELECT x.BidId, a.Model, a.Available "
        "FROM AllInfo a LATERAL VIEW inline(a.Bag) x AS UserId, BidId",
    },
    state={"Cars": Relation("CarId string, Model string", key="CarId")},
)


def test_cogroup_and_flatten(spark: SparkSession, tmp_path: Path) -> None:
    """A tuple of a COGROUP lives while either side does; one that is flattened while it does."""
    workflow = Workflow("shop", {"dealer": Module("dealer1", DEALER)}, [], "dealer", "dealer")
    run = workflow.run(
        spark,
        [{"Requests": [("P1", "B1", "Civic"), ("P2", "B2", "Audi")]}],
        state={"dealer1": {"Cars": [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")]}},
        store=tmp_path / "shop",
    )
    found = {tuple(row) for row in run.output(0).collect()}
    assert found == {("B1", "Civic", 2), ("B2", "Audi", None)}
    g = run.graph()
    labels = {segment.label for segment in g.storage.segments if "/AllInfo" in segment.name}
    assert "δ" in labels
    assert "·" not in labels
    offer = "dealer1#1/Offers:B1"
    assert offer in g.delete(["dealer1/Cars:C2", "dealer1/Cars:C3"])
    assert offer in g.delete("input#0/dealer/Requests:B1")
    assert offer not in g.delete(
        ["dealer1/Cars:C2", "dealer1/Cars:C3", "input#0/dealer/Requests:B1"]
    )
    assert not g.depends(offer, "dealer1/Cars:C1")
