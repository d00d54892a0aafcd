"""Random graphs of operators and random input, for the code under test and for the oracle."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.delays import Given
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.recording import InMemory
from tests.lipstick.systems.streams.oracle import AGGREGATES, Spec, random_delay

Rows = list[dict[str, Any]]


def random_specs(rng: np.random.Generator) -> list[Spec]:
    """A graph of 1 to 3 sources and 2 to 8 operators over them, with fan-out and joins."""
    specs: list[Spec] = []
    for number in range(int(rng.integers(1, 4))):
        late = "drop" if rng.random() < 0.7 else "admit"
        disorder = int(rng.integers(0, 6))
        values = {"late": late, "disorder": disorder}
        specs.append(Spec(f"s{number}", "source", (), bool(rng.random() < 0.4), values))
    lists: dict[str, str] = {}
    for number in range(int(rng.integers(2, 9))):
        sid = f"o{number}"
        source = specs[int(rng.integers(len(specs)))]
        if source.sid in lists:
            column = {"function": str(rng.choice(list(AGGREGATES)))}
            column["column"] = lists[source.sid]
            specs.append(Spec(sid, "aggregate", (source.sid,), source.keyed, column))
            continue
        joinable = [s for s in specs if s.sid not in lists and s.keyed == source.keyed]
        other = joinable[int(rng.integers(len(joinable)))]
        kind = str(
            rng.choice(
                ["map", "filter", "time_window", "length_window", "time_join", "length_join"]
                + (["merge"] if other is not source else [])
                + ([] if source.keyed else ["key_by"])
            )
        )
        inputs = (source.sid,)
        keyed = source.keyed or kind == "key_by"
        values: dict[str, Any] = {}
        match kind:
            case "map":
                values = {"factor": int(rng.integers(1, 4))}
            case "filter":
                values = {"modulus": int(rng.integers(2, 5))}
            case "time_window":
                values = {"width": int(rng.integers(0, 30))}
            case "length_window":
                values = {"length": int(rng.integers(1, 6))}
            case "time_join" | "length_join":
                most = 15 if kind == "time_join" else 4
                sizes = tuple(int(size) for size in rng.integers(1, most, 2))
                values = {"sizes": sizes, "rule": str(rng.choice(["all", "parity", "equal"]))}
        if kind in ("time_join", "length_join", "merge"):
            inputs = (source.sid, other.sid)
        if kind in ("time_window", "length_window"):
            lists[sid] = "v"
        if kind in ("time_join", "length_join"):
            lists[sid] = "left_v"
        specs.append(Spec(sid, kind, inputs, keyed, values))
    return specs


def random_inputs(
    specs: list[Spec], rng: np.random.Generator, batches: int, events: int
) -> dict[str, list[Rows]]:
    """Rows for every source, in batches: out of order, late, twice, at the same times."""
    inputs: dict[str, list[Rows]] = {}
    for spec in specs:
        if spec.kind != "source":
            continue
        count = int(rng.integers(0, events))
        times = np.cumsum(rng.integers(0, 6, count)) + rng.integers(-4, 5, count)
        rows = [
            {"id": i, "ts": int(t), "k": int(rng.integers(3)), "v": int(rng.integers(0, 20))}
            for i, t in enumerate(times)
        ]
        for _ in range(count // 10):
            number = int(rng.integers(count))
            rows.insert(int(rng.integers(number, len(rows))) + 1, rows[number])
        cuts = sorted(int(cut) for cut in rng.integers(0, len(rows) + 1, batches - 1))
        bounds = [0, *cuts, len(rows)]
        inputs[spec.sid] = [rows[a:b] for a, b in pairwise(bounds)]
    return inputs


def _predicate(
    rule: str,
) -> Callable[[pa.Table, pa.Table], Any] | tuple[tuple[str, str], ...] | None:
    if rule == "all":
        return None
    if rule == "equal":
        return (("v", "v"),)

    def parity(a: pa.Table, b: pa.Table) -> Any:
        left = a.column("v").to_numpy().astype(np.int64) % 2
        return left == b.column("v").to_numpy().astype(np.int64) % 2

    return parity


def graph_of(specs: list[Spec], name: str = "random") -> Graph:
    """The same graph for the code under test."""
    graph = Graph(name)
    for spec in specs:
        values = spec.values
        if spec.kind == "source":
            graph.source(
                spec.sid,
                time="ts",
                key="k" if spec.keyed else None,
                identity="id",
                disorder=values["disorder"],
                late=values["late"],
            )
            continue
        stream = graph.stream(spec.inputs[0])
        match spec.kind:
            case "map":
                stream.map(_times(values["factor"]), name=spec.sid)
            case "filter":
                stream.filter(_not_divided(values["modulus"]), name=spec.sid)
            case "key_by":
                # The key is computed: the oracle takes the value modulo 3.
                keyed = stream.map(_with_key, name=f"{spec.sid}_keys")
                keyed.key_by("key", name=spec.sid)
            case "time_window":
                stream.time_window(values["width"], name=spec.sid)
            case "length_window":
                stream.length_window(values["length"], name=spec.sid)
            case "aggregate":
                column = None if values["function"] == "count" else values["column"]
                stream.aggregate({"v": (values["function"], column)}, name=spec.sid)
            case "merge":
                first, *further = [
                    graph.stream(sid).map(_value, name=f"{spec.sid}_{i}_keys")
                    for i, sid in enumerate(spec.inputs)
                ]
                first.merge(*further, name=spec.sid)
            case "time_join" | "length_join":
                join = stream.join_time if spec.kind == "time_join" else stream.join_length
                other = graph.stream(spec.inputs[1])
                join(other, *values["sizes"], _predicate(values["rule"]), name=spec.sid)
    return graph


def _times(factor: int) -> Callable[[pa.Table], Any]:
    return lambda table: {"v": pc.add(pc.multiply(table.column("v"), factor), 1)}


def _not_divided(modulus: int) -> Callable[[pa.Table], Any]:
    return lambda table: table.column("v").to_numpy().astype(np.int64) % modulus != 0


def _value(table: pa.Table) -> Any:
    return {"v": pc.cast(table.column("v"), pa.float64())}


def _with_key(table: pa.Table) -> Any:
    value = table.column("v")
    return {"v": value, "key": value.to_numpy().astype(np.int64) % 3}


SCHEMA = pa.schema({"id": pa.int64(), "ts": pa.int64(), "k": pa.int64(), "v": pa.int64()})


def delays_of(seed: int, codes: KeyCodes, most: int = 7) -> Given:
    """The oracle's delays for the code under test."""
    delay = random_delay(seed, most)

    def function(sid: str, code: Any, trigger: Any) -> Any:
        if sid.endswith("_keys"):
            return np.zeros(len(trigger), dtype=np.int64)
        keys = [None] * len(trigger) if code is None else codes.decode(code).to_pylist()
        times = trigger.tolist()
        return np.array(
            [delay(sid, key, t) for key, t in zip(keys, times, strict=True)], dtype=np.int64
        )

    return Given(function)


def run_graph(
    specs: list[Spec],
    inputs: dict[str, list[Rows]],
    seed: int,
    batches: int,
    most: int = 7,
    **options: Any,
) -> tuple[Runner, InMemory]:
    """Run a random graph in memory, batch by batch."""
    recording = InMemory(full=True)
    codes = KeyCodes()
    runner = Runner(graph_of(specs), recorders=[recording], **options)
    codes = runner.codes
    runner._delays = delays_of(seed, codes, most)
    for number in range(batches):
        runner.push(
            {sid: pa.Table.from_pylist(rows[number], SCHEMA) for sid, rows in inputs.items()}
        )
    runner.close()
    return runner, recording
