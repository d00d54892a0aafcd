"""Datasets of public shapes with planted errors, drawn from a seed.

An error is one to five predicates, overlapping or not, of one to three conditions each; the rows
that satisfy one of them are corrupted, most or all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

Array = np.ndarray[Any, Any]
Columns = dict[str, Array]


@dataclass(frozen=True)
class Table:
    """A relation: its key, and its columns with their Spark types."""

    key: tuple[str, ...]
    types: Mapping[str, str]
    columns: Columns

    @property
    def schema(self) -> str:
        """The schema as Spark writes it."""
        return ", ".join(f"{name} {kind}" for name, kind in self.types.items())

    def arrow(self) -> pa.Table:
        """The rows."""
        kinds = {
            "bigint": pa.int64(),
            "int": pa.int32(),
            "double": pa.float64(),
            "string": pa.string(),
            "date": pa.date32(),
        }
        arrays = {}
        for name, kind in self.types.items():
            values = self.columns[name]
            if values.dtype.kind == "f":
                null = np.isnan(values) if kind != "double" or name in NULLABLE else None
                arrays[name] = pa.array(values, mask=null).cast(kinds[kind])
            elif values.dtype == np.dtype(object):
                arrays[name] = pa.array(values.tolist(), kinds[kind])
            elif kind == "date":
                arrays[name] = pa.array(values.astype(np.int32)).cast(pa.date32())
            else:
                arrays[name] = pa.array(values).cast(kinds[kind])
        return pa.table(arrays)


NULLABLE = {"amount", "value", "fare", "discount", "cost", "dwell", "tip"}


@dataclass(frozen=True)
class Case:
    """A question over data with a planted error.

    Attributes
    ----------
    ask
        The arguments of the question: ``column``, ``where``, ``than``, ``too``.
    relation
        The relation with the error.
    planted
        Per predicate its text, and which rows satisfy it.
    concerned
        Boolean array: the rows that what is asked about is made of.
    """

    name: str
    tables: Mapping[str, Table]
    sql: str
    ask: Mapping[str, Any]
    relation: str
    planted: tuple[tuple[str, Array], ...]
    concerned: Array


def _choice(rng: np.random.Generator, values: list[str], size: int, skew: float = 1.0) -> Array:
    weights = 1.0 / np.arange(1, len(values) + 1) ** skew
    return rng.choice(np.array(values), size=size, p=weights / weights.sum())


def _rides(rng: np.random.Generator, size: int) -> tuple[dict[str, Table], str]:
    distance = np.round(rng.gamma(1.6, 2.0, size) + 0.3, 2)
    columns = {
        "ride_id": np.arange(size),
        "vendor": _choice(rng, ["CMT", "VTS", "DDS"], size, 0.6),
        "pickup_zone": _choice(rng, [f"Z{i:02}" for i in range(40)], size, 0.7),
        "dropoff_zone": _choice(rng, [f"Z{i:02}" for i in range(40)], size, 0.5),
        "payment": _choice(rng, ["card", "cash", "dispute", "free"], size, 1.4),
        "rate_code": _choice(rng, ["standard", "JFK", "Newark", "negotiated"], size, 1.6),
        "passengers": rng.integers(1, 7, size),
        "day": 19_000 + rng.integers(0, 31, size),
        "hour": rng.integers(0, 24, size),
        "distance": distance,
        "fare": np.round(2.5 + 2.7 * distance + rng.gamma(2.0, 1.0, size), 2),
    }
    types = {
        name: "string" if columns[name].dtype.kind == "U" else "bigint" for name in columns
    } | {"distance": "double", "fare": "double", "day": "date"}
    return {"rides": Table(("ride_id",), types, columns)}, "fare"


def _orders(rng: np.random.Generator, size: int) -> tuple[dict[str, Table], str]:
    customers = 400
    columns = {
        "order_id": np.arange(size),
        "customer_id": rng.integers(0, customers, size),
        "currency": _choice(rng, ["EUR", "USD", "GBP", "JPY", "SEK", "CHF"], size, 1.0),
        "channel": _choice(rng, ["web", "app", "store", "phone"], size, 0.8),
        "shop": _choice(rng, [f"shop-{i}" for i in range(25)], size, 0.6),
        "coupon": np.where(rng.random(size) < 0.7, None, _choice(rng, ["A10", "B20", "C5"], size)),
        "day": 19_200 + rng.integers(0, 60, size),
        "items": rng.integers(1, 9, size),
        "amount": np.round(rng.lognormal(3.3, 0.7, size), 2),
    }
    types = {
        name: "string" if columns[name].dtype.kind in "UO" else "bigint" for name in columns
    } | {"amount": "double", "day": "date"}
    people = {
        "customer_id": np.arange(customers),
        "country": _choice(rng, ["DE", "FR", "GB", "US", "SE", "JP"], customers, 0.6),
        "segment": _choice(rng, ["retail", "business", "public"], customers, 0.7),
    }
    kinds = {"customer_id": "bigint", "country": "string", "segment": "string"}
    return {
        "orders": Table(("order_id",), types, columns),
        "customers": Table(("customer_id",), kinds, people),
    }, "amount"


def _sensors(rng: np.random.Generator, size: int) -> tuple[dict[str, Table], str]:
    sensor = rng.integers(0, 54, size)
    voltage = np.round(rng.normal(2.6, 0.15, size), 3)
    columns = {
        "reading": np.arange(size),
        "sensor": sensor,
        "floor": np.array([f"F{i % 5}" for i in range(54)])[sensor],
        "model": np.array([f"M{i % 7}" for i in range(54)])[sensor],
        "firmware": _choice(rng, ["1.0", "1.1", "1.2", "2.0"], size, 0.7),
        "minute": rng.integers(0, 1440, size),
        "voltage": voltage,
        "humidity": np.round(rng.normal(40, 6, size), 2),
        "value": np.round(rng.normal(21, 2.5, size), 2),
    }
    types = {
        name: "string" if columns[name].dtype.kind == "U" else "bigint" for name in columns
    } | {"voltage": "double", "humidity": "double", "value": "double"}
    return {"readings": Table(("reading",), types, columns)}, "value"


def _items(rng: np.random.Generator, size: int) -> tuple[dict[str, Table], str]:
    order = np.sort(rng.integers(0, size // 4, size))
    line = np.arange(size) - np.searchsorted(order, order)
    quantity = rng.integers(1, 51, size)
    columns = {
        "l_orderkey": order,
        "l_linenumber": line,
        "l_suppkey": rng.integers(0, 100, size),
        "l_quantity": quantity,
        "l_returnflag": _choice(rng, ["N", "A", "R"], size, 0.9),
        "l_shipmode": _choice(rng, ["AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB", "REG"], size, 0),
        "l_shipinstruct": _choice(rng, ["NONE", "COLLECT", "DELIVER", "TAKE BACK"], size, 0),
        "l_shipdate": 8_036 + rng.integers(0, 2_500, size),
        "l_tax": np.round(rng.integers(0, 9, size) / 100, 2),
        "discount": np.round(rng.integers(0, 11, size) / 100, 2),
        "cost": np.round(quantity * rng.uniform(900, 2000, size), 2),
    }
    types = {
        name: "string" if columns[name].dtype.kind == "U" else "bigint" for name in columns
    } | {"l_tax": "double", "discount": "double", "cost": "double", "l_shipdate": "date"}
    return {"lineitem": Table(("l_orderkey", "l_linenumber"), types, columns)}, "cost"


def _clicks(rng: np.random.Generator, size: int) -> tuple[dict[str, Table], str]:
    columns = {
        "click": np.arange(size),
        "site": _choice(rng, ["news", "shop", "mail", "maps", "video"], size, 0.5),
        "browser": _choice(rng, ["Chrome", "Safari", "Firefox", "Edge", "bot"], size, 1.2),
        "os": _choice(rng, ["Android", "iOS", "Windows", "macOS", "Linux"], size, 0.7),
        "campaign": np.where(
            rng.random(size) < 0.5, None, _choice(rng, [f"c{i}" for i in range(30)], size, 0.4)
        ),
        "country": _choice(rng, ["US", "IN", "DE", "BR", "FR", "JP", "NG", "PL"], size, 0.8),
        "hour": rng.integers(0, 24, size),
        "age_ms": np.round(rng.exponential(300, size)).astype(np.int64),
        "dwell": np.round(rng.exponential(20, size), 2),
    }
    types = {
        name: "string" if columns[name].dtype.kind in "UO" else "bigint" for name in columns
    } | {"dwell": "double"}
    return {"clicks": Table(("click",), types, columns)}, "dwell"


def _codes(rng: np.random.Generator, size: int) -> tuple[dict[str, Table], str]:
    columns = {
        "claim": np.arange(size),
        "icd": _choice(rng, [f"{c}{i:02}" for c in "ABCEI" for i in range(24)], size, 0.6),
        "procedure": _choice(rng, [f"P{i}" for i in range(50)], size, 0.7),
        "hospital": _choice(rng, [f"H{i}" for i in range(15)], size, 0.4),
        "ward": _choice(rng, ["surgery", "internal", "pediatrics", "emergency"], size, 0.5),
        "sex": _choice(rng, ["f", "m"], size, 0),
        "age": np.clip(rng.normal(55, 20, size).round(), 0, 103).astype(np.int64),
        "admitted": 18_600 + rng.integers(0, 365, size),
        "coded_by": np.where(rng.random(size) < 0.1, None, _choice(rng, ["ann", "bo", "cy"], size)),
        "cost": np.round(rng.lognormal(7.5, 0.8, size), 2),
    }
    types = {
        name: "string" if columns[name].dtype.kind in "UO" else "bigint" for name in columns
    } | {"cost": "double", "admitted": "date"}
    return {"claims": Table(("claim",), types, columns)}, "cost"


DATASETS: Mapping[str, Callable[[np.random.Generator, int], tuple[dict[str, Table], str]]] = {
    "rides": _rides,
    "orders": _orders,
    "sensors": _sensors,
    "lineitem": _items,
    "clicks": _clicks,
    "claims": _codes,
}

KINDS = ("average", "sum", "against", "difference", "negative", "missing", "share", "condition")
"""The kinds of questions."""


def draw(seed: int, size: int = 12_000) -> Case:
    """Return the case of a seed."""
    rng = np.random.default_rng(seed)
    name = list(DATASETS)[seed % len(DATASETS)]
    kind = KINDS[(seed // len(DATASETS)) % len(KINDS)]
    tables, measured = DATASETS[name](rng, size)
    relation = next(iter(tables))
    columns = tables[relation].columns
    concerned, group = np.ones(size, dtype=np.bool_), None
    if kind in ("average", "sum", "difference", "share") and rng.random() < 0.6:
        group = _group(rng, tables[relation], measured)
        concerned = columns[group[0]] == group[1]
    among = concerned
    number = int(rng.integers(1, 6))
    planted = _predicates(rng, tables[relation], measured, among, number, group)
    wrong = np.logical_or.reduce([mask for _, mask in planted]) & (rng.random(size) < 0.95)
    if kind == "difference":
        # What is wrong on both sides explains no difference.
        wrong &= concerned
    clean = float(columns[measured].mean())
    columns[measured] = _corrupted(rng, columns[measured], wrong, kind)
    bound = clean if kind == "against" else (clean + float(columns[measured].mean())) / 2
    sql, ask = _question(kind, relation, measured, tables, group, bound)
    return Case(f"{seed}:{name}:{kind}:{number}", tables, sql, ask, relation, planted, concerned)


def _group(rng: np.random.Generator, table: Table, measured: str) -> tuple[str, Any]:
    """Return a column of few values, and one of its frequent values."""
    texts = [
        n
        for n, v in table.columns.items()
        if v.dtype.kind == "U" and 2 <= len(np.unique(v)) <= 8 and n != measured
    ]
    name = texts[int(rng.integers(len(texts)))]
    values, counts = np.unique(table.columns[name], return_counts=True)
    return name, str(values[int(counts.argmax())])


def _condition(
    rng: np.random.Generator, name: str, values: Array, among: Array
) -> tuple[str, Array]:
    """Return a condition on a column that a fair share of some rows satisfies."""
    if values.dtype == np.dtype(object):
        missing = np.array([value is None for value in values])
        if rng.random() < 0.5:
            return f"{name} is NULL", missing
        values = np.where(missing, "", values).astype(str)
    if values.dtype.kind == "U" or len(np.unique(values)) <= 10:
        known = np.unique(values[among])
        known = known[known != ""] if values.dtype.kind == "U" else known
        value = known[int(rng.integers(len(known)))]
        return f"{name} = {value}", values == value
    low = float(rng.uniform(0, 0.75))
    high = low + float(rng.uniform(0.12, 0.25)) if rng.random() < 0.6 else 1.0
    if high == 1.0:
        low = max(low, 0.6)
    first, last = np.quantile(values[among], [low, high], method="lower")
    return f"{name} in [{first}, {last}]", (values >= first) & (values <= last)


def _predicates(
    rng: np.random.Generator,
    table: Table,
    measured: str,
    among: Array,
    number: int,
    group: tuple[str, Any] | None,
) -> tuple[tuple[str, Array], ...]:
    taken = {*table.key, measured, *((group[0],) if group else ())}
    names = [name for name in table.columns if name not in taken]
    planted: list[tuple[str, Array]] = []
    total = int(among.sum())
    while len(planted) < number:
        count = int(rng.integers(1, 4))
        chosen = rng.choice(np.array(names), size=count, replace=False).tolist()
        parts = [_condition(rng, each, table.columns[each], among) for each in chosen]
        mask = np.logical_and.reduce([mask for _, mask in parts])
        share = int((mask & among).sum()) / total
        if 0.004 <= share <= 0.15:
            planted.append((" and ".join(text for text, _ in parts), mask))
    return tuple(planted)


def _corrupted(rng: np.random.Generator, values: Array, wrong: Array, kind: str) -> Array:
    values = values.astype(np.float64)
    size = len(values)
    if kind == "negative":
        stray = rng.random(size) < 0.002
        return np.where(wrong | stray, -np.abs(values), values)
    if kind == "missing":
        stray = rng.random(size) < 0.002
        return np.where(wrong | stray, np.nan, values)
    if kind == "share":
        stray = rng.random(size) < 0.01
        return np.where(wrong | stray, 0.0, values)
    factor = rng.choice([3.0, 10.0, 100.0])
    return np.where(wrong, np.round(values * factor, 2), values)


def _question(
    kind: str,
    relation: str,
    measured: str,
    tables: Mapping[str, Table],
    group: tuple[str, Any] | None,
    bound: float,
) -> tuple[str, Mapping[str, Any]]:
    by = f" GROUP BY {group[0]}" if group else ""
    key = f"{group[0]}, " if group else ""
    where = {"where": {group[0]: group[1]}} if group else {}
    source = relation
    if "customers" in tables and kind in ("average", "sum"):
        source = f"{relation} JOIN customers ON {relation}.customer_id = customers.customer_id"
    if kind == "average":
        return f"SELECT {key}avg({measured}) AS v FROM {source}{by}", {
            "column": "v",
            "too": "high",
            **where,
        }
    if kind == "sum":
        return f"SELECT {key}sum({measured}) AS v FROM {source}{by}", {
            "column": "v",
            "too": "high",
            **where,
        }
    if kind == "against":
        return f"SELECT avg({measured}) AS v FROM {source}", {"column": "v", "than": bound}
    if kind == "difference" and group:
        values = np.unique(tables[relation].columns[group[0]])
        other = next(str(value) for value in values if str(value) != group[1])
        return f"SELECT {key}avg({measured}) AS v FROM {source}{by}", {
            "column": "v",
            "than": {group[0]: other},
            **where,
        }
    if kind == "difference":
        return f"SELECT max({measured}) AS top, avg({measured}) AS v FROM {source}", {"column": "v"}
    if kind == "negative":
        return f"SELECT * FROM {relation} WHERE {measured} < 0", {}
    if kind == "missing":
        return f"SELECT * FROM {relation} WHERE {measured} IS NULL", {}
    if kind == "share":
        sql = (
            f"SELECT {key}sum(CASE WHEN {measured} = 0 THEN 1 ELSE 0 END) / count(*) AS v "
            f"FROM {source}{by}"
        )
        return sql, {"column": "v", "too": "high", **where}
    return f"SELECT avg({measured}) <= {bound!r} AS ok FROM {source}", {"column": "ok"}
