"""Catalyst's trees in the JVM of a classic session: reaching a node, and changing some.

A position is that of a node in the pre-order of its tree, as ``toJSON`` lists them.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession

Plan: TypeAlias = Any
"""A ``TreeNode`` in the JVM."""
Json: TypeAlias = list[dict[str, Any]]
"""The nodes of a plan, as ``TreeNode.toJSON`` describes them."""

_SUBQUERIES = ("Exists", "LateralSubquery", "ListQuery", "ScalarSubquery")
_MARKS = ("__dataset_id", "__col_position")
"""The marks of columns ``frame.column``, by which Spark finds ambiguous self-joins."""


class PlanListener:
    """Hands over the analysed plans of commands that a classic session has run.

    Spark calls it from a thread of its own, after each query that succeeded.

    Parameters
    ----------
    commands
        The names of the commands' classes.
    take
        Called with each plan, in the order in which the commands ended.
    copies
        Also of commands in copies of the session, in which streams run their batches.
    """

    def __init__(
        self,
        spark: SparkSession,
        commands: Collection[str],
        take: Callable[[Plan], None],
        *,
        copies: bool = False,
    ) -> None:
        from pyspark.java_gateway import ensure_callback_server_started

        gateway = spark.sparkContext._gateway
        assert gateway is not None
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
        self._spark = spark
        self._session = None if copies else spark._jsparkSession.sessionUUID()
        self._commands = commands
        self._take = take
        # Each call makes another proxy of a listener, and Spark takes off the one it was given.
        held = gateway.jvm.java.util.ArrayList()
        held.add(self)
        self._proxy = held.toArray()
        self.catch_up()  # with what ended before, of which Spark would tell late
        self._of_manager(spark._jsparkSession, "register")
        # Before Python ends: Spark would complain that the listener is gone.
        atexit.register(self.stop)

    def stop(self) -> None:
        """Stop listening."""
        atexit.unregister(self.stop)
        if self._spark.sparkContext._jsc is not None:  # Spark was not stopped
            self.leave(self._spark._jsparkSession)

    def leave(self, session: Any) -> None:
        """Stop listening to a session of the JVM: this one, or a copy of it."""
        self._of_manager(session, "unregister")

    def _of_manager(self, session: Any, name: str) -> None:
        manager = session.listenerManager()
        methods = manager.getClass().getMethods()
        next(each for each in methods if each.getName() == name).invoke(manager, self._proxy)

    def catch_up(self) -> None:
        """Wait until every query that has ended was handed over."""
        self._spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()

    def onSuccess(self, _function: str, execution: Any, _nanoseconds: int) -> None:  # noqa: N802
        """Hand over the plan of an execution if it is one of the commands."""
        plan = execution.analyzed()
        known = plan.getClass().getSimpleName() in self._commands
        if known and self._session in (None, execution.sparkSession().sessionUUID()):
            self._take(plan)

    def onFailure(self, _function: str, _execution: Any, _error: Any) -> None:  # noqa: N802
        """Hand over nothing: a failed command has written nothing that counts."""

    def equals(self, other: object) -> bool:
        """Return True for the listener itself, as which Spark looks for it."""
        return other is self

    class Java:
        """The interface that it implements in the JVM."""

        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


def jvm_of(spark: SparkSession) -> Any:
    """Return the JVM of a classic session."""
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    return jvm


@contextmanager
def active(spark: SparkSession) -> Iterator[None]:
    """Make a session that of the JVM's thread, whose settings the optimiser asks for."""
    jvm = jvm_of(spark)
    sessions = jvm.org.apache.spark.sql.classic.SparkSession
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def analysed(frame: DataFrame) -> Plan:
    """Return the analysed plan of a frame of a classic session."""
    return frame._jdf.queryExecution().analyzed()


def file_relations(frame: DataFrame) -> Iterator[Any]:
    """Yield the relations of files that a frame of a classic session reads."""
    leaves = analysed(frame).collectLeaves()
    for leaf in (leaves.apply(at) for at in range(leaves.size())):
        if leaf.getClass().getSimpleName() == "LogicalRelation":
            relation = leaf.relation()
            if relation.getClass().getSimpleName() == "HadoopFsRelation":
                yield relation


