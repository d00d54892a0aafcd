"""Small modules to make workflows of."""

from __future__ import annotations

import pytest

from lipstick.workflow import Module, Relation, Specification, StateQuery, Workflow

CARS = Relation("CarId string, Model string", key="CarId")
REQUEST = Relation("BidId string, Model string", key="BidId")
BIDS = Relation("BidId string, Model string, Price bigint", key="BidId")


def ask_specification() -> Specification:
    """Passes requests on."""
    return Specification(
        "ask", {"Request": REQUEST}, {"Requests": REQUEST}, {"Requests": "SELECT * FROM Request"}
    )


def dealer_specification() -> Specification:
    """Offers a price that falls with the cars in stock, and remembers it."""
    return Specification(
        "dealer",
        {"Requests": REQUEST},
        {"Bids": BIDS},
        {
            "Bids": "SELECT o.BidId, o.Model, o.Price FROM Offers o JOIN Requests r "
            "ON o.BidId = r.BidId"
        },
        state={"Cars": CARS, "Offers": BIDS},
        query_state=StateQuery(
            {
                "ReqModel": "SELECT Model FROM Requests",
                "Inventory": "SELECT Cars.CarId, Cars.Model FROM Cars JOIN ReqModel "
                "ON Cars.Model = ReqModel.Model",
                "Stock": "SELECT Model, count(*) AS Available FROM Inventory GROUP BY Model",
            },
            insert={
                "Offers": "SELECT r.BidId, r.Model, 22 - s.Available AS Price "
                "FROM Requests r JOIN Stock s ON r.Model = s.Model"
            },
        ),
    )


def best_specification() -> Specification:
    """The least price."""
    return Specification(
        "best",
        {"Bids": Relation(BIDS.columns, union=True)},
        {"Best": Relation("BidId string, Price bigint", key="BidId")},
        {"Best": "SELECT BidId, min(Price) AS Price FROM Bids GROUP BY BidId"},
    )


@pytest.fixture
def market() -> Workflow:
    """Two dealers of one specification bid for each request."""
    dealer = dealer_specification()
    return Workflow(
        "market",
        {
            "ask": Module("ask", ask_specification()),
            "bid1": Module("dealer1", dealer),
            "bid2": Module("dealer2", dealer),
            "best": Module("best", best_specification()),
        },
        [("ask", "bid1"), ("ask", "bid2"), ("bid1", "best"), ("bid2", "best")],
        "ask",
        "best",
    )
