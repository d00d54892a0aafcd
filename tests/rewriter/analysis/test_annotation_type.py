"""What the plan says of annotations, block by block, the answer last."""

from __future__ import annotations

import pytest

from rewriter.analysis.annotation_type import annotation_type
from rewriter.blocks import topological
from tests.rewriter.lower.catalog import blocks

GROUPS = "SELECT dealer FROM cars GROUP BY dealer"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT model FROM cars", ["cars"]),
        ("SELECT rate FROM rates", ["1"]),
        ("SELECT count(*) FROM cars", ["1"]),
        (
            "SELECT sum(price) FROM cars HAVING sum(price) > 10",
            ["1 · [SUM(cars ⊗ sum_price_2) > 10]"],
        ),
        (
            "SELECT model FROM cars ORDER BY price LIMIT 5 OFFSET 2",
            ["cars · [3 ≤ place ≤ 7](cars)"],
        ),
        ("SELECT model FROM cars ORDER BY price OFFSET 2", ["cars · [3 ≤ place ≤ ∞](cars)"]),
        (f"{GROUPS} HAVING sum(price) > 10", ["δ(Σ(cars)) · [SUM(cars ⊗ sum_price) > 10]"]),
        (
            f"{GROUPS} HAVING max(price) < min(price)",
            ["δ(Σ(cars)) · [MAX(cars ⊗ max_price) < MIN(cars ⊗ min_price)]"],
        ),
        (
            f"{GROUPS} HAVING count(DISTINCT model) = 2",
            ["δ(Σ(cars)) · [COUNT(DISTINCT cars ⊗ count_distinct_model) = 2]"],
        ),
        (
            f"{GROUPS} HAVING sum(price) + 1 > 10 AND dealer = 'x'",
            ["δ(Σ(cars)) · [g.`sum_price` + 1 > 10](Σ(cars))"],
        ),
        (
            "SELECT k FROM b1 EXCEPT ALL SELECT v FROM b1",
            ["Σ(b1 · b1) ⊖ Σ(b1 · b1)", "Ref(b_1)"],
        ),
        (
            "SELECT k FROM b1 INTERSECT ALL SELECT v FROM b1",
            ["Σ(b1 · b1) ⊖ (Σ(b1 · b1) ⊖ Σ(b1 · b1))", "Ref(b_1)"],
        ),
        (
            "SELECT city FROM dealers WHERE dealer IN (SELECT dealer FROM cars)",
            ["δ(Σ(cars))", "dealers · δ(Ref(b1))"],
        ),
        (
            "SELECT city FROM dealers d WHERE NOT EXISTS"
            " (SELECT 1 FROM cars c WHERE c.dealer = d.dealer)",
            ["δ(Σ(cars))", "dealers · (1 ⊖ δ(Ref(b1)))"],
        ),
        (
            "SELECT p FROM (SELECT max(price) AS p FROM cars GROUP BY dealer) GROUP BY p",
            ["δ(Σ(cars))", "δ(Σ(Ref(b1) · [b1.`p` IS NOT DISTINCT FROM g.`p_3`](Ref(b1))))"],
        ),
        (
            "SELECT dealer FROM dealers WHERE rating > (SELECT avg(price) FROM cars)",
            ["1", "dealers · [m.`rating` > b1_value.`avg_price`](Ref(b1))"],
        ),
        (
            f"{GROUPS} UNION ALL SELECT dealer FROM dealers",
            ["δ(Σ(cars))", "dealers", "(Ref(b1) | Ref(b2))"],
        ),
    ],
)
def test_annotation_types(sql: str, expected: list[str]) -> None:
    found = [annotation_type(block) for block in topological(blocks(sql))]
    assert found == expected
