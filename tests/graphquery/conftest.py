"""The engines that the tests of operations run on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphquery import ProvenanceGraph
from tests.graphquery.builder import Builder
from tests.graphquery.dealership import dealership

Engine = Callable[[Builder], Any]

ENGINES: dict[str, Engine] = {"memory": lambda builder: ProvenanceGraph.build(*builder.data)}


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    """Builds a graph of what a `Builder` has collected, by each of the engines."""
    return ENGINES[request.param]


@pytest.fixture
def bidding(engine: Engine) -> Any:
    """The example's graph: a request, a bid of dealer1, and the aggregator."""
    return engine(dealership())
