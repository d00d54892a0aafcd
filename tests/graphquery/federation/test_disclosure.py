"""What a store does not disclose is in no byte that it sends."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from graphquery.errors import FederationError
from graphquery.federation.crossings.crossing import Summaries, export, import_rows
from graphquery.federation.crossings.offer import offer_of
from graphquery.federation.federation import Federation
from graphquery.federation.questions.answer import REFUSED, Verdict
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.serving.responder import Responder
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage, received
from graphquery.federation.wire.requests import StoreVersion
from graphquery.model import EdgeSet, Kind, Segment
from graphquery.store import Store
from graphquery.store.crossing import channel_id
from tests.graphquery.federation.stores import store_of
from tests.graphquery.federation.unreliable import Unreliable

A_OUT = channel_id("0a" * 16, "a.Out", "1")
B_OUT = channel_id("0b" * 16, "b.Out", "1")
ROW = {B_OUT: np.array([0])}
STORE = StoreVersion(2)
NODE, TOKENS, DATASET = "SECRETNODE", "SECRETTOKENS", "b.Out"


@pytest.fixture
def stores(stores: dict[str, Path], tmp_path: Path) -> dict[str, Path]:
    """The example's stores, B being one that does the same under names that are looked for."""
    path = tmp_path / "B"
    offer = offer_of(Store.open(stores["A"]).snapshot(), A_OUT)
    single = (np.array([0]), np.array([0]))
    with store_of(path, "0b" * 16).writer() as writer:
        with writer.transaction() as transaction:
            rows = pa.table({"row": [0]})
            import_rows(
                transaction, offer, Segment(TOKENS, Kind.TOKEN, "", 1, file=""), rows, "row"
            )
            transaction.add_segment(Segment(NODE, Kind.DERIVED, "+", 1))
            transaction.add_segment(Segment("SECRETOUT", Kind.DERIVED, "+", 1))
            transaction.add_edges(EdgeSet(TOKENS, NODE, 1, file=""), *single)
            transaction.add_edges(EdgeSet(NODE, "SECRETOUT", 1, file=""), *single)
            transaction.commit()
        assert export(writer, "SECRETOUT", DATASET, summaries=Summaries(blocks=1)) == B_OUT
    return {**stores, "B": path}


REACHED = requests.reach(STORE, (), ROW, forwards=False, want="rows")
REQUESTS: dict[str, tuple[Disclosure, WireMessage]] = {
    "head": (Disclosure.CHANNELS, requests.head()),
    "sketches": (Disclosure.SKETCH, requests.sketches(STORE, ROW)),
    "boundary": (Disclosure.BOUNDARY, requests.boundary(STORE, [B_OUT])),
    "rows": (
        Disclosure.BOUNDARY,
        requests.reach(STORE, (), ROW, forwards=False, want="rows", sketched=True),
    ),
    "nodes": (Disclosure.NODES, requests.reach(STORE, (), ROW, forwards=False, want="nodes")),
    "named": (Disclosure.NODES, requests.reach(STORE, [NODE], {}, forwards=False, want="rows")),
    "hits": (Disclosure.NODES, WireMessage({**REACHED.header, "hits": [NODE]}, REACHED.tables)),
    "zoomed": (
        Disclosure.NODES,
        requests.reach(StoreVersion(2, [NODE]), (), ROW, forwards=False, want="rows"),
    ),
    "ends": (Disclosure.NODES, requests.ends(STORE, [NODE], ())),
    "between": (Disclosure.NODES, requests.between(STORE, None, {}, (), ROW)),
    "remove": (Disclosure.NODES, requests.remove(STORE, [NODE], {}, want="nodes")),
    "names": (Disclosure.NODES, requests.names(STORE, {0: np.array([0])})),
    "file": (Disclosure.NODES, requests.file("format.json", 0, 100)),
    "unknown": (Disclosure.NODES, WireMessage({"op": "dump", "protocol": requests.PROTOCOL})),
    "none": (Disclosure.NODES, WireMessage({})),
}


@pytest.mark.parametrize("level", list(Disclosure))
@pytest.mark.parametrize("name", REQUESTS)
def test_requests_are_answered_from_the_level_they_need(
    level: Disclosure, name: str, stores: dict[str, Path]
) -> None:
    needed, request = REQUESTS[name]
    reply = Responder(stores["B"]).answer(request, level)
    if level < needed:
        assert reply.header["error"] == "refused"
        assert not reply.tables
    elif name in ("unknown", "none"):
        assert reply.header["error"] == "malformed"
    elif name != "zoomed":
        assert "error" not in reply.header, reply.header
    sent = everything_in(reply.to_bytes())
    if level < Disclosure.NODES:
        assert "SECRET" not in sent
    elif name in ("between", "remove", "names"):
        assert "SECRET" in sent
    if level is Disclosure.NOTHING:
        assert DATASET not in sent
        assert A_OUT not in sent
        assert "0b0b" not in sent


def everything_in(data: bytes) -> str:
    """All that replies say, one after the other, of which the bytes may be compressed."""
    read = io.BytesIO(data)
    texts = []
    while read.tell() < len(data):
        message = received(read.read)
        tables = {name: table.to_pydict() for name, table in message.tables.items()}
        texts.append(f"{json.dumps(message.header)} {tables}")
    return " ".join(texts)


@pytest.mark.parametrize("level", list(Disclosure)[:-1])
def test_answers_do_without_what_a_store_keeps_to_itself(
    level: Disclosure, stores: dict[str, Path]
) -> None:
    transports = {
        alias: Unreliable(path, level if alias == "B" else Disclosure.NODES)
        for alias, path in stores.items()
    }
    federation = Federation(transports)
    answer = federation.ancestors("D::d3")
    assert {(each.store, each.reason) for each in answer.missing} == {("B", REFUSED)}
    assert len(answer) == 14
    assert "SECRET" not in everything_in(transports["B"].sent)
    expected = Verdict.YES if level >= Disclosure.BOUNDARY else Verdict.UNKNOWN
    assert federation.flow("A::a1", "D::d3").verdict is expected
    assert federation.paths("A::a1", "D::d3").verdict is expected
    assert federation.flow("A::a0", "D::in.b").verdict is Verdict.NO


def test_errors_tell_less_to_those_who_may_know_less(stores: dict[str, Path]) -> None:
    strange = requests.boundary(STORE, ["ff" * 16])
    responder = Responder(stores["B"])
    assert "ff" * 16 in responder.answer(strange).header["message"]
    assert responder.answer(strange, Disclosure.BOUNDARY).header["message"] == (
        "The request cannot be answered."
    )


def test_levels_have_names() -> None:
    assert Disclosure.named("boundary") is Disclosure.BOUNDARY
    with pytest.raises(FederationError, match="There is no disclosure 'all'; there are nothing"):
        Disclosure.named("all")
