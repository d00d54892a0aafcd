"""Edges of boundary graphs as gaps: what is read is what was written, in few bits."""

from __future__ import annotations

import contextlib
from math import comb, log2

import numpy as np
import pyarrow as pa
import pytest

from graphquery.errors import WireError
from graphquery.federation.crossings.boundary import (
    decode_gaps,
    encode_gaps,
    encoded_edges,
    relation_of_table,
    relation_table,
)
from graphquery.federation.crossings.relation import BoundaryRelation


@pytest.mark.parametrize("seed", range(60))
def test_integers_are_read_as_they_were_written(seed: int) -> None:
    random = np.random.default_rng(seed)
    most = int(10.0 ** random.uniform(0, 12))
    gaps = random.integers(0, most, int(random.integers(0, 400)))
    data = b"before" + encode_gaps(gaps)
    read_gaps, end = decode_gaps(data + b"after", 6, len(gaps))
    assert (read_gaps.tolist(), end) == (gaps.tolist(), len(data))


def test_random_sets_take_half_a_bit_more_than_they_must() -> None:
    random = np.random.default_rng(0)
    numbers = np.sort(random.choice(100_000, 3_000, replace=False))
    least = log2(comb(100_000, 3_000)) / 3_000
    assert least < 8 * len(encode_gaps(np.diff(numbers, prepend=0))) / 3_000 < least + 0.5


def test_relations_of_random_rows_take_little_more_than_they_must() -> None:
    random = np.random.default_rng(0)
    degrees = random.choice([0, 1, 2, 16, 300], 2_000, p=[0.3, 0.4, 0.2, 0.095, 0.005])
    sources = np.concatenate([random.choice(9_000, degree, replace=False) for degree in degrees])
    targets = np.repeat(np.arange(2_000), degrees)
    data = encoded_edges(3, sources // 3_000, sources % 3_000, targets)
    assert data is not None
    least = sum(log2(comb(9_000, int(degree))) for degree in degrees) / 8
    assert least < len(data) < 1.15 * least


@pytest.mark.parametrize("seed", range(400))
def test_other_bytes_are_refused_or_read_but_never_harm(seed: int) -> None:
    random = np.random.default_rng(seed)
    relation = _relation(random, 50)
    data = bytearray(relation_table(relation).column("edges")[0].as_py())
    for place in random.integers(0, len(data), int(random.integers(1, 4))):
        data[place] = random.integers(256)
    table = pa.table({"edges": [bytes(data[: len(data) - int(random.integers(0, 2))])]})
    with contextlib.suppress(WireError):
        read_relation = relation_of_table(table, relation.channels, relation.count)
        assert len(read_relation.sources) <= 8 * len(data)
        assert read_relation.sources.min(initial=0) >= 0
        assert read_relation.targets.max(initial=0) < relation.count + len(read_relation.sources)


def _relation(random: np.random.Generator, largest: int) -> BoundaryRelation:
    names = tuple(f"{n:032x}" for n in range(3))
    edges = {tuple(map(int, random.integers(0, [3, largest, 9]))) for _ in range(30)}
    channels, sources, targets = np.array(sorted(edges, key=lambda e: (e[2], e[0], e[1]))).T
    return BoundaryRelation(names, 9, channels.astype(np.uint16), sources, targets)


@pytest.mark.parametrize("largest", [5, 10**6, 1 << 61])
def test_relations_are_read_as_they_were_written(largest: int) -> None:
    relation = _relation(np.random.default_rng(largest % 7), largest)
    table = relation_table(relation)
    assert (len(table) == 1) == (largest < 1 << 61)
    read_relation = relation_of_table(table, relation.channels, relation.count)
    for name in ("source_channels", "sources", "targets"):
        assert getattr(read_relation, name).tolist() == getattr(relation, name).tolist()


def test_what_is_no_relation_is_refused() -> None:
    relation = _relation(np.random.default_rng(0), 100)
    table = relation_table(relation)
    data = table.column("edges")[0].as_py()
    wrong = [
        pa.table({"edges": [data, data]}),
        pa.table({"edges": [data[:10]]}),
        pa.table({"edges": [data[:-1]]}),
        pa.table({"edges": [bytes([255]) * 8 + data[8:]]}),
        pa.table({"edges": [data + b" "]}),
        pa.table({"edges": ["text"]}),
        pa.table({"edges": pa.array([None], pa.binary())}),
        pa.table({"source": [1], "target": [2]}),
    ]
    for each in wrong:
        with pytest.raises(WireError):
            relation_of_table(each, relation.channels, relation.count)
    with pytest.raises(WireError, match=r"that there|cut off|cannot be read"):
        relation_of_table(table, relation.channels[:1], relation.count)
    with pytest.raises(WireError, match="more hubs"):
        relation_of_table(pa.table({"edges": [data]}), relation.channels, -100)
