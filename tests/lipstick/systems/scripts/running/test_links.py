"""Which rows of pandas belong together, against frames whose rows carry where they are from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lipstick.systems.scripts.running.pandas_doors import inferred
from lipstick.systems.scripts.running.record import Rule


def source(random: np.random.Generator) -> pd.DataFrame:
    count = int(random.integers(4, 30))
    return pd.DataFrame(
        {"key": random.permutation(count) * 3, "group": random.choice(list("abc"), count),
         "x": random.normal(size=count).round(6)}
    )  # fmt: skip


STEPS = {
    "filter": (lambda f: f[f["x"] > f["x"].median()], Rule.INDEX),
    "column": (lambda f: f.assign(x=f["x"] * 2)[["group", "x"]], Rule.ORDER),
    "column alone": (lambda f: (f["x"] * 2 + 1).to_frame(), Rule.ORDER),
    "sorted": (lambda f: f.sort_values("x"), Rule.INDEX),
    "sorted anew": (lambda f: f.sort_values("key").reset_index(drop=True), Rule.VALUES),
    "groups": (lambda f: f.groupby("group")["x"].sum(), Rule.VALUES),
    "groups anew": (lambda f: f.groupby("group", as_index=False)["x"].mean(), Rule.VALUES),
    "joined": (
        lambda f: f[["key", "x"]].assign(x=-1.5).merge(f[["key", "group"]].iloc[::2], on="key"),
        Rule.VALUES,
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_rows_are_linked_to_those_that_they_were_made_of(name: str) -> None:
    step, rule = STEPS[name]
    for seed in range(40):
        random = np.random.default_rng(seed)
        read = source(random)
        if name == "sorted anew" and read["key"].is_monotonic_increasing:
            continue
        result = step(read)
        result = result.to_frame() if isinstance(result, pd.Series) else result
        rule_found, _, codes = inferred(result, read)
        if name == "sorted" and result.index.equals(read.index):
            continue
        assert rule_found == rule, seed
        assert codes is not None
        for position in range(len(result)):
            linked = set(np.flatnonzero(codes[1] == codes[0][position]).tolist())
            row = result.reset_index().iloc[position]
            if name.startswith("groups"):
                true = set(np.flatnonzero(read["group"] == row["group"]).tolist())
            elif name in ("column", "column alone"):
                true = {position}
            elif name == "filter" or name == "sorted":
                true = {int(row["index"])}
            else:
                true = set(np.flatnonzero(read["key"] == row["key"]).tolist())
            assert linked == true, f"seed {seed}, row {position}"


def test_rows_of_other_values_and_another_count_are_not_told() -> None:
    read = pd.DataFrame({"x": [1.0, 2.0, 4.0]})
    rule_found, why, codes = inferred(pd.DataFrame({"y": [7.0]}), read)
    assert (rule_found, codes) == (Rule.ALL, None)
    assert "no column of the same values" in why
