"""Random projects of dbt, of any number of models, over sources of any number of rows.

A model has one of four grains (orders, customers, countries, days), and each grain has the same
columns everywhere, so that any model may read any other one. Text with Jinja and compiled text are
both written, as dbt writes them: with folders of packages, ephemeral models in the models that read
them, increments compiled as full builds, a snapshot and a model in Python.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

COLUMNS = {
    "orders": ("order_id", "customer_id", "at", "day", "status", "amount", "n"),
    "customers": ("customer_id", "country", "since", "amount", "n"),
    "countries": ("country", "amount", "n"),
    "days": ("day", "amount", "n"),
}
_COUNTRIES = ("NO", "SE", "DK", "FI", "DE", "FR", "NL", "PT", "ES", "IT")
_STATUSES = ("placed", "Completed", " returned", "shipped")
_METHODS = ("card", "voucher", "transfer")

CONDITIONS = {
    "raw.raw_orders": (
        "order_id = {0}",
        "order_id IN ({0}, {1}, {0} + {1})",
        "order_id % 5000 = {0} % 5000",
        "customer_id = {0} % 100",
        "status IS NULL AND quantity = {0} % 5",
        "ordered_at >= timestamp'2024-12-{2}'",
    ),
    "raw.raw_customers": (
        "customer_id = {0} % 200",
        "country = 'NO' AND score > 90",
        "since IS NULL",
    ),
    "raw.raw_payments": (
        "payment_id = {0}",
        "order_id = {0}",
        "method = 'voucher' AND cents > 9900",
        "paid_on = date'2024-03-{2}'",
    ),
    "raw.raw_events": (
        "customer_id = {0} % 100",
        "kind = 'buy' AND hour(at) = {0} % 24",
        "value > 99",
    ),
    "raw_countries": ("country = 'NO'", "rate > 1 + {0} % 2", "country IN ('SE', 'PT')"),
    "versions": ("customer_id = {0} % 100", "dbt_valid_to IS NULL AND country = 'NO'"),
}
"""Conditions on seeds and tables; the places are for two numbers and a day of a month."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model, and whether rows that tie decide over its rows or over those of a model below it."""

    name: str
    grain: str
    text: str
    config: Mapping[str, Any]
    package: str = "shop"
    tied: bool = False
    parents: tuple[str, ...] = ()


