"""Random chains of queries: what a graph holds to be known after a deletion is what a rerun gives.

Relations in the middle of a chain are made by queries that have no conditions, so that a deletion
makes no rows appear in them, of which the graph would not know.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from lipstick.workflow import Specification
from tests.lipstick.workflow.rerun import Ran, Rows, relation

PAIRS = relation("a bigint, b bigint")
IN_THE_MIDDLE = (
    "SELECT a, count(*) AS b FROM {x} GROUP BY a",
    "SELECT b AS a, max(a) AS b FROM {x} GROUP BY b",
    "SELECT a, count(DISTINCT b) AS b FROM {x} GROUP BY ROLLUP(a)",
    "SELECT DISTINCT b AS a, a AS b FROM {x}",
    "SELECT a, b + 1 AS b FROM {x} UNION ALL SELECT b, a FROM {y}",
    "SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) AS b FROM {x}",
    "SELECT a, max(b) OVER (ORDER BY a) AS b FROM {x}",
    "SELECT a, lag(b) OVER (ORDER BY a, b) AS b FROM {x}",
    "SELECT a, count(b) OVER (PARTITION BY a) + 1 AS b FROM {x}",
    "SELECT a, (SELECT max(b) FROM {y}) AS b FROM {x}",
    "SELECT a, (SELECT count(*) FROM {y} y WHERE y.a = x.b) AS b FROM {x} x",
    "SELECT a, (SELECT min(y.b) FROM {y} y WHERE y.a = x.a) AS b FROM {x} x",
)
AT_THE_END = (
    *IN_THE_MIDDLE,
    "SELECT a, b FROM {x} WHERE b > 1",
    "SELECT x.a, y.b FROM {x} x JOIN {y} y ON x.a = y.b",
    "SELECT x.a, y.b FROM {x} x LEFT JOIN {y} y ON x.b = y.a",
    "SELECT a, b FROM {x} WHERE b IN (SELECT a FROM {y})",
    "SELECT a, b FROM {x} x WHERE NOT EXISTS (SELECT 1 FROM {y} y WHERE y.a = x.a)",
    "SELECT a, b FROM {x} x WHERE a = 1 OR EXISTS (SELECT 1 FROM {y} y WHERE y.a = x.b)",
    "SELECT a, b FROM {x} WHERE b > (SELECT min(b) FROM {y})",
    "SELECT a, b FROM {x} ORDER BY b DESC NULLS LAST, a LIMIT 2",
    "SELECT a, b FROM {x} ORDER BY a, b LIMIT 2 OFFSET 1",
    "SELECT a, b FROM {x} EXCEPT ALL SELECT a, b FROM {y}",
    "SELECT a, b FROM {x} INTERSECT ALL SELECT a, b FROM {y}",
    "SELECT a, b FROM {x} INTERSECT SELECT a, b FROM {y}",
    "SELECT a, count(*) AS b FROM {x} GROUP BY a HAVING max(b) > 1",
    "SELECT a, r AS b FROM (SELECT a, rank() OVER (ORDER BY b) AS r FROM {x}) WHERE r < 3",
)

values = st.one_of(st.integers(0, 2), st.none())
relations: st.SearchStrategy[Rows] = st.lists(st.tuples(values, values), max_size=4)


@st.composite
def specifications(draw: st.DrawFn) -> Specification:
    """Two relations in the middle, and an output."""
    known = ["R", "S"]

    def query(operators: tuple[str, ...]) -> str:
        chosen = {end: draw(st.sampled_from(known)) for end in "xy"}
        return draw(st.sampled_from(operators)).format(**chosen)

    chain = {}
    for name in ("T", "U"):
        chain[name] = query(IN_THE_MIDDLE)
        known.append(name)
    given_relations = {"R": PAIRS, "S": PAIRS}
    return Specification("s", given_relations, {"Out": PAIRS}, chain | {"Out": query(AT_THE_END)})


@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(specifications(), relations, relations, st.data())
def test_what_is_known_is_what_running_again_gives(
    specification: Specification, first: Rows, second: Rows, data: st.DataObject
) -> None:
    inputs = {"R": first, "S": second}
    places = [(name, number) for name, rows in inputs.items() for number in range(len(rows))]
    if not places:
        return
    with tempfile.TemporaryDirectory() as folder:
        ran = Ran.of(specification, inputs, Path(folder) / "all")
        everything = ran.left({})["Out"]
        assert (everything.known, everything.stale) == (ran.answer("Out"), 0)
        for number in range(2):
            gone: dict[str, list[int]] = {}
            chosen = data.draw(st.sets(st.sampled_from(places), min_size=1, max_size=3))
            for name, position in sorted(chosen):
                gone.setdefault(name, []).append(position)
            again = Ran.of(specification, ran.without(gone), Path(folder) / str(number))
            assert ran.left(gone)["Out"].known <= again.answer("Out")
