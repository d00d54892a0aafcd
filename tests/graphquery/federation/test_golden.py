"""The golden vectors of the definitions, section 11."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphquery.federation.crossings.filters import filters_of
from graphquery.federation.crossings.hashing import row_hashes
from graphquery.federation.federation import Federation
from graphquery.federation.questions.answer import UNREACHABLE, MissingPart, Verdict
from graphquery.federation.questions.question import Options
from graphquery.store.crossing import channel_id
from tests.graphquery.federation.oracle import federation_of
from tests.graphquery.federation.unreliable import Unreliable

CHANNELS = {k: channel_id(f"0{k.lower()}" * 16, f"{k.lower()}.Out", "1") for k in "ABC"}
ROWS = [("A", 0), ("A", 1), ("B", 0), ("C", 0), ("C", 1)]
HASHES = {row: row_hashes(CHANNELS[row[0]], np.array([row[1]]))[0] for row in ROWS}


def test_channels_are_named_by_their_exporter_and_dataset() -> None:
    assert CHANNELS["A"] == "9cbc71429eefa32800d019350297d7ac"
    assert CHANNELS["B"] == "bbc787fd6b027ee7ecba97f66abb54f7"
    keyed = channel_id("0a" * 16, "a.Out", "1", b"key")
    assert keyed != CHANNELS["A"]


def test_rows_are_hashed_as_defined() -> None:
    assert f"{HASHES['A', 0]:016x}" == "e839e5a6e16b83df"
    assert f"{HASHES['A', 1]:016x}" == "8dd424f7c2b60491"
    assert f"{HASHES['B', 0]:016x}" == "926cb452317be709"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("A", 0)], "0000001002000000000000020020000000001000080000000000080000000004"),
        (ROWS, "2000891082400050200104120020024c80141002080001192200181060008005"),
    ],
)
def test_filters_have_the_bits_of_the_example(rows: list[tuple[str, int]], expected: str) -> None:
    hashes = np.array([HASHES[row] for row in rows], dtype=np.uint64)
    filter_bits = filters_of(np.zeros(len(rows), dtype=np.int64), hashes, 1, 1)
    assert filter_bits.tobytes().hex() == expected


def test_ancestors_are_twenty_both_ends_of_a_crossing_counted(stores: dict[str, Path]) -> None:
    answer = federation_of(stores).ancestors("D::d3")
    assert (len(answer), answer.complete) == (20, True)


def test_what_lies_between_is_found_without_the_store_that_is_not_on_the_way(
    stores: dict[str, Path],
) -> None:
    transports = {alias: Unreliable(path) for alias, path in stores.items()}
    federation = Federation(transports)
    asked_before = transports["C"].asked
    answer = federation.paths("A::a1", "D::d3")
    assert [len(path) for path in answer.paths] == [9]
    assert transports["C"].asked == asked_before


def test_a_join_is_gone_when_one_side_is_and_a_sum_when_both_are(stores: dict[str, Path]) -> None:
    federation = federation_of(stores)
    assert federation.depends("D::d1", "A::a1").verdict is Verdict.YES
    assert federation.depends("D::d3", "A::a1").verdict is Verdict.NO
    assert federation.depends("D::d3", ["A::a1", "C::c0"]).verdict is Verdict.YES


def test_a_store_that_is_down_is_named_and_nothing_is_guessed(stores: dict[str, Path]) -> None:
    transports = {alias: Unreliable(path) for alias, path in stores.items()}
    federation = Federation(transports, options=Options(boundary=False))
    transports["B"].down = True
    answer = federation.ancestors("D::d3")
    assert len(answer) == 14
    assert answer.missing == (MissingPart("B", UNREACHABLE, CHANNELS["B"]),)
    assert answer.missing[0].rows.tolist() == [0]
    assert federation.flow("A::a1", "D::d3").verdict is Verdict.UNKNOWN
    assert federation.flow("A::a0", "D::in.b").verdict is Verdict.NO


def test_a_boundary_graph_at_hand_answers_for_a_store_that_is_down(
    stores: dict[str, Path],
) -> None:
    transports = {alias: Unreliable(path) for alias, path in stores.items()}
    federation = Federation(transports)
    transports["B"].down = True
    assert federation.flow("A::a1", "D::d3").verdict is Verdict.YES
    paths_found = federation.paths("A::a1", "D::d3")
    assert (paths_found.verdict, paths_found.paths) == (Verdict.YES, ())
    assert [each.store for each in paths_found.missing] == ["B"]
