"""Public functions check their arguments: by their decorator, and called with wrong values."""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from enum import Enum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import pytest

import graphquery
import lipstick
from graphquery import ProvenanceGraph
from lipstick.workflow import Edge, Loop, Module, Relation, Specification, StateQuery, Workflow
from semiring import compare, delta, monus, semirings, simplify
from semiring.errors import ArgumentError, DepthError, LipstickError
from semiring.support.depth import CALLS, deeply
from semiring.support.door import checked, fits
from tests.api_page.page import PACKAGES
from tests.graphquery.dealership import dealership
from tests.wrong_values import raw_errors

T = TypeVar("T")

_VALUES = ("EdgeSet", "Expression", "Monoid", "Polynomial", "Port", "Segment", "Tensor", "Token")
"""Classes of values, of which there are as many as data: their methods are not wrapped."""


def _public() -> Iterator[tuple[str, Any]]:
    """Yield the functions and classes whose calls are checked."""
    for package in PACKAGES:
        if package == "rewriter":  # a language for its own packages
            continue
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            ours = getattr(value, "__module__", "").partition(".")[0] in PACKAGES
            if inspect.isfunction(value):
                yield f"{package}.{name}", value
            elif inspect.isclass(value) and ours and name not in _VALUES:
                other = issubclass(value, (Exception, Enum, lipstick.semirings.Semiring))
                if not other and not getattr(value, "_is_protocol", False):
                    yield f"{package}.{name}", value


PUBLIC = dict(_public())


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_check_their_arguments(name: str) -> None:
    """A function, or each method of a class and of those that it inherits from."""
    value = PUBLIC[name]
    if inspect.isfunction(value):
        assert hasattr(value, "_checked")
        return
    ours = [base for base in value.__mro__ if base.__module__.partition(".")[0] in PACKAGES]
    unchecked = [
        f"{base.__name__}.{method}"
        for base in ours
        if not getattr(base, "_is_protocol", False)
        for method, member in vars(base).items()
        if not method.startswith("_")
        and inspect.isfunction(function := getattr(member, "__func__", member))
        and not (hasattr(function, "_checked") or hasattr(function, "__isabstractmethod__"))
    ]
    assert unchecked == []


@pytest.mark.parametrize(
    ("hint", "right", "wrong"),
    [
        (int, [1, np.int64(2)], [True, 1.0, "1", None]),
        (float, [1, 1.5, np.float64(2)], [True, "1", 1j]),
        (bool, [True, np.bool_(False)], [1, None]),
        (str | None, ["", None], [b"", 0]),
        (Literal["a", 1], ["a", 1], ["b", True]),
        (Sequence[str], [["a"], ("a",), []], ["a", {"a"}, 1]),
        (Iterable[int], [[1], {1}, iter("a")], ["a", 1]),
        (Mapping[str, Sequence[int]], [{"a": [1]}, {}], [[], "a"]),
        (tuple[int, str], [(1, "a")], [[1, "a"], "a"]),
        (Callable[[int], int], [len, int], [1, "len"]),
        (type[int], [int, str], [1]),
        (Path, [Path()], ["x"]),
        (T, [1, None, "x"], []),
        (Any, [1, None, "x"], []),
    ],
)
def test_values_fit_annotations(hint: Any, right: list[Any], wrong: list[Any]) -> None:
    assert [value for value in right if not fits(value, hint)] == []
    assert [value for value in wrong if fits(value, hint)] == []


class Untouchable:
    """A collection that computes its elements, and breaks whoever asks for them too early."""

    def _touched(self, *of: object) -> Any:
        raise AssertionError("looked into")

    __len__ = __iter__ = __getitem__ = __contains__ = __reversed__ = __next__ = _touched
    __bool__ = __eq__ = __copy__ = __deepcopy__ = __reduce_ex__ = __array__ = __repr__ = _touched  # type: ignore[assignment]
    __hash__ = object.__hash__
    keys = items = values = get = index = count = property(_touched)


KINDS = (Sequence, Mapping, Iterable, Iterator, Collection, Set)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("passed", ["by place", "by name", "in a row", "in keywords"])
def test_no_argument_is_looked_into(kind: type, passed: str) -> None:
    """A collection reaches the function as it was passed, untouched."""
    inner = (str, int) if issubclass(kind, Mapping) else str
    lazy = type(f"Lazy{kind.__name__}", (Untouchable, kind), {})()

    @checked
    def take(value: Any, /, *row: Any, name: Any = None, **others: Any) -> Any:
        return [each for each in (value, *row, name, *others.values()) if each is not None]

    hint = kind[inner] | int | None  # type: ignore[index]
    take.__wrapped__.__annotations__.update(dict.fromkeys(("value", "row", "name", "others"), hint))
    calls = {
        "by place": lambda: take(lazy),
        "by name": lambda: take(None, name=lazy),
        "in a row": lambda: take(None, None, lazy),
        "in keywords": lambda: take(None, other=lazy),
    }
    assert calls[passed]()[0] is lazy


