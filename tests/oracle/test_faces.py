"""What faces show of values without some input is what the engine answers; see `faces`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from tests.oracle.faces import ROOTS, Compared, case_of, close_node, held, held_live

SEEDS = 4 * len(ROOTS)


@pytest.fixture(scope="module", autouse=True)
def node() -> Iterator[None]:
    yield
    close_node()


@pytest.mark.many(8)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_numbers_without_inputs_are_those_of_what_if(seed: int) -> None:
    compared = held(case_of(seed))
    assert not compared.wrong, compared
    assert compared.numbers.total() > 0 or compared.outcomes["held"], compared


@pytest.mark.many(30)
@pytest.mark.parametrize("seed", range(2 * len(ROOTS)))
def test_numbers_of_a_live_frame_are_those_that_spark_computes(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    with lipstick.session(spark) as ls:
        compared = held_live(case_of(seed, by_spark=True), ls, tmp_path)
    assert not compared.wrong, compared


def test_a_number_that_is_wrong_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every face is compared: a value of the question that is off is wrong on all of them."""
    from lipstick.questions.contributions import question

    found: Compared = Compared()
    exact = question.values_without

    def off(*arguments: object) -> object:
        without = exact(*arguments)  # type: ignore[arg-type]
        without.there[:] = ~without.there
        return without

    monkeypatch.setattr(question, "values_without", off)
    found.add(held(case_of(0)))
    assert {name.split(": ")[0] for name in found.wrong} >= {
        "explorer",
        "rows",
        "contributions",
        "csv",
    }
