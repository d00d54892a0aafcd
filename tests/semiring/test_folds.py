"""Products, sums of segments, and groups, of arrays of annotations."""

from __future__ import annotations

import numpy as np

from semiring.encodings.folds import fold, group, product
from semiring.semirings import ALL, Counting


def test_fold_empty_segments():
    """Empty segments give 0 wherever they stand, in every semiring."""
    for semiring in ALL:
        values = semiring.ones(3)
        offsets = np.array([0, 0, 2, 2, 2, 3, 3])
        expected = [semiring.from_int(n) for n in (0, 2, 0, 0, 1, 0)]
        assert semiring.unpack(fold(semiring, values, offsets)) == expected


def test_fold_part():
    """Segments may start after the first value and end before the last."""
    folded = fold(Counting(), np.arange(10), np.array([2, 4, 4, 7]))
    assert folded.tolist() == [5, 0, 15]


def test_counting_overflow():
    """Counts past int64 become exact Python integers, in sums and products."""
    n = Counting()
    big = n.array([2**62, 2**62, 2**62, 1])
    assert fold(n, big, np.array([0, 3, 3, 4])).tolist() == [3 * 2**62, 0, 1]
    assert product(n, [big, big]).tolist() == [2**124, 2**124, 2**124, 1]
    assert n.plus_array(big, big).tolist() == [2**63, 2**63, 2**63, 2]
    assert fold(n, n.array([2**70, 1]), np.array([0, 2])).tolist() == [2**70 + 1]
    assert fold(n, big, np.array([0, 1, 3, 4])).tolist() == [2**62, 2**63, 1]
    shrunk = n.monus_array(n.array([2**70, 5]), n.array([2**70 - 3, 9]))
    assert shrunk.tolist() == [3, 0]
    assert shrunk.dtype == np.int64
    near = n.array([2**62, 2**62 - 1, 0, 0])
    assert fold(n, near, np.array([0, 4])).dtype == np.int64


def test_group():
    """Grouping is stable, CSR, and free where rows are sorted."""
    order, offsets = group(np.array([2, 0, 2, 0]), 4)
    assert order.tolist() == [1, 3, 0, 2]
    assert offsets.tolist() == [0, 2, 2, 4, 4]
    order, offsets = group(np.array([0, 0, 2]), 3)
    assert order is None
    assert offsets.tolist() == [0, 2, 2, 3]
    assert group(np.array([], dtype=np.int64), 2)[1].tolist() == [0, 0, 0]
