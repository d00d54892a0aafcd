"""The dealer of the paper, Example 2.3: from cars and a request to the number of cars available.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Examples 2.3, 3.6 and 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from lipstick import display
from lipstick.demo.check import Check, check
from lipstick.demo.queries import CHAIN, chain
from lipstick.demo.screen import Screen, timed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.frame import AnnotatedFrame
    from lipstick.sessions import Session

_TABLES: dict[str, tuple[str, str, list[tuple[str, ...]]]] = {
    "Cars": (
        "CarId",
        "CarId string, Model string",
        [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")],
    ),
    "Requests": (
        "BidId",
        "UserId string, BidId string, Model string",
        [("P1", "B1", "Civic")],
    ),
    "SoldCars": ("CarId", "CarId string, BidId string", []),
}
_BID = "AllInfoByModel"


def dealer(spark: SparkSession, ls: Session, screen: Screen) -> list[Check]:
    """Show the chain of relations, the count's tensor, and two deletions."""
    screen.heading("The paper's car dealer (Lipstick, Example 2.3)")
    screen.say("Cars: C1 Accord, C2 Civic, C3 Civic. Nothing sold. P1 asks for a Civic, bid B1.")
    for name, (key, schema, rows) in _TABLES.items():
        ls.track(name, spark.createDataFrame(rows, schema), key=key)
    frames: dict[str, AnnotatedFrame] = {}
    table = []
    for name, text in CHAIN:
        with screen.working(f"capturing {name}"):
            frames[name] = ls.sql(chain(name))
            annotated = frames[name].polynomials(None)
        shown = "\n".join(", ".join(map(display.cell, row.values())) for row, _ in annotated)
        annotations = "\n".join(str(annotation) for _, annotation in annotated)
        table.append((name, _folded(text), Text(shown or "no rows"), Text(annotations)))
    screen.table(("relation", "over those before it", "rows", "annotations"), table)

    with screen.working("the tensor of the count"):
        counted = frames["NumCarsByModel"].tensors("NumAvail", None)
    screen.label("how the number of Civics is made up: C2 and C3 count one each, C1 nothing")
    civic = next(tensor for row, tensor in counted if row["Model"] == "Civic")
    screen.formula(str(civic), list(_TABLES))

    screen.label("without car C2 the count is 1, and the request is still answered")
    first = _deletion(spark, frames[_BID], {"Cars": ["C2"]}, screen)
    screen.label("without the request there is nothing to answer")
    second = _deletion(spark, frames[_BID], {"Requests": ["B1"]}, screen)
    return [first, second]


def _deletion(
    spark: SparkSession, frame: AnnotatedFrame, delete: Mapping[str, list[Any]], screen: Screen
) -> Check:
    with screen.working("deleting"):
        hypothetical, started = timed(lambda: frame.what_if(delete=delete))
        told = display.summary(hypothetical)
    screen.put(display.whatif_table(told))
    with screen.working("running the query again, to compare"):
        other = spark.newSession()
        outcome = check(other, hypothetical, chain(_BID), _reduced(other, delete), started)
    outcome.show(screen, hypothetical.method)
    return outcome


def _reduced(spark: SparkSession, delete: Mapping[str, list[Any]]) -> dict[str, DataFrame]:
    frames = {}
    for name, (key, schema, rows) in _TABLES.items():
        frame = spark.createDataFrame(rows, schema)
        gone = delete.get(name)
        frames[name] = frame.where(~frame[key].isin(gone)) if gone else frame
    return frames


def _folded(text: str) -> Text:
    return Text(text.replace(" FROM ", "\nFROM ").replace(" JOIN ", "\nJOIN "))
