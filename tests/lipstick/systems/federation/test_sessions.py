"""Tables that one session writes and another tracks by their path, stitched by the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

import lipstick
from graphquery.errors import FederationError
from graphquery.federation import Verdict
from graphquery.store import Store, fsck
from lipstick import Session
from semiring.errors import LipstickError
from tests.graphquery.federation.oracle import check_question, federation_of

pytestmark = [pytest.mark.spark, pytest.mark.classic]

ROWS = [(1, "x", 5), (2, "x", 5), (3, "y", 1), (4, "y", 0), (5, "z", 7), (6, None, 5)]


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[[str], Session]]:
    opened = []

    def make(name: str) -> Session:
        opened.append(lipstick.session(spark, exports=tmp_path / name))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def test_a_table_is_followed_into_the_store_of_who_wrote_it(
    spark: SparkSession, session: Callable[[str], Session], tmp_path: Path
) -> None:
    team = session("team")
    team.track("a", spark.createDataFrame(ROWS, "id int, k string, x int"), key="id")
    counts, rows = tmp_path / "counts.parquet", tmp_path / "rows.parquet"
    team.sql("SELECT k, count(*) AS n FROM a WHERE k IS NOT NULL GROUP BY k").write.parquet(counts)
    team.sql("SELECT k, x FROM a WHERE x > 0").write.mode("error").parquet(rows)
    team.sql("SELECT k, x FROM a WHERE x = 0").write.mode("append").parquet(rows)
    team.sql("SELECT n, count(*) AS m FROM counts GROUP BY n").write.parquet(tmp_path / "own")

    other = session("other")
    other.track("c", str(counts), key="k")
    other.track("r", str(rows))
    other.track("v", str(rows), key="*")
    joined = "SELECT c.k, sum(r.x) AS s FROM c JOIN r ON c.k = r.k GROUP BY c.k"
    other.sql(joined).write.parquet(tmp_path / "joined.parquet")
    other.sql("SELECT k, x FROM v WHERE k IS NULL OR x < 6").write.parquet(tmp_path / "few.parquet")

    paths = {"team": tmp_path / "team", "other": tmp_path / "other"}
    assert [fsck(path) for path in paths.values()] == [[], []]
    assert len(Store.open(tmp_path / "other").snapshot().segments["r"].key) == 0
    with federation_of(paths) as federation:
        few = [f"other::few@1[{row}]" for row in range(5)]
        # Row 6 was first read by the second write, whose new tokens have a segment of their own.
        for read_row, token in zip(ROWS, [*(f"a:{n}" for n in range(1, 6)), "a~2:6"], strict=True):
            gone = federation.names(federation.delete(f"team::{token}"))
            left = {row[1] for row in ROWS if row != read_row}
            for k in ("x", "y", "z"):
                assert (f"other::joined@1:{k}" in gone) == (k not in left)
            assert sum(name in gone for name in few) == (read_row[2] < 6)
        ends = [federation.flow(f"team::a:{n}", "other::joined@1:x").verdict for n in range(1, 6)]
        assert ends == [Verdict.YES] * 2 + [Verdict.NO] * 3
        two = [f"team::a:{n}" for n in (1, 2)]
        assert federation.depends("other::joined@1:x", two).verdict is Verdict.YES
        graph, random = federation.merged(), np.random.default_rng(0)
        assert sum(check_question(federation, graph, random, str(n)) for n in range(6)) > 5
    written = Counter(tuple(row) for row in spark.read.parquet(str(rows)).collect())
    assert written == Counter((k, x) for _, k, x in ROWS)

    again = session("other")
    again.track("counts", str(counts), key="k")
    with pytest.raises(LipstickError, match="writes Parquet files"):
        again.sql("SELECT k FROM counts").write.orc(tmp_path / "orc")
    (part,) = counts.glob("part-*.parquet")
    part.rename(counts / "part-renamed.parquet")
    again.untrack("counts")
    again.track("counts", str(counts), key="k")
    with pytest.raises(FederationError, match="has no file 'part-"):
        again.sql("SELECT k FROM counts").write.parquet(tmp_path / "late.parquet")
