"""Definitions 2.1 and 2.2: every condition that does not hold is an error of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lipstick.errors import LipstickError
from lipstick.workflow import Edge, Loop, Module, Relation, Specification, StateQuery, Workflow
from lipstick.workflow.definition.shape import dependencies, execution_order, invocation_numbers
from lipstick.workflow.errors import DefinitionError, WorkflowError

R = Relation("a int, b string", key="a")


def _step(
    name: str,
    inputs: Mapping[str, Relation] | None = None,
    outputs: Mapping[str, Relation] | None = None,
) -> Module:
    """A module from A to B, if not told otherwise."""
    inputs = {"A": R} if inputs is None else inputs
    outputs = {"B": R} if outputs is None else outputs
    query = {out: "SELECT * FROM " + next(iter(inputs), "nothing") for out in outputs}
    return Module(name, Specification(f"{name}_kind", inputs, outputs, query))


def _chain(*edges: Edge | tuple[str, str], **modules: Module) -> Callable[[], Workflow]:
    names = list(modules)
    return lambda: Workflow("w", modules, edges, names[:1], names[-1:])


def _message(error: type[WorkflowError], text: str, make: Callable[[], Any]) -> None:
    with pytest.raises(error, match=re.escape(text)) as caught:
        make()
    assert issubclass(error, LipstickError)
    assert "\n" in str(caught.value), "an error says what to do"


# -- degenerate ----------------------------------------------------------------------------------


def test_a_workflow_of_one_node_is_one() -> None:
    workflow = Workflow("w", {"m": _step("m")}, [], "m", "m")
    assert execution_order(workflow.shape) == ("m",)
    assert repr(workflow) == "<workflow w: 1 nodes, 1 modules>"


def test_a_workflow_without_nodes_is_none() -> None:
    with pytest.raises(DefinitionError, match="The workflow has no nodes"):
        Workflow("w", {}, [], (), ())


# -- Definition 2.1 ------------------------------------------------------------------------------


def test_a_relation_has_columns_and_a_key_of_them() -> None:
    with pytest.raises(DefinitionError, match="at least one column"):
        Relation({})
    _message(DefinitionError, "The key (c) has no column 'c'", lambda: Relation("a int", key="c"))
    with pytest.raises(DefinitionError, match="given twice: A, a"):
        Relation([("a", "int"), ("A", "int")])
    with pytest.raises(DefinitionError, match="'a' is not a column: write a name and a type"):
        Relation("a")


def test_columns_are_ddl_with_types_that_have_commas() -> None:
    relation = Relation("a decimal(10,2), b array<struct<x: int, y: int>>, c int")
    assert relation.names == ("a", "b", "c")
    assert relation.columns[0] == ("a", "decimal(10,2)")


def test_schemas_are_disjoint() -> None:
    _message(
        DefinitionError,
        "s: R is in the input and in the state schema.",
        lambda: Specification("s", {"R": R}, {"O": R}, {"O": "SELECT 1"}, state={"R": R}),
    )
    with pytest.raises(DefinitionError, match="o is in the input and in the output"):
        Specification("s", {"O": R}, {"o": R}, {"o": "SELECT 1"})


def test_names_of_old_state_are_reserved() -> None:
    _message(
        DefinitionError,
        "s: 'before_R' cannot name a relation.",
        lambda: Specification("s", {"before_R": R}, {"O": R}, {"O": "SELECT 1"}),
    )
    _message(
        DefinitionError,
        "s: the chain defines Before_x, a name that is not allowed.",
        lambda: Specification("s", {"A": R}, {"O": R}, {"Before_x": "SELECT 1", "O": "SELECT 1"}),
    )


def test_every_output_is_defined() -> None:
    _message(
        DefinitionError,
        "s: Q_out does not define the output O.\nIt defines: P.",
        lambda: Specification("s", {"A": R}, {"O": R}, {"P": "SELECT 1"}),
    )


def test_only_state_is_changed() -> None:
    change = StateQuery(insert={"T": "SELECT 1"})
    _message(
        DefinitionError,
        "s: Q_state changes T, which is not a state relation.\nThe state is: S.",
        lambda: Specification(
            "s", {"A": R}, {"O": R}, {"O": "SELECT 1"}, state={"S": R}, query_state=change
        ),
    )


def test_state_is_replaced_or_changed() -> None:
    _message(
        DefinitionError,
        "Q_state replaces S and inserts into or deletes from it as well.",
        lambda: StateQuery(insert={"S": "SELECT 1"}, replace={"S": "SELECT 1"}),
    )


@pytest.mark.parametrize("part", ["query_state", "query_output"])
def test_a_chain_defines_new_names(part: str) -> None:
    chain = {"A": "SELECT 1"}
    query_state = StateQuery(chain) if part == "query_state" else None
    output = {"O": "SELECT 1"} | (chain if part == "query_output" else {})
    _message(
        DefinitionError,
        "s: the chain defines A, a name that is taken.",
        lambda: Specification("s", {"A": R}, {"O": R}, output, query_state=query_state),
    )


def test_state_is_neither_union_nor_optional() -> None:
    with pytest.raises(
        DefinitionError, match="the state relation S is declared 'union' or 'optional'"
    ):
        Specification(
            "s", {"A": R}, {"O": R}, {"O": "SELECT 1"}, state={"S": Relation("a int", union=True)}
        )


def test_queries_are_sql_or_functions_that_have_places() -> None:
    def double(frame: Any) -> Any:
        return frame

    _message(
        DefinitionError,
        "places.<locals>.double', a function without a place of its own.",
        lambda: Specification("s", {"A": R}, {"O": R}, {"O": double}),
    )
    _message(DefinitionError, "Relation T is 3, which is not a query", lambda: StateQuery({"T": 3}))
    with pytest.raises(DefinitionError, match="A query is empty"):
        StateQuery({"T": "  "})


def test_names_of_modules_are_plain_and_unique() -> None:
    _message(DefinitionError, "'a b' cannot name a module", lambda: _step("a b"))
    _message(
        DefinitionError,
        "Two different modules are called m, one of them at node y.",
        _chain(("x", "y"), x=_step("m"), y=_step("m", {"B": R}, {"C": R})),
    )
    other = Specification("m_kind", {"B": R}, {"C": R}, {"C": "SELECT * FROM B"})
    _message(
        DefinitionError,
        "Two different specifications are called m_kind, one of them that of n.",
        _chain(("x", "y"), x=_step("m"), y=Module("n", other)),
    )


# -- Definition 2.2 ------------------------------------------------------------------------------


def test_edges_and_ends_are_nodes() -> None:
    step = _step("m")
    _message(DefinitionError, "The edge x → y has no node y to join.", _chain(("x", "y"), x=step))
    _message(
        DefinitionError,
        "The input y is not a node.\nThe nodes are: x.",
        lambda: Workflow("w", {"x": step}, [], "y", "x"),
    )
    _message(
        DefinitionError,
        "The output y is not a node.",
        lambda: Workflow("w", {"x": step}, [], "x", "y"),
    )


def test_a_workflow_is_connected() -> None:
    _message(
        DefinitionError,
        "No path joins x and y, z.",
        _chain(("y", "z"), x=_step("m"), y=_step("n"), z=_step("o", {"B": R}, {"C": R})),
    )


def test_a_workflow_has_no_cycle() -> None:
    loop = {"A": Relation(R.columns, union=True)}
    _message(
        DefinitionError,
        "The nodes y → z → y form a cycle.",
        _chain(
            Edge("x", "y", {"B": "A"}),
            Edge("y", "z", {"B": "A"}),
            Edge("z", "y", {"B": "A"}),
            x=_step("m"),
            y=_step("n", loop),
            z=_step("o", loop),
        ),
    )


def test_an_edge_to_itself_is_a_cycle() -> None:
    with pytest.raises(DefinitionError, match="The nodes x → x form a cycle"):
        Workflow("w", {"x": _step("m")}, [Edge("x", "x", {"B": "A"})], (), ())


def test_edges_carry_outputs_to_inputs() -> None:
    step, two = _step("m"), _step("n")
    _message(
        DefinitionError,
        "The edge x → y carries no relation.\nm gives B; n takes A.",
        _chain(("x", "y"), x=step, y=two),
    )
    _message(
        DefinitionError,
        "The edge x → y carries C, which is not an output of m.",
        _chain(Edge("x", "y", {"C": "A"}), x=step, y=two),
    )
    _message(
        DefinitionError,
        "The edge x → y leads to B, which is not an input of n.",
        _chain(Edge("x", "y", "B"), x=step, y=two),
    )


@pytest.mark.parametrize(
    ("columns", "difference"),
    [
        ("a int, c string", "column 2 is b string there and c string here"),
        ("a bigint, b string", "column 1 is a int there and a bigint here"),
        ("a int", "there are 2 columns there and 1 here"),
    ],
)
def test_relations_of_an_edge_have_the_same_columns(columns: str, difference: str) -> None:
    _message(
        DefinitionError,
        f"The edge x → y carries B of m to B of n, but {difference}.",
        _chain(("x", "y"), x=_step("m"), y=_step("n", {"B": Relation(columns)}, {"C": R})),
    )


def test_columns_compare_as_spark_reads_them() -> None:
    same = Relation("A INTEGER, B String")
    workflow = _chain(("x", "y"), x=_step("m"), y=_step("n", {"B": same}, {"C": R}))()
    assert workflow.flows(workflow.edges[0]) == {"B": "B"}


def _two_into_one(**flags: bool) -> Callable[[], Workflow]:
    target = Relation(R.columns, **flags)
    modules = {"x": _step("m"), "y": _step("n"), "z": _step("o", {"B": target}, {"C": R})}
    return lambda: Workflow("w", modules, [("x", "z"), ("y", "z")], ("x", "y"), "z")


def test_relations_of_edges_into_one_node_are_disjoint() -> None:
    _message(DefinitionError, "Both x → z and y → z bring B to o.", _two_into_one())


def test_a_union_takes_several_edges() -> None:
    assert len(_two_into_one(union=True)().edges) == 2


def test_one_edge_brings_a_relation_once() -> None:
    make = _chain(
        Edge("x", "y", {"B": "A", "C": "A"}),
        x=_step("m", None, {"B": R, "C": R}),
        y=_step("n", None, {"D": R}),
    )
    _message(DefinitionError, "Both x → y and x → y bring A to n.", make)


def test_input_nodes_have_no_incoming_edge() -> None:
    modules = {"x": _step("m"), "y": _step("n", {"B": R}, {"C": R})}
    _message(
        DefinitionError,
        "The input node y has an incoming edge, x → y.",
        lambda: Workflow("w", modules, [("x", "y")], ("x", "y"), ()),
    )


def test_output_nodes_have_no_outgoing_edge() -> None:
    modules = {"x": _step("m"), "y": _step("n", {"B": R}, {"C": R})}
    _message(
        DefinitionError,
        "The output node x has an outgoing edge, x → y.",
        lambda: Workflow("w", modules, [("x", "y")], "x", ("x", "y")),
    )


def test_inputs_of_inner_nodes_are_covered() -> None:
    modules = {"x": _step("m"), "y": _step("n", {"B": R, "D": R}, {"C": R})}
    _message(
        DefinitionError,
        "No edge brings D to node y (n), which is not an input node.",
        lambda: Workflow("w", modules, [("x", "y")], "x", "y"),
    )


def test_an_optional_input_need_not_be_covered() -> None:
    optional = Relation(R.columns, optional=True)
    modules = {"x": _step("m"), "y": _step("n", {"B": R, "D": optional}, {"C": R})}
    assert Workflow("w", modules, [("x", "y")], "x", "y").outputs == ("y",)


# -- order ---------------------------------------------------------------------------------------


def test_order_is_that_of_writing_where_it_is_open(market: Workflow) -> None:
    assert execution_order(market.shape) == ("ask", "bid1", "bid2", "best")
    assert dependencies(market.shape)["best"] == {"bid1", "bid2"}


def test_nodes_of_one_module_wait_for_each_other() -> None:
    module = _step("n", {"B": R}, {"C": R})
    modules = {"x": _step("m"), "later": module, "y": module}
    workflow = Workflow("w", modules, [("x", "y"), ("x", "later")], "x", ("y", "later"))
    assert dependencies(workflow.shape)["y"] == {"x", "later"}
    assert invocation_numbers(workflow.shape) == {"x": (1, 1), "later": (1, 2), "y": (2, 2)}


# -- loops ---------------------------------------------------------------------------------------


def _loop(times: int) -> Workflow:
    start = _step("m", {"S": R}, {"A": R})
    inner = Module(
        "n",
        Specification(
            "n_kind",
            {"A": R},
            {"B": R},
            {"B": "SELECT * FROM A"},
        ),
    )
    end = _step("o", {"B": R}, {"C": R})
    return Workflow(
        "w",
        {"x": start, "y": inner, "z": end},
        [("x", "y"), ("y", "z")],
        "x",
        "z",
        [Loop(["y"], [Edge("y", "y", {"B": "A"})], times)],
    )


def test_a_loop_is_unfolded() -> None:
    shape = _loop(3).shape
    assert list(shape.nodes) == ["x", "y.1", "y.2", "y.3", "z"]
    assert [str(edge) for edge in shape.edges] == ["x → y.1", "y.3 → z", "y.1 → y.2", "y.2 → y.3"]
    assert len({module.name for module in shape.nodes.values()}) == 3


def test_a_loop_of_one_round_is_its_body() -> None:
    assert [str(edge) for edge in _loop(1).shape.edges] == ["x → y.1", "y.1 → z"]


def test_a_loop_runs_at_least_once() -> None:
    with pytest.raises(DefinitionError, match="A loop runs at least once, not 0 times"):
        _loop(0)
    with pytest.raises(DefinitionError, match="A loop has no nodes"):
        Loop([], [], 1)


def test_loops_stay_inside_and_apart() -> None:
    modules = {"x": _step("m", {"S": R}, {"A": R}), "y": _step("n")}
    edges = [("x", "y")]
    back = [Edge("y", "x", {"B": "A"})]
    with pytest.raises(DefinitionError, match="The edge back y → x leaves the loop over y"):
        Workflow("w", modules, edges, "x", "y", [Loop(["y"], back, 2)])
    with pytest.raises(DefinitionError, match="Node y is in two loops"):
        Workflow("w", modules, edges, "x", "y", [Loop(["y"], [], 2), Loop(["y"], [], 2)])
    with pytest.raises(DefinitionError, match="Node x is an input node in a loop"):
        Workflow("w", modules, edges, "x", "y", [Loop(["x"], [], 2)])
    with pytest.raises(DefinitionError, match="A loop repeats q, which is not a node"):
        Workflow("w", modules, edges, "x", "y", [Loop(["q"], [], 2)])


# -- queries -------------------------------------------------------------------------------------


def test_queries_are_checked_without_spark(market: Workflow) -> None:
    market.validate()


def _validated(query: Mapping[str, str], state: StateQuery | None = None) -> None:
    specification = Specification("s", {"A": R}, {"O": R}, query, state={"S": R}, query_state=state)
    Workflow("w", {"x": Module("m", specification)}, [], "x", "x").validate()


def test_queries_read_what_is_there() -> None:
    _message(
        DefinitionError,
        "s: the relation O reads T, which is not there.\nIt can read: A, S, before_S.",
        lambda: _validated({"O": "SELECT a, b FROM T"}),
    )
    _message(
        DefinitionError,
        "s: the insertion into S reads Later, which is not there.",
        lambda: _validated(
            {"Later": "SELECT * FROM A", "O": "SELECT * FROM A"},
            StateQuery(insert={"S": "SELECT * FROM Later"}),
        ),
    )
    _message(
        DefinitionError,
        "s: the relation T reads before_S, which is not there.",
        lambda: _validated({"O": "SELECT * FROM A"}, StateQuery({"T": "SELECT * FROM before_S"})),
    )


def test_old_state_and_temporary_relations_are_seen_by_the_output() -> None:
    _validated(
        {"O": "SELECT T.a, T.b FROM T JOIN before_S ON T.a = before_S.a"},
        StateQuery({"T": "SELECT * FROM A"}),
    )


def test_queries_give_as_many_columns_as_declared() -> None:
    _message(
        DefinitionError,
        "s: the relation O gives the columns a.\nIt should give: a, b.",
        lambda: _validated({"O": "SELECT a FROM A"}),
    )
    _message(
        DefinitionError,
        "s: the deletion from S gives the columns a, b.\nIt should give: a.",
        lambda: _validated({"O": "SELECT * FROM A"}, StateQuery(delete={"S": "SELECT * FROM A"})),
    )


def test_a_predicate_is_no_relation() -> None:
    with pytest.raises(DefinitionError, match="s: the relation O is not a SELECT: a > 1"):
        _validated({"O": "a > 1"})


def test_sql_that_is_not_understood_has_its_place() -> None:
    with pytest.raises(LipstickError, match=r"1:\d+"):
        _validated({"O": "SELECT a, input_file_name() FROM A"})
