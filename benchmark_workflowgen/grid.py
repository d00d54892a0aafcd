"""Grids of parameters, read from TOML or YAML files and crossed into cases.

    [[experiment]]
    name = "figure 5a"                 # its place in results and reports
    kind = "dealerships"               # what is measured; see KINDS
    repetitions = 5                    # with another seed each
    warm_up = 1                        # executions, or rounds of queries, before; not measured
    cars = 5000                        # parameters of the kind: a value,
    executions = [10, 100]             # or several, which are crossed
    cores = [1, 2]                     # local[n]: Spark is started anew for each

Every kind takes `cores` and `shuffle_partitions` beside its own parameters. `variants`, of
workflows and queries, is one value: the list of compared variants.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from benchmark_workflowgen import suites
from benchmark_workflowgen.arctic import ArcticStations
from benchmark_workflowgen.dealerships import Dealerships
from benchmark_workflowgen.errors import BenchmarkError
from benchmark_workflowgen.measure import queries, workflows
from lipstick.workflow.definition import bounded_yaml

PRESETS = ("smoke", "paper", "scale")


def _fields(kind: type) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(kind))


_RUN = frozenset({"parallelism", "graph_repetitions", "variants"})
_QUERIES = frozenset({"scale", "query", "data", "texts", "variants"})
KINDS: Mapping[str, frozenset[str]] = {
    "dealerships": _fields(Dealerships) | _RUN,
    "arctic": _fields(ArcticStations) | _RUN,
    "tpch": _QUERIES - {"texts"},
    "tpcds": _QUERIES,
    "graph": frozenset({"nodes", "modules", "executions", "graph_repetitions", "seed"}),
}
"""The kinds of measurement, and the parameters of each."""

SPARK = frozenset({"cores", "shuffle_partitions"})
_OWN = frozenset({"name", "kind", "repetitions", "warm_up"})


@dataclass(frozen=True, slots=True)
class Case:
    """One repetition of one setting.

    Parameters
    ----------
    experiment, kind
        From the grid.
    parameters
        A value for each that the grid gives.
    repetition
        From 0; it is added to the seed.
    warm_up
        How much is run before and not measured.
    """

    experiment: str
    kind: str
    parameters: Mapping[str, Any]
    repetition: int
    warm_up: int

    @property
    def identity(self) -> str:
        """A unique name, the same whenever the grid is read."""
        text = json.dumps([self.kind, self.parameters, self.warm_up], sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        plain = "".join(c if c.isalnum() else "-" for c in self.experiment)
        return f"{plain}-{digest}-{self.repetition}"

    @property
    def seed(self) -> int:
        """The seed of the repetition, which has its own history."""
        return int(self.parameters.get("seed", 0)) + self.repetition

    @property
    def spark(self) -> tuple[int | None, int | None]:
        """`cores` and `shuffle_partitions`; None: Spark's defaults."""
        return self.parameters.get("cores"), self.parameters.get("shuffle_partitions")

    def arguments(self, *names: str) -> dict[str, Any]:
        """Return the parameters of some names that the grid gives."""
        return {name: self.parameters[name] for name in names if name in self.parameters}

    def __str__(self) -> str:
        parameters = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"{self.experiment}: {parameters or self.kind} #{self.repetition + 1}"


def preset(name: str) -> Path:
    """Return the file of a preset."""
    return Path(str(files(__package__) / "presets" / f"{name}.toml"))


def read_grid(path: Path) -> tuple[Case, ...]:
    """Return the cases of a file: all settings of a repetition before the next repetition.

    Raises
    ------
    BenchmarkError
        For a file that cannot be read, kinds and parameters that there are not.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = bounded_yaml.load(text) if path.suffix != ".toml" else tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError, yaml.YAMLError) as error:
        raise BenchmarkError(f"{path}: {error}") from error
    experiments = document.get("experiment") if isinstance(document, dict) else None
    if not isinstance(experiments, list) or not experiments:
        raise BenchmarkError(
            f"{path} has no experiments: write [[experiment]] with a name and a kind."
        )
    return tuple(case for given in experiments for case in _cases(path, given))


def _cases(path: Path, given: Mapping[str, Any]) -> Iterator[Case]:
    name, kind = str(given.get("name", "")), str(given.get("kind", ""))
    if not name or kind not in KINDS:
        raise BenchmarkError(
            f"{path}: experiment {name or '?'} is of kind {kind or '?'}; an experiment has a name "
            f"and one of the kinds {', '.join(KINDS)}."
        )
    unknown = sorted(set(given) - _OWN - SPARK - KINDS[kind])
    if unknown:
        raise BenchmarkError(
            f"{path}: {name} has a parameter {unknown[0]!r}, which {kind} has not.\n"
            f"Its parameters: {', '.join(sorted(KINDS[kind] | SPARK))}."
        )
    repetitions, warm_up = given.get("repetitions", 1), given.get("warm_up", 1)
    if not isinstance(repetitions, int) or not isinstance(warm_up, int) or repetitions < 1:
        raise BenchmarkError(f"{path}: {name}: repetitions and warm_up are whole numbers.")
    parameters = {key: value for key, value in given.items() if key not in _OWN}
    if kind in ("tpch", "tpcds"):
        try:
            parameters.setdefault("query", list(_texts(kind, parameters)))
        except BenchmarkError as error:
            raise BenchmarkError(f"{path}: {name}: {error}") from error
    settings = [
        value if isinstance(value, list) and key != "variants" else [value]
        for key, value in parameters.items()
    ]
    for repetition in range(repetitions):
        for values in product(*settings):
            setting = dict(zip(parameters, values, strict=True))
            case = Case(name, kind, setting, repetition, warm_up)
            if not repetition:
                _check(path, case)
            yield case


def _check(path: Path, case: Case) -> None:
    """Check the parameters of a workload or a query, before anything runs."""
    try:
        if case.kind in ("dealerships", "arctic"):
            _of(workflows.VARIANTS, *case.parameters.get("variants", ()))
            _ = workload_of(case).workflow
        elif case.kind in ("tpch", "tpcds"):
            _of(queries.VARIANTS, *case.parameters.get("variants", ()))
            _of(_texts(case.kind, case.parameters), case.parameters["query"])
    except (TypeError, ValueError) as error:
        raise BenchmarkError(f"{path}: {case}: {error}") from error


def _of(known: Iterable[str], *given: str) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"There is no {name!r}; there are {', '.join(known)}.")


def _texts(suite: str, parameters: Mapping[str, Any]) -> Mapping[str, str]:
    folder = parameters.get("texts")
    return suites.texts(suite, None if folder is None else Path(folder))


def text_of(case: Case) -> str:
    """Return the text of a case's query."""
    return _texts(case.kind, case.parameters)[case.parameters["query"]]


def workload_of(case: Case) -> Dealerships | ArcticStations:
    """Return the workload of a case."""
    kind = Dealerships if case.kind == "dealerships" else ArcticStations
    given = case.arguments(*(_fields(kind) - {"seed"}))
    if "folder" in given:
        given["folder"] = Path(given["folder"])
    workload: Dealerships | ArcticStations = kind(**given, seed=case.seed)
    return workload
