"""The bid phase of the car dealership (Examples 2.1 to 3.6), written by hand from the definitions.

A request passes the module `and`; dealer1, with cars C1 to C3 in its state, counts the cars of the
model and makes a bid; the aggregator takes the least bid.
"""

from __future__ import annotations

from graphquery.model import Kind, Port
from tests.graphquery.builder import Builder

FINE = {
    "input0/Requests:B1": ("token", ""),
    "and#1": ("m", "and"),
    "and#1/Requests": ("i", "·"),
    "and#1/Requests.out": ("o", "·"),
    "dealer1/Cars:C1": ("token", ""),
    "dealer1/Cars:C2": ("token", ""),
    "dealer1/Cars:C3": ("token", ""),
    "dealer1#1": ("m", "dealer1"),
    "dealer1#1/Requests": ("i", "·"),
    "dealer1#1/Cars:C2": ("s", "·"),
    "dealer1#1/Cars:C3": ("s", "·"),
    "dealer1#1/ReqModel": ("p", "+"),
    "dealer1#1/Inventory:C2": ("p", "·"),
    "dealer1#1/Inventory:C3": ("p", "·"),
    "dealer1#1/CarsByModel": ("p", "δ"),
    "dealer1#1/NumCarsByModel": ("p", "+"),
    "dealer1#1/one": ("v", "1"),
    "dealer1#1/NumCarsByModel.tensors[0]": ("v", "⊗"),
    "dealer1#1/NumCarsByModel.tensors[1]": ("v", "⊗"),
    "dealer1#1/NumCarsByModel.NumAvail": ("v", "COUNT"),
    "dealer1#1/AllInfoByModel": ("p", "δ"),
    "dealer1#1/CalcBid": ("v", "CalcBid"),
    "dealer1#1/InventoryBids": ("p", "+"),
    "dealer1#1/Bids": ("o", "·"),
    "dealer1#1/Bids.Price": ("v", "o"),
    "agg#1": ("m", "agg"),
    "agg#1/Bids": ("i", "·"),
    "agg#1/Bids.Price": ("v", "i"),
    "agg#1/Group": ("p", "δ"),
    "agg#1/Best.tensors": ("v", "⊗"),
    "agg#1/Best.Price": ("v", "MIN"),
    "agg#1/Best": ("p", "+"),
    "agg#1/Best.out": ("o", "·"),
    "agg#1/Best.out.Price": ("v", "o"),
}
"""Every node of the fine-grained graph: its kind and its label."""

FINE_EDGES = [
    ("input0/Requests:B1", "and#1/Requests"),
    ("and#1", "and#1/Requests"),
    ("and#1/Requests", "and#1/Requests.out"),
    ("and#1", "and#1/Requests.out"),
    ("and#1/Requests.out", "dealer1#1/Requests"),
    ("dealer1#1", "dealer1#1/Requests"),
    ("dealer1/Cars:C2", "dealer1#1/Cars:C2"),
    ("dealer1/Cars:C3", "dealer1#1/Cars:C3"),
    ("dealer1#1", "dealer1#1/Cars:C2"),
    ("dealer1#1", "dealer1#1/Cars:C3"),
    ("dealer1#1/Requests", "dealer1#1/ReqModel"),
    ("dealer1#1/ReqModel", "dealer1#1/Inventory:C2"),
    ("dealer1#1/ReqModel", "dealer1#1/Inventory:C3"),
    ("dealer1#1/Cars:C2", "dealer1#1/Inventory:C2"),
    ("dealer1#1/Cars:C3", "dealer1#1/Inventory:C3"),
    ("dealer1#1/Inventory:C2", "dealer1#1/CarsByModel"),
    ("dealer1#1/Inventory:C3", "dealer1#1/CarsByModel"),
    ("dealer1#1/CarsByModel", "dealer1#1/NumCarsByModel"),
    ("dealer1#1/Inventory:C2", "dealer1#1/NumCarsByModel.tensors[0]"),
    ("dealer1#1/Inventory:C3", "dealer1#1/NumCarsByModel.tensors[1]"),
    ("dealer1#1/one", "dealer1#1/NumCarsByModel.tensors[0]"),
    ("dealer1#1/one", "dealer1#1/NumCarsByModel.tensors[1]"),
    ("dealer1#1/NumCarsByModel.tensors[0]", "dealer1#1/NumCarsByModel.NumAvail"),
    ("dealer1#1/NumCarsByModel.tensors[1]", "dealer1#1/NumCarsByModel.NumAvail"),
    ("dealer1#1/Requests", "dealer1#1/AllInfoByModel"),
    ("dealer1#1/NumCarsByModel", "dealer1#1/AllInfoByModel"),
    ("dealer1#1/AllInfoByModel", "dealer1#1/CalcBid"),
    ("dealer1#1/NumCarsByModel.NumAvail", "dealer1#1/CalcBid"),
    ("dealer1#1/AllInfoByModel", "dealer1#1/InventoryBids"),
    ("dealer1#1/InventoryBids", "dealer1#1/Bids"),
    ("dealer1#1", "dealer1#1/Bids"),
    ("dealer1#1/CalcBid", "dealer1#1/Bids.Price"),
    ("dealer1#1/Bids", "agg#1/Bids"),
    ("agg#1", "agg#1/Bids"),
    ("dealer1#1/Bids.Price", "agg#1/Bids.Price"),
    ("agg#1/Bids", "agg#1/Group"),
    ("agg#1/Bids", "agg#1/Best.tensors"),
    ("agg#1/Bids.Price", "agg#1/Best.tensors"),
    ("agg#1/Best.tensors", "agg#1/Best.Price"),
    ("agg#1/Group", "agg#1/Best"),
    ("agg#1/Best", "agg#1/Best.out"),
    ("agg#1", "agg#1/Best.out"),
    ("agg#1/Best.Price", "agg#1/Best.out.Price"),
]
"""Every edge of the fine-grained graph."""


