"""The dealership's modules that compute something, written as functions of data frames.

What they do is that of the queries of the same names in ``lipstick/workflow/examples``.
"""

# ruff: noqa: N803 - parameters are called as relations

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lipstick.workflow import Module, Specification, StateQuery, Workflow
from lipstick.workflow.examples import dealership

# -- a dealer's state ----------------------------------------------------------------------------


def requested_models(Requests: DataFrame) -> DataFrame:
    return Requests.select("Model")


def inventory(Cars: DataFrame, ReqModel: DataFrame) -> DataFrame:
    same = Cars["Model"] == ReqModel["Model"]
    return Cars.join(ReqModel, same).select(Cars["CarId"], Cars["Model"])


def sold_inventory(Inventory: DataFrame, SoldCars: DataFrame) -> DataFrame:
    sold = Inventory.join(SoldCars, Inventory["CarId"] == SoldCars["CarId"])
    return sold.select(Inventory["CarId"], Inventory["Model"], SoldCars["BidId"])


def available(Inventory: DataFrame) -> DataFrame:
    return Inventory.groupBy("Model").agg(F.count("*").alias("NumAvail"))


def sold(SoldInventory: DataFrame) -> DataFrame:
    return SoldInventory.groupBy("Model").agg(F.count("*").alias("NumSold"))


def prior_bids(InventoryBids: DataFrame, Requests: DataFrame) -> DataFrame:
    b, r = InventoryBids, Requests
    joined = b.join(r, (b["UserId"] == r["UserId"]) & (b["Model"] == r["Model"]))
    return joined.groupBy(b["UserId"], b["Model"]).agg(F.min(b["Amount"]).alias("Least"))


def all_info(
    Requests: DataFrame, NumCarsByModel: DataFrame, NumSoldByModel: DataFrame, PriorBids: DataFrame
) -> DataFrame:
    r, c, s, p = Requests, NumCarsByModel, NumSoldByModel, PriorBids
    prior = (r["Model"] == p["Model"]) & (r["UserId"] == p["UserId"])
    return (
        r.join(c, r["Model"] == c["Model"])
        .join(s, r["Model"] == s["Model"], "left")
        .join(p, prior, "left")
        .select(r["BidId"], r["UserId"], r["Model"], "NumAvail", "NumSold", "Least")
    )


def unsold(Cars: DataFrame, SoldCars: DataFrame) -> DataFrame:
    left = Cars.join(SoldCars, Cars["CarId"] == SoldCars["CarId"], "left_anti")
    return left.select("CarId", "Model")


def first(Purchases: DataFrame, Unsold: DataFrame) -> DataFrame:
    joined = Purchases.join(Unsold, Purchases["Model"] == Unsold["Model"])
    return joined.groupBy("BidId").agg(F.min("CarId").alias("CarId"))


def sell(First: DataFrame, Cars: DataFrame) -> DataFrame:
    joined = First.join(Cars, First["CarId"] == Cars["CarId"])
    return joined.select(Cars["CarId"], First["BidId"])


def bid(AllInfoByModel: DataFrame) -> DataFrame:
    amount = F.call_function("CalcBid", "NumAvail", "NumSold", "Least")
    return AllInfoByModel.select("BidId", "UserId", "Model", amount.alias("Amount"))


# -- what a dealer gives -------------------------------------------------------------------------


def bids(InventoryBids: DataFrame, Requests: DataFrame) -> DataFrame:
    b = InventoryBids
    joined = b.join(Requests, b["BidId"] == Requests["BidId"])
    return joined.select(b["BidId"], b["Model"], b["Amount"].alias("Price"))


def sales(SoldCars: DataFrame, Purchases: DataFrame) -> DataFrame:
    joined = SoldCars.join(Purchases, SoldCars["BidId"] == Purchases["BidId"])
    return joined.select(SoldCars["CarId"], SoldCars["BidId"])


# -- the aggregator ------------------------------------------------------------------------------


def all_bids(Bids1: DataFrame, Bids2: DataFrame, Bids3: DataFrame, Bids4: DataFrame) -> DataFrame:
    numbered = [
        given.select(F.lit(number).alias("Dealer"), "BidId", "Model", "Price")
        for number, given in enumerate((Bids1, Bids2, Bids3, Bids4), start=1)
    ]
    return numbered[0].union(numbered[1]).union(numbered[2]).union(numbered[3])


def least(AllBids: DataFrame) -> DataFrame:
    return AllBids.groupBy("BidId").agg(F.min("Price").alias("Price"))


def best_bid(AllBids: DataFrame, Least: DataFrame) -> DataFrame:
    a, best = AllBids, Least
    joined = a.join(best, (a["BidId"] == best["BidId"]) & (a["Price"] == best["Price"]))
    return joined.groupBy(a["BidId"], a["Model"], a["Price"]).agg(F.min("Dealer").alias("Dealer"))


def dealership_of_frames() -> Workflow:
    """The dealership, with these functions in the place of queries."""
    workflow = dealership()
    frames = {
        "dealer": (
            {"Bids": bids, "Sales": sales},
            StateQuery(
                {
                    "ReqModel": requested_models,
                    "Inventory": inventory,
                    "SoldInventory": sold_inventory,
                    "NumCarsByModel": available,
                    "NumSoldByModel": sold,
                    "PriorBids": prior_bids,
                    "AllInfoByModel": all_info,
                    "Unsold": unsold,
                    "First": first,
                },
                insert={"SoldCars": sell, "InventoryBids": bid},
            ),
        ),
        "aggregate": ({"AllBids": all_bids, "Least": least, "BestBid": best_bid}, None),
    }

    def written(specification: Specification) -> Specification:
        if specification.name not in frames:
            return specification
        output, state = frames[specification.name]
        return Specification(
            specification.name,
            specification.inputs,
            specification.outputs,
            output,
            state=specification.state,
            query_state=state,
            functions=specification.functions,
        )

    modules: dict[str, Module] = {}
    nodes = {}
    for node, module in workflow.nodes.items():
        if module.name not in modules:
            modules[module.name] = Module(module.name, written(module.specification))
        nodes[node] = modules[module.name]
    return Workflow(
        workflow.name, nodes, workflow.edges, workflow.inputs, workflow.outputs, workflow.loops
    )
