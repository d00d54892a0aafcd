"""One hundred causes planted in wide tables, and twenty tables in which nothing is wrong.

A case is a table of 15 to 60 columns in the manner of logs, sensors, health, sales, TPC-H or
TPC-DS, with NULLs, a struct and columns that correlate with the cause. What went wrong is one of
`KINDS`; everything else is drawn from the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tests.oracle.database import Database, Relation

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Names:
    """What the columns of a domain are called."""

    fact: str
    measure: str
    categories: tuple[str, ...]
    time: str
    code: str
    user: str
    struct: tuple[str, str, str]
    pair: tuple[str, str]
    dimension: str
    link: str
    attributes: tuple[str, str, str]


DOMAINS = (
    Names("log", "bytes", ("method", "country", "host", "path", "status"), "at", "agent", "client",
          ("device", "os", "version"), ("sent", "recv"), "server", "server_id",
          ("rack", "region", "role")),
    Names("reading", "value", ("model", "site", "line", "unit", "mode"), "taken", "lot", "serial",
          ("probe", "kind", "firmware"), ("set_point", "reached"), "sensor", "sensor_id",
          ("floor", "vendor", "family")),
    Names("claim", "cost", ("ward", "sex", "payer", "procedure", "outcome"), "admitted", "icd",
          "patient", ("visit", "type", "form"), ("planned", "stayed"), "hospital", "hospital_id",
          ("state", "owner", "size")),
    Names("sale", "amount", ("channel", "currency", "shop", "category", "state"), "sold", "sku",
          "customer", ("cart", "source", "step"), ("ordered", "shipped"), "product", "product_id",
          ("brand", "batch", "line")),
    Names("lineitem", "extendedprice", ("returnflag", "shipmode", "shipinstruct", "container",
          "linestatus"), "shipdate", "part", "clerk", ("packing", "type", "grade"),
          ("quantity", "received"), "supplier", "suppkey", ("nation", "rating", "class")),
    Names("store_sales", "net_paid", ("gender", "education", "store", "promo", "marital"),
          "sold_at", "item", "ticket", ("address", "city", "zone"), ("list", "paid"),
          "store_dim", "store_sk", ("county", "market", "manager")),
)  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """Rows that are the cause, by their relation.

    Attributes
    ----------
    rows
        Boolean array over the relation.
    among
        The rows that suggestions are compared over; None: all.
    """

    relation: str
    text: str
    rows: Array
    among: Array | None = None


@dataclass(frozen=True)
class PlantedCase:
    """A question, and what should be said.

    Attributes
    ----------
    planted
        The causes; none in a clean case.
    multiplied
        The relation whose rows are added several times, where fan-out is the cause.
    right
        The number as it would be without the error; NaN: not known.
    """

    seed: int
    kind: str
    database: Database
    sql: str
    ask: Mapping[str, Any]
    planted: tuple[Planted, ...] = ()
    multiplied: str | None = None
    right: float = np.nan

    @property
    def name(self) -> str:
        """The seed, the kind, and the first relation."""
        return f"{self.seed}:{self.kind}:{next(iter(self.database.relations))}"


@dataclass
class World:
    """The tables of a case while an error is planted in them."""

    rng: np.random.Generator
    names: Names
    size: int
    fact: dict[str, Array] = field(default_factory=dict)
    dimension: dict[str, Array] = field(default_factory=dict)
    struct: dict[str, Array] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    others: dict[str, Relation] = field(default_factory=dict)

    def pick(self, share: float, values: Array) -> Any:
        """Return the value whose share of the rows is nearest to one."""
        found, counts = np.unique(values.astype(str), return_counts=True)
        near = np.argsort(np.abs(counts / len(values) - share))[:3]
        return found[int(self.rng.choice(near))]

    def category(self, number: int | None = None) -> str:
        """Return one of the columns of few values."""
        names = self.names.categories
        return names[int(self.rng.integers(len(names) - 1)) if number is None else number]

    def database(self) -> Database:
        """Return the tables as they are now."""
        n = self.names
        columns = {name: _arrow(values, self.kinds[name]) for name, values in self.fact.items()}
        parts = {name: pa.array(values.tolist()) for name, values in self.struct.items()}
        columns[n.struct[0]] = pa.StructArray.from_arrays(list(parts.values()), list(parts))
        kinds = self.kinds | {
            n.struct[0]: f"struct<{', '.join(f'{name}: string' for name in parts)}>"
        }
        schema = ", ".join(f"{name} {kinds[name]}" for name in columns)
        fact = Relation(n.fact, ("id",), schema, pa.table(columns))
        kinds = {name: "bigint" if v.dtype.kind == "i" else "string"
                 for name, v in self.dimension.items()}  # fmt: skip
        rows = {name: _arrow(values, kinds[name]) for name, values in self.dimension.items()}
        schema = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        dimension = Relation(n.dimension, ("row",), schema, pa.table(rows))
        return Database({n.fact: fact, n.dimension: dimension, **self.others})


_ARROW = {
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "boolean": pa.bool_(),
}


def _arrow(values: Array, kind: str) -> pa.Array:
    if values.dtype == np.dtype(object):
        return pa.array(values.tolist(), _ARROW[kind])
    if kind == "double":
        return pa.array(values, mask=np.isnan(values))
    if kind == "date":
        return pa.array(values.astype(np.int32)).cast(pa.date32())
    return pa.array(values).cast(_ARROW[kind])


def _drawn(rng: np.random.Generator, values: list[str], size: int, skew: float = 0.7) -> Array:
    weights = 1.0 / np.arange(1, len(values) + 1) ** skew
    return rng.choice(np.array(values), size=size, p=weights / weights.sum())


def _emptied(values: Array, rows: Array) -> Array:
    emptied = values.astype(object)
    emptied[rows] = None
    return emptied


_START = 1_704_067_200_000_000
"""2024-01-01 in microseconds."""


def world(seed: int, size: int) -> World:
    """Return tables of a domain in which nothing is wrong."""
    rng = np.random.default_rng([59, seed])
    names = DOMAINS[seed % len(DOMAINS)]
    it = World(rng, names, size)
    add = it.fact
    add["id"] = np.arange(size) + 1_000_000
    for number, name in enumerate(names.categories):
        count = (4, 7, 18, 60, 3)[number]
        add[name] = _drawn(rng, [f"{name[0]}{i}" for i in range(count)], size)
    seconds = np.sort(rng.integers(0, 120 * 86_400, size))
    add[names.time] = _START + seconds * 1_000_000
    it.kinds[names.time] = "timestamp"
    prefixes = [f"{a}{b}" for a in "ABCDXZ" for b in "KMRZ"]
    numbers = rng.integers(1_000, 999_999, size)
    codes = zip(_drawn(rng, prefixes, size, 0.5), numbers, strict=True)
    add[names.code] = np.array([f"{prefix}-{number}" for prefix, number in codes])
    add[names.user] = np.array([f"u{i:06}" for i in rng.integers(0, 2 * size, size)])
    add[names.pair[0]] = rng.integers(1, 60, size)
    add[names.pair[1]] = add[names.pair[0]] + rng.integers(1, 6, size)
    links = 300
    add[names.link] = rng.integers(0, links, size)
    fillers = int(rng.integers(3, 45))
    for number in range(fillers):
        add[f"d{number:02}"] = _filler(rng, number % 6, size)
    add[names.measure] = np.round(rng.gamma(3.0, 20.0, size) + 5, 2)
    it.struct = {
        names.struct[1]: _drawn(rng, ["ios", "android", "web", "tv"], size),
        names.struct[2]: _drawn(rng, ["1.0", "2.0", "2.1", "3.0", "3.1"], size),
    }
    it.dimension = {"row": np.arange(links), names.link: np.arange(links)}
    for number, name in enumerate(names.attributes):
        labels = [f"{name[0]}{i}" for i in range((4, 12, 25)[number])]
        it.dimension[name] = _drawn(rng, labels, links, 0.4)
    for name, values in add.items():
        kind = {"U": "string", "O": "string", "f": "double", "i": "bigint"}[values.dtype.kind]
        it.kinds.setdefault(name, kind)
    return it


def _filler(rng: np.random.Generator, kind: int, size: int) -> Array:
    if kind == 0:
        return _drawn(rng, [f"v{i}" for i in range(int(rng.integers(2, 30)))], size)
    if kind == 1:
        return np.round(rng.normal(0, 1, size), 3)
    if kind == 2:
        return rng.integers(0, int(rng.integers(5, 5_000)), size)
    if kind == 3:
        values = _drawn(rng, ["a", "b", "c", "d"], size).astype(object)
        values[rng.random(size) < 0.4] = None
        return values
    if kind == 4:
        return np.where(rng.random(size) < 0.1, np.nan, np.round(rng.lognormal(1, 1, size), 2))
    return np.array([f"k{i}" for i in rng.integers(0, size // 8, size)])


def _decoy(it: World, rows: Array, name: str = "flag") -> None:
    """Add a column that holds for most rows of a cause, and for as many others."""
    rng = it.rng
    others = rng.random(it.size) < 0.8 * rows.mean()
    holds = (rows & (rng.random(it.size) < 0.75)) | (~rows & others)
    it.fact[name] = np.where(holds, "y", "n")
    it.kinds[name] = "string"


# -- the kinds ------------------------------------------------------------------------------------


def _raised(it: World, rows: Array, factor: float | None = None) -> None:
    measure = it.fact[it.names.measure]
    factor = float(it.rng.choice([4.0, 10.0])) if factor is None else factor
    it.fact[it.names.measure] = np.where(rows, np.round(measure * factor, 2), measure)


def _total(it: World) -> float:
    return float(it.fact[it.names.measure].sum())


def _asked(
    it: World, kind: str, planted: list[tuple[str, Array]], rows: Array, among: Array | None = None
) -> tuple[str, dict[str, Any], tuple[Planted, ...]]:
    """Return a question on a sum or an average that rows have made too high."""
    n = it.names
    clean, mean = _total(it), float(it.fact[n.measure].mean())
    _raised(it, rows)
    call = "avg" if it.rng.random() < 0.5 else "sum"
    goal = mean if call == "avg" else clean
    sql = f"SELECT {call}({n.measure}) AS v FROM {n.fact}"
    ask: dict[str, Any] = {"column": "v", "too": "high"}
    if it.rng.random() < 0.5:
        ask["than"] = goal * 1.02
    return sql, ask, tuple(Planted(n.fact, text, mask, among) for text, mask in planted)


def _simple(it: World, kind: str) -> Any:
    name = it.category()
    value = it.pick(0.06, it.fact[name])
    rows = it.fact[name] == value
    _decoy(it, rows)
    return _asked(it, kind, [(f"{name} = {value}", rows)], rows)


def _conjunction(it: World, kind: str) -> Any:
    first, second = it.rng.choice(4, 2, replace=False)
    a, b = it.names.categories[first], it.names.categories[second]
    x, y = it.pick(0.25, it.fact[a]), it.pick(0.2, it.fact[b])
    rows = (it.fact[a] == x) & (it.fact[b] == y)
    _decoy(it, rows)
    return _asked(it, kind, [(f"{a} = {x} and {b} = {y}", rows)], rows)


def _window(it: World, kind: str) -> Any:
    name, moments = it.category(), it.fact[it.names.time]
    value = it.pick(0.3, it.fact[name])
    start = float(it.rng.uniform(0.2, 0.7))
    low, high = np.quantile(moments, [start, start + float(it.rng.uniform(0.1, 0.25))])
    rows = (it.fact[name] == value) & (moments >= low) & (moments <= high)
    return _asked(it, kind, [(f"{name} = {value} and {it.names.time} from {low} to {high}", rows)],
                  rows)  # fmt: skip


def _two(it: World, kind: str) -> Any:
    first, second = it.rng.choice(4, 2, replace=False)
    planted = []
    for place in (first, second):
        name = it.names.categories[place]
        value = it.pick(0.05, it.fact[name])
        planted.append((f"{name} = {value}", it.fact[name] == value))
    return _asked(it, kind, planted, planted[0][1] | planted[1][1])


def _heavy(it: World, kind: str) -> Any:
    name = it.names.user
    rows = it.rng.random(it.size) < float(it.rng.choice([0.001, 0.002]))
    it.fact[name] = np.where(rows, "u777777", it.fact[name])
    clean = _total(it)
    _raised(it, rows, 800.0)
    sql = f"SELECT sum({it.names.measure}) AS v FROM {it.names.fact}"
    ask = {"column": "v", "too": "high", "than": clean * 1.01}
    return sql, ask, (Planted(it.names.fact, f"{name} = u777777", rows),)


def _few(it: World, kind: str) -> Any:
    a, name = it.category(2), it.names.pair[0]
    x = it.pick(0.05, it.fact[a])
    rows = (it.fact[a] == x) & (it.fact[name] == int(it.rng.integers(5, 50)))
    clean = _total(it)
    value = it.fact[name][rows][0]
    _raised(it, rows, 500.0)
    sql = f"SELECT sum({it.names.measure}) AS v FROM {it.names.fact}"
    ask = {"column": "v", "too": "high", "than": clean * 1.01}
    return sql, ask, (Planted(it.names.fact, f"{a} = {x} and {name} = {value}", rows),)


def _joined(it: World, kind: str) -> Any:
    n = it.names
    name = n.attributes[int(it.rng.integers(1, 3))]
    value = it.pick(0.06, it.dimension[name])
    there = it.dimension[name] == value
    rows = there[it.fact[n.link]]
    clean = _total(it)
    _raised(it, rows)
    sql = f"SELECT sum(f.{n.measure}) AS v FROM {n.fact} f JOIN {n.dimension} d USING ({n.link})"
    ask = {"column": "v", "too": "high", "than": clean}
    return sql, ask, (Planted(n.dimension, f"{name} = {value}", there),)


_ABSENT = (
    "SELECT count(*) AS v FROM {f} WHERE NOT EXISTS (SELECT 1 FROM blocked b WHERE b.ref = {f}.id)",
    "SELECT count(*) AS v FROM {f} WHERE id NOT IN (SELECT ref FROM blocked)",
    "SELECT count(*) AS v FROM {f} LEFT ANTI JOIN blocked b ON b.ref = {f}.id",
    "SELECT count(*) AS v FROM {f} LEFT JOIN blocked b ON b.ref = {f}.id WHERE b.ref IS NULL",
    "SELECT count(*) AS v FROM (SELECT id FROM {f} EXCEPT SELECT ref FROM blocked) AS t",
    "SELECT sum({m}) AS v FROM {f} WHERE NOT EXISTS (SELECT 1 FROM blocked b WHERE b.ref = {f}.id)",
)


def _absent(it: World, kind: str) -> Any:
    n, rng = it.names, it.rng
    count = it.size // 8
    picked = rng.choice(it.size, count, replace=False)
    source = _drawn(rng, ["manual", "fraud", "bulk", "legal", "test"], count, 0.5)
    value = it.pick(0.2, source)
    rows = source == value
    columns = {
        "bid": np.arange(count),
        "ref": it.fact["id"][picked],
        "source": source,
        "agent": _drawn(rng, [f"a{i}" for i in range(9)], count),
        "score": rng.integers(0, 100, count),
        "since": rng.integers(0, 500, count),
    }
    kinds = {k: "string" if v.dtype.kind == "U" else "bigint" for k, v in columns.items()}
    table = pa.table({k: _arrow(v, kinds[k]) for k, v in columns.items()})
    it.others["blocked"] = Relation(
        "blocked", ("bid",), ", ".join(f"{k} {v}" for k, v in kinds.items()), table
    )
    form = _ABSENT[int(rng.integers(len(_ABSENT)))]
    weights = it.fact[n.measure] if "sum(" in form else np.ones(it.size)
    goal = float(weights.sum() - weights[picked[~rows]].sum())
    sql = form.format(f=n.fact, m=n.measure)
    if rng.random() < 0.3:
        sql = sql.replace(" AS v", f" >= {goal} AS v", 1)
        return sql, {"column": "v"}, (Planted("blocked", f"source = {value}", rows),)
    ask = {"column": "v", "than": goal, "too": "low"}
    return sql, ask, (Planted("blocked", f"source = {value}", rows),)


def _null_key(it: World, kind: str) -> Any:
    n = it.names
    name, column = it.category(2), n.categories[0]
    value = it.pick(0.08, it.fact[name])
    rows = it.fact[name] == value
    kept = np.unique(it.fact[column])[:3]
    among = np.isin(it.fact[column], kept)
    right = float(it.fact[n.measure][among].sum())
    lost = rows & among
    it.fact[column] = _emptied(it.fact[column], rows)
    listed = ", ".join(f"'{each}'" for each in kept)
    sql = f"SELECT sum({n.measure}) AS v FROM {n.fact} WHERE {column} IN ({listed})"
    ask = {"column": "v", "too": "low", "than": right * 0.99}
    return sql, ask, (Planted(n.fact, f"{name} = {value}", rows, None),), None, right, lost


def _filtered(it: World, kind: str) -> Any:
    n = it.names
    name, column = it.category(1), n.categories[4]
    value, state = it.pick(0.12, it.fact[name]), it.pick(0.5, it.fact[column])
    rows = (it.fact[name] == value) & (it.fact[column] == state)
    right = float(it.fact[n.measure][it.fact[column] == state].sum())
    it.fact[column] = np.where(rows, "CL", it.fact[column])
    sql = f"SELECT sum({n.measure}) AS v FROM {n.fact} WHERE {column} = '{state}'"
    ask = {"column": "v", "too": "low", "than": right * 0.99}
    return sql, ask, (Planted(n.fact, f"{column} = CL", rows),), None, right


def _partnerless(it: World, kind: str) -> Any:
    n = it.names
    name = it.category(1)
    value = it.pick(0.1, it.fact[name])
    rows = it.fact[name] == value
    right = _total(it)
    links = it.fact[n.link]
    it.fact[n.link] = np.where(rows, links + 100_000, links)
    sql = f"SELECT sum(f.{n.measure}) AS v FROM {n.fact} f JOIN {n.dimension} d USING ({n.link})"
    ask = {"column": "v", "too": "low", "than": right * 0.99}
    return sql, ask, (Planted(n.fact, f"{name} = {value}", rows),), None, right


def _fan_out(it: World, kind: str) -> Any:
    n, rng = it.names, it.rng
    right, mean = _total(it), float(it.fact[n.measure].mean())
    some = rng.random(len(it.dimension["row"])) < float(rng.uniform(0.05, 0.2))
    twice = {name: values[some] for name, values in it.dimension.items()}
    twice["row"] = twice["row"] + len(some)
    it.dimension = {
        name: np.concatenate([values, twice[name]]) for name, values in it.dimension.items()
    }
    call, goal = ("sum", right) if rng.random() < 0.7 else ("avg", mean)
    if call == "avg":
        heavy = np.isin(it.fact[n.link], np.flatnonzero(some))
        it.fact[n.measure] = np.where(heavy, it.fact[n.measure] * 3, it.fact[n.measure])
        goal = float(it.fact[n.measure].mean())
    sql = f"SELECT {call}(f.{n.measure}) AS v FROM {n.fact} f JOIN {n.dimension} d USING ({n.link})"
    ask: dict[str, Any] = {"column": "v", "too": "high"}
    if rng.random() < 0.5:
        ask["than"] = goal
    return sql, ask, (), n.fact, goal


def _nested(it: World, kind: str) -> Any:
    name, first, second = it.names.struct
    x, y = it.pick(0.3, it.struct[first]), it.pick(0.15, it.struct[second])
    rows = (it.struct[first] == x) & (it.struct[second] == y)
    text = f"{name}.{first} = {x} and {name}.{second} = {y}"
    return _asked(it, kind, [(text, rows)], rows)


def _prefix(it: World, kind: str) -> Any:
    codes = it.fact[it.names.code]
    value = it.pick(0.05, np.array([code[:2] for code in codes]))
    rows = np.char.startswith(codes, value)
    return _asked(it, kind, [(f"{it.names.code} starts with {value}", rows)], rows)


def _calendar(it: World, kind: str) -> Any:
    days = it.fact[it.names.time] // 86_400_000_000
    if it.rng.random() < 0.5:
        value = int(it.rng.integers(0, 7))
        rows = (days + 3) % 7 == value
        text = f"weekday({it.names.time}) = {value}"
    else:
        value = int(it.rng.integers(0, 24))
        rows = (it.fact[it.names.time] // 3_600_000_000) % 24 == value
        text = f"hour({it.names.time}) = {value}"
    return _asked(it, kind, [(text, rows)], rows)


def _compared(it: World, kind: str) -> Any:
    a, b = it.names.pair
    rows = it.rng.random(it.size) < 0.06
    if it.rng.random() < 0.5:
        it.fact[b] = np.where(rows, it.fact[a], it.fact[b])
        text = f"{a} = {b}"
    else:
        it.fact[b] = np.where(rows, np.maximum(it.fact[a] - 2, 0), it.fact[b])
        rows = it.fact[b] < it.fact[a]
        text = f"{b} < {a}"
    return _asked(it, kind, [(text, rows)], rows)


def _siblings(it: World, kind: str) -> Any:
    name = it.category(3)
    values, counts = np.unique(it.fact[name], return_counts=True)
    usual = values[np.argsort(-counts)[4:40]]
    chosen = sorted(it.rng.choice(usual, 3, replace=False).tolist())
    rows = np.isin(it.fact[name], chosen)
    return _asked(it, kind, [(f"{name} in ({', '.join(chosen)})", rows)], rows)


def _negated(it: World, kind: str) -> Any:
    a, b = it.category(1), it.category(0)
    x, y = it.pick(0.15, it.fact[a]), it.pick(0.3, it.fact[b])
    rows = (it.fact[a] == x) & (it.fact[b] != y)
    return _asked(it, kind, [(f"{a} = {x} and {b} <> {y}", rows)], rows)


def _of_groups(it: World, kind: str) -> Any:
    n = it.names
    name = it.category(int(it.rng.integers(1, 3)))
    value = it.pick(0.06, it.fact[name])
    rows = it.fact[name] == value
    usual = max(float(it.fact[n.measure][it.fact[name] == v].mean()) for v in set(it.fact[name]))
    _raised(it, rows, 3.0)
    sql = (
        f"SELECT max(m) <= {usual * 1.05!r} AS v FROM "
        f"(SELECT {name}, avg({n.measure}) AS m FROM {n.fact} GROUP BY {name}) AS t"
    )
    return sql, {"column": "v"}, (Planted(n.fact, f"{name} = {value}", rows),)


def _hidden(it: World, kind: str) -> Any:
    n = it.names
    name = it.category(2)
    values = np.unique(it.fact[name])
    first, second = it.rng.choice(values, 2, replace=False)
    rows = np.isin(it.fact[name], [first, second])
    usual = max(float(it.fact[n.measure][it.fact[name] == v].mean()) for v in values)
    _raised(it, rows, 3.0)
    sql = (
        f"SELECT max(m) <= {usual * 1.05!r} AS v FROM "
        f"(SELECT {name}, avg({n.measure}) AS m FROM {n.fact} GROUP BY {name}) AS t"
    )
    return sql, {"column": "v"}, (Planted(n.fact, f"{name} in ({first}, {second})", rows),)


def _recoded(it: World, kind: str) -> Any:
    n = it.names
    column, name = n.categories[4], it.category(1)
    value, state = it.pick(0.15, it.fact[name]), it.pick(0.5, it.fact[column])
    rows = (it.fact[name] == value) & (it.fact[column] == state)
    share = float((it.fact[column] == state).mean())
    it.fact[column] = np.where(rows, "CL", it.fact[column])
    sql = f"SELECT avg(CASE WHEN {column} = '{state}' THEN 1.0D ELSE 0.0D END) AS v FROM {n.fact}"
    ask = {"column": "v", "too": "low", "than": share * 0.99}
    return sql, ask, (Planted(n.fact, f"{column} = CL", rows),)


def _percentile(it: World, kind: str) -> Any:
    n = it.names
    name = it.category()
    value = it.pick(0.12, it.fact[name])
    rows = it.fact[name] == value
    level = float(it.rng.choice([0.9, 0.95]))
    goal = float(np.quantile(it.fact[n.measure], level))
    _raised(it, rows, 6.0)
    sql = f"SELECT percentile_cont({level}) WITHIN GROUP (ORDER BY {n.measure}) AS v FROM {n.fact}"
    return sql, {"column": "v", "too": "high", "than": goal * 1.02}, (
        Planted(n.fact, f"{name} = {value}", rows),)  # fmt: skip


def _nulls(it: World, kind: str) -> Any:
    name = it.category(2)
    rows = it.rng.random(it.size) < 0.05
    it.fact[name] = _emptied(it.fact[name], rows)
    return _asked(it, kind, [(f"{name} is NULL", rows)], rows)


def _length(it: World, kind: str) -> Any:
    n = it.names
    rows = it.rng.random(it.size) < 0.05
    codes = it.fact[n.code].astype(object)
    codes[rows] = np.array([f"{code}{'7' * 9}" for code in codes[rows]], dtype=object)
    it.fact[n.code] = codes
    return _asked(it, kind, [(f"length({n.code}) >= 13", rows)], rows)


def _checked(it: World, kind: str) -> Any:
    n = it.names
    a, b = it.category(1), it.category(2)
    x, y = it.pick(0.2, it.fact[a]), it.pick(0.15, it.fact[b])
    rows = (it.fact[a] == x) & (it.fact[b] == y)
    stray = it.rng.random(it.size) < 0.002
    measure = it.fact[n.measure]
    it.fact[n.measure] = np.where(rows | stray, -measure, measure)
    sql = f"SELECT * FROM {n.fact} WHERE {n.measure} < 0"
    return sql, {}, (Planted(n.fact, f"{a} = {x} and {b} = {y}", rows),)


def _against_another(it: World, kind: str) -> Any:
    n = it.names
    group, name = n.categories[0], it.category(2)
    values, counts = np.unique(it.fact[group], return_counts=True)
    first, second = values[np.argsort(-counts)[:2]]
    value = it.pick(0.1, it.fact[name])
    among = it.fact[group] == first
    rows = it.fact[name] == value
    _raised(it, rows & among, 6.0)
    sql = f"SELECT {group}, avg({n.measure}) AS v FROM {n.fact} GROUP BY {group}"
    ask = {"column": "v", "where": {group: str(first)}, "than": {group: str(second)}}
    return sql, ask, (Planted(n.fact, f"{name} = {value}", rows, among),)


KINDS: Mapping[str, Callable[[World, str], Any]] = {
    "equality": _simple,
    "conjunction": _conjunction,
    "window": _window,
    "two": _two,
    "heavy_hitter": _heavy,
    "few": _few,
    "joined": _joined,
    "absent": _absent,
    "null_key": _null_key,
    "filtered": _filtered,
    "partnerless": _partnerless,
    "fan_out": _fan_out,
    "nested": _nested,
    "prefix": _prefix,
    "calendar": _calendar,
    "compared": _compared,
    "siblings": _siblings,
    "negated": _negated,
    "of_groups": _of_groups,
    "hidden": _hidden,
    "recoded": _recoded,
    "percentile": _percentile,
    "nulls": _nulls,
    "length": _length,
    "checked": _checked,
}
"""The kinds of causes, four seeds each of 0 to 99; `absent` again where seed % 25 is over."""

CLEAN = 20
"""The cases in which nothing is wrong."""


def planted_case(seed: int, size: int = 12_000) -> PlantedCase:
    """Return a case with a planted cause; its table has from half of `size` rows to all of it."""
    kind = list(KINDS)[seed % len(KINDS)]
    rng = np.random.default_rng([60, seed])
    it = world(seed, int(rng.integers(size // 2, size)))
    sql, ask, planted, *rest = KINDS[kind](it, kind)
    multiplied, right = (*rest, None, None)[:2]
    return PlantedCase(
        seed, kind, it.database(), sql, ask, planted, multiplied, np.nan if right is None else right
    )


def clean_case(seed: int, size: int = 12_000) -> PlantedCase:
    """Return a case in which nothing is wrong: chance alone is behind the number."""
    rng = np.random.default_rng([61, seed])
    it = world(10_000 + seed, int(rng.integers(size // 2, size)))
    n = it.names
    join = f"{n.fact} f JOIN {n.dimension} d USING ({n.link})"
    group = n.categories[0]
    mean = float(it.fact[n.measure].mean())
    asked: list[tuple[str, dict[str, Any]]] = [
        (f"SELECT avg({n.measure}) AS v FROM {n.fact}", {"than": mean * 0.9, "too": "high"}),
        (f"SELECT sum({n.measure}) AS v FROM {n.fact}", {"than": _total(it) * 0.9, "too": "high"}),
        (f"SELECT avg(f.{n.measure}) AS v FROM {join}", {"than": mean * 1.1, "too": "low"}),
        (f"SELECT count(*) AS v FROM {join}", {"than": it.size * 0.8, "too": "high"}),
        (f"SELECT avg({n.measure}) <= {mean * 0.93!r} AS v FROM {n.fact}", {}),
        (f"SELECT sum(f.{n.measure}) AS v FROM {join}", {"too": "high"}),
        (f"SELECT avg({n.measure}) AS v FROM {n.fact}", {"too": "high"}),
        (f"SELECT {group}, avg({n.measure}) AS v FROM {n.fact} GROUP BY {group}",
         {"where": {group: f"{group[0]}0"}, "too": "high"}),
        (f"SELECT count(*) AS v FROM {n.fact}", {"too": "high"}),
        (f"SELECT sum({n.measure}) AS v FROM {n.fact} WHERE {n.categories[4]} = "
         f"'{n.categories[4][0]}0'", {"too": "low"}),
    ]  # fmt: skip
    sql, ask = asked[seed % len(asked)]
    return PlantedCase(seed, "clean", it.database(), sql, {"column": "v", **ask})
