"""Models of dbt as queries: held against a rebuild of the project model by model, by DuckDB."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from lipstick.errors import CaptureError, LipstickError
from lipstick.systems.dbt import DbtProject, write_example
from lipstick.systems.dbt.bases import read_seed
from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import ModelQuery, Refusal, line_of
from rewriter.dialect.renames import parts_of_name, rename_relations
from rewriter.errors import NotUnderstoodError, UnsupportedError
from tests.oracle.database import Database, Deletion, Relation
from tests.oracle.duck import loosened
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.rows import Bag, assert_same_bag, from_arrow
from tests.oracle.written import deleted_tokens, write_capture

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_example(tmp_path / "shop")


def _seeds(project: DbtProject) -> dict[str, pa.Table]:
    """Return the rows of the seeds, with their types, by name."""
    arrow = {"bigint": pa.int64(), "string": pa.string(), "date": pa.date32()}
    tables = {}
    for seed in project.bases:
        rows, types = read_seed(project.folder / seed.file, seed)
        fields = [pa.field(name, arrow[types[name]]) for name in rows.column_names]
        tables[seed.name] = rows.cast(pa.schema(fields))
    return tables


def _rebuilt(project: DbtProject, seeds: Mapping[str, pa.Table]) -> dict[str, Bag]:
    """Build the project as dbt does: a table for each model, read by its name in the schema."""
    answers = {}
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA shop")
        for name, rows in seeds.items():
            connection.register("loading", rows)
            connection.execute(f"CREATE TABLE shop.{name} AS FROM loading")
        for node in [*project.models, *project.tests]:
            assert node.compiled is not None
            connection.execute(f"CREATE TABLE built AS {to_duckdb(node.compiled)}")
            result: Any = connection.execute("FROM built")
            answers[node.name] = from_arrow(result.fetch_arrow_table())
            connection.execute("DROP TABLE IF EXISTS kept")
            place = f"shop.{node.name}" if node.relation else "kept"
            connection.execute(f"CREATE TABLE {place} AS FROM built; DROP TABLE built")
    return answers


def _query(project: DbtProject, name: str, where: str | None = None) -> ModelQuery:
    query = project.query(project.node(name, "model", "test"), where)
    assert isinstance(query, ModelQuery), query
    return query


def _same(expected: Bag, actual: pa.Table, message: str) -> None:
    shown = loosened(from_arrow(actual))
    assert_same_bag(Bag(shown.columns, shown.types, loosened(expected).rows), shown, message)


def test_deletions_are_rebuilds_without_the_rows(shop: Path, tmp_path: Path) -> None:
    project = DbtProject(shop)
    seeds = _seeds(project)
    kinds = {pa.int64(): "bigint", pa.string(): "string", pa.date32(): "date"}
    relations = {
        name: Relation(
            name, ("id",), ", ".join(f"{f.name} {kinds[f.type]}" for f in rows.schema), rows
        )
        for name, rows in seeds.items()
    }
    database, choice = Database(relations), random.Random(7)
    asked = ["order_amounts", "orders", "customers", "countries", "no_dear_orders"]
    captures = {
        name: write_capture(_query(project, name).sql, database, tmp_path / name) for name in asked
    }
    changed = 0
    for number in range(12):
        deletion = Deletion(
            str(number),
            {
                name: frozenset(choice.sample(relation.row_keys(), choice.randint(0, 3)))
                for name, relation in relations.items()
            },
        )
        left = {name: each.without(deletion.keys[name]) for name, each in relations.items()}
        rebuilt = _rebuilt(project, left)
        tokens = deleted_tokens(database, deletion)
        for name, capture in captures.items():
            read = {key: gone for key, gone in tokens.items() if key in capture.manifest.relations}
            answer = capture.memory.what_if(read)
            _same(rebuilt[name], answer.df, f"{name}: {deletion}")
            kinds_of_change = answer.changes.column("_change").to_pylist()
            changed += bool(set(kinds_of_change) - {"unchanged"})
    assert changed > 30


def test_a_row_is_rebuilt_from_its_lineage_alone(shop: Path, tmp_path: Path) -> None:
    project = DbtProject(shop)
    seeds = _seeds(project)
    relations = {name: Relation(name, ("id",), "", rows) for name, rows in seeds.items()}
    before = _rebuilt(project, seeds)
    for model, key in (("countries", "country"), ("customers", "customer_id")):
        place = before[model].columns.index(key)
        for row in before[model].rows[:2]:
            where = f"{key} = {row[place]!r}"
            sql = _query(project, model, where).sql
            folder = tmp_path / f"{model}-{row[place]}"
            lineage = write_capture(sql, Database(relations), folder).memory.lineage()
            kept = {
                name: rows.filter(
                    pc.is_in(rows["id"], lineage[name]["id"])
                    if name in lineage
                    else pa.array([False] * len(rows))
                )
                for name, rows in seeds.items()
            }
            assert row in _rebuilt(project, kept)[model].rows
            others = {
                name: rows.filter(pc.invert(pc.is_in(rows["id"], kept[name]["id"])))
                for name, rows in seeds.items()
            }
            assert row not in _rebuilt(project, others)[model].rows


def _edit(shop: Path, change: Change) -> DbtProject:
    path = shop / "target" / "manifest.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return DbtProject(shop)


def _set(node: str, **values: Any) -> Change:
    return lambda document: document["nodes"][node].update(values)


def _configure(node: str, **values: Any) -> Change:
    return lambda document: document["nodes"][node]["config"].update(values)


@pytest.mark.parametrize(
    ("change", "model", "reason", "place"),
    [
        (
            _configure("model.shop.stg_orders", materialized="snapshot"),
            "countries",
            "it rests on stg_orders: it is materialized as snapshot",
            "models/staging/stg_orders.sql",
        ),
        (_set("model.shop.orders", language="python"), "orders", "written in python", "orders.sql"),
        (
            _set("model.shop.orders", compiled_code=None, compiled_path=None),
            "orders",
            "it is not compiled: run dbt compile --full-refresh",
            "orders.sql",
        ),
        (
            _set("model.shop.orders", raw_code="select 1"),
            "orders",
            "its file has changed since it was compiled",
            "orders.sql",
        ),
        (
            _set("model.shop.orders", compiled_code="select * from shop.orders"),
            "orders",
            "it reads its own table, as an increment does",
            "orders.sql",
        ),
        (
            _set("model.shop.customers", compiled_code="select c.*\nfrom (select 1"),
            "countries",
            "it rests on customers:",
            "models/marts/customers.sql",
        ),
        (
            _configure("test.shop.no_dear_orders", error_if="> 5 and < 9"),
            "no_dear_orders",
            "its error_if is",
            "tests/no_dear_orders.sql",
        ),
    ],
)
def test_refusals_name_the_model_and_its_file(
    shop: Path, change: Change, model: str, reason: str, place: str
) -> None:
    if "error_if" in reason:
        _edit(shop, _configure("test.shop.no_dear_orders", severity="error"))
    project = _edit(shop, change)
    refusal = project.query(project.node(model, "model", "test"))
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith(reason) or reason in refusal.reason
    assert place in refusal.place


def test_a_source_over_the_table_of_a_seed_is_the_seed(shop: Path) -> None:
    def declare(document: dict[str, Any]) -> None:
        source = {**document["nodes"]["seed.shop.raw_orders"], "source_name": "raw"}
        source |= {"unique_id": "source.shop.raw.orders", "resource_type": "source"}
        document["sources"] = {source["unique_id"]: {**source, "name": "orders"}}
        reading = document["nodes"]["model.shop.stg_orders"]["depends_on"]
        reading["nodes"] = [source["unique_id"]]

    expected = _query(DbtProject(shop), "orders")
    project = _edit(shop, declare)
    seed = project.node("raw_orders", "seed", "source")
    assert project.node("raw.orders", "seed", "source") is seed
    assert _query(project, "orders") == expected
    assert project.rests_on(project.node("orders", "model"), seed)


def test_what_depends_on_a_source_over_the_table_of_a_model_reads_the_source(shop: Path) -> None:
    def declare(document: dict[str, Any]) -> None:
        model = document["nodes"]["model.shop.stg_orders"]
        source = {**model, "unique_id": "source.shop.raw.stg_orders", "resource_type": "source"}
        document["sources"] = {source["unique_id"]: {**source, "source_name": "raw"}}
        reading = document["nodes"]["model.shop.orders"]["depends_on"]
        reading["nodes"] = [
            source["unique_id"] if node == model["unique_id"] else node for node in reading["nodes"]
        ]

    project = _edit(shop, declare)
    assert "source.shop.raw.stg_orders" in _query(project, "orders").bases
    assert "source.shop.raw.stg_orders" not in _query(project, "stg_orders").bases


def test_an_increment_that_may_not_be_a_full_build_is_refused(shop: Path) -> None:
    file = shop / "models" / "marts" / "orders.sql"
    code = file.read_text().replace("max(ordered_on) from {{ this }}", "current_date()")
    file.write_text(code)
    project = _edit(shop, _set("model.shop.orders", raw_code=code))
    refusal = project.query(project.node("orders", "model"))
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("it may be compiled as an increment of its table")
    identity = json.loads((shop / "target" / "manifest.json").read_text())["metadata"]
    results = {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v6.json",
            "invocation_id": identity["invocation_id"],
        },
        "args": {"full_refresh": True},
    }
    (shop / "target" / "run_results.json").write_text(json.dumps(results))
    project = DbtProject(shop)
    assert isinstance(project.query(project.node("orders", "model")), ModelQuery)
    project = _edit(shop, _configure("model.shop.orders", full_refresh=False))
    refusal = project.query(project.node("orders", "model"))
    assert isinstance(refusal, Refusal)
    assert refusal.reason.endswith("name its table before the run, --before orders=TABLE")


_KEYED = {"incremental_strategy": "merge", "unique_key": "order_id"}
_INCREMENT = """
select o.order_id, o.customer_id, o.ordered_on, o.status, coalesce(a.amount, 0) as amount
from shop.stg_orders o
left join shop.order_amounts a on o.order_id = a.order_id
where o.ordered_on >= (select max(ordered_on) from shop.orders where order_id < 5)
"""


@pytest.mark.parametrize(
    ("config", "key", "same"),
    [
        ({"incremental_strategy": None}, None, ""),
        ({"incremental_strategy": "merge", "unique_key": "order_id"}, "order_id", "="),
        ({"incremental_strategy": "delete+insert", "unique_key": ["order_id"]}, "order_id", "="),
        (
            {"incremental_strategy": "insert_overwrite", "partition_by": "status"},
            "status",
            "is not distinct from",
        ),
        ({"incremental_strategy": "insert_overwrite"}, "true", "="),
        ({**_KEYED, "merge_update_columns": ["Status"]}, "order_id", "status"),
        (
            {**_KEYED, "merge_exclude_columns": "amount"},
            "order_id",
            "customer_id ordered_on status",
        ),
    ],
)
def test_increments_are_merged_into_the_table_before(
    shop: Path, tmp_path: Path, config: dict[str, Any], key: str | None, same: str
) -> None:
    change = _set("model.shop.orders", compiled_code=_INCREMENT)
    _edit(shop, _configure("model.shop.orders", **config))
    project = _edit(shop, change)
    seeds = _seeds(project)
    relations = {name: Relation(name, ("id",), "", rows) for name, rows in seeds.items()}
    built = _rebuilt(DbtProject(write_example(tmp_path / "full")), seeds)["orders"]
    names = list(built.columns)
    before = pa.table({n: [row[i] for row in built.rows] for i, n in enumerate(names)})
    before = before.set_column(4, "amount", pc.add(before["amount"].cast(pa.decimal128(32, 2)), 1))
    relations["orders_before"] = Relation("orders_before", ("order_id",), "", before)
    project, table = project.with_before(project.node("orders", "model"))
    project.set_columns(table, names)
    database, choice = Database(relations), random.Random(5)
    query = _query(project, "customers")
    assert "orders_before" in query.sql
    capture = write_capture(query.sql, database, tmp_path / "capture")
    for number in range(6):
        keys = {
            name: frozenset(choice.sample(each.row_keys(), choice.randint(0, 2)))
            for name, each in relations.items()
        }
        deletion = Deletion(str(number), keys)
        left = {name: each.without(keys[name]) for name, each in relations.items()}
        with duckdb.connect() as connection:
            connection.execute("CREATE SCHEMA shop")
            for name, rows in left.items():
                connection.register("loading", rows)
                to = "orders" if name == "orders_before" else name
                connection.execute(f"CREATE TABLE shop.{to} AS FROM loading")
            for name in ("stg_customers", "stg_orders", "stg_payments", "order_amounts"):
                code = to_duckdb(project.node(name, "model").compiled or "")
                connection.execute(f"CREATE TABLE shop.{name} AS {code}")
            connection.execute(f"CREATE TABLE new AS {to_duckdb(_INCREMENT)}")
            new = "new"
            if "merge_update_columns" in config or "merge_exclude_columns" in config:
                values = ", ".join(f"{name} = new.{name}" for name in same.split())
                met = f"new.{key} = shop.orders.{key}"
                connection.execute(f"UPDATE shop.orders SET {values} FROM new WHERE {met}")
                new = f"(FROM new WHERE {key} NOT IN (SELECT {key} FROM shop.orders))"
            elif key is not None:
                match = f"(SELECT 1 FROM new WHERE new.{key} {same} shop.orders.{key})"
                where = key if key == "true" else f"EXISTS {match}"
                connection.execute(f"DELETE FROM shop.orders WHERE {where}")
            connection.execute(f"INSERT INTO shop.orders FROM {new}")
            code = to_duckdb(project.node("customers", "model").compiled or "")
            expected = from_arrow(connection.execute(code).fetch_arrow_table())
        tokens = deleted_tokens(database, deletion)
        read = {name: gone for name, gone in tokens.items() if name in capture.manifest.relations}
        _same(expected, capture.memory.what_if(read).df, f"{config}: {deletion}")


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"materialized": "table"}, "it is materialized as table"),
        ({"incremental_strategy": "microbatch"}, "its incremental_strategy is microbatch"),
        ({"incremental_strategy": "delete+insert"}, "it has no unique_key"),
        ({"incremental_predicates": ["true"]}, "it has incremental_predicates"),
        ({"on_schema_change": "sync_all_columns"}, "its on_schema_change is sync_all_columns"),
    ],
)
def test_increments_that_are_not_followed(shop: Path, config: dict[str, Any], problem: str) -> None:
    project = _edit(shop, _configure("model.shop.orders", **config))
    with pytest.raises(LipstickError, match=f"orders is not merged into its table: {problem}"):
        project.with_before(project.node("orders", "model"))


def test_a_model_is_a_source_as_its_table_stands(shop: Path) -> None:
    project = DbtProject(shop)
    project = project.with_table(project.node("orders", "model"))
    query = _query(project, "customers")
    assert set(query.bases) == {"model.shop.orders", "seed.shop.raw_customers"}
    orders, payments = (project.node(n, "seed", "source") for n in ("orders", "raw_payments"))
    customers = project.node("customers", "model")
    assert project.rests_on(customers, orders)
    assert not project.rests_on(customers, payments)


def test_edited_models_of_another_state(shop: Path, tmp_path: Path) -> None:
    """The schema of the other target does not matter, and its compiled files are beside it."""
    state = tmp_path / "state"
    shutil.copytree(shop / "target", state)
    document = json.loads((state / "manifest.json").read_text().replace("shop.", "prod."))
    for node in document["nodes"].values():
        node["unique_id"] = node["unique_id"].replace("prod.", "shop.")
        node["depends_on"]["nodes"] = [
            each.replace("prod.", "shop.") for each in node["depends_on"].get("nodes", [])
        ]
    orders = next(n for n in document["nodes"].values() if n["name"] == "orders")
    code = orders.pop("compiled_code") + "\nwhere amount > 0"
    orders["compiled_path"] = "target/compiled/orders.sql"
    orders["raw_code"] = "as it was"
    (state / "compiled").mkdir()
    (state / "compiled" / "orders.sql").write_text(code)
    (state / "manifest.json").write_text(json.dumps(document))
    project = DbtProject(shop)
    other = project.with_state(DbtProject(shop, state, archived=True))
    assert [node.name for node in project.edited(other)] == ["orders"]
    assert "where amount > 0" in _query(other, "countries").sql
    _edit(shop, _set("model.shop.countries", language="python", raw_code="x"))
    refused = DbtProject(shop).edited(other)
    assert [node.name for node in refused] == ["orders", "countries"]
    mixed = other.with_text(project.node("orders", "model"), project)
    assert _query(mixed, "countries").sql == _query(project, "countries").sql


def test_an_edited_ephemeral_model_is_named_and_not_its_readers(shop: Path) -> None:
    before = DbtProject(shop)

    def change(document: dict[str, Any]) -> None:
        for name in ("stg_payments", "order_amounts"):
            node = document["nodes"][f"model.shop.{name}"]
            node["compiled_code"] = node["compiled_code"].replace("/ 100.0", "/ 10.0")

    project = _edit(shop, change)
    state = project.with_state(before)
    assert [node.name for node in project.edited(state)] == ["stg_payments"]
    mixed = state.with_text(project.node("stg_payments", "model"), project)
    assert _query(mixed, "countries").sql == _query(project, "countries").sql
    _edit(shop, _set("model.shop.order_amounts", raw_code="select 1"))
    project = DbtProject(shop)
    (shop / "models" / "marts" / "order_amounts.sql").write_text("select 1")
    names = [node.name for node in project.edited(project.with_state(before))]
    assert names == ["stg_payments", "order_amounts"]


def test_places_in_queries_are_lines_of_the_models_files(shop: Path) -> None:
    project = DbtProject(shop)
    query = _query(project, "countries")
    for text, file, line in (
        ("cast(cents / 100.0", None, None),
        ("sum(case when method = 'voucher'", "models/marts/order_amounts.sql", 6),
        ("left join `order_amounts`", "models/marts/orders.sql", 5),
        ("last_order\n    from", "models/marts/customers.sql", 2),
        ("having sum(amount)", "models/marts/countries.sql", 4),
    ):
        error = UnsupportedError("this is not followed", "Leave it out.")
        start = query.sql.index(text)
        error.span = _Span(start)  # type: ignore[assignment]
        refusal = project.refusal(query, project.node("countries", "model"), error)
        if file is not None:
            assert refusal.place == f"{file}:{line}"
    assert line_of(["a", "{{ b }}", "c"], ["a", "b1", "b2", "c"], 4) == 3


class _Span:
    def __init__(self, start: int) -> None:
        self.start = start


def test_names_are_not_those_of_named_queries(shop: Path) -> None:
    text = "with orders as (select * from shop.orders), x as (select 1)\nselect * from orders"

    def change(document: dict[str, Any]) -> None:
        node = document["nodes"]["model.shop.customers"]
        node.update(compiled_code=text, raw_code=None)

    project = _edit(shop, change)
    assert project.names["model.shop.orders"] == "shop_orders"
    assert "from `shop_orders` AS `orders`)" in _query(project, "customers").sql
    with pytest.raises(UnsupportedError, match="hides the relation x"):
        rename_relations("with x as (select 1) select * from a.b", {("a", "b"): "x"})


def test_other_dialects_are_translated() -> None:
    names = {("memory", "main", "orders"): "orders"}
    text = 'select o.a::int as b from "memory"."main"."orders" o'
    sql, read = rename_relations(text, names, "duckdb")
    assert " ".join(sql.split()) == "SELECT CAST(o.a AS INT) AS b FROM `orders` AS o"
    assert read == {"orders"}
    with pytest.raises(NotUnderstoodError, match="cannot be read in the dialect 'duckdb'"):
        rename_relations("select from where", names, "duckdb")
    with pytest.raises(UnsupportedError, match="this is not a query"):
        rename_relations("drop table orders", names, "duckdb")
    with pytest.raises(NotUnderstoodError, match="is not the name of a relation"):
        parts_of_name("a.", "duckdb")


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("1\n2.0\nnull", "bigint", ["1", "2", None]),
        ("1\n2.5", "double", ["1", "2.5"]),
        ("007\n8", "bigint", ["7", "8"]),
        ("2024-01-31\n2024-2-1", "date", ["2024-01-31", "2024-2-1"]),
        ("2024-01-31 10:00:00", "timestamp", ["2024-01-31 10:00:00"]),
        ("True\nfalse", "boolean", ["True", "false"]),
        ("1\na", "string", ["1", "a"]),
        ("NULL", "bigint", [None]),
    ],
)
def test_types_of_seeds(tmp_path: Path, text: str, kind: str, values: list[str | None]) -> None:
    path = tmp_path / "seed.csv"
    path.write_text(f"c,d\n{''.join(f'{line},x{chr(10)}' for line in text.splitlines())}")
    rows, types = read_seed(path, DbtNode("seed.p.s", "seed", "s", "seed.csv"))
    assert (types, rows["c"].to_pylist()) == ({"c": kind, "d": "string"}, values)


def test_columns_that_dbt_may_read_as_numbers_or_text_need_a_type(tmp_path: Path) -> None:
    path = tmp_path / "seed.csv"
    path.write_text("price\n$5\n$1200\n")
    node = DbtNode("seed.p.s", "seed", "s", "seed.csv")
    with pytest.raises(LipstickError, match="column price is not clear, as in '\\$5'"):
        read_seed(path, node)
    typed = DbtNode("seed.p.s", "seed", "s", "", config={"column_types": {"Price": "string"}})
    assert read_seed(path, typed)[1] == {"price": "string"}


def test_folders_and_names_that_there_are_not(shop: Path) -> None:
    with pytest.raises(CaptureError, match="is not a manifest of dbt"):
        DbtProject(shop / "models")
    with pytest.raises(
        LipstickError, match=r"no node has the name 'order'.*\nThere are of model: "
    ):
        DbtProject(shop).node("order", "model")
    with pytest.raises(LipstickError, match="is there already"):
        write_example(shop)
