"""Stores that are down, stop within a reply or send altered bytes: nothing wrong, all named."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from graphquery import ProvenanceGraph
from graphquery.errors import FederationError
from graphquery.federation.federation import Federation
from graphquery.federation.questions.answer import (
    BEHIND,
    DAMAGED,
    INTERRUPTED,
    OUTSIDE,
    REFUSED,
    UNREACHABLE,
    IncompleteError,
    Verdict,
)
from graphquery.federation.questions.question import Options
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.store import Store
from graphquery.store.log import entry_path
from tests.graphquery.federation.oracle import COUNTING, OPTIONS, drawn, federation_of, ids_of
from tests.graphquery.federation.stores import random_stores
from tests.graphquery.federation.unreliable import Unreliable

SEEDS = range(300, 300 + int(os.environ.get("LIPSTICK_FEDERATIONS", "2")))


def _fail(transport: Unreliable, random: np.random.Generator) -> set[str]:
    """Make a store fail in some way; return the reasons that may be given for it."""
    how = random.integers(3)
    if how == 0:
        transport.down = True
        return {UNREACHABLE}
    if how == 1:
        transport.stop_after = int(random.integers(0, 200))
        return {INTERRUPTED}
    transport.flip = int(random.integers(0, 2**20))
    return {INTERRUPTED, DAMAGED}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_partial_answers_are_part_of_the_whole_and_verdicts_hold(
    seed: int, when: str, tmp_path: Path
) -> None:
    paths = random_stores(tmp_path, seed)
    graph = federation_of(paths).merged()
    random = np.random.default_rng(seed)
    partial = 0
    for number, options in enumerate([*OPTIONS.values()] * 3):
        transports = {alias: Unreliable(path) for alias, path in paths.items()}
        federation = None if when == "before" else Federation(transports, options=options)
        count = int(random.integers(1, len(paths)))
        failing = random.choice(list(paths), count, replace=False).tolist()
        reasons = {alias: _fail(transports[alias], random) for alias in failing}
        federation = federation or Federation(transports, options=options)
        nodes, other_nodes = drawn(graph, random, 3), drawn(graph, random, 2)
        what = f"seed {seed}, {when}, {number}: {failing} fail, {nodes}, {other_nodes}"
        partial += check_partial(federation, graph, nodes, other_nodes, what, reasons)
    assert partial > 5


def check_partial(
    federation: Federation,
    graph: ProvenanceGraph,
    nodes: list[str],
    other_nodes: list[str],
    what: str,
    reasons: dict[str, set[str]],
) -> int:
    """Hold answers of a federation with failing members against the whole; count partial ones."""
    gone = np.setdiff1d(graph.ids, graph.delete(nodes).ids)
    wholes = {
        "ancestors": graph.ancestors(nodes).ids,
        "descendants": graph.descendants(nodes).ids,
        "delete": gone,
    }
    partial = 0
    for operation, whole in wholes.items():
        answer = getattr(federation, operation)(nodes)
        ids = ids_of(graph, answer.nodes)
        assert set(ids) <= set(whole.tolist()), f"{what}, {operation}"
        if answer.complete:
            assert len(ids) == len(whole), f"{what}, {operation}"
        for missing in answer.missing:
            assert missing.reason in reasons[missing.store], f"{what}, {operation}, {missing}"
        partial += not answer.complete
    there = bool(graph.paths(nodes, other_nodes, 1))
    right = {Verdict.UNKNOWN, Verdict.YES if there else Verdict.NO}
    flow = federation.flow(nodes, other_nodes)
    assert flow.verdict in right, f"{what}, flow"
    assert (flow.verdict is Verdict.UNKNOWN) == (not flow.complete), f"{what}, flow"
    ids = federation.paths(nodes, other_nodes, 5, 9)
    every = {tuple(graph.names(path)) for path in graph.paths(nodes, other_nodes, 10**4, 9)}
    assert ids.verdict in right, f"{what}, paths"
    assert set(ids.paths) <= every, f"{what}, paths"
    if ids.complete:
        assert len(ids.paths) == min(5, len(every)), f"{what}, paths"
    needs = Verdict.YES if graph.depends(other_nodes, nodes) else Verdict.NO
    assert federation.depends(other_nodes, nodes).verdict in {Verdict.UNKNOWN, needs}, what
    values = federation.evaluate(COUNTING, other_nodes)
    if values.values:
        expected = graph.evaluate(COUNTING, None, other_nodes)
        assert values.values == {name: expected.value(name) for name in other_nodes}, what
    else:
        assert not values.complete, what
    return partial + (flow.verdict is Verdict.UNKNOWN)


@pytest.mark.parametrize("op", ["ancestors", "delete"])
def test_every_cut_of_a_reply_is_noticed(op: str, stores: dict[str, Path]) -> None:
    transports = {alias: Unreliable(path) for alias, path in stores.items()}
    federation = Federation(transports)
    whole = len(getattr(federation, op)("A::a1" if op == "delete" else "D::d3"))
    alias = "B"
    transports[alias].sent = b""
    getattr(federation, op)("A::a1" if op == "delete" else "D::d3")
    size = len(transports[alias].sent)
    assert size > 100
    for end in range(0, size, 7):
        transports[alias].stop_after = end
        answer = getattr(federation, op)("A::a1" if op == "delete" else "D::d3")
        assert [(each.store, each.reason) for each in answer.missing] == [(alias, INTERRUPTED)]
        assert len(answer) < whole
        assert "B" not in answer.nodes


def test_every_altered_byte_is_noticed(stores: dict[str, Path]) -> None:
    transports = {alias: Unreliable(path) for alias, path in stores.items()}
    federation = Federation(transports)
    transports["B"].sent = b""
    federation.ancestors("D::d3")
    for offset in range(0, len(transports["B"].sent), 11):
        transports["B"].flip = offset
        answer = federation.ancestors("D::d3")
        assert [each.store for each in answer.missing] == ["B"], offset
        assert answer.missing[0].reason in (DAMAGED, INTERRUPTED)
        assert len(answer) == 14


def test_an_exporter_older_than_what_was_imported_from_it_is_behind(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(stores["A"], tmp_path / "A")
    last = Store.open(tmp_path / "A").snapshot().version
    entry_path(tmp_path / "A", last).unlink()
    federation = federation_of({**stores, "A": tmp_path / "A"})
    answer = federation.ancestors("D::d3")
    assert {(each.store, each.reason) for each in answer.missing} == {("A", BEHIND)}
    assert len(answer) == 20 - 6
    assert federation.flow("A::a1", "D::d3").verdict is Verdict.UNKNOWN


def test_a_store_that_is_no_member_is_named_by_its_identity(stores: dict[str, Path]) -> None:
    federation = federation_of({alias: stores[alias] for alias in "ACD"})
    answer = federation.ancestors("D::d3")
    assert [(each.store, each.reason) for each in answer.missing] == [("0b" * 16, OUTSIDE)]
    assert len(answer) == 14


def test_strict_answers_are_complete_or_errors(stores: dict[str, Path]) -> None:
    transports = {alias: Unreliable(path) for alias, path in stores.items()}
    federation = Federation(transports, options=Options(strict=True))
    assert federation.ancestors("D::d3").complete
    transports["B"].down = True
    with pytest.raises(IncompleteError, match="The answer is not complete: B: unreachable") as it:
        federation.ancestors("D::d3")
    assert [each.store for each in it.value.missing] == ["B"]


def test_a_store_that_tells_nothing_is_refused(stores: dict[str, Path]) -> None:
    levels = dict.fromkeys(stores, Disclosure.NODES) | {"B": Disclosure.NOTHING}
    transports = {alias: Unreliable(path, levels[alias]) for alias, path in stores.items()}
    answer = Federation(transports).ancestors("D::d3")
    assert {(each.store, each.reason) for each in answer.missing} == {("B", REFUSED)}


def test_wrong_names_are_errors_not_gaps(stores: dict[str, Path]) -> None:
    federation = federation_of(stores)
    for name, message in (
        ("d3", "names no member"),
        ("E::d3", "There is no member 'E'"),
        ("D::d33", "D: There is no node d33.\nDid you mean d3"),
    ):
        with pytest.raises(FederationError, match=message):
            federation.ancestors(name)