def dealership() -> Builder:
    """The example's segments, edges and values."""
    b = Builder()
    request = {"UserId": ["P1"], "BidId": ["B1"], "Model": ["Civic"]}
    b.add("input0/Requests", Kind.TOKEN, "", request, ("BidId",), execution=0, relation="Requests")
    _invocation(b, "and")
    _inside(b, "and#1/Requests", Kind.INPUT, "·", relation="Requests")
    _inside(b, "and#1/Requests.out", Kind.OUTPUT, "·", relation="Requests")
    b.edges("input0/Requests", "and#1/Requests")
    b.edges("and#1", "and#1/Requests")
    b.edges("and#1/Requests", "and#1/Requests.out")
    b.edges("and#1", "and#1/Requests.out")
    _dealer(b)
    _aggregator(b)
    return b


def _invocation(b: Builder, module: str) -> None:
    b.add(f"{module}#1", Kind.INVOCATION, module, module=module, invocation=1, execution=0)


def _inside(
    b: Builder,
    name: str,
    kind: Kind,
    label: str,
    rows: int | dict[str, list[object]] = 1,
    key: tuple[str, ...] = (),
    relation: str | None = None,
) -> None:
    module = name.partition("#")[0]
    b.add(name, kind, label, rows, key, module=module, invocation=1, execution=0, relation=relation)


