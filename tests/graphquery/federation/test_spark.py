"""All stores of a federation as one graph on Spark, against the merged graph in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from graphquery.federation import FederationError
from tests.graphquery.federation.oracle import drawn, federation_of
from tests.graphquery.federation.stores import random_stores

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.slow]


def test_the_merged_graph_on_spark_is_that_in_memory(spark: SparkSession, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    with federation_of(random_stores(tmp_path / "stores", 5, 3)) as federation:
        graph = federation.merged()
        large = federation.spark_graph(spark, tmp_path / "spark")
        assert large.node_count == len(graph.ids)
        nodes = drawn(graph, random, 3)
        for operation in ("ancestors", "descendants"):
            expected = np.sort(getattr(graph, operation)(nodes).ids).tolist()
            reached = getattr(large, operation)(nodes)
            assert sorted(reached.names()) == sorted(graph.names(expected)), operation
        removed = np.sort(np.setdiff1d(graph.ids, graph.delete(nodes).ids))
        assert large.delete(nodes).node_count == len(graph.ids) - len(removed)
        modules = graph.modules
        if modules:
            zoomed = federation.zoom_out(modules[0])
            with pytest.raises(FederationError, match="is zoomed out"):
                zoomed.spark_graph(spark, tmp_path / "zoomed")