_FILTERS = (
    "amount > {0}",
    "status in ('placed', 'completed', 'card')",
    "status is distinct from 'returned'",
    "day >= date'2024-02-01' or day is null",
    "order_id % 3 <> {0} % 3",
    "customer_id is not null and month(at) <> 2",
)
_STAGED = (
    (
        "orders",
        """select order_id, customer_id, ordered_at as at, cast(ordered_at as date) as day,
  lower(trim(status)) as status, cast(price * quantity as decimal(18, 2)) as amount,
  cast(1 as bigint) as n
from {{ source('raw', 'raw_orders') }}
where quantity > {0} % 3""",
    ),
    (
        "customers",
        """select customer_id, coalesce(country, 'XX') as country, since,
  cast(score as decimal(18, 2)) as amount, cast(1 as bigint) as n
from {{ source('raw', 'raw_customers') }}
where customer_id % 17 <> {0} % 17""",
    ),
    (
        "orders",
        """select p.order_id, o.customer_id, o.ordered_at as at, p.paid_on as day,
  p.method as status, cast(cast(p.cents as decimal(18, 2)) / 100 as decimal(18, 2)) as amount,
  cast(p.payment_id % 3 as bigint) as n
from {{ source('raw', 'raw_payments') }} p
left join {{ source('raw', 'raw_orders') }} o on o.order_id = p.order_id""",
    ),
    (
        "orders",
        """select customer_id * 7 + hour(at) as order_id, customer_id, at, cast(at as date) as day,
  kind as status, cast(value as decimal(18, 2)) as amount, cast(1 as bigint) as n
from {{ source('raw', 'raw_events') }}""",
    ),
    (
        "customers",
        """select customer_id, max(country) as country, cast(min(dbt_valid_from) as date) as since,
  cast(max(score) as decimal(18, 2)) as amount, count(*) as n
from {{ ref('versions') }}
group by customer_id""",
    ),
)
_RULES = {
    "orders": (
        """select $all
from {orders}
where {filter}""",
        """with x as (
  select *, case when amount > {0} then 1 else 0 end as dear from {orders}
)
select $others, $amount[amount * 2 + dear]
from x""",
        """select $others, $amount[sum(amount) over (
  partition by customer_id order by day, at, order_id, status, amount, n rows unbounded preceding)]
from {orders}""",
        """select $others, $amount[amount + coalesce(lag(amount) over (
  partition by status order by at, order_id, customer_id, day, amount, n), 0)]
from {orders}""",
        """select $all
from (
  select *, row_number() over (
    partition by order_id order by at desc, day, customer_id, status, amount, n) as nth
  from {orders}
)
where nth = 1""",
        """select $others, $amount[amount + rank() over (partition by day order by amount desc)]
from {orders}""",
        """select o.order_id, o.customer_id, o.at, o.day, o.status,
  $amount[o.amount + coalesce(c.amount, 0)], o.n + coalesce(c.n, 0) as n
from {orders} o
left join {customers} c on c.customer_id = o.customer_id""",
        """select $all
from {orders} o
where exists (select 1 from {customers} c where c.customer_id = o.customer_id and c.n > 0)""",
        """select $all
from {orders} o
where not exists (
  select 1 from {orders2} p where p.order_id = o.order_id and p.amount > o.amount)""",
        """select $all
from {orders}
where order_id % 2 = 0
union all
select $all
from {orders2}
where order_id % 2 = 1 or order_id is null""",
        """select distinct $all
from {orders}
where {filter}""",
        """select $others, $amount[amount - avg(amount) over (partition by status)]
from {orders}""",
        """select $all
from {orders}
where amount > (select avg(amount) from {orders2})""",
        """select o.order_id, o.customer_id, o.at, o.day, o.status,
  $amount[o.amount - d.amount], d.n
from {orders} o
join {days} d on d.day = o.day""",
    ),
    "customers": (
        """select c.customer_id, c.country, c.since, $amount[coalesce(sum(o.amount), 0)],
  count(o.order_id) as n
from {customers} c
left join {orders} o on o.customer_id = c.customer_id
group by c.customer_id, c.country, c.since""",
        """with agg as (
  select customer_id, sum(amount) as amount, count(distinct status) as n
  from {orders}
  group by customer_id
)
select c.customer_id, c.country, c.since, $amount[a.amount + c.amount], a.n
from {customers} c
join agg a on a.customer_id = c.customer_id""",
        """select customer_id, country, since,
  $amount[amount + dense_rank() over (partition by country order by n desc)], n
from {customers}""",
        """select *
from {customers}
where n > {0} % 2 and country <> 'PT'""",
        """select c.customer_id, c.country, c.since, $amount[c.amount / nullif(k.n, 0)], c.n
from {customers} c
left join {countries} k on k.country = c.country""",
        """select *
from {customers}
where customer_id not in (
  select customer_id from {customers2} where n > 20 and customer_id is not null)""",
        """select c.customer_id, c.country, c.since, $amount[c.amount + coalesce(d.amount, 0)], c.n
from {customers} c
left join {customers2} d on d.customer_id = c.customer_id""",
    ),
    "countries": (
        """select country, $amount[sum(amount)], count(distinct customer_id) as n
from {customers}
group by country
having count(*) > 1""",
        """select c.country, $amount[sum(o.amount)], count(*) as n
from {orders} o
join {customers} c on c.customer_id = o.customer_id
group by c.country""",
        """select k.country, $amount[k.amount * cast(s.rate as decimal(10, 2))], k.n
from {countries} k
left join {{ ref('raw_countries') }} s on s.country = k.country""",
        """select coalesce(a.country, b.country) as country,
  $amount[coalesce(a.amount, 0) - coalesce(b.amount, 0)], coalesce(a.n, b.n) as n
from {countries} a
full outer join {countries2} b on a.country = b.country""",
    ),
    "days": (
        """select day, $amount[sum(amount)], count(*) as n
from {orders}
group by day""",
        """select day, $amount[coalesce(max(amount) filter (where {filter}), 0)],
  count(distinct customer_id) as n
from {orders}
group by day""",
        """select day, $amount[sum(amount) over (
  order by day rows between 6 preceding and current row)], n
from {days}""",
        """select a.day, $amount[a.amount - coalesce(b.amount, 0)], a.n + coalesce(b.n, 0) as n
from {days} a
left join {days2} b on b.day = date_add(a.day, -7)""",
        """select cast(date_trunc('month', day) as date) as day, $amount[sum(amount)], sum(n) as n
from {days}
group by 1""",
    ),
}
"""Texts of models by grain: {orders} and {orders2} are models of the grain, $amount[x] a column."""
_TIED = """select $all
from (
  select *, row_number() over (partition by customer_id order by day desc) as nth
  from {orders}
)
where nth = 1"""
_ALL = ", ".join(COLUMNS["orders"])
_MARKS = {"$all": _ALL, "$others": _ALL.replace("amount, ", "")}
_INCREMENT = (
    "\n{%- if is_incremental() %}\nwhere at > (select max(at) from {{ this }})\n{%- endif %}"
)
_TESTS = {
    "not_null": "select {column} from {relation} where {column} is null",
    "unique": "select {column} as unique_field, count(*) as n_records from {relation}\n"
    "where {column} is not null group by {column} having count(*) > 1",
}


