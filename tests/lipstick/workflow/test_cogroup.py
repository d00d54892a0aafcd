"""GROUP, COGROUP and FLATTEN in a module: bags of two relations by key, and one taken apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from lipstick.workflow import Module, Relation, Specification, Workflow

pytestmark = [pytest.mark.spark, pytest.mark.classic]

REQUEST = Relation("UserId string, BidId string, Model string", key="BidId")
OFFER = Relation("BidId string, Model string, Available bigint", key="BidId")

BID = Relation("BidId string, UserId string, Model string, Amount bigint", key="BidId")
CALC_BID = "tests.lipstick.workflow.udfs:calc_bids"
COGROUP = {
    "ByModel": "SELECT Model, collect_list(struct(UserId, BidId)) AS Bag "
    "FROM Requests GROUP BY Model",
    "Inventory": "SELECT c.CarId, c.Model FROM Cars c LEFT SEMI JOIN Requests r "
    "ON c.Model = r.Model",
    "NumCars": "SELECT Model, count(*) AS Available FROM Inventory GROUP BY Model",
    "AllInfo": "SELECT coalesce(r.Model, c.Model) AS Model, r.Bag, c.Available "
    "FROM ByModel r FULL JOIN NumCars c ON r.Model = c.Model",
    "Bids": "SELECT x.BidId, x.UserId, a.Model, x.Amount "
    "FROM AllInfo a LATERAL VIEW inline(CalcBid(a.Bag, a.Available)) x AS BidId, UserId, Amount",
}
"""The paper's Q_state: CalcBid is given the bags of a COGROUP, and FLATTEN takes its bids apart."""

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


@pytest.mark.engines("spark")
def test_cogroup_and_flatten(spark: SparkSession, tmp_path: Path) -> None:
    """A tuple of a COGROUP lives while either side does; one that is flattened while it does."""
    workflow = Workflow("shop", {"dealer": Module("dealer1", DEALER)}, [], "dealer", "dealer")
    run = workflow.run(
        spark,
        [{"Requests": [("P1", "B1", "Civic"), ("P2", "B2", "Audi")]}],
        state={"dealer1": {"Cars": [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")]}},
        store=tmp_path / "shop",
    )
    rows = {tuple(row) for row in run.output(0).collect()}
    assert rows == {("B1", "Civic", 2), ("B2", "Audi", None)}
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


def test_a_black_box_over_the_bag_of_a_group(spark: SparkSession, tmp_path: Path) -> None:
    """Its bid is made of every car of the group, and is there while one is."""
    specification = Specification(
        "dealer",
        {"Requests": REQUEST},
        {"Bids": BID},
        {
            "Offers": "SELECT Model, CalcBid(CarId) AS Amount FROM Cars GROUP BY Model",
            "Bids": "SELECT BidId, UserId, Model, Amount FROM Requests JOIN Offers USING (Model)",
        },
        state={"Cars": Relation("CarId string, Model string", key="CarId")},
        functions={"CalcBid": "tests.lipstick.workflow.udfs:calc_bid"},
    )
    workflow = Workflow(
        "shop", {"dealer": Module("dealer1", specification)}, [], "dealer", "dealer"
    )
    workflow.validate()
    run = workflow.run(
        spark,
        [{"Requests": [("P1", "B1", "Civic")]}],
        state={"dealer1": {"Cars": [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")]}},
        store=tmp_path / "shop",
    )
    assert [tuple(row)[-1] for row in run.output(0).collect()] == [20_000]
    g = run.graph()
    calls = [g.incoming(np.array([call])).nodes for call in g.select(label="CalcBid").ids]
    assert sorted(sorted(g.names(cars)) for cars in calls) == [
        ["dealer1#1/Cars:C1"],
        ["dealer1#1/Cars:C2", "dealer1#1/Cars:C3"],
    ]
    assert "dealer1#1/Bids:B1" in g.delete("dealer1/Cars:C2")
    assert "dealer1#1/Bids:B1" not in g.delete(["dealer1/Cars:C2", "dealer1/Cars:C3"])


def test_a_black_box_over_the_bags_of_a_cogroup(spark: SparkSession, tmp_path: Path) -> None:
    """Its bids depend on the tuple of the COGROUP, and not on one car of two."""
    specification = Specification(
        "dealer",
        {"Requests": REQUEST},
        {"Bids": BID},
        COGROUP,
        state={"Cars": Relation("CarId string, Model string", key="CarId")},
        functions={"CalcBid": CALC_BID},
    )
    workflow = Workflow(
        "shop", {"dealer": Module("dealer1", specification)}, [], "dealer", "dealer"
    )
    run = workflow.run(
        spark,
        [{"Requests": [("P1", "B1", "Civic")]}],
        state={"dealer1": {"Cars": [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")]}},
        store=tmp_path / "shop",
    )
    assert [tuple(row) for row in run.output(0).collect()] == [("B1", "P1", "Civic", 20_000)]
    g = run.graph()
    bid = "dealer1#1/Bids:B1"
    assert not g.depends(bid, "dealer1/Cars:C2")
    assert bid in g.delete("dealer1/Cars:C2")
    assert g.depends(bid, "input#0/dealer/Requests:B1")
