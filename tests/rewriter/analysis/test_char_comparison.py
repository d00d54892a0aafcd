"""Which blocks compare texts of a fixed length with others, which Spark pads."""

from __future__ import annotations

import pytest

from rewriter.analysis.char_comparison import padding
from rewriter.blocks import Block
from tests.rewriter.lower.catalog import blocks

GROUPS = "WITH c AS (SELECT model, count(*) AS n FROM cars GROUP BY model) "


def _lengths(block: Block) -> dict[str, str]:
    """Say that models are CHAR(5), and cities CHAR(3)."""
    names = [name for name, _ in block.core.select] if block.core is not None else []
    known = {"model": "char(5)", "city": "char(3)"}
    kinds = {name: known.get(name.rstrip("_0123456789")) for name in names}
    return {name: kind for name, kind in kinds.items() if kind is not None}


@pytest.mark.parametrize(
    ("sql", "lengths"),
    [
        (GROUPS + "SELECT a.n FROM c a, c b WHERE a.model = 'x' AND b.model = 'x'", {"b0"}),
        (GROUPS + "SELECT a.n FROM c a, c b WHERE a.model IN ('x', 'y') AND a.n = b.n", {"b0"}),
        (GROUPS + "SELECT CASE a.model WHEN 'x' THEN 1 END AS e FROM c a, c b", {"b0"}),
        (GROUPS + "SELECT a.n FROM c a JOIN c b ON a.model = b.model", set()),
        (GROUPS + "SELECT a.n FROM c a, c b WHERE a.n > 3 AND upper(b.model) = 'X'", set()),
        ("SELECT model FROM cars WHERE model = 'x'", set()),
        # The core computes it.
        ("SELECT max(CASE WHEN model < 'x' THEN price END) AS p FROM cars", set()),
        (
            GROUPS + "SELECT a.n FROM c a JOIN (SELECT city, count(*) AS n FROM dealers"
            " GROUP BY city) b ON a.model = b.city",
            {"b0"},
        ),
        (
            "SELECT u.m FROM (SELECT model AS m FROM cars GROUP BY model UNION ALL"
            " SELECT model FROM cars GROUP BY model) u WHERE u.m = 'x'",
            {"b0"},
        ),
    ],
)
def test_blocks_that_pad(sql: str, lengths: set[str]) -> None:
    """A CHAR is followed through groupings and unions; only its own length needs no padding."""
    assert padding(blocks(sql), _lengths) == lengths


def test_nothing_is_char() -> None:
    sql = GROUPS + "SELECT a.n FROM c a, c b WHERE a.model = 'x' AND b.model = 'x'"
    assert padding(blocks(sql), lambda _: {}) == frozenset()