@dataclass
class GeneratedProject:
    """A project that is written to a new folder.

    Parameters
    ----------
    models
        The number of its models.
    seed
        By which its models and its rows are drawn.
    rows
        The number of orders, about that of payments and events.
    ties
        The share of models of orders whose rows follow from the order among rows that tie.
    """

    folder: Path
    models: int
    seed: int = 0
    rows: int = 20_000
    ties: float = 0.0
    written: dict[str, Model] = field(default_factory=dict)
    sources: dict[str, tuple[Path, str | None]] = field(default_factory=dict)
    """The files and keys of sources and of the snapshot's table, by title."""

    def __post_init__(self) -> None:
        choice = random.Random(self.seed)
        self._write_rows()
        for number in range(self.models):
            model = self._model(choice, number)
            self.written[model.name] = model
        self._write_files()

    # -- models --------------------------------------------------------------------------------

    def _model(self, choice: random.Random, number: int) -> Model:
        is_staged = number < len(_STAGED) or choice.random() < 0.05
        if is_staged:
            at = number if number < len(_STAGED) else choice.randrange(len(_STAGED))
            grain, text = _STAGED[at]
        else:
            found = {each.grain for each in self.written.values()}
            grain = choice.choices(list(_RULES), (6, 4, 1.5, 1.5))[0]
            grain = next((each for each in ("days", "countries") if each not in found), grain)
            # The first of a grain does not read its grain.
            text = choice.choice(_RULES[grain] if grain in found else _RULES[grain][:2])
        tied = grain == "orders" and not is_staged and choice.random() < self.ties
        text = _TIED if tied else text
        parents: list[str] = []

        def parent(match: re.Match[str]) -> str:
            wanted = match[1].rstrip("2")
            found = [each.name for each in self.written.values() if each.grain == wanted]
            parents.append(choice.choice(found))
            return f"{{{{ ref('{parents[-1]}') }}}}"

        for mark, columns in _MARKS.items():
            text = text.replace(mark, columns)
        text = text.replace("{filter}", choice.choice(_FILTERS))
        text = text.replace("{0}", str(choice.randint(1, 40)))
        text = re.sub(r"(?<!\{)\{(\w+)\}", parent, text)
        amount = r"cast((\1) % 1000000 as decimal(18, 2)) as amount"
        text = re.sub(r"\$amount\[([^]]+)\]", amount, text)
        kind = choice.choices(("view", "table", "ephemeral", "incremental"), (3, 5, 1.5, 1))[0]
        config = {"materialized": kind}
        if kind == "incremental" and grain == "orders":
            config["incremental_strategy"] = "append"
            text = f"select {_ALL} from (\n{text}\n) as new{_INCREMENT}"
        elif kind == "incremental":
            config["materialized"] = "table"
        package = "extra" if not is_staged and choice.random() < 0.1 else "shop"
        prefix = "stg" if is_staged else "int" if grain == "orders" else "fct"
        tied = tied or any(self.written[each].tied for each in parents)
        name = f"{prefix}_{grain}_{number}"
        return Model(name, grain, text, config, package, tied, tuple(parents))

    # -- files ---------------------------------------------------------------------------------

    def _write_files(self) -> None:
        nodes: dict[str, Any] = {}
        ids = {"raw_countries": "seed.shop.raw_countries", "versions": "snapshot.shop.versions"}
        ids |= {m.name: f"model.{m.package}.{m.name}" for m in self.written.values()}
        sources = {f"source.shop.raw.{name}": name for name in _source_names()}
        nodes[ids["raw_countries"]] = self._node(
            "seed", "raw_countries", "seeds/raw_countries.csv", materialized="seed"
        )
        snapshot = (
            "select customer_id, country, score, seen from {{ source('raw', 'raw_customers') }}"
        )
        versions = self._compiled_node("snapshot", "versions", snapshot, "shop", ids)
        versions["config"] = {
            "materialized": "snapshot",
            "strategy": "timestamp",
            "unique_key": "customer_id",
            "updated_at": "seen",
        }
        nodes[ids["versions"]] = versions
        for model in self.written.values():
            node = self._compiled_node("model", model.name, model.text, model.package, ids)
            node["config"] = dict(model.config)
            nodes[ids[model.name]] = node
            if model.config["materialized"] == "ephemeral":
                node["relation_name"] = None
        scored = self._node("model", "scored", "models/scored.py", materialized="table")
        scored["language"] = "python"
        scored["raw_code"] = scored["compiled_code"] = _PYTHON.format(name="stg_customers_1")
        scored["depends_on"]["nodes"] = [ids["stg_customers_1"]]
        nodes["model.shop.scored"] = scored
        self._file("shop", "models/scored.py", scored["raw_code"])
        ids["scored"] = "model.shop.scored"
        after = "select country, count(*) as n from {{ ref('scored') }} group by country"
        nodes["model.shop.after_scored"] = self._compiled_node(
            "model", "after_scored", after, "shop", ids
        )
        for number, model in enumerate(self.written.values()):
            if number % 4 == 0 and model.config["materialized"] != "ephemeral":
                kind = "unique" if number % 8 else "not_null"
                column = COLUMNS[model.grain][0]
                text = _TESTS[kind].format(column=column, relation=f"shop.{model.name}")
                name = f"{kind}_{model.name}_{column}"
                test = self._node("test", name, f"{name}.sql", materialized="test", severity="WARN")
                test |= {"compiled_code": text, "column_name": column, "relation_name": None}
                test["test_metadata"] = {"name": kind}
                test["depends_on"]["nodes"] = [ids[model.name]]
                nodes[f"test.shop.{name}"] = test
        given = {
            each: self._node(
                "source", name, "models/sources.yml", source_name="raw", unique_id=each
            )
            for each, name in sources.items()
        }
        metadata = {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
            "project_name": "shop",
            "adapter_type": "spark",
            "invocation_id": "generated",
        }
        for each, node in nodes.items():
            node["unique_id"] = each
        document = {"metadata": metadata, "nodes": nodes, "sources": given, "exposures": {}}
        target = self.folder / "target"
        target.mkdir()
        (target / "manifest.json").write_text(json.dumps(document))
        self._write_yaml()

    def _node(self, kind: str, name: str, file: str, **config: Any) -> dict[str, Any]:
        node = {
            "resource_type": kind,
            "name": name,
            "package_name": "shop",
            "original_file_path": file,
            "relation_name": f"shop.{name}",
            "schema": "shop",
            "depends_on": {"nodes": [], "macros": []},
            "config": {},
        }
        known = {key: config.pop(key) for key in ("source_name", "unique_id") if key in config}
        return {**node, **known, "config": config}

    def _compiled_node(
        self, kind: str, name: str, text: str, package: str, ids: Mapping[str, str]
    ) -> dict[str, Any]:
        file = f"{kind}s/{name}.sql"
        node = self._node(kind, name, file, materialized="table")
        node |= {"package_name": package, "raw_code": text, "compiled_code": self._compiled(text)}
        read = dict.fromkeys(re.findall(r"ref\('(\w+)'\)", text))
        node["depends_on"]["nodes"] = [ids[each] for each in read]
        node["depends_on"]["nodes"] += [
            f"source.shop.raw.{each}" for each in re.findall(r"source\('raw', '(\w+)'\)", text)
        ]
        if kind == "model":
            config = (
                self.written[name].config if name in self.written else {"materialized": "table"}
            )
            options = ", ".join(f"{key}='{value}'" for key, value in config.items())
            node["raw_code"] = text = f"{{{{ config({options}) }}}}\n{text}"
            node["compiled_code"] = f"\n{node['compiled_code']}"
            self._file(package, file, text)
        else:
            config = "strategy='timestamp', unique_key='customer_id', updated_at='seen'"
            head = f"{{% snapshot {name} %}}\n{{{{ config({config}, target_schema='shop') }}}}"
            block = f"{head}\n{text}\n{{% endsnapshot %}}"
            self._file(package, file, block)
        if "is_incremental" in text:
            node["depends_on"]["macros"] = ["macro.dbt.is_incremental"]
        return node

    def _compiled(self, text: str) -> str:
        """Return the text as dbt compiles it, with the ephemeral models that it reads in front."""
        inlined: dict[str, str] = {}

        def compiled(text: str) -> str:
            text = text.replace(_INCREMENT, "\n")
            text = re.sub(r"\{\{ source\('raw', '(\w+)'\) \}\}", r"shop.\1", text)
            return re.sub(r"\{\{ ref\('(\w+)'\) \}\}", relation, text)

        def relation(match: re.Match[str]) -> str:
            model = self.written.get(match[1])
            if model is None or model.config["materialized"] != "ephemeral":
                return f"shop.{match[1]}"
            if model.name not in inlined:
                body = compiled(model.text)
                inlined[model.name] = body
            return f"__dbt__cte__{model.name}"

        text = compiled(text)
        named = ",  ".join(f"__dbt__cte__{n} as (\n\n{body}\n)" for n, body in inlined.items())
        if not named:
            return text
        if text.startswith("with "):
            return f"with {named}, {text.removeprefix('with ')}"
        return f"with {named} {text}"

    def _file(self, package: str, file: str, text: str) -> None:
        folder = self.folder if package == "shop" else self.folder / "dbt_packages" / package
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)

    def _write_yaml(self) -> None:
        """Write what dbt itself needs to compile and build the project."""
        profile = "{type: spark, method: session, schema: shop, host: NA, threads: 1}"
        self._file(
            "shop", "profiles.yml", f"shop:\n  target: dev\n  outputs:\n    dev: {profile}\n"
        )
        for name in ("shop", "extra"):
            paths = "model-paths: [models]\nsnapshot-paths: [snapshots]\nseed-paths: [seeds]"
            text = f"name: {name}\nversion: '1.0'\nprofile: shop\n{paths}\n"
            self._file(name, "dbt_project.yml", text)
        tables = "".join(f"      - name: {name}\n" for name in _source_names())
        text = f"sources:\n  - name: raw\n    schema: shop\n    tables:\n{tables}"
        self._file("shop", "models/sources.yml", f"version: 2\n{text}")

    # -- rows ----------------------------------------------------------------------------------

    def _write_rows(self) -> None:
        draw, rows = np.random.default_rng(self.seed), self.rows
        customers = max(rows // 10, 5)
        since = date(2020, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
        year = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp())

        def some(values: pa.Array, unknown: float) -> pa.Array:
            return pc.if_else(pa.array(draw.random(len(values)) < unknown), None, values)

        def texts(names: tuple[str, ...], count: int, unknown: float = 0.04) -> pa.Array:
            return some(
                pa.array(names).take(pa.array(draw.integers(0, len(names), count))), unknown
            )

        def days(first: int, last: int, count: int) -> pa.Array:
            return pa.array(draw.integers(first, last, count).astype("int32")).cast(pa.date32())

        def instants(count: int, step: int) -> pa.Array:
            seconds = year + draw.integers(0, 366 * 86_400 // step, count) * step
            return pa.array(seconds * 1_000_000).cast(pa.timestamp("us", "UTC"))

        def decimals(count: int, scale: int) -> pa.Array:
            values = (
                Decimal(int(n)).scaleb(-scale) for n in draw.integers(1, 10 ** (scale + 2), count)
            )
            return pa.array(list(values), pa.decimal128(12, scale))

        seen = instants(customers, 60)
        country = texts(_COUNTRIES, customers)
        score = pa.array(draw.integers(0, 400, customers) / 4)
        tables = {
            "raw_customers": {
                "customer_id": pa.array(range(1, customers + 1), pa.int64()),
                "name": texts(("Ada", "Bo", "Cy", "Di"), customers),
                "country": country,
                "since": some(days(since, since + 1500, customers), 0.05),
                "score": some(score, 0.05),
                "seen": seen,
            },
            "raw_orders": {
                "order_id": pa.array(range(1, rows + 1), pa.int64()),
                "customer_id": some(pa.array(draw.integers(1, customers * 11 // 10, rows)), 0.03),
                "ordered_at": some(instants(rows, 3600), 0.03),
                "status": texts(_STATUSES, rows),
                "price": some(decimals(rows, 2), 0.03),
                "quantity": pa.array(draw.integers(1, 6, rows).astype("int32")),
            },
            "raw_payments": {
                "payment_id": pa.array(range(1, rows * 6 // 5 + 1), pa.int64()),
                "order_id": some(pa.array(draw.integers(1, rows + 1, rows * 6 // 5)), 0.01),
                "method": texts(_METHODS, rows * 6 // 5),
                "cents": some(pa.array(draw.integers(0, 10_000, rows * 6 // 5)), 0.03),
                "paid_on": some(days(year // 86_400, year // 86_400 + 366, rows * 6 // 5), 0.03),
            },
            "raw_events": {
                "customer_id": some(pa.array(draw.integers(1, customers + 1, rows)), 0.05),
                "at": some(instants(rows, 86_400 // 4), 0.05),
                "kind": texts(("view", "buy", "leave"), rows),
                "value": some(decimals(rows, 4), 0.05),
            },
            "versions": {
                "customer_id": pa.array([*range(1, customers + 1), *range(1, customers + 1, 3)]),
                "country": pa.concat_arrays(
                    [country, texts(_COUNTRIES, len(range(0, customers, 3)))]
                ),
                "score": pa.concat_arrays([score, score.take(pa.array(range(0, customers, 3)))]),
                "seen": pa.concat_arrays([seen, seen.take(pa.array(range(0, customers, 3)))]),
            },
        }
        versions = tables["versions"]
        count = len(versions["seen"])
        versions["dbt_scd_id"] = pa.array([f"v{n}" for n in range(count)])
        versions["dbt_valid_from"] = versions["seen"]
        closed = [None] * customers + [datetime(2024, 6, 1)] * (count - customers)
        versions["dbt_valid_to"] = pa.array(closed, pa.timestamp("us", "UTC"))
        keys = {"raw_customers": "customer_id", "raw_orders": "order_id"}
        keys |= {"raw_payments": "payment_id", "versions": "dbt_scd_id"}
        for name, columns in tables.items():
            path = self.folder / "rows" / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table(columns), path)
            title = name if name == "versions" else f"raw.{name}"
            self.sources[title] = path, keys.get(name)
        lines = [f"{c},{0.5 + n % 4 * 0.75}" for n, c in enumerate((*_COUNTRIES, "XX"))]
        self._file("shop", "seeds/raw_countries.csv", "\n".join(["country,rate", *lines, ""]))


def _source_names() -> tuple[str, ...]:
    return "raw_customers", "raw_orders", "raw_payments", "raw_events"


_PYTHON = """def model(dbt, session):
    customers = dbt.ref("{name}")
    return customers.where(customers.amount > 10)
"""