def _dealer(b: Builder) -> None:
    cars = {"CarId": ["C1", "C2", "C3"], "Model": ["Accord", "Civic", "Civic"]}
    b.add("dealer1/Cars", Kind.TOKEN, "", cars, ("CarId",), module="dealer1", relation="Cars")
    _invocation(b, "dealer1")
    d = "dealer1#1"
    civics: dict[str, list[object]] = {"CarId": ["C2", "C3"], "Model": ["Civic", "Civic"]}
    _inside(b, f"{d}/Requests", Kind.INPUT, "·", relation="Requests")
    _inside(b, f"{d}/Cars", Kind.STATE, "·", civics, ("CarId",), "Cars")
    _inside(b, f"{d}/ReqModel", Kind.DERIVED, "+", relation="ReqModel")
    _inside(b, f"{d}/Inventory", Kind.DERIVED, "·", civics, ("CarId",), "Inventory")
    _inside(b, f"{d}/CarsByModel", Kind.DERIVED, "δ", relation="CarsByModel")
    _inside(b, f"{d}/NumCarsByModel", Kind.DERIVED, "+", relation="NumCarsByModel")
    _inside(b, f"{d}/one", Kind.VALUE, "1", {"value": [1]})
    _inside(b, f"{d}/NumCarsByModel.tensors", Kind.VALUE, "⊗", 2)
    _inside(b, f"{d}/NumCarsByModel.NumAvail", Kind.VALUE, "COUNT", {"value": [2]})
    _inside(b, f"{d}/AllInfoByModel", Kind.DERIVED, "δ", relation="AllInfoByModel")
    _inside(b, f"{d}/CalcBid", Kind.VALUE, "CalcBid", {"value": [20_000]})
    _inside(b, f"{d}/InventoryBids", Kind.DERIVED, "+", relation="InventoryBids")
    _inside(b, f"{d}/Bids", Kind.OUTPUT, "·", {"Model": ["Civic"], "Price": [20_000]}, (), "Bids")
    _inside(b, f"{d}/Bids.Price", Kind.VALUE, "o", {"value": [20_000]})
    b.edges("and#1/Requests.out", f"{d}/Requests")
    b.edges(d, f"{d}/Requests")
    b.edges("dealer1/Cars", f"{d}/Cars", [(1, 0), (2, 1)])
    b.edges(d, f"{d}/Cars", [(0, 0), (0, 1)])
    b.edges(f"{d}/Requests", f"{d}/ReqModel")
    b.edges(f"{d}/ReqModel", f"{d}/Inventory", [(0, 0), (0, 1)])
    b.edges(f"{d}/Cars", f"{d}/Inventory", [(0, 0), (1, 1)])
    b.edges(f"{d}/Inventory", f"{d}/CarsByModel", [(0, 0), (1, 0)])
    b.edges(f"{d}/CarsByModel", f"{d}/NumCarsByModel")
    b.edges(f"{d}/Inventory", f"{d}/NumCarsByModel.tensors", [(0, 0), (1, 1)])
    b.edges(f"{d}/one", f"{d}/NumCarsByModel.tensors", [(0, 0), (0, 1)], Port.VALUE)
    b.edges(f"{d}/NumCarsByModel.tensors", f"{d}/NumCarsByModel.NumAvail", [(0, 0), (1, 0)])
    b.edges(f"{d}/Requests", f"{d}/AllInfoByModel")
    b.edges(f"{d}/NumCarsByModel", f"{d}/AllInfoByModel")
    b.edges(f"{d}/AllInfoByModel", f"{d}/CalcBid")
    b.edges(f"{d}/NumCarsByModel.NumAvail", f"{d}/CalcBid")
    b.edges(f"{d}/AllInfoByModel", f"{d}/InventoryBids")
    b.edges(f"{d}/InventoryBids", f"{d}/Bids")
    b.edges(d, f"{d}/Bids")
    b.edges(f"{d}/CalcBid", f"{d}/Bids.Price")


def _aggregator(b: Builder) -> None:
    _invocation(b, "agg")
    _inside(b, "agg#1/Bids", Kind.INPUT, "·", relation="Bids")
    _inside(b, "agg#1/Bids.Price", Kind.VALUE, "i", {"value": [20_000]})
    _inside(b, "agg#1/Group", Kind.DERIVED, "δ", relation="Group")
    _inside(b, "agg#1/Best.tensors", Kind.VALUE, "⊗")
    _inside(b, "agg#1/Best.Price", Kind.VALUE, "MIN", {"value": [20_000]})
    _inside(b, "agg#1/Best", Kind.DERIVED, "+", relation="Best")
    _inside(b, "agg#1/Best.out", Kind.OUTPUT, "·", relation="Best")
    _inside(b, "agg#1/Best.out.Price", Kind.VALUE, "o", {"value": [20_000]})
    b.edges("dealer1#1/Bids", "agg#1/Bids")
    b.edges("agg#1", "agg#1/Bids")
    b.edges("dealer1#1/Bids.Price", "agg#1/Bids.Price")
    b.edges("agg#1/Bids", "agg#1/Group")
    b.edges("agg#1/Bids", "agg#1/Best.tensors")
    b.edges("agg#1/Bids.Price", "agg#1/Best.tensors", port=Port.VALUE)
    b.edges("agg#1/Best.tensors", "agg#1/Best.Price")
    b.edges("agg#1/Group", "agg#1/Best")
    b.edges("agg#1/Best", "agg#1/Best.out")
    b.edges("agg#1", "agg#1/Best.out")
    b.edges("agg#1/Best.Price", "agg#1/Best.out.Price")