@pytest.mark.parametrize(
    ("hint", "right", "wrong"),
    [
        (Sequence[str], [["a"], ("a",), []], [[1], ["a", None]]),
        (Iterable[int], [[1], {1}], [["a"], {"a"}]),
        (Mapping[str, Sequence[int]], [{"a": [1]}, {}], [{1: [1]}, {"a": 1}, {"a": ["b"]}]),
        (tuple[int, str], [(1, "a")], [("a", 1), (1, 2)]),
        (tuple[int, ...], [(), (1, 2)], [("a",), (1, "a")]),
    ],
)
def test_elements_explain_a_failed_call(hint: Any, right: list[Any], wrong: list[Any]) -> None:
    """Only then: what a function makes of its elements is its own affair."""

    @checked
    def fail(values: Any) -> None:
        raise KeyError("no such")

    @checked
    def take(values: Any) -> Any:
        return values

    for function in (fail, take):
        function.__wrapped__.__annotations__["values"] = hint
    for value in right:
        with pytest.raises(KeyError):
            fail(value)
    for value in wrong:
        assert take(value) is value
        with pytest.raises(ArgumentError, match="values is "):
            fail(value)


def test_errors_name_the_parameter() -> None:
    """What was given, what should be, and how the function is called."""
    with pytest.raises(ArgumentError, match=r"each: by is 5, of type int\.\nIt should be: str \|"):
        lipstick.each("cars", by=5)  # type: ignore[arg-type]
    with pytest.raises(
        ArgumentError, match=r"each has no parameter 'of'\.\nThere are by, relation"
    ):
        lipstick.each("cars", of="x")  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="each: missing a required argument: 'relation'"):
        lipstick.each()  # type: ignore[call-arg]


def test_deep_calls_have_room() -> None:
    """Deeper than Python's limit, also through C; without end it is an error that says so."""

    def down(n: int) -> int:
        return 0 if n == 0 else 1 + next(iter(map(down, [n - 1])))

    def endless(n: int) -> int:
        return endless(n + 1)

    assert deeply(down, 10_000) == 10_000
    assert checked(down)(5_000) == 5_000
    with pytest.raises(DepthError, match=f"more than {CALLS:,} nested calls"):
        deeply(endless, 0)


@pytest.fixture(scope="module")
def workflow() -> Workflow:
    relation = Relation({"a": "int"})
    query = "SELECT a FROM A"
    specification = Specification("s", {"A": relation}, {"B": relation}, {"B": query})
    return Workflow("w", {"m": Module("m", specification)}, [], "m", "m")


def test_wrong_values_of_functions(workflow: Workflow, tmp_path: Path) -> None:
    """Of openers, constructors, workflows and annotations: an error of ours, or an answer."""
    relation = Relation({"a": "int"})
    specification = workflow.nodes["m"].specification
    calls: dict[Callable[..., Any], dict[str, Any]] = {
        lipstick.each: {"relation": "w"},
        lipstick.of_row: {"function": len},
        lipstick.open: {"path": "none"},
        lipstick.open_run: {"path": "none"},
        lipstick.federation: {"path": "none"},
        Relation: {"columns": {"a": "int"}},
        Edge: {"source": "a", "target": "b"},
        Loop: {"nodes": ["a"], "back": [], "times": 1},
        Module: {"name": "m", "specification": specification},
        Specification: {
            "name": "s",
            "inputs": {"A": relation},
            "outputs": {"B": relation},
            "query_output": {"B": "SELECT a FROM A"},
        },
        StateQuery: {},
        Workflow: {
            "name": "w",
            "nodes": dict(workflow.nodes),
            "edges": [],
            "inputs": "m",
            "outputs": "m",
        },
        workflow.flows: {"edge": Edge("m", "m")},
        partial(workflow.write, tmp_path): {},
        Workflow.read: {"path": "none"},
        compare: {"left": 1, "operator": "=", "right": 1},
        delta: {},
        monus: {},
        simplify: {},
        semirings.define: {},
    }
    found = []
    for function, right in calls.items():
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.default is parameter.empty and name not in right:
                right[name] = semirings.Counting() if name == "semiring" else 1
        found += raw_errors(function, right)
    assert found == [], "\n".join(found)


def test_wrong_values_of_graphs() -> None:
    graph = ProvenanceGraph.build(*dealership().data)
    first, *_, last = graph.ids.tolist()
    found = []
    names = {"graph": graph, "nodes": graph.everything, "on": graph.everything, "node": first}
    names |= {
        "source": first,
        "target": last,
        "left": 0,
        "right": 0,
        "semiring": semirings.Counting(),
    }
    for name in graphquery.__all__:
        function = getattr(graphquery, name)
        if inspect.isfunction(function):
            parameters = inspect.signature(function).parameters
            found += raw_errors(function, {k: v for k, v in names.items() if k in parameters})
    methods = ("zoom_out", "zoom_in", "delete", "subgraph", "select", "ancestors", "evaluate")
    for name in (*methods, "node", "name", "names", "value", "values", "paths", "difference"):
        function = getattr(graph, name)
        parameters = inspect.signature(function).parameters
        found += raw_errors(function, {k: v for k, v in names.items() if k in parameters})
    assert found == [], "\n".join(found)


def test_lipstick_errors_are_those_of_python_too() -> None:
    """So that code which expects a ``TypeError`` or ``ValueError`` finds it."""
    assert issubclass(ArgumentError, (LipstickError, TypeError, ValueError))


def test_an_interrupt_ends_the_thread_with_the_large_stack() -> None:
    """Who stops waiting leaves nothing that goes on."""

    def stop(number: int, frame: object) -> None:
        raise InterruptedError

    def down(depth: int) -> None:
        if depth:
            down(depth - 1)
        while True:
            pass

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(InterruptedError):
            deeply(down, 5_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    deep = [thread for thread in threading.enumerate() if thread.name == "lipstick-deep"]
    assert not any(thread.is_alive() for thread in deep)