def described(plan: Plan) -> Json:
    """Return a tree as data."""
    return json.loads(plan.toJSON())  # type: ignore[no-any-return]


def kind(node: dict[str, Any]) -> str:
    """Return the name of a node's class."""
    return str(node["class"]).rpartition(".")[2]


def sizes(nodes: Json) -> list[int]:
    """Return how many nodes the subtree at each position has."""
    counts = [1] * len(nodes)
    for position in range(len(nodes) - 1, -1, -1):
        child = position + 1
        for _ in range(nodes[position]["num-children"]):
            counts[position] += counts[child]
            child += counts[child]
    return counts


def untracked(nodes: Json, size: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the nodes, with their positions, that no marked tracked relation is made of."""
    position = 0
    while position < len(nodes):
        if "tracked" in nodes[position]:
            position += size[position]
        else:
            yield position, nodes[position]
            position += 1


def children(nodes: Json, size: Sequence[int], position: int) -> list[int]:
    """Return the positions of a node's children."""
    positions, child = [], position + 1
    for _ in range(nodes[position]["num-children"]):
        positions.append(child)
        child += size[child]
    return positions


def node_at(plan: Plan, nodes: Json, size: Sequence[int], position: int) -> Plan:
    """Return the node at a position."""
    here = 0
    while here != position:
        for number, child in enumerate(children(nodes, size, here)):
            if child <= position < child + size[child]:
                plan, here = plan.children().apply(number), child
                break
    return plan


def expressions(node: Plan, kinds: Collection[str]) -> Iterator[Plan]:
    """Yield the expressions of some classes in an operator."""
    roots = node.expressions()
    todo = [roots.apply(number) for number in range(roots.size())]
    while todo:
        expression = todo.pop()
        if expression.getClass().getSimpleName() in kinds:
            yield expression
        below = expression.children()
        todo += [below.apply(number) for number in range(below.size())]


def described_expressions(node: Any, kinds: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the descriptions of an operator's expressions of some classes."""
    for part in node.values() if isinstance(node, dict) else node:
        if isinstance(part, dict) and "num-children" in part and kind(part) in kinds:
            yield part
        if isinstance(part, dict | list):
            yield from described_expressions(part, kinds)


def with_subqueries(plan: Plan, nodes: Json) -> Iterator[tuple[Plan, Json]]:
    """Yield a plan and the plans of all subqueries in it, with their descriptions."""
    yield plan, nodes
    size = sizes(nodes)
    for position, _ in untracked(nodes, size):
        for subquery, description in subqueries_of(plan, nodes, size, position):
            yield from with_subqueries(subquery.plan(), description)


def subqueries_of(
    plan: Plan, nodes: Json, size: Sequence[int], position: int
) -> Iterator[tuple[Plan, Json]]:
    """Yield the subqueries in an operator's expressions, with the descriptions of their plans."""
    described_plans = {
        subquery["exprId"]["id"]: subquery["plan"]
        for subquery in described_expressions(nodes[position], _SUBQUERIES)
    }
    if not described_plans:
        return
    for subquery in expressions(node_at(plan, nodes, size, position), _SUBQUERIES):
        description = described_plans.get(int(subquery.exprId().id()))
        if description is not None:
            yield subquery, description


def with_plans(spark: SparkSession, node: Plan, plans: Mapping[int, Plan]) -> Plan:
    """Return an operator whose subqueries have other plans, by the numbers of these subqueries."""

    def visit(part: Any) -> Any:
        name = part.getClass().getName() if hasattr(part, "getClass") else ""
        if name.startswith("scala.Some"):
            before = part.get()
            after = visit(before)
            return part if after is before else jvm_of(spark).scala.Option.apply(after)
        if name.startswith("scala.collection"):
            before = elements(part)
            after = [visit(each) for each in before]
            return part if _same(before, after) else sequence(spark, after)
        return rebuilt(spark, part, with_plan) if ".expressions." in name else part

    def with_plan(part: Plan) -> Plan:
        if part.getClass().getSimpleName() not in _SUBQUERIES:
            return part
        other = plans.get(int(part.exprId().id()))
        return part if other is None else part.withNewPlan(other)

    arity = range(node.productArity())
    parameters = {number: node.productElement(number) for number in arity}
    return with_parameters(spark, node, {n: visit(part) for n, part in parameters.items()})


def rebuilt(spark: SparkSession, expression: Plan, change: Callable[[Plan], Plan]) -> Plan:
    """Return an expression whose parts are changed, the lowest first; itself where none is."""
    before = elements(expression.children())
    after = [rebuilt(spark, each, change) for each in before]
    if not _same(before, after):
        expression = expression.withNewChildren(sequence(spark, after))
    return change(expression)


def _same(before: Sequence[Any], after: Sequence[Any]) -> bool:
    return all(one is other for one, other in zip(before, after, strict=True))


def changed(
    spark: SparkSession,
    plan: Plan,
    nodes: Json,
    positions: Collection[int],
    change: Callable[[Plan], Plan],
) -> Plan:
    """Return a tree in which the nodes at some positions are changed, the lowest first."""
    size = sizes(nodes)

    def visit(node: Plan, here: int) -> Plan:
        if not any(here <= position < here + size[here] for position in positions):
            return node
        below = children(nodes, size, here)
        if any(c <= p < c + size[c] for c in below for p in positions):
            kept = [visit(node.children().apply(number), c) for number, c in enumerate(below)]
            node = node.withNewChildren(sequence(spark, kept))
        return change(node) if here in positions else node

    return visit(plan, 0)


def with_parameters(spark: SparkSession, node: Plan, values: dict[int, Any]) -> Plan:
    """Return a node with other parameters at some places of its constructor."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    array = gateway.new_array(gateway.jvm.java.lang.Object, node.productArity())
    for number in range(node.productArity()):
        array[number] = values[number] if number in values else node.productElement(number)
    return node.makeCopy(array)


def frame_of(spark: SparkSession, plan: Plan) -> DataFrame:
    """Return the data frame of a plan."""
    from pyspark.sql.classic.dataframe import DataFrame

    jvm = jvm_of(spark)
    dataset = jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)


def alias(spark: SparkSession, value: Plan, name: str, expression_id: Any) -> Plan:
    """Return the naming of a value, with an id, without the marks that ``frame.column`` leaves."""
    jvm = jvm_of(spark)
    empty, marks = sequence(spark, []), sequence(spark, _MARKS)
    alias_class = jvm.org.apache.spark.sql.catalyst.expressions.Alias
    return alias_class(value, name, expression_id, empty, jvm.scala.Option.empty(), marks)


def elements(values: Any) -> list[Any]:
    """Return the elements of a sequence of Scala."""
    return [values.apply(number) for number in range(values.size())]


def column_names(plan: Plan) -> tuple[str, ...]:
    """Return the names of a plan's columns."""
    return tuple(str(attribute.name()) for attribute in elements(plan.output()))


def nondeterministic_calls(plan: Plan) -> Iterator[str]:
    """Yield what computes other values each time in a plan: functions, else operators."""
    below = [child for child in elements(plan.children()) if not child.deterministic()]
    own = [each for each in elements(plan.expressions()) if not each.deterministic()]
    if not below and not own and not plan.deterministic():
        yield str(plan.nodeName())
    for child in below:
        yield from nondeterministic_calls(child)
    while own:
        expression = own.pop()
        inner = [each for each in elements(expression.children()) if not each.deterministic()]
        own += inner
        kind = str(expression.getClass().getSimpleName())
        if "Subquery" in kind or kind == "Exists":
            yield from nondeterministic_calls(expression.plan())
        elif not inner:
            of_user = kind.endswith(("UDF", "UDAF"))
            yield str(expression.name() if of_user else expression.prettyName())


def texts(values: Any) -> dict[str, str]:
    """Return the keys and values of a map of Scala as texts."""
    return {str(pair._1()): str(pair._2()) for pair in elements(values.toSeq())}


def sequence(spark: SparkSession, items: Sequence[Any]) -> Any:
    """Return a sequence of Scala."""
    return jvm_of(spark).PythonUtils.toSeq(list(items))
